"""The worker's page in a real browser, over a real server."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.axe import clean, clean_in_both_colours
from tests.e2e.hands import BUBBLES, FINISH, choose, enter, finish, open_topic, press, say, to_rating
from tests.e2e.stage import Stage

pytestmark = pytest.mark.browser
STATEMENTS = 7


# ---- the keyboard ----------------------------------------------------------------------------


def focused(page: Page) -> str:
    script = """() => {
        const e = document.activeElement;
        if (e === document.body) return "";
        const named = e.getAttribute("aria-labelledby");
        const words = named ? document.getElementById(named).textContent : "";
        const label = e.labels?.[0]?.textContent ?? "";
        const group = e.closest("fieldset")?.querySelector("legend")?.textContent ?? "";
        return [group, words || label || e.getAttribute("aria-label") || e.textContent].join(" | ");
    }"""
    return str(page.evaluate(script))


def tab_to(page: Page, name: str) -> None:
    for _ in range(40):
        if name in focused(page):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab never comes to {name}; it is at {focused(page)}")


def key(page: Page, name: str, *keys: str) -> None:
    tab_to(page, name)
    for each in keys:
        page.keyboard.press(each)


def test_the_keyboard_alone_does_it_all_and_axe_finds_nothing(page: Page, link: str) -> None:
    page.goto(link)
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    clean_in_both_colours(page)
    key(page, "No thanks", "Enter")
    clean_in_both_colours(page)
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="No thanks")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    for k in range(1, 4):
        first = k == 1  # the others look like it
        expect(page.get_by_role("heading", level=1)).to_be_focused()
        tab_to(page, "Your topic")
        page.keyboard.type("Bread")
        key(page, "How do you feel about it?", "ArrowRight")
        if first:
            clean_in_both_colours(page)
        key(page, "Start the conversation", "Enter")
        expect(page.get_by_label("Your message")).to_be_focused()
        for said, text in enumerate(("I bake bread.", "It is good."), start=1):
            page.keyboard.type(text)
            page.keyboard.press("Enter")
            # While a reply is due Enter does nothing, so each line waits for the reply to the one before.
            expect(page.locator(BUBBLES)).to_have_count(2 * said)
        if first:
            change_topic_by_keyboard(page)
            clean_in_both_colours(page)
        key(page, "Finish & rate", "Enter")
        if first:
            clean_in_both_colours(page)
        key(page, "Finish and rate", "Enter")
        expect(page.get_by_role("heading", name="How was it?")).to_be_focused()
        for slider in page.get_by_role("slider").all():
            page.keyboard.press("Tab")
            expect(slider).to_be_focused()
            page.keyboard.press("ArrowRight")
            page.keyboard.press("PageUp")
        if first:
            clean_in_both_colours(page)
        key(page, "Submit ratings", "Enter")
    expect(page.get_by_label("Your feedback")).to_be_visible()  # the page after the last ratings has come
    tab_to(page, "Your feedback")
    page.keyboard.type("No mouse was used.")
    clean_in_both_colours(page)
    key(page, "Submit", "Enter")
    expect(page.get_by_text("Your completion code")).to_be_visible()
    clean_in_both_colours(page)


def change_topic_by_keyboard(page: Page) -> None:
    page.keyboard.press("Shift+Tab")
    key(page, " | Change topic", "Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    clean_in_both_colours(page)
    key(page, "Save topic", "Enter")
    assert "How did the topic change?" in focused(page)
    key(page, "How did the topic change?", "Space")
    tab_to(page, "New topic")
    page.keyboard.type("Butter")
    key(page, "How do you feel about it?", "Space")
    key(page, "How does the chatbot seem to feel about it?", "Space")
    key(page, "Save topic", "Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator(".chat-topic-text")).to_have_text("Butter")


# ---- the rules -------------------------------------------------------------------------------


def test_too_few_inputs_open_a_warning_and_end_nothing(page: Page, link: str) -> None:
    enter(page, link)
    open_topic(page)
    press(page, FINISH)
    expect(page.get_by_text("2 more messages before")).to_be_visible()
    press(page, "Keep chatting")
    say(page, "I bake bread.")
    press(page, FINISH)
    expect(page.get_by_text("1 more message before")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_label("Your message")).to_be_visible()


def test_sliders_show_no_number_and_no_thumb_until_touched(page: Page, link: str) -> None:
    to_rating(page, link)
    expect(page.locator(".slider-thumb")).to_have_count(0)
    press(page, re.compile("Submit ratings"))
    expect(page.get_by_text("Please answer this one, too.")).to_have_count(STATEMENTS)
    for index, slider in enumerate(page.locator(".slider").all()):
        slider.click(position={"x": 20 + 90 * index, "y": 20})
    expect(page.locator(".slider-thumb")).to_have_count(STATEMENTS)
    words = page.get_by_role("list").all_inner_texts()
    spoken = [slider.get_attribute("aria-valuetext") or "" for slider in page.get_by_role("slider").all()]
    assert not re.search(r"\d", " ".join(words + spoken))
    assert spoken[0] == "strongly disagree"
    assert spoken[-1] == "strongly agree"


def touch(page: Page, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Drag one finger from `start` to `end`."""
    wire = page.context.new_cdp_session(page)
    for step in range(9):
        x, y = (a + (b - a) * step / 8 for a, b in zip(start, end, strict=True))
        kind = "touchMove" if step else "touchStart"
        wire.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
        page.wait_for_timeout(16)
    wire.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    page.wait_for_timeout(100)


