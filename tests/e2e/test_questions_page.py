"""The worker's page of a study that asks questions of its own, with a refresh on each screen."""

import json
import re
import sqlite3
from contextlib import closing

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.axe import clean
from tests.e2e.hands import choose, enter, finish, open_topic, press, rate, say
from tests.e2e.stage import Stage

pytestmark = pytest.mark.browser

STORED = (
    [
        ("before", "age", None, 31.0),
        ("before", "often", "Daily", None),
        ("conversation", "human", None, 4.0),
        ("conversation", "why", "It knew the sea.", None),
        ("after", "tools", "Phone", None),
        ("after", "tools", "Tablet", None),
        ("after", "strain", None, 20.0),
    ],
    {"robotic": 10, "fun": 33, "fluent": 90},  # point 3 of 7 is 33
)


def fits(page: Page) -> None:
    """Nothing is wrong by axe, and nothing scrolls sideways."""
    clean(page)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_a_whole_assignment_with_questions_by_keyboard(phone: Page, stage: Stage) -> None:
    page = phone
    page.goto(f"{stage.url}/w/asking")
    press(page, "I understand")
    expect(page.get_by_role("heading", name="A few questions")).to_be_focused()
    press(page, "Continue")
    expect(page.get_by_text("Please answer this one, too.")).to_have_count(2)
    expect(page.get_by_label("How old are you?")).to_be_focused()
    page.keyboard.type("17")
    expect(page.get_by_text("Please enter a number from 18 to 120.")).to_be_visible()
    page.get_by_label("How old are you?").fill("31")
    choose(page, "How often?", "Daily")
    page.reload()
    expect(page.get_by_label("How old are you?")).to_have_value("31")
    expect(page.get_by_role("radio", name="Daily")).to_be_checked()
    fits(page)
    press(page, "Continue")

    hold_conversation(page)
    page.get_by_role("slider").first.fill("10")
    page.get_by_role("slider").last.fill("90")
    page.get_by_role("radiogroup", name="It was fun.").get_by_role("radio").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.get_by_label("Why?").fill("It knew the sea.")
    expect(page.get_by_text("1 still to answer")).to_be_visible()
    press(page, re.compile("^Submit ratings"))
    # What is missing has the focus: a key chooses.
    expect(
        page.get_by_role("radiogroup", name="How human was it?").get_by_role("radio").first
    ).to_be_focused()
    page.get_by_role("radio", name="4 of 5").check()
    page.reload()
    expect(page.get_by_role("radio", name="3 of 7")).to_be_checked()
    expect(page.get_by_label("Why?")).to_have_value("It knew the sea.")
    fits(page)
    press(page, re.compile("^Submit ratings"))

    page.get_by_role("group", name="Which do you use?").get_by_role("checkbox", name="Tablet").check()
    page.get_by_role("checkbox", name="Phone").check()
    page.get_by_role("slider", name="How tiring?").fill("20")
    expect(page.get_by_role("slider", name="How tiring?")).to_have_attribute(
        "aria-valuetext", "20 of 100, from not at all to very"
    )
    page.reload()
    expect(page.get_by_role("checkbox", name="Tablet")).to_be_checked()
    fits(page)
    press(page, "Continue")
    press(page, "Submit")
    expect(page.locator(".code-text")).to_be_visible()

    assert stored(stage) == STORED


def hold_conversation(page: Page) -> None:
    """Read the situation, chat, rate the reply, change that."""
    expect(page.get_by_text("Your lamp is broken.")).to_be_visible()
    expect(page.get_by_label("Your topic")).to_have_count(0)
    open_topic(page, None)
    page.get_by_text("Your situation").click()
    expect(page.get_by_text("Your lamp is broken.")).to_be_visible()
    fits(page)
    say(page, "Hello.")
    page.get_by_role("button", name="A poor reply").click()
    page.get_by_role("button", name="A good reply").click()
    expect(page.get_by_role("button", name="A good reply")).to_have_attribute("aria-pressed", "true")
    page.reload()
    expect(page.get_by_role("button", name="A good reply")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("button", name="A poor reply")).to_have_attribute("aria-pressed", "false")
    fits(page)
    finish(page)


def stored(stage: Stage) -> tuple[list[tuple[object, ...]], dict[str, int]]:
    """Return the answers, in their order, and the ratings."""
    with closing(sqlite3.connect(stage.database)) as database:
        answers = "SELECT part, label, text, number FROM v1_answer ORDER BY ordinal"
        rated = "SELECT criterion, value FROM v1_rating"
        return database.execute(answers).fetchall(), dict(database.execute(rated).fetchall())


def test_words_are_marked_by_keyboard_and_by_touch(phone: Page, stage: Stage) -> None:
    page = phone
    page.goto(f"{stage.url}/w/marking")
    press(page, "I understand")
    word = page.get_by_role("option")
    # The cat, from the second word on: the emoji is one character. By keyboard.
    word.nth(1).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").filter(has_text="Now choose the last word.")).to_be_visible()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    word.filter(has_text="sit").tap()
    word.filter(has_text="sit").tap()
    page.reload()
    expect(page.get_by_role("option", selected=True)).to_have_text(["😀", "cat", "sit"])
    fits(page)
    page.get_by_role("button", name="Remove the mark of “sit”").click()
    press(page, "Continue")

    open_topic(page, "Tea")
    say(page, "Hello.")
    finish(page)
    rate(page, [50] * page.get_by_role("slider").count())
    press(page, re.compile("^Submit ratings"))
    expect(page.get_by_role("option").first).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    # A mark is there, and has the focus until it has a category.
    expect(page.get_by_label(re.compile("^Category of"))).to_be_focused()
    press(page, re.compile("^Submit ratings"))
    expect(page.get_by_text("Please say for each mark what it is.")).to_be_visible()
    page.get_by_label(re.compile("^Category of")).select_option("Sense")
    fits(page)
    press(page, re.compile("^Submit ratings"))
    press(page, "Submit")
    expect(page.locator(".code-text")).to_be_visible()
    with closing(sqlite3.connect(stage.database)) as database:
        found = database.execute("SELECT text FROM answer WHERE label IN ('odd', 'errors') ORDER BY id")
        marks = [json.loads(text) for (text,) in found]
    assert marks[0] == {"line": 0, "start": 4, "end": 9}
    assert [marks[1][key] for key in ("line", "start", "category")] == [1, 0, "Sense"]


def test_the_published_instrument_has_none_of_it(page: Page, stage: Stage) -> None:
    enter(page, f"{stage.url}/w/short")
    expect(page.get_by_role("heading", name="A few questions")).to_have_count(0)
