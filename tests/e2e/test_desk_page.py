"""The researcher's page in a real browser, over a real server."""

import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.axe import clean
from tests.e2e.hands import enter, finish, open_topic, press, rate, say
from tests.e2e.stage import RUNS, Stage
from tests.e2e.studies import act_on_run, desk, open_tab

pytestmark = pytest.mark.browser


def test_the_token_leaves_the_address_and_a_wrong_one_is_asked_for_again(page: Page, stage: Stage) -> None:
    page.goto(f"{stage.url}/desk#token=wrong")
    expect(page.get_by_text("The server does not accept this token.")).to_be_visible()
    clean(page)
    page.get_by_label("Token").fill(stage.token)
    press(page, "Open the desk")
    expect(page.get_by_role("heading", name="Runs")).to_be_visible()
    assert "token" not in page.url
    page.reload()
    expect(page.get_by_role("heading", name="Runs")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()


def colours_of(place: Locator) -> set[str]:
    """Return the colours of a place's text and ground."""
    both = "element => [getComputedStyle(element).color, getComputedStyle(element).backgroundColor]"
    return set(place.evaluate(both))


def alarming(page: Page) -> set[str]:
    """Return the colours of what asks to be acted on."""
    return set(
        page.evaluate(
            """() => {
                const urgent = document.body.appendChild(document.createElement("span"));
                urgent.className = "badge badge-held";
                const { color, backgroundColor } = getComputedStyle(urgent);
                urgent.remove();
                return [color, backgroundColor];
            }"""
        )
    )


def test_a_worker_is_watched_live(page: Page, worker: Page, stage: Stage) -> None:
    enter(worker, f"{stage.url}/w/short?worker=watched")
    open_topic(worker, "Bread")
    page.goto(f"{stage.url}/desk#token={stage.token}")
    page.get_by_role("row").filter(has_text="short · study").get_by_role("link").first.click()
    open_tab(page, "Workers")
    expect(page.get_by_role("heading", name="Workers")).to_be_visible()
    # A worker at work is nothing to be alarmed about.
    active = page.locator("section[aria-labelledby=workers] .badge").first
    expect(active).to_have_text("active")
    assert colours_of(active).isdisjoint(alarming(page))
    inputs = page.locator("section[aria-labelledby=workers] tbody tr").first.locator("td").nth(2)
    expect(inputs).to_have_text("0")
    say(worker, "I bake bread.")
    say(worker, "It is <b>good</b> bread.")
    expect(inputs).to_have_text("2")
    clean(page)
    page.locator("section[aria-labelledby=workers] tbody a").first.click()
    expect(page.get_by_text("It is <b>good</b> bread.")).to_be_visible()
    expect(page.get_by_text("opening topic · worker: like")).to_be_visible()
    finish(worker)
    rate(worker, [11, 22, 33, 44, 55, 66, 77])
    press(worker, "Submit ratings and continue")
    expect(page.locator(".ratings dd")).to_have_text(["11", "22", "33", "44", "55", "66", "77"])
    clean(page)
    page.go_back()
    expect(page.get_by_role("heading", name="Workers")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="Drop-off by step")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="Runs")).to_be_visible()


