"""The worker's page with two chatbots side by side: by keyboard, on a phone, refreshed in between."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.axe import clean
from tests.e2e.hands import enter, open_topic, press
from tests.e2e.stage import Stage

pytestmark = pytest.mark.browser


def fits(page: Page) -> None:
    """Nothing is wrong by axe, and nothing scrolls sideways."""
    clean(page)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def say_to_both(page: Page, text: str) -> None:
    """Say something, and wait until both replies are there."""
    replies = page.locator(".both .bubble-bot")
    before = replies.count()
    message = page.get_by_label("Your message")
    message.fill(text)
    message.press("Enter")
    expect(replies).to_have_count(before + 2)


def test_replies_are_chosen_from_by_keyboard(page: Page, stage: Stage) -> None:
    enter(page, f"{stage.url}/w/turns?worker=keys")
    expect(page.get_by_text("Conversation 1 of 1 · two new chatbots")).to_be_visible()
    open_topic(page)
    say_to_both(page, "I bake bread.")
    left, right = page.locator(".both .bubble-bot").all_inner_texts()
    assert (left.startswith("Chatbot A"), right.startswith("Chatbot B")) == (True, True)
    asked = page.get_by_role("group", name="Which of the two replies is better?")
    page.reload()
    expect(asked.get_by_role("button")).to_have_count(3)
    assert page.locator(".both .bubble-bot").all_inner_texts() == [left, right]
    fits(page)
    asked.get_by_role("button", name="A is better").focus()
    page.keyboard.press("Tab")
    expect(asked.get_by_role("button", name="About the same")).to_be_focused()
    page.keyboard.press("Enter")
    expect(asked).to_have_count(0)
    expect(page.get_by_label("Your message")).to_be_focused()
    page.reload()
    expect(asked).to_have_count(0)
    press(page, re.compile("^Finish"))
    page.get_by_role("dialog").get_by_role("button", name="Finish").click()
    press(page, "Submit")
    expect(page.locator(".code-text")).to_be_visible()
    assert preferences(stage, "keys") == [(1, "tie")]


def test_conversations_are_compared_and_rated_on_a_phone(phone: Page, stage: Stage) -> None:
    page = phone
    enter(page, f"{stage.url}/w/ends?worker=thumbs")
    open_topic(page)
    say_to_both(page, "I bake bread.")
    one, other = page.locator(".both .bubble-bot").all()
    above, below = one.bounding_box(), other.bounding_box()
    assert above is not None
    assert below is not None
    assert above["y"] + above["height"] <= below["y"]  # one below the other, where there is no room beside
    fits(page)
    press(page, re.compile("^Finish"))
    press(page, "Finish and rate")
    expect(page.get_by_role("heading", name="Compare the two")).to_be_focused()
    press(page, "Submit and continue")
    expect(page.get_by_text("Please choose one of these.")).to_be_visible()
    expect(page.get_by_role("radio")).to_have_count(2)  # this study takes no ties
    page.get_by_role("radio", name="Chatbot A").focus()
    page.keyboard.press("ArrowRight")
    page.reload()
    expect(page.get_by_role("radio", name="Chatbot B")).to_be_checked()
    fits(page)
    press(page, "Submit and continue")
    for name in ("A", "B"):
        expect(page.get_by_role("heading", name=f"How was chatbot {name}?")).to_be_visible()
        page.get_by_role("slider").fill("40" if name == "A" else "70")
        page.reload()
        fits(page)
        press(page, re.compile("^Submit ratings"))
    press(page, "Submit")
    expect(page.locator(".code-text")).to_be_visible()
    assert preferences(stage, "thumbs") == [(1, "right")]
    rated = stage.rows(
        "SELECT side, value FROM rating JOIN conversation ON conversation.id = conversation_id "
        "ORDER BY position"
    )
    assert rated == [("left", 40), ("right", 70)]


def preferences(stage: Stage, worker: str) -> list[tuple[int, str]]:
    """Return after which lines a worker has preferred what."""
    return stage.rows(
        "SELECT turn_index, preference FROM v1_choice WHERE worker = ? ORDER BY turn_index",
        stage.pseudonym(worker),
    )
