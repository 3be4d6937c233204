"""Tests of fixed problems of the worker's page that new users had found."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.hands import (
    BUBBLES,
    FINISH,
    choose,
    enter,
    finish,
    open_topic,
    press,
    rate,
    say,
)
from tests.e2e.stage import Stage

pytestmark = pytest.mark.browser


@pytest.fixture
def sideways(browser: Browser) -> Iterator[Page]:
    """A phone on its side."""
    context = browser.new_context(
        viewport={"width": 844, "height": 390}, is_mobile=True, has_touch=True, locale="en-GB"
    )
    yield context.new_page()
    context.close()


def do_all(page: Page, url: str, sliders: int = 7) -> None:
    """Take part in a study of one conversation of one message, up to the feedback."""
    enter(page, url)
    open_topic(page)
    say(page, "I bake bread.")
    finish(page)
    rate(page, [50] * sliders)
    press(page, "Submit ratings")
    expect(page.get_by_label("Your feedback")).to_be_visible()


# ---- the chat stays where it is --------------------------------------------------------------


def test_a_chat_cannot_be_scrolled_off_the_screen(phone: Page, stage: Stage) -> None:
    enter(phone, f"{stage.url}/w/short?worker=scroller")
    open_topic(phone)
    for line in ("I bake bread.", "It is good.", "Shall I tell you how?", "You need flour.", "And salt."):
        say(phone, line)
    moved = phone.evaluate(
        """() => {
            const places = [document.scrollingElement, document.body, document.querySelector(".frame")];
            for (const place of places) place.scrollTo(0, 2000);
            return places.map((place) => place.scrollTop);
        }"""
    )
    assert moved == [0, 0, 0]
    expect(phone.get_by_label("Your message")).to_be_in_viewport(ratio=1)


def test_on_a_phone_on_its_side_all_of_a_chat_is_in_view(sideways: Page, stage: Stage) -> None:
    enter(sideways, f"{stage.url}/w/short?worker=sideways")
    open_topic(sideways)
    for height in (390, 200):  # without and with a keyboard
        sideways.set_viewport_size({"width": 844, "height": height})
        for part in (
            sideways.get_by_label("Your message"),
            sideways.get_by_text("Messages 0 of 2"),
            sideways.get_by_role("button", name="Leave"),
            sideways.get_by_role("button", name=FINISH),
            sideways.get_by_role("button", name="Change topic", exact=True),
        ):
            expect(part).to_be_in_viewport(ratio=1)
        box = sideways.get_by_role("log").bounding_box()
        assert box is not None
        assert box["height"] > 30


def test_on_touch_the_focus_goes_to_the_new_screen(phone: Page, stage: Stage) -> None:
    enter(phone, f"{stage.url}/w/short?worker=toucher")
    phone.get_by_label("Your topic").fill("Bread")
    choose(phone, "How do you feel about it?", "Like")
    phone.get_by_role("button", name="Start the conversation").tap()
    expect(phone.get_by_role("heading", level=1, name="Conversation 1 of 3")).to_be_focused()


def test_it_is_announced_that_enough_is_written(page: Page, stage: Stage) -> None:
    enter(page, f"{stage.url}/w/platform?worker=listener")
    open_topic(page)
    status = page.get_by_role("status").filter(has_text="You have written enough messages.")
    expect(status).to_have_count(0)
    expect(page.get_by_role("button", name=FINISH)).to_have_class(re.compile("button-waiting"))
    say(page, "I bake bread.")
    expect(status).to_have_count(1)
    expect(page.get_by_role("button", name="Finish & rate", exact=True)).to_be_visible()


def test_a_text_that_is_too_long_is_not_cut(page: Page, stage: Stage) -> None:
    enter(page, f"{stage.url}/w/short?worker=paster")
    open_topic(page)
    field = page.get_by_label("Your message")
    field.focus()
    page.keyboard.insert_text("bread " * 720)  # 4,320 characters
    expect(field).to_have_value("bread " * 720)
    expect(page.get_by_text("3,320 characters too many")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator(BUBBLES)).to_have_count(0)
    field.fill("Bread.")
    say(page, "Bread.")


def test_a_reply_is_never_shown_as_unread_markdown(page: Page, stage: Stage) -> None:
    page.add_init_script(
        """{
            window.raw = 0;
            new MutationObserver(() => {
                for (const { textContent } of document.querySelectorAll(".bubble-bot .bubble-text"))
                    window.raw += textContent.includes("**");
            }).observe(document, { subtree: true, childList: true, characterData: true });
        }"""
    )
    enter(page, f"{stage.url}/w/rich?worker=reader")
    open_topic(page)
    for line in ("I bake bread.", "It is good."):
        say(page, line)
    expect(page.locator(".bubble-bot strong")).to_have_text(["that", "that"])
    assert page.evaluate("window.raw") == 0


def test_what_is_written_from_right_to_left_is_shown_so(page: Page, stage: Stage) -> None:
    enter(page, f"{stage.url}/w/short?worker=hebrew")
    open_topic(page, "לחם")
    say(page, "אני אוהב לאפות לחם.")
    for text in (page.locator(".chat-topic-text bdi"), page.get_by_text("אני אוהב לאפות לחם.")):
        assert text.evaluate("element => getComputedStyle(element).direction") == "rtl"


def test_an_icebreaker_is_quoted_and_not_put_into_a_sentence(page: Page, stage: Stage) -> None:
    enter(page, f"{stage.url}/w/icebreaker?worker=quoted")
    sentence = page.locator(".icebreaker").inner_text()
    choose(page, "How do you feel about it?", "Like")
    press(page, "Start the conversation")
    expect(page.locator(".log-empty p")).to_have_text(
        ["You start. Say something about your topic, or ask about it:", sentence]
    )


# ---- leaving ---------------------------------------------------------------------------------


@pytest.mark.parametrize("screen", ["topic", "chat", "rating"])
def test_leaving_after_work_closes_the_dialog_and_thanks_for_it(
    page: Page, stage: Stage, screen: str
) -> None:
    enter(page, f"{stage.url}/w/platform?worker=leaves-{screen}")
    if screen != "topic":
        open_topic(page)
    if screen == "rating":
        say(page, "I bake bread.")
        finish(page)
    press(page, "Leave the study")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button")).to_have_text(["Stay", "Leave the study"])
    expect(dialog).to_contain_text("The payment is for the whole study.")
    dialog.get_by_role("button", name="Leave the study").click()
    expect(page.get_by_role("heading", name="You have left the study")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_text("Thank you for your work")).to_be_visible()
    expect(page.get_by_text("taking a look")).to_have_count(0)
    page.reload()
    expect(page.get_by_text("Thank you for your work")).to_be_visible()


# ---- the topic dialog ------------------------------------------------------------------------


def test_a_topic_that_stays_is_not_asked_for_and_its_opinion_is_filled_in(phone: Page, stage: Stage) -> None:
    enter(phone, f"{stage.url}/w/short?worker=wisher")
    open_topic(phone, "Trains")
    say(phone, "I take the train to work.")
    press(phone, "Change topic")
    dialog = phone.get_by_role("dialog")
    # What was said last stands above the sheet.
    expect(phone.locator(BUBBLES).last).to_be_in_viewport(ratio=1)
    line, sheet = phone.locator(BUBBLES).last.bounding_box(), dialog.bounding_box()
    assert line is not None
    assert sheet is not None
    assert line["y"] + line["height"] <= sheet["y"]
    choose(phone, "How did the topic change?", "The chatbot changed it")
    expect(dialog.get_by_label("New topic")).to_be_visible()
    mine = dialog.get_by_role("group", name="How do you feel about it?")
    expect(mine.get_by_role("radio", name="Like", exact=True)).not_to_be_checked()
    choose(phone, "How did the topic change?", "I want the chatbot to change it")
    expect(dialog.get_by_label("New topic")).to_have_count(0)
    expect(mine.get_by_role("radio", name="Like", exact=True)).to_be_checked()
    choose(phone, "How does the chatbot seem to feel about it?", "Dislike")
    press(phone, "Save topic")
    expect(dialog).to_have_count(0)
    expect(phone.locator(".chat-topic-text")).to_have_text("Trains")
    phone.reload()  # what was said of the topic comes back from the server
    press(phone, "Change topic")
    choose(phone, "How did the topic change?", "It is the same, only opinions changed")
    theirs = dialog.get_by_role("group", name="How does the chatbot seem to feel about it?")
    expect(theirs.get_by_role("radio", name="Dislike")).to_be_checked()


# ---- the end ---------------------------------------------------------------------------------


def test_a_platform_is_returned_to_and_the_code_is_there_all_the_same(page: Page, stage: Stage) -> None:
    page.route("https://platform.example/**", lambda route: route.fulfill(body="Welcome back."))
    do_all(page, f"{stage.url}/w/platform?worker=returns")
    press(page, "Submit")
    expect(page.locator(".code-text")).to_have_text(re_code())
    expect(page.get_by_role("link", name="Go back now")).to_have_attribute(
        "href", "https://platform.example/back"
    )
    page.wait_for_url("https://platform.example/back")
    page.go_back()
    press(page, "Stay here")
    expect(page.get_by_text("You’ll be taken back")).to_have_count(0)


def re_code() -> re.Pattern[str]:
    return re.compile(r"^[A-Z2-7]{4}-[A-Z2-7]{4}$")


def test_a_finished_worker_gets_no_second_assignment_under_another_name(page: Page, stage: Stage) -> None:
    do_all(page, f"{stage.url}/w/in_en?worker=first", sliders=3)
    press(page, "Submit")
    expect(page.get_by_text("Your completion code")).to_be_visible()
    before = stage.assignments("in_en")
    for other in ("?worker=other", ""):
        page.goto(f"{stage.url}/w/in_en{other}")
        expect(page.get_by_role("heading", name="You have taken part already")).to_be_visible()
    assert stage.assignments("in_en") == before
    page.goto(f"{stage.url}/w/in_en?worker=first")
    expect(page.get_by_text("Your completion code")).to_be_visible()


def test_the_conversation_can_be_read_while_it_is_rated_where_the_study_says_so(
    page: Page, stage: Stage
) -> None:
    enter(page, f"{stage.url}/w/platform?worker=rereads")
    open_topic(page)
    say(page, "I bake bread.")
    finish(page)
    for _ in range(2):
        page.get_by_text("Read the conversation again").click()
        expect(page.locator(".transcript .bubble")).to_have_count(2)
        page.reload()


def test_the_button_is_in_reach_and_what_it_takes_is_on_top(phone: Page, stage: Stage) -> None:
    phone.goto(f"{stage.url}/w/demo?worker=reader")
    expect(phone.get_by_role("button", name="I understand")).to_be_in_viewport(ratio=1)
    # 6 conversations of 10 messages, 6.7 minutes each by the published run 1: 40.
    expect(phone.locator(".glance")).to_contain_text("about 40 minutes")
    expect(phone.locator(".glance")).to_contain_text("6 conversations")
    expect(phone.locator(".glance")).to_be_in_viewport()
    press(phone, "I understand")
    expect(phone.locator(".step")).to_have_count(6)
    expect(phone.locator(".step-now")).to_be_in_viewport()
