"""A worker downloads and withdraws what they gave, on their last page, at both widths."""

import json
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import Browser, expect
from websockets.sync.client import connect

from tests.e2e.axe import clean
from tests.e2e.hands import context_of
from tests.e2e.stage import Stage
from tests.server.support.page import Page as WorkersPage

CRITERIA = ("robotic", "interesting", "fun", "consistent", "fluent", "repetitive", "topic")
SAID = {
    "en": ("Download", "Withdraw…", "Withdraw my data", "Your data have been removed."),
    "ja": ("ダウンロード", "取り下げる…", "データを取り下げる", "データを削除しました。"),
}


def take_part(stage: Stage, run: str, worker: str) -> str:
    """Take part from beginning to end; return the assignment."""
    joined = httpx2.post(f"{stage.url}/api/join", json={"run": run, "worker": worker}).json()
    with connect(f"{stage.url.replace('http', 'ws')}/ws") as socket:
        page = WorkersPage(socket)
        page.send("hello", token=joined["token"])
        page.receive()
        page.send("agree")
        page.until("topic_due")
        page.open_topic(f"what {worker} likes")
        page.say("I bake bread.")
        page.send("end_conversation")
        page.until("rating_due")
        page.send("rate", ratings=dict.fromkeys(CRITERIA, 50))
        page.until("feedback_due")
        page.send("feedback", text="")
        page.until("completed")
    return str(joined["assignment"])


@pytest.mark.parametrize(("width", "language"), [(1280, "en"), (360, "ja")])
def test_a_worker_withdraws_their_data(
    browser: Browser, stage: Stage, tmp_path: Path, width: int, language: str
) -> None:
    download, offered, confirm, gone = SAID[language]
    run, worker = f"own_data_{language}", f"own-{width}"
    assignment = take_part(stage, run, worker)
    context = context_of(browser, width)
    page = context.new_page()
    page.goto(f"{stage.url}/w/{run}?worker={worker}")
    with page.expect_download() as begun:
        page.get_by_role("button", name=download).click()
    begun.value.save_as(tmp_path / "my-data.json")
    content = json.loads((tmp_path / "my-data.json").read_text(encoding="utf-8"))
    assert content["conversations"][0]["lines"][0]["text"] == "I bake bread."
    page.get_by_role("button", name=offered).click()
    expect(page.get_by_role("button", name=confirm)).to_be_visible()
    expect(page.locator(".lead")).to_be_visible()
    clean(page)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    page.get_by_role("button", name=confirm).click()
    expect(page.get_by_text(gone)).to_be_visible()
    expect(page.locator(".lead")).to_have_count(0)  # it says that their data are kept
    ratings = "SELECT count(*) FROM rating JOIN conversation ON id = conversation_id WHERE assignment_id = ?"
    assert stage.rows(ratings, assignment) == [(0,)]
    context.close()