def test_scrolling_past_a_slider_does_not_set_it_but_a_tap_and_a_drag_do(phone: Page, link: str) -> None:
    to_rating(phone, link)
    box = phone.locator(".slider").nth(1).bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    touch(phone, (x, y), (x + 10, y - 250))
    phone.wait_for_function("scrollY > 100")
    expect(phone.locator(".slider-thumb")).to_have_count(0)
    slider = phone.locator(".slider").nth(2)
    slider.tap()
    expect(phone.locator(".slider-thumb")).to_have_count(1)
    expect(phone.get_by_role("slider").nth(2)).to_have_value(re.compile("^(49|50|51)$"))
    box = slider.bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    touch(phone, (box["x"] + 20, y), (box["x"] + box["width"], y + 8))
    expect(phone.get_by_role("slider").nth(2)).to_have_value("100")


def test_nothing_can_be_sent_while_a_reply_is_due(page: Page, stage: Stage) -> None:
    enter(page, f"{stage.url}/w/calm?worker=eager")
    open_topic(page)
    for text in ("First.", "Second."):
        page.get_by_label("Your message").fill(text)
        page.keyboard.press("Enter")
    expect(page.locator(".bubble-typing")).to_be_visible()
    expect(page.locator(BUBBLES)).to_have_count(1)
    expect(page.get_by_label("Your message")).to_have_value("Second.")


def test_what_people_write_is_text(page: Page, link: str) -> None:
    nasty = "<img src=x onerror=\"document.title='owned'\"><b>bold</b>"
    enter(page, link)
    open_topic(page, nasty)
    say(page, nasty)
    expect(page.locator(".bubble-own")).to_contain_text(nasty)
    expect(page.locator(".chat-topic-text")).to_have_text(nasty)
    assert page.locator(".chat img, .chat b").count() == 0
    assert "owned" not in page.title()


def test_a_chatbot_that_fails_is_replaced_with_a_calm_word(page: Page, stage: Stage) -> None:
    enter(page, f"{stage.url}/w/failing?worker=unlucky")
    open_topic(page)
    page.get_by_label("Your message").fill("Are you there?")
    page.keyboard.press("Enter")
    expect(page.get_by_text("That chatbot couldn’t continue.")).to_be_visible()
    expect(page.get_by_text("Conversation 1 of 6").first).to_be_visible()
    clean_in_both_colours(page)
    page.reload()
    expect(page.get_by_text("That chatbot couldn’t continue.")).to_be_visible()
    open_topic(page)
    expect(page.get_by_text("A new one has taken its place")).to_be_visible()
    page.reload()
    expect(page.get_by_text("A new one has taken its place")).to_be_visible()
    clean_in_both_colours(page)


def test_a_chatbot_that_fails_after_enough_inputs_is_rated(page: Page, stage: Stage) -> None:
    enter(page, f"{stage.url}/w/faltering?worker=patient")
    open_topic(page)
    say(page, "I bake bread.")
    say(page, "It is good bread.")
    page.get_by_label("Your message").fill("Are you there?")
    page.keyboard.press("Enter")
    expect(page.get_by_text("You wrote enough")).to_be_visible()
    clean_in_both_colours(page)


def test_a_conversation_that_is_as_long_as_it_may_get_is_to_be_finished(page: Page, stage: Stage) -> None:
    enter(page, f"{stage.url}/w/full?worker=talkative")
    open_topic(page)
    say(page, "I bake bread.")
    expect(page.get_by_text("You can keep chatting as long as you like")).to_be_visible()
    say(page, "It is good bread.")
    expect(page.locator(".composer-full")).to_have_text(re.compile("This conversation is complete"))
    expect(page.get_by_label("Your message")).to_have_count(0)
    expect(page.get_by_text("You can keep chatting")).to_have_count(0)
    clean_in_both_colours(page)
    page.reload()
    expect(page.locator(".composer-full")).to_be_visible()
    finish(page)


