"""The worker's page where servers, networks and tabs come and go: each word is stored once."""

import re

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.e2e.axe import clean
from tests.e2e.hands import (
    BUBBLES,
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
    to_rating,
)
from tests.e2e.stage import Stage

pytestmark = pytest.mark.browser
STATEMENTS = 7


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
    expect(page.get_by_text("5 still to answer")).to_be_visible()
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
    while not stage.stored(text):
        page.wait_for_timeout(20)
    page.reload()
    expect(page.locator(BUBBLES)).to_have_count(2)
    expect(page.get_by_text("Sending…")).to_have_count(0)
    assert len(sent) == 2
    assert sent[0] == sent[1]
    assert stage.stored(text) == 1


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
    assert stage.stored("Written in the dark.") == 1


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
    assert stage.stored("Written, then closed.") == 1


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
    press(phone, "Submit ratings and continue")
    open_topic(phone, "Trains")
    page.goto(link)
    expect(page.get_by_text("That was too late: this conversation has moved on")).to_be_visible()
    expect(page.get_by_label("Your message")).to_have_value(late)
    expect(page.locator(".chat-topic-text")).to_have_text("Trains")
    expect(page.locator(BUBBLES)).to_have_count(0)
    assert stage.stored(late) == 0
    say(page, "I like trains.")
    expect(page.get_by_text("Messages 1 of 2")).to_be_visible()


def test_a_topic_change_that_is_refused_keeps_its_words(page: Page, link: str) -> None:
    refuse(page, "topic_change", "too_long")
    enter(page, link)
    open_topic(page, "Trains")
    press(page, "Change topic")
    choose(page, "How did the topic change?", "The chatbot changed it")
    page.get_by_label("New topic").fill("Bridges over rivers")
    choose(page, "How do you feel about it?", "Like")
    choose(page, "How does the chatbot seem to feel about it?", "Dislike")
    press(page, "Save topic")
    expect(page.get_by_text("That is too long.")).to_be_visible()
    expect(page.locator(".chat-topic-text")).to_have_text("Trains")
    press(page, "Change topic")
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
    assert stage.rows(query) == [(0,)]
    for tab in tabs:
        press(tab, "I understand")
        expect(tab.get_by_role("button", name="Start the conversation")).to_be_visible()
    expect(page.get_by_role("heading", name="This session is open in another tab")).to_be_visible()
    assert stage.rows(query) == [(1,)]


def test_a_study_that_fills_up_while_the_instructions_are_read_says_so(
    page: Page, phone: Page, stage: Stage
) -> None:
    page.goto(f"{stage.url}/w/filling?worker=slow")
    expect(page.get_by_role("button", name="I understand")).to_be_visible()
    enter(phone, f"{stage.url}/w/filling?worker=quick")
    press(page, "I understand")
    expect(page.get_by_role("heading", name="Every place is taken")).to_be_visible()
    clean(page)
    press(page, "Try again")
    expect(page.get_by_role("heading", name="Every place is taken")).to_be_visible()


def test_a_link_that_has_expired_says_so_and_leads_to_no_second_place(page: Page, stage: Stage) -> None:
    enter(page, f"{stage.url}/w/demo")
    make_token_old(page, stage, "demo")
    held = stage.assignments("demo")
    for _ in range(2):
        page.reload()
        expect(page.get_by_role("heading", name="This link has expired")).to_be_visible()
        expect(page.get_by_role("button")).to_have_count(0)
    clean(page)
    assert stage.assignments("demo") == held
    assert page.evaluate("localStorage['candor:demo::token']")  # by which the server knows who has taken part


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


def loads_of(page: Page) -> list[str]:
    """Return a list that grows by the page's address whenever it is loaded anew, as that begins.

    Not by `load`: a page that loads itself anew before all of it is there has no such event.
    """
    loads: list[str] = []
    page.on("framenavigated", lambda frame: loads.append(frame.url))
    return loads


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
    loads = loads_of(page)
    stage.stop()
    try:
        expect(page.get_by_text("Connection lost.")).to_be_visible()
        say_unanswered(page, "Written during the update.")
        page.get_by_label("Your message").fill("Half a line")
        be_outdated(page, times=1)
        with page.expect_websocket():
            pass  # it tries in vain at least once
    finally:
        stage.start()
    expect(page.locator(BUBBLES)).to_have_count(4)
    assert len(loads) == 1
    expect(page.get_by_label("Your message")).to_have_value("Half a line")
    assert stage.stored("Said before the update.") == 1
    assert stage.stored("Written during the update.") == 1


def test_a_page_that_stays_outdated_loads_itself_anew_only_once(page: Page, link: str) -> None:
    enter(page, link)
    open_topic(page)
    loads = loads_of(page)
    be_outdated(page, times=2)
    page.reload()
    expect(page.get_by_role("heading", name="This study has just been updated")).to_be_visible()
    assert len(loads) == 2  # the test's own, and the page's
    clean(page)
    press(page, "Reload the page")
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
    assert stage.stored("Written in the page before.") == 1


def test_what_was_left_in_a_later_attempt_goes_back_to_the_composer(page: Page, stage: Stage) -> None:
    enter(page, f"{stage.url}/w/failing?worker=left-behind")
    open_topic(page)
    page.get_by_label("Your message").fill("Are you there?")
    page.keyboard.press("Enter")
    expect(page.get_by_text("That chatbot couldn’t continue.")).to_be_visible()
    open_topic(page)
    page.reload()
    expect(page.get_by_role("log")).to_be_visible()
    sent = {"type": "say", "k": 1, "turn": 0, "text": "Written to the second chatbot.", "id": "second"}
    left_by_version_one(page, "outbox", [sent])
    page.reload()
    expect(page.get_by_label("Your message")).to_have_value("Written to the second chatbot.")
    assert stage.stored("Written to the second chatbot.") == 0
