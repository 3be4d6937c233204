"""The desk asks for confirmation before anything that may cost money, and calls no bot before it."""

import re
from collections.abc import Iterator

import pytest
import yaml
from playwright.sync_api import Page, expect

from tests.e2e.axe import clean
from tests.e2e.hands import press
from tests.e2e.stage import DEMO
from tests.e2e.studies import call, desk, made
from tests.server.support.provider import providing
from tests.support.server_process import Server

pytestmark = pytest.mark.browser

CHANGES = {
    "name": "spending",
    "systems": [{"name": name, "family": name, "bot": "paid"} for name in ("far", "away")],
    "systems_per_assignment": 2,
    "minimum_inputs": 3,
    "assignments": 50,
    "simulate": {"quality": {"far": 0.5, "away": 0.4}},
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("candor"))
    running.start()
    yield running
    running.stop()


def test_a_check_a_rehearsal_and_a_run_are_asked_about_first(page: Page, phone: Page, server: Server) -> None:
    text = yaml.safe_dump(yaml.safe_load(DEMO.read_text(encoding="utf-8")) | CHANGES)
    with providing() as provider:
        endpoint = provider.endpoint() | {"price": {"input": 100, "output": 400}}
        call(page, server, "POST", "/bots", {"name": "paid", "endpoint": endpoint})
        made(page, server, "spending", text)
        page.get_by_role("tab", name="Bots").click()
        press(page, "Check paid")
        question = page.get_by_role("dialog", name="Check?")
        expect(question).to_contain_text("The check of “paid” may cost money:")
        expect(question.get_by_role("listitem")).to_have_text(
            re.compile(
                r"about \d+ calls to “paid” at 127\.0\.0\.1: about \d+\.\d\d, at 100 and 400 for a million"
            )
        )
        clean(page)
        press(page, "Cancel")
        expect(question).to_have_count(0)
        expect(page.get_by_text("Not checked yet")).to_be_visible()
        assert provider.asked == 0
        press(page, "Check paid")
        question.get_by_role("button", name="Check", exact=True).click()
        expect(page.get_by_text("Not fit for workers")).to_be_visible()
        asked = provider.asked
        assert asked > 0

        press(page, "Rehearse")
        question = page.get_by_role("dialog", name="Rehearse?")
        # 40 workers × 2 conversations × 3 inputs to the one bot, and half as many to the QC bot.
        expect(question.get_by_role("row", name=re.compile("^paid"))).to_contain_text(
            "127.0.0.1 · 100 in, 400 out for a million tokens240"
        )
        # 240 × 200 tokens of instructions and 80 × 6 × 25 of earlier lines at 100 for a million, 240 × 25 of
        # replies at 400.
        expect(question.get_by_role("row", name=re.compile("^qc"))).to_contain_text("120free")
        expect(question.get_by_role("row", name=re.compile("^Total"))).to_have_text("Total3608.40")
        clean(page)
        page.keyboard.press("Escape")
        expect(question).to_have_count(0)
        expect(page.get_by_role("alert").filter(has_text=re.compile("."))).to_have_count(0)
        assert provider.asked == asked
        press(page, "Rehearse")
        question.get_by_role("button", name="Rehearse").click()
        expect(page.get_by_role("progressbar", name="The rehearsal")).to_be_visible()
        press(page, "Cancel")
        expect(page.get_by_text("cancelled")).to_be_visible()

        desk(phone, server, "studies/spending")
        press(phone, "Open a run")
        press(phone, "Open the run")
        question = phone.get_by_role("dialog", name="Open the run?")
        expect(question).to_contain_text("all 50 assignments: about 300 calls to “paid” at 127.0.0.1")
        clean(phone)
        assert phone.evaluate("document.documentElement.scrollWidth") <= 360
        question.get_by_role("button", name="Open the run").click()
        press(phone, "Open anyway")  # the check has found that the bot is not fit
        expect(question).to_be_visible()
        question.get_by_role("button", name="Open the run").click()
        phone.wait_for_url("**/desk/runs/spending")
