"""An owner forgets a worker from the desk, at both widths."""

import httpx2
import pytest
from playwright.sync_api import Browser, expect
from websockets.sync.client import connect

from tests.e2e.axe import clean
from tests.e2e.hands import context_of
from tests.e2e.stage import Stage
from tests.e2e.studies import open_tab
from tests.server.support.page import Page as WorkersPage


def take_part(stage: Stage, worker: str) -> None:
    joined = httpx2.post(f"{stage.url}/api/join", json={"run": "demo", "worker": worker})
    with connect(f"{stage.url.replace('http', 'ws')}/ws") as socket:
        page = WorkersPage(socket)
        page.send("hello", token=joined.json()["token"])
        page.receive()
        page.send("agree")
        page.until("topic_due")
        page.open_topic(f"what {worker} likes")


@pytest.mark.parametrize("width", [1280, 360])
def test_a_worker_is_forgotten(browser: Browser, stage: Stage, width: int) -> None:
    worker = f"forgetful-{width}"
    take_part(stage, worker)
    context = context_of(browser, width)
    page = context.new_page()
    page.goto(f"{stage.url}/desk/runs/demo/settings#token={stage.token}")
    page.get_by_label("Pseudonym or id").fill(worker)
    page.get_by_role("button", name="Look up").click()
    pseudonym = page.get_by_label("Workers found").locator("th[scope=row]").inner_text()
    open_tab(page, "Workers")
    table = page.get_by_role("group", name="Table of workers")
    expect(table.get_by_role("link", name=pseudonym)).to_be_visible()
    page.go_back()
    page.get_by_label("Pseudonym or id").fill(worker)
    page.get_by_role("button", name="Look up").click()
    page.get_by_role("button", name="Forget…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("assignments 1 (1 in progress)")
    clean(page)
    box, button = dialog.bounding_box(), dialog.get_by_role("button", name="Cancel").bounding_box()
    assert box
    assert button
    assert button["x"] + button["width"] < box["x"] + box["width"]
    height = page.evaluate("innerHeight")
    assert abs(box["y"] * 2 + box["height"] - height) < 2  # in the middle
    assert page.evaluate("document.documentElement.scrollWidth") == width
    dialog.get_by_role("button", name="Forget").click()
    expect(dialog).to_have_count(0)
    done = page.get_by_role("status").filter(has_text="The worker is forgotten")
    expect(done).to_be_visible()
    form, told = page.get_by_role("form", name="Look a worker up").bounding_box(), done.bounding_box()
    assert form
    assert told
    assert told["y"] - form["y"] - form["height"] >= 16  # not glued to the form
    expect(page.get_by_text(pseudonym)).to_have_count(0)
    renamed = page.get_by_label("Workers found").locator("th[scope=row]").inner_text()
    expect(done).to_contain_text(renamed)
    assert stage.rows("SELECT count(*) FROM topic_mark WHERE topic = ?", f"what {worker} likes") == [(0,)]
    page.get_by_label("Pseudonym or id").fill(worker)
    page.get_by_role("button", name="Look up").click()
    expect(page.get_by_text("No worker in this run has this pseudonym or id.")).to_be_visible()
    open_tab(page, "Workers")
    expect(table.get_by_role("rowheader").first).to_be_visible()
    expect(table.get_by_text(pseudonym)).to_have_count(0)  # it has the new pseudonym
    context.close()