@pytest.fixture
def simulated(stage: Stage) -> Iterator[None]:
    """One simulated worker in the run "calm", whose bots take their time."""
    command = [sys.executable, "-m", "bots.crowd", "--url", f"{stage.url}/w/calm", "--token", stage.token]
    with subprocess.Popen(
        [*command, "--workers", "1", "--reply-pace", "1"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as crowd:
        yield
        crowd.kill()


@pytest.mark.usefixtures("simulated")
def test_simulated_workers_are_counted_apart(page: Page, worker: Page, stage: Stage) -> None:
    page.goto(f"{stage.url}/desk#token={stage.token}")
    row = page.get_by_role("row").filter(has_text="calm · study")
    expect(row.get_by_text("simulated1 in progress")).to_be_visible()
    expect(row.get_by_text("0 submitted", exact=True)).to_be_visible()
    clean(page)
    row.get_by_role("link").first.click()
    # As long as nobody else has come, nothing is a table of zeros.
    theirs = page.get_by_role("group", name="Table of systems, simulated workers")
    expect(theirs.locator("td[data-name=Planned]").filter(has_text="1")).not_to_have_count(0)
    expect(page.get_by_text("0 submitted", exact=True)).to_have_count(1)
    people = page.get_by_role("group", name="Table of systems, systems")
    expect(people).to_have_count(0)
    clean(page)
    enter(worker, f"{stage.url}/w/calm?worker=beside")
    expect(page.locator(".figures dd")).to_have_text(["0", "1", "0", "0", "0"])
    expect(page.get_by_role("columnheader", name="Skipped")).to_have_count(0)
    # Neither do they count among the systems: what they did is folded away, under its own heading.
    expect(people.locator("td[data-name=Planned]").filter(has_text="1")).not_to_have_count(0)
    expect(people.locator("td[data-name=Planned]").filter(has_text="2")).to_have_count(0)
    expect(theirs).to_be_hidden()
    page.get_by_text("What simulated workers did").click()
    expect(theirs).to_be_visible()
    open_tab(page, "Workers")
    page.locator("section[aria-labelledby=workers] tbody tr", has_text="simulated").get_by_role(
        "link"
    ).click()
    expect(page.get_by_role("heading", level=2).first).to_contain_text("simulated")
    clean(page)


def test_a_worker_is_acted_on(page: Page, worker: Page, stage: Stage) -> None:
    enter(worker, f"{stage.url}/w/short?worker=acted-on")
    open_topic(worker, "Bread")
    say(worker, "I bake bread.")
    page.goto(f"{stage.url}/desk#token={stage.token}")
    expect(page.get_by_role("heading", name="Runs")).to_be_visible()  # it knows the token now
    page.goto(f"{stage.url}/desk/runs/short/workers")
    rows = page.locator("section[aria-labelledby=workers] tbody tr")
    row = rows.filter(has_text=stage.pseudonym("acted-on"))

    def act(name: str, text: str | None = None) -> None:
        row.get_by_role("button", name=re.compile("Actions")).click()
        page.get_by_role("menuitem", name=name).click()
        clean(page)
        if text is not None:
            page.get_by_role("dialog").get_by_role("textbox").fill(text)
        page.get_by_role("dialog").get_by_role("button", name=name).click()
        expect(page.get_by_role("dialog")).to_have_count(0)

    act("Send a message", "Take your time.")
    expect(worker.get_by_text("Take your time.")).to_be_visible()
    press(worker, "Got it")
    worker.reload()
    expect(worker.get_by_role("log")).to_be_visible()
    expect(worker.get_by_text("Take your time.")).to_have_count(0)
    act("End the conversation", "Enough of that one.")
    expect(worker.get_by_text("Enough of that one.")).to_be_visible()
    expect(worker.get_by_text("The researchers have ended this conversation.")).to_be_visible()
    expect(worker.get_by_text("That chatbot couldn’t continue.")).to_have_count(0)
    expect(worker.get_by_role("slider").first).to_be_attached()
    clean(worker)
    act("Exclude from the analysis", "A try of ours.")
    expect(row.get_by_text("excluded")).to_be_visible()
    act("End session and free the slot")
    expect(page.get_by_text("the slot is free")).to_be_visible()  # it says afterwards what has happened
    expect(row.locator("td[data-name=Status]")).to_have_text("expired")


def test_a_run_is_paused_and_resumed_and_keeps_no_old_reason(page: Page, stage: Stage) -> None:
    desk(page, stage, "runs/calm")
    page.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Pause").click()
    page.get_by_role("dialog").get_by_role("textbox").fill("Lunch")
    clean(page)
    page.get_by_role("dialog").get_by_role("button", name="Pause").click()
    expect(page.get_by_text("The run is paused.")).to_be_visible()
    expect(page.get_by_text("· Lunch")).to_be_visible()
    act_on_run(page, "Resume")
    expect(page.get_by_text("The run is open again.")).to_be_visible()
    expect(page.get_by_text("· Lunch")).to_have_count(0)


def test_a_bot_that_fails_is_what_needs_attention_first(page: Page, worker: Page, stage: Stage) -> None:
    page.goto(f"{stage.url}/desk#token={stage.token}")
    expect(page.get_by_role("heading", name="Runs")).to_be_visible()  # it knows the token now
    page.goto(f"{stage.url}/desk/runs/failing")
    attention = page.get_by_role("region", name="Needs attention")
    expect(page.get_by_text("No workers yet.")).to_be_visible()
    expect(attention).to_have_count(0)
    enter(worker, f"{stage.url}/w/failing?worker=waits")
    open_topic(worker, "Bread")
    expect(attention).to_have_text("No action needed.")
    worker.get_by_label("Your message").fill("Hello?")
    worker.get_by_label("Your message").press("Enter")
    expect(attention).to_contain_text("does not answer")
    first = attention.get_by_role("listitem").first
    expect(first).to_contain_text("Act")


def test_rules_are_changed_on_the_page_and_put_back(page: Page, stage: Stage) -> None:
    page.goto(f"{stage.url}/desk#token={stage.token}")
    expect(page.get_by_role("heading", name="Runs")).to_be_visible()  # it knows the token now
    page.goto(f"{stage.url}/desk/runs/single/settings")
    press(page, "Change rules")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Type of target").select_option("Submitted assignments")
    dialog.get_by_label("Assignments").fill("3.5")
    expect(dialog.get_by_text("Enter a whole number.")).to_be_visible()
    clean(page)
    dialog.get_by_label("Assignments").fill("30")
    dialog.get_by_label("Total budget").fill("100")
    dialog.get_by_label("Pay per assignment").fill("2")
    press(page, "Save rules")
    expect(page.get_by_text("0.00 of 100.00 spent. Target: 30 assignments")).to_be_visible()
    press(page, "Undo")
    expect(page.get_by_text("Rules restored.")).to_be_visible()
    expect(page.get_by_text("Target: 30 assignments")).to_have_count(0)


def test_transcripts_are_searched(phone: Page, worker: Page, stage: Stage) -> None:
    enter(worker, f"{stage.url}/w/short?worker=searched")
    open_topic(worker, "Herons")
    say(worker, "Have you ever seen 100% of a heron?")
    phone.goto(f"{stage.url}/desk#token={stage.token}")
    expect(phone.get_by_role("heading", name="Runs")).to_be_visible()  # it knows the token now
    card = phone.locator("tbody tr").first  # runs are cards, which say what their lines are
    expect(card).to_be_visible()
    assert card.evaluate("row => getComputedStyle(row).display") != "table-row"
    assert "Opened" in card.evaluate("row => getComputedStyle(row.cells[4], '::before').content")
    assert phone.evaluate("document.documentElement.scrollWidth") == 360
    phone.goto(f"{stage.url}/desk/runs/short/transcripts")
    found = phone.locator("section[aria-labelledby=transcripts] li")
    words = phone.get_by_label("Words in the conversation")
    words.fill("100% OF A HERON")
    # What is being typed stays, though others chat and the page is drawn anew.
    say(worker, "Or a half of one?")
    expect(found.filter(has_text=stage.pseudonym("searched"))).to_contain_text("2 messages")
    expect(words).to_have_value("100% OF A HERON")
    words.press("Enter")
    expect(found).to_have_count(1)
    expect(found).to_contain_text("Have you ever seen 100% of a heron?")
    words.fill("of two herons")
    words.press("Enter")
    expect(found).to_have_count(0)
    words.fill("")  # as the cross in the field does: nothing is entered after it
    expect(found.first).to_be_visible()
    clean(phone)
    assert phone.evaluate("document.documentElement.scrollWidth") == 360


# More than come in the first two events of a stream: 40 and 200 workers.
MANY = 260
FILLING = (
    """WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < ?)
       INSERT INTO worker (platform, external_id, pseudonym)
       SELECT 'link', 'f' || k, printf('F%03d', k) FROM n""",
    """WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < ?)
       INSERT INTO assignment (id, run_id, worker_id, place, simulated, reply_pace, status, created_at,
                               agreed_at, active_at, ended_at)
       SELECT 'f' || k, run.id, worker.id, k, 0, 1, 'completed', at, at, at, at
       FROM (SELECT k, printf('2026-01-01 %02d:%02d:00.000000', k / 60, k % 60) AS at FROM n)
       JOIN run ON slug = 'closed' JOIN worker ON external_id = 'f' || k""",
)


def test_of_many_workers_some_are_shown_and_all_are_found(page: Page, stage: Stage) -> None:
    with closing(sqlite3.connect(stage.database)) as database, database:
        for insertion in FILLING:
            database.execute(insertion, (MANY,))
    page.goto(f"{stage.url}/desk/runs/closed/workers#token={stage.token}")
    workers = page.get_by_role("region", name="Workers")
    rows = workers.locator("tbody tr")
    expect(workers.get_by_text(f"{MANY} assignments")).to_be_visible()
    expect(rows).to_have_count(25)
    expect(rows.first).to_contain_text("F260")  # the newest first
    expect(workers.get_by_text("Page 1 of 11")).to_be_visible()
    workers.get_by_role("button", name="Older").click()
    expect(rows.first).to_contain_text("F235")
    workers.get_by_role("searchbox", name="Find a pseudonym").fill("f001")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("F001")  # who came first stands on no page that was shown
    workers.get_by_role("searchbox", name="Find a pseudonym").fill("")
    expect(rows.first).to_contain_text("F260")
    workers.get_by_role("combobox", name="Show").select_option("active")
    expect(workers.get_by_text("No workers match this filter.")).to_be_visible()
    clean(page)


def test_all_of_a_worker_is_in_sight_at_1280(page: Page, stage: Stage) -> None:
    """With the column of codes, and with what makes the first one wide."""
    with closing(sqlite3.connect(stage.database)) as database, database:
        for insertion in FILLING:
            simulated = insertion.replace("k, 0, 1", "k, 1, 1").replace("'f'", "'s'").replace("'F%", "'S%")
            database.execute(simulated.replace("'closed'", "'platform'"), (3,))
    page.goto(f"{stage.url}/desk/runs/platform/workers#token={stage.token}")
    table = page.get_by_role("group", name="Table of workers")
    expect(table.get_by_text("simulated")).to_have_count(3)
    # As wide as a row gets: a page closed a while ago, a long way in, and p so far.
    room = table.evaluate(
        """table => {
            for (const [name, text] of [["Step", "chat, 3 of 6, 10 messages · interviewer"],
                                        ["Page", "closed 12 min ago"]])
                for (const cell of table.querySelectorAll(`td[data-name="${name}"]`)) cell.textContent = text;
            for (const row of table.querySelectorAll("tr")) {
                const p = row.insertBefore(row.children[7].cloneNode(), row.children[8]);
                p.textContent = row.parentElement.tagName === "THEAD" ? "QC p-value (interim)" : "< 0.001";
            }
            return [table.scrollWidth, table.clientWidth];
        }"""
    )
    assert room[0] <= room[1], room


def test_the_newest_run_comes_first(page: Page, stage: Stage) -> None:
    page.goto(f"{stage.url}/desk#token={stage.token}")
    expect(page.locator("tbody tr").first).to_contain_text(f"{list(RUNS)[-1]} · study")


def test_an_empty_run_says_what_to_do_next_in_place_of_zeros(page: Page, phone: Page, stage: Stage) -> None:
    for at in (page, phone):
        desk(at, stage, "runs/full")
        expect(at.get_by_text("No workers yet.")).to_be_visible()
        expect(at.get_by_text("0 submitted", exact=True)).to_have_count(0)
        expect(at.get_by_role("table")).to_have_count(0)
        expect(at.get_by_role("link", name="Open the workers’ page")).to_have_attribute(
            "href", f"{stage.url}/w/full"
        )
        clean(at)
    phone.get_by_role("link", name="Let simulated workers try it").click()
    expect(phone).to_have_url(f"{stage.url}/desk/runs/full/rehearsal")
    assert phone.evaluate("document.documentElement.scrollWidth") == 360


def test_transcripts_are_read_with_the_keyboard_from_worker_to_worker(
    page: Page, worker: Page, phone: Page, stage: Stage
) -> None:
    for each, name in ((worker, "read-first"), (phone, "read-second")):
        enter(each, f"{stage.url}/w/short?worker={name}")
        open_topic(each, "Bread")
        say(each, f"I am {name}.")
    desk(page, stage, "runs/short/transcripts")
    expect(page.get_by_text("I am read-second.")).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator(".talk")).to_contain_text("I am read-second.")
    jumps = page.get_by_role("navigation", name="Conversations").get_by_role("link")
    assert jumps.count() > 1
    page.keyboard.press("j")
    expect(jumps.nth(1)).to_have_attribute("aria-current", "page")
    page.keyboard.press("k")
    expect(jumps.nth(0)).to_have_attribute("aria-current", "page")
    page.keyboard.press("n")
    expect(page.get_by_text("I am read-first.")).to_be_visible()
    page.go_back()
    expect(page.get_by_text("I am read-second.")).to_be_visible()
    press(page, "Installation’s token")
    page.get_by_role("menuitem", name="Turn off single-key shortcuts").click()
    expect(page.locator(".keys")).to_have_count(0)
    page.reload()  # the browser keeps it
    expect(page.get_by_text("I am read-second.")).to_be_visible()
    page.keyboard.press("n")
    press(page, "Installation’s token")
    expect(page.get_by_role("menuitem", name="Turn on single-key shortcuts")).to_be_visible()
    expect(page.get_by_text("I am read-second.")).to_be_visible()
    clean(page)


def test_a_palette_leads_anywhere(page: Page, phone: Page, worker: Page, stage: Stage) -> None:
    enter(worker, f"{stage.url}/w/short?worker=found")
    pseudonym = stage.pseudonym("found")
    desk(page, stage, "studies")
    expect(page.get_by_role("heading", name="Studies")).to_be_visible()
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Run, study or worker")
    expect(field).to_be_focused()
    field.fill("calm")
    expect(page.get_by_role("option").first).to_contain_text("calm")
    clean(page)
    field.fill(pseudonym)
    expect(page.get_by_role("option")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=pseudonym)).to_be_visible()
    desk(phone, stage, "runs")
    phone.get_by_role("button", name="Search").click()
    phone.get_by_role("option", name="Studies").click()
    expect(phone).to_have_url(f"{stage.url}/desk/studies")
    phone.get_by_role("button", name="Search").click()
    phone.keyboard.press("Escape")
    expect(phone.get_by_role("dialog")).to_have_count(0)
    expect(phone.get_by_role("button", name="Search")).to_be_focused()


@pytest.mark.parametrize(("place", "title"), [("blah", "Page not found"), ("runs/blah", "Run not found")])
def test_an_address_that_leads_nowhere_says_so(page: Page, stage: Stage, place: str, title: str) -> None:
    desk(page, stage, place)
    expect(page.get_by_role("heading", name=title)).to_be_visible()
    clean(page)
    page.get_by_role("link", name="Go to the runs").click()
    expect(page.get_by_role("heading", name="Runs", exact=True)).to_be_visible()