def test_what_is_still_to_be_ticked_stands_above_the_answer_on_a_phone(phone: Page, stage: Stage) -> None:
    phone.goto(f"{stage.url}/w/board?worker=unticked")
    note = phone.get_by_text("2 still to tick")
    expect(note).to_be_visible()
    above, answer = note.bounding_box(), phone.locator(".bar .button-waiting").bounding_box()
    assert above is not None
    assert answer is not None
    assert above["y"] + above["height"] <= answer["y"]
    assert above["height"] < 50  # two lines at most


def test_an_icebreaker_asks_for_an_opinion_only(page: Page, stage: Stage) -> None:
    enter(page, f"{stage.url}/w/icebreaker?worker=given")
    sentence = page.locator(".icebreaker").inner_text()
    expect(page.get_by_label("Your topic")).to_have_count(0)
    choose(page, "How do you feel about it?", "Dislike")
    press(page, "Start the conversation")
    expect(page.locator(".chat-topic-text")).to_have_text(sentence)
    kept = stage.rows("SELECT opinion FROM topic_mark WHERE topic = ?", sentence)
    assert kept == [("dislike",)]


def test_a_heading_takes_the_focus_from_nobody_who_writes_already(phone: Page, link: str) -> None:
    phone.add_init_script(
        """new MutationObserver((_, observer) => {
            const field = document.getElementById("message");
            if (field) { field.focus(); observer.disconnect(); }
        }).observe(document, { childList: true, subtree: true });"""
    )
    enter(phone, link)
    open_topic(phone)
    phone.wait_for_timeout(300)  # what comes after the drawing has come
    expect(phone.get_by_label("Your message")).to_be_focused()


def test_leaving_asks_first(page: Page, link: str) -> None:
    page.goto(link)
    press(page, "No thanks")
    press(page, "Stay")
    expect(page.get_by_role("button", name="I understand")).to_be_visible()
    press(page, "No thanks")
    press(page, "Leave the study")
    expect(page.get_by_role("heading", name="You have left the study")).to_be_visible()
    page.reload()  # nothing was stored of somebody who had not agreed
    expect(page.get_by_role("button", name="I understand")).to_be_visible()


@pytest.mark.parametrize(
    ("run", "title"), [("closed", "This study has ended"), ("nowhere", "We can’t find this study")]
)
def test_a_run_that_cannot_be_joined_says_so(page: Page, stage: Stage, run: str, title: str) -> None:
    page.goto(f"{stage.url}/w/{run}")
    expect(page.get_by_role("heading", name=title)).to_be_visible()
    clean_in_both_colours(page)


def lines_of(page: Page, words: str) -> int:
    """Return over how many lines these words of the first heading go."""
    script = """words => {
        const text = document.querySelector("h1").firstChild, range = document.createRange();
        const start = text.data.indexOf(words);
        range.setStart(text, start);
        range.setEnd(text, start + words.length);
        return new Set([...range.getClientRects()].map(({ top }) => top)).size;
    }"""
    return int(page.evaluate(script, words))


def test_japanese_lines_end_after_a_phrase(phone: Page, stage: Stage) -> None:
    phone.goto(f"{stage.url}/w/in_ja")
    expect(phone.get_by_role("heading", level=1)).to_have_text("ようこそ。進め方をご説明します")
    assert lines_of(phone, "ようこそ。進め方をご説明します") == 2
    assert lines_of(phone, "進め方を") == 1
    assert lines_of(phone, "ご説明します") == 1


def test_from_right_to_left_on_a_phone(phone: Page, stage: Stage) -> None:
    """The page is mirrored and fits; what is written from left to right within it stays so."""
    phone.goto(f"{stage.url}/w/in_ar")
    press(phone, "فهمت")
    phone.get_by_label("موضوعك").fill("البحر")
    phone.get_by_role("radio").first.check()
    press(phone, "ابدأ المحادثة")
    message = phone.get_by_label("رسالتك")
    message.fill("عندي 3 كتب")
    message.press("Enter")
    reply = phone.locator(".bubble-bot:not(.bubble-typing)")
    expect(reply).to_have_count(1)
    mine = phone.locator(".bubble-own").bounding_box()
    theirs = reply.bounding_box()
    assert mine is not None
    assert theirs is not None
    assert mine["x"] < theirs["x"]
    assert reply.evaluate("e => getComputedStyle(e.querySelector('[dir]') ?? e).direction") == "ltr"
    assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
    clean(phone)
