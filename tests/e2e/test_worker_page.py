"""The worker's page in a real browser, over a real server."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.e2e.hands import (
    FINISH,
    be_outdated,
    choose,
    enter,
    finish,
    left_by_version_one,
    make_token_old,
    open_topic,
    press,
    rate,
    refuse,
    say,
)
from tests.e2e.stage import Stage

pytestmark = pytest.mark.browser
BUBBLES = ".bubble:not(.bubble-typing)"
STATEMENTS = 7
# Resolves once the page is drawn and no colour is on its way to another.
SETTLED = """async () => {
    await new Promise(requestAnimationFrame);
    await Promise.allSettled(document.getAnimations().map((animation) => animation.finished));
    await new Promise(requestAnimationFrame);
}"""


@pytest.fixture(scope="module")
def workers() -> Iterator[int]:
    return count()


@pytest.fixture
def link(stage: Stage, workers: Iterator[int]) -> str:
    """The link of a worker who was never here, to a run of three conversations of two inputs each."""
    return f"{stage.url}/w/short?worker=test-{next(workers)}"


def rows(stage: Stage, query: str, *values: str) -> list[Any]:
    with closing(sqlite3.connect(stage.database)) as database:
        return database.execute(query, values).fetchall()


def stored(stage: Stage, text: str) -> int:
    return int(rows(stage, "SELECT count(*) FROM turn WHERE text = ?", text)[0][0])


def clean(page: Page) -> None:
    """Axe finds nothing, in light and in dark."""
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.evaluate(SETTLED)
        found = Axe().run(page).response["violations"]
        assert not found, [(v["id"], v["nodes"][0]["html"]) for v in found]


def to_rating(page: Page, link: str) -> None:
    enter(page, link)
    open_topic(page)
    say(page, "I bake bread.")
    say(page, "It is good bread.")
    finish(page)


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
    clean(page)
    key(page, "No thanks", "Enter")
    clean(page)
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="No thanks")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    for k in range(1, 4):
        expect(page.get_by_role("heading", level=1)).to_be_focused()
        tab_to(page, "Your topic")
        page.keyboard.type("Bread")
        key(page, "How do you feel about it?", "ArrowRight")
        clean(page)
        key(page, "Start the conversation", "Enter")
        expect(page.get_by_label("Your message")).to_be_focused()
        for said, text in enumerate(("I bake bread.", "It is good."), start=1):
            page.keyboard.type(text)
            page.keyboard.press("Enter")
            # While a reply is due Enter does nothing, so each line waits for the reply to the one before.
            expect(page.locator(BUBBLES)).to_have_count(2 * said)
        if k == 1:
            change_topic_by_keyboard(page)
        clean(page)
        key(page, "Finish & rate", "Enter")
        clean(page)
        key(page, "Finish and rate", "Enter")
        expect(page.get_by_role("heading", name="How was it?")).to_be_focused()
        for slider in page.get_by_role("slider").all():
            page.keyboard.press("Tab")
            expect(slider).to_be_focused()
            page.keyboard.press("ArrowRight")
            page.keyboard.press("PageUp")
        clean(page)
        key(page, "Submit ratings", "Enter")
    expect(page.get_by_label("Your feedback")).to_be_visible()  # the page after the last ratings has come
    tab_to(page, "Your feedback")
    page.keyboard.type("No mouse was used.")
    clean(page)
    key(page, "Hand in", "Enter")
    expect(page.get_by_text("Your completion code")).to_be_visible()
    clean(page)


def change_topic_by_keyboard(page: Page) -> None:
    page.keyboard.press("Shift+Tab")
    key(page, " | Topic", "Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    clean(page)
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


# ---- nothing is lost -------------------------------------------------------------------------


def test_a_refresh_in_a_chat_loses_no_word(page: Page, link: str) -> None:
    enter(page, link)
    open_topic(page, "Trains")
    say(page, "I take the train to work.")
    page.get_by_label("Your message").fill("Half a sen")
    before = page.locator(BUBBLES).all_text_contents()
    page.reload()
    expect(page.locator(BUBBLES)).to_have_count(2)
    assert page.locator(BUBBLES).all_text_contents() == before
    expect(page.get_by_label("Your message")).to_have_value("Half a sen")
    expect(page.locator(".chat-topic-text")).to_have_text("Trains")
    expect(page.get_by_text("Messages 1 of 2")).to_be_visible()


def test_a_refresh_in_a_rating_keeps_the_sliders(page: Page, link: str) -> None:
    to_rating(page, link)
    rate(page, [72, 31])
    page.reload()
    expect(page.locator(".slider-thumb")).to_have_count(2)
    expect(page.get_by_role("slider").first).to_have_value("72")
    expect(page.get_by_role("button", name="5 answers missing")).to_be_visible()
    page.goto("about:blank")
    page.go_back()
    expect(page.locator(".slider-thumb")).to_have_count(2)


def test_an_input_without_an_answer_is_sent_again_once_and_stored_once(
    page: Page, link: str, stage: Stage
) -> None:
    text = "This one gets no answer."
    sent: list[str] = []

    def silence(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()
        deaf = not sent

        def to_server(message: str | bytes) -> None:
            if text in str(message):
                sent.append(str(message))
            server.send(message)

        def to_page(message: str | bytes) -> None:
            if not (deaf and sent):
                socket.send(message)

        socket.on_message(to_server)
        server.on_message(to_page)

    page.route_web_socket(re.compile("/ws$"), silence)
    enter(page, link)
    open_topic(page)
    page.get_by_label("Your message").fill(text)
    page.keyboard.press("Enter")
    expect(page.get_by_text("Sending…")).to_be_visible()
    while not stored(stage, text):
        page.wait_for_timeout(20)
    page.reload()
    expect(page.locator(BUBBLES)).to_have_count(2)
    expect(page.get_by_text("Sending…")).to_have_count(0)
    assert len(sent) == 2
    assert sent[0] == sent[1]
    assert stored(stage, text) == 1


def test_what_is_written_while_the_server_is_away_arrives(page: Page, link: str, stage: Stage) -> None:
    enter(page, link)
    open_topic(page)
    say(page, "Hello, do you like bread?")
    stage.stop()
    try:
        expect(page.get_by_text("Connection lost.")).to_be_visible()
        page.get_by_label("Your message").fill("Written in the dark.")
        page.get_by_label("Your message").press("Enter")
        expect(page.get_by_text("Sending…")).to_be_visible()
    finally:
        stage.start()
    expect(page.locator(BUBBLES)).to_have_count(4)
    expect(page.get_by_text("Connection lost.")).to_have_count(0)
    assert stored(stage, "Written in the dark.") == 1


def test_what_is_written_while_the_server_is_away_survives_a_closed_tab(
    page: Page, link: str, stage: Stage
) -> None:
    enter(page, link)
    open_topic(page)
    stage.stop()
    try:
        expect(page.get_by_text("Connection lost.")).to_be_visible()
        page.get_by_label("Your message").fill("Written, then closed.")
        page.get_by_label("Your message").press("Enter")
        expect(page.get_by_text("Sending…")).to_be_visible()
        page.get_by_label("Your message").fill("Half a thou")
        again = page.context.new_page()
        page.close()
    finally:
        stage.start()
    again.goto(link)
    expect(again.locator(BUBBLES)).to_have_count(2)
    expect(again.get_by_label("Your message")).to_have_value("Half a thou")
    assert stored(stage, "Written, then closed.") == 1


def test_what_comes_too_late_gives_its_words_back_and_the_page_catches_up(
    page: Page, phone: Page, link: str, stage: Stage
) -> None:
    late = "Written in the first conversation."
    enter(page, link)
    open_topic(page)
    stage.stop()
    try:
        expect(page.get_by_text("Connection lost.")).to_be_visible()
        page.get_by_label("Your message").fill(late)
        page.get_by_label("Your message").press("Enter")
        expect(page.get_by_text("Sending…")).to_be_visible()
        page.goto("about:blank")
    finally:
        stage.start()
    phone.goto(link)
    say(phone, "I bake bread.")
    say(phone, "It is good bread.")
    finish(phone)
    rate(phone, [50] * STATEMENTS)
    press(phone, "Submit ratings and go on")
    open_topic(phone, "Trains")
    page.goto(link)
    expect(page.get_by_text("this conversation has moved on")).to_be_visible()
    expect(page.get_by_label("Your message")).to_have_value(late)
    expect(page.locator(".chat-topic-text")).to_have_text("Trains")
    expect(page.locator(BUBBLES)).to_have_count(0)
    assert stored(stage, late) == 0
    say(page, "I like trains.")
    expect(page.get_by_text("Messages 1 of 2")).to_be_visible()


def test_a_topic_change_that_is_refused_keeps_its_words(page: Page, link: str) -> None:
    refuse(page, "topic_change", "too_long")
    enter(page, link)
    open_topic(page, "Trains")
    press(page, "Topic")
    choose(page, "How did the topic change?", "The chatbot changed it")
    page.get_by_label("New topic").fill("Bridges over rivers")
    choose(page, "How do you feel about it?", "Like")
    choose(page, "How does the chatbot seem to feel about it?", "Dislike")
    press(page, "Save topic")
    expect(page.get_by_text("That is too long.")).to_be_visible()
    expect(page.locator(".chat-topic-text")).to_have_text("Trains")
    press(page, "Topic")
    expect(page.get_by_label("New topic")).to_have_value("Bridges over rivers")
    expect(page.get_by_role("radio", name="Dislike").last).to_be_checked()


def test_two_tabs_opened_at_once_are_one_worker(page: Page, stage: Stage) -> None:
    page.context.add_init_script(
        "const ask = fetch;"
        "fetch = async (...what) => { await new Promise(go => setTimeout(go, 400)); return ask(...what); }"
    )
    tabs = [page, page.context.new_page()]
    for tab in tabs:
        tab.goto(f"{stage.url}/w/single", wait_until="commit")
    query = "SELECT count(*) FROM assignment JOIN run ON run.id = run_id WHERE slug = 'single'"
    for tab in tabs:
        expect(tab.get_by_role("button", name="I understand")).to_be_visible()
    assert rows(stage, query) == [(0,)]
    for tab in tabs:
        press(tab, "I understand")
        expect(tab.get_by_role("button", name="Start the conversation")).to_be_visible()
    expect(page.get_by_role("heading", name="This session is open in another tab")).to_be_visible()
    assert rows(stage, query) == [(1,)]


def test_a_study_that_fills_up_while_the_instructions_are_read_says_so(page: Page, stage: Stage) -> None:
    page.goto(f"{stage.url}/w/filling?worker=slow")
    expect(page.get_by_role("button", name="I understand")).to_be_visible()
    other = page.context.new_page()
    enter(other, f"{stage.url}/w/filling?worker=quick")
    press(page, "I understand")
    expect(page.get_by_role("heading", name="Every place is taken")).to_be_visible()
    clean(page)
    press(page, "Try again")
    expect(page.get_by_role("heading", name="Every place is taken")).to_be_visible()


def test_a_link_that_has_expired_says_so_and_can_be_opened_afresh(page: Page, stage: Stage) -> None:
    enter(page, f"{stage.url}/w/demo")
    make_token_old(page, stage, "demo")
    page.reload()
    expect(page.get_by_role("heading", name="This link has expired")).to_be_visible()
    clean(page)
    press(page, "Open the study again")
    expect(page.get_by_role("button", name="I understand")).to_be_visible()


def test_the_older_of_two_tabs_is_told_and_can_take_the_session_back(page: Page, link: str) -> None:
    enter(page, link)
    open_topic(page, "Tabs")
    say(page, "I have many tabs open.")
    other = page.context.new_page()
    other.goto(link)
    expect(other.locator(BUBBLES)).to_have_count(2)
    expect(page.get_by_role("heading", name="This session is open in another tab")).to_be_visible()
    page.bring_to_front()
    clean(page)
    press(page, "Use it here instead")
    expect(page.locator(BUBBLES)).to_have_count(2)
    expect(other.get_by_role("heading", name="This session is open in another tab")).to_be_visible()


# ---- a page that is older than the server ----------------------------------------------------


def say_unanswered(page: Page, text: str) -> None:
    page.get_by_label("Your message").fill(text)
    page.get_by_label("Your message").press("Enter")
    expect(page.get_by_text("Sending…")).to_be_visible()


def test_a_page_that_is_outdated_loads_itself_anew_and_loses_no_word(
    page: Page, link: str, stage: Stage
) -> None:
    enter(page, link)
    open_topic(page)
    say(page, "Said before the update.")
    loads: list[str] = []
    page.on("load", lambda: loads.append(page.url))
    stage.stop()
    try:
        expect(page.get_by_text("Connection lost.")).to_be_visible()
        say_unanswered(page, "Written during the update.")
        page.get_by_label("Your message").fill("Half a line")
        be_outdated(page, times=1)
    finally:
        stage.start()
    expect(page.locator(BUBBLES)).to_have_count(4)
    assert len(loads) == 1
    expect(page.get_by_label("Your message")).to_have_value("Half a line")
    assert stored(stage, "Said before the update.") == 1
    assert stored(stage, "Written during the update.") == 1


def test_a_page_that_stays_outdated_loads_itself_anew_only_once(page: Page, link: str) -> None:
    enter(page, link)
    open_topic(page)
    loads: list[str] = []
    page.on("load", lambda: loads.append(page.url))
    be_outdated(page, times=2)
    page.reload()
    expect(page.get_by_role("heading", name="This study has just been updated")).to_be_visible()
    assert len(loads) == 2  # the test's own, and the page's
    clean(page)
    press(page, "Load the page anew")
    expect(page.get_by_role("log")).to_be_visible()


def test_what_a_page_of_protocol_version_1_has_left_is_stored_once(
    page: Page, link: str, stage: Stage
) -> None:
    enter(page, link)
    open_topic(page)
    page.reload()
    expect(page.get_by_role("log")).to_be_visible()
    left_by_version_one(page, "1:draft", "Half a line")
    sent = {"type": "say", "k": 1, "turn": 0, "text": "Written in the page before.", "id": "before"}
    left_by_version_one(page, "outbox", [sent])
    page.reload()
    expect(page.locator(BUBBLES)).to_have_count(2)
    expect(page.get_by_label("Your message")).to_have_value("Half a line")
    page.reload()
    expect(page.locator(BUBBLES)).to_have_count(2)
    assert stored(stage, "Written in the page before.") == 1


def test_what_was_left_in_a_later_attempt_goes_back_to_the_composer(page: Page, stage: Stage) -> None:
    enter(page, f"{stage.url}/w/failing?worker=left-behind")
    open_topic(page)
    page.get_by_label("Your message").fill("Are you there?")
    page.keyboard.press("Enter")
    expect(page.get_by_text("That chatbot could not go on.")).to_be_visible()
    open_topic(page)
    page.reload()
    expect(page.get_by_role("log")).to_be_visible()
    sent = {"type": "say", "k": 1, "turn": 0, "text": "Written to the second chatbot.", "id": "second"}
    left_by_version_one(page, "outbox", [sent])
    page.reload()
    expect(page.get_by_label("Your message")).to_have_value("Written to the second chatbot.")
    assert stored(stage, "Written to the second chatbot.") == 0


# ---- the rules -------------------------------------------------------------------------------


def test_too_few_inputs_open_a_warning_and_end_nothing(page: Page, link: str) -> None:
    enter(page, link)
    open_topic(page)
    press(page, FINISH)
    expect(page.get_by_text("2 more messages are needed")).to_be_visible()
    press(page, "Keep chatting")
    say(page, "I bake bread.")
    press(page, FINISH)
    expect(page.get_by_text("One more message is needed")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_label("Your message")).to_be_visible()


def test_sliders_show_no_number_and_no_thumb_until_touched(page: Page, link: str) -> None:
    to_rating(page, link)
    expect(page.locator(".slider-thumb")).to_have_count(0)
    press(page, "7 answers missing")
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
    expect(page.get_by_text("That chatbot could not go on.")).to_be_visible()
    expect(page.get_by_text("Conversation 1 of 6").first).to_be_visible()
    clean(page)
    page.reload()
    expect(page.get_by_text("That chatbot could not go on.")).to_be_visible()
    open_topic(page)
    expect(page.get_by_text("A new one has taken its place")).to_be_visible()
    page.reload()
    expect(page.get_by_text("A new one has taken its place")).to_be_visible()
    clean(page)


def test_a_chatbot_that_fails_after_enough_inputs_is_rated(page: Page, stage: Stage) -> None:
    enter(page, f"{stage.url}/w/faltering?worker=patient")
    open_topic(page)
    say(page, "I bake bread.")
    say(page, "It is good bread.")
    page.get_by_label("Your message").fill("Are you there?")
    page.keyboard.press("Enter")
    expect(page.get_by_text("You had written enough")).to_be_visible()
    clean(page)


def test_an_icebreaker_asks_for_an_opinion_only(page: Page, stage: Stage) -> None:
    enter(page, f"{stage.url}/w/icebreaker?worker=given")
    sentence = page.locator(".icebreaker").inner_text()
    expect(page.get_by_label("Your topic")).to_have_count(0)
    choose(page, "How do you feel about it?", "Dislike")
    press(page, "Start the conversation")
    expect(page.locator(".chat-topic-text")).to_have_text(sentence)
    kept = rows(stage, "SELECT opinion FROM topic_mark WHERE topic = ?", sentence)
    assert kept == [("dislike",)]


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
    clean(page)
