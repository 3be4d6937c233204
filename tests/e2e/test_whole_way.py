"""A study from a blank page to a watched run and its report, on the desk alone: keyboard and mouse."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.hands import choose, context_of, finish, press, rate, say
from tests.e2e.studies import act_on_run, open_tab, step
from tests.support.hosted_bot import hosted_bot
from tests.support.server_process import Server
from tests.support.waiting import ENOUGH
from tests.support.warm_process import WarmProcess

pytestmark = [pytest.mark.browser, pytest.mark.timeout(1_200)]
PASSWORD = "seven small tides"
CONSENT = "What you write is kept for ten years. You may stop at any time."


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A server over an empty folder, as `candor serve` makes it."""
    running = Server(tmp_path, environment={"CANDOR_RUNNING_ANALYSIS": "true"})
    running.start()
    yield running
    running.stop()


def first_link(server: Server) -> str:
    """Return the link that the terminal prints for the first owner."""
    log = server.data / "people.log"
    command = ["people", "add", "olga", "--role", "owner", "--data", str(server.data)]
    assert WarmProcess(command, server.environment, log).wait(ENOUGH) == 0, log.read_text()
    return log.read_text().split()[0]


def make_study(page: Page, bot: str) -> None:
    page.get_by_role("link", name="Studies", exact=True).click()
    press(page, "New study")
    page.get_by_label("Name").fill("harbour")
    press(page, "Create the study")
    page.get_by_label("Title").fill("Chats by the harbour")
    step(page, "Recruiting and payment")
    page.get_by_label("Payment").fill("A postcard.")
    step(page, "Consent and texts")
    page.get_by_label("Consent text").fill(CONSENT)
    step(page, "Task and topic")
    page.get_by_label("Minimum messages").fill("1")
    add_bot(page, bot)
    step(page, "Bots")
    page.get_by_label("Systems per worker").fill("2")
    for name, spoken_by in (("mine", "mine"), ("mirror", "builtin:reflect")):
        press(page, "Add system")
        page.get_by_label("Name", exact=True).fill(name)
        page.get_by_label("Family").fill(name)
        page.get_by_label("Bot", exact=True).fill(spoken_by)
    press(page, "Save")
    expect(page.get_by_role("status").filter(has_text="Version 2")).to_contain_text("no problems")


def add_bot(page: Page, address: str) -> None:
    page.get_by_role("tab", name="Bots").click()
    press(page, "Add a bot")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("All studies").check()
    dialog.get_by_label("Name of the bot").fill("mine")
    dialog.get_by_label("Service").select_option("http")
    dialog.get_by_label("Address", exact=True).fill(address)
    dialog.get_by_role("button", name="Add", exact=True).click()
    press(page, "Check mine")
    expect(page.get_by_text(re.compile("^(Fit|Not fit)"))).to_be_visible()
    expect(page.get_by_text("Not fit")).to_have_count(0)
    page.get_by_role("tab", name="Preview").click()


def rehearse(page: Page) -> None:
    press(page, "Rehearse")
    page.get_by_role("dialog", name="Rehearse?").get_by_role("button", name="Rehearse").click()
    expect(page.get_by_role("progressbar", name="The rehearsal")).to_be_visible()
    expect(page.get_by_role("heading", name=re.compile("^Forecast for"))).to_be_visible()
    page.get_by_role("main").get_by_role("link", name="harbour", exact=True).first.click()


def open_run(page: Page) -> None:
    press(page, "Open a run")
    page.get_by_label("Name of the run").fill("autumn")
    press(page, "Open the run")
    page.wait_for_url("**/desk/runs/autumn")
    expect(page.get_by_text("No workers yet.")).to_be_visible()


def begin(page: Page, server: Server, worker: str) -> None:
    page.goto(f"{server.url}/w/autumn?worker={worker}")
    expect(page.get_by_text(CONSENT)).to_be_visible()
    press(page, "I agree and take part")
    press(page, "I understand")


def chat(page: Page) -> None:
    page.get_by_label("Your topic").fill("The sea")
    choose(page, "How do you feel about it?", "Like")
    press(page, "Start the conversation")
    say(page, "What do you think of the sea?")


def take_part(page: Page, server: Server, worker: str) -> None:
    begin(page, server, worker)
    for number in range(1, 4):
        chat(page)
        finish(page)
        rate(page, [30 + number, 60, 70, 55, 65, 30, 75])
        press(page, "Submit ratings" if number == 3 else "Submit ratings and continue")
    press(page, "Submit")
    expect(page.get_by_text("Your completion code")).to_be_visible()


def release_who_left(page: Page) -> None:
    """End session and free the slot of the one worker who is still in progress."""
    row = page.locator("section[aria-labelledby=workers] tbody tr").filter(has_text="active")
    row.get_by_role("button", name="Actions").click()
    page.get_by_role("menuitem", name="End session and free the slot").click()
    page.get_by_role("dialog").get_by_role("button", name="End session and free the slot").click()
    expect(row).to_have_count(0)


def read_report(page: Page) -> None:
    open_tab(page, "Report")
    press(page, "Make a report")
    frame = page.frame_locator("iframe")
    expect(frame.get_by_role("heading", name="Verdict")).to_be_visible()
    expect(frame.get_by_text("mirror").first).to_be_visible()


@pytest.mark.soak  # test_first_study goes from the blank page to the open run, test_jobs_page to the report
def test_from_a_blank_page_to_a_report(page: Page, browser: Browser, server: Server) -> None:
    page.goto(first_link(server))
    page.get_by_label("Your password").fill(PASSWORD)
    press(page, "Open the desk")
    with hosted_bot() as bot:
        make_study(page, bot)
        rehearse(page)
        open_run(page)
        laptop, phone, third = (context_of(browser, width) for width in (1280, 390, 1280))
        take_part(laptop.new_page(), server, "ann")
        take_part(phone.new_page(), server, "bob")
        leaver = third.new_page()
        begin(leaver, server, "cy")
        chat(leaver)
        third.close()
        open_tab(page, "Transcripts")
        expect(page.get_by_text("What do you think of the sea?").first).to_be_visible()
        open_tab(page, "Workers")
        expect(page.locator("section[aria-labelledby=workers] tbody tr")).to_have_count(3)
        release_who_left(page)
        act_on_run(page, "Pause")
        expect(page.get_by_role("button", name="Resume", exact=True)).to_be_visible()
        for action in ("Resume", "Close the run"):
            act_on_run(page, action)
        read_report(page)
        laptop.close()
        phone.close()
