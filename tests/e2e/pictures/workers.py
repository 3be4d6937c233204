"""Every state of the worker's page."""

import json
import re
from collections.abc import Callable

from playwright.sync_api import Page, WebSocketRoute, expect

from server.study.texts import LANGUAGES
from tests.e2e.hands import (
    FINISH,
    LINES,
    choose,
    context_of,
    enter,
    finish,
    make_token_old,
    open_topic,
    press,
    rate,
    refuse,
    say,
)
from tests.e2e.pictures.camera import Camera
from tests.e2e.stage import Stage

# Pictures of each language that ships, and of one that a study has brought, from right to left.
TAGS = (*LANGUAGES, "ar")
IN_LANGUAGES = {"instructions": "Instructions", "chat": "Chat", "change": "Topic dialog", "rating": "Rating"}
TITLES = {
    "connecting": "Connecting",
    "instructions": "Instructions",
    "leave": "“No thanks” asks before it leaves",
    "topic-free": "Topic of the worker’s choice",
    "topic-free-incomplete": "Topic, something forgotten",
    "topic-icebreaker": "Topic given by the study",
    "chat-empty": "Chat, before the first word",
    "chat-typing": "Chat, a reply is on its way",
    "chat-slow": "Chat, a reply takes long",
    "chat-waiting": "Chat, a reply takes very long",
    "refused": "Chat, something could not be taken",
    "chat-middle": "Chat, in the middle",
    "chat-long": "Chat, long texts",
    "topic-dialog": "Topic dialog",
    "topic-dialog-incomplete": "Topic dialog, something forgotten",
    "topic-dialog-filled": "Topic dialog, only opinions have changed",
    "message-report": "A message is reported",
    "message-report-incomplete": "The same, no reason chosen",
    "message-reported": "Chat, a message is reported",
    "message-report-again": "What was reported can be changed or taken back",
    "too-few": "“Finish & rate” too early",
    "confirm": "“Finish & rate” asks before it ends a conversation",
    "confirm-waiting": "The same while a reply is due",
    "reconnecting": "Connection lost",
    "replaced": "The chatbot could not go on and is replaced",
    "replaced-chat": "Chat with the chatbot that took over",
    "leave-midway": "“Leave the study” asks before it leaves",
    "cut-short": "Rating, after a chatbot could not go on",
    "rating-untouched": "Rating, untouched",
    "rating-half": "Rating, half done, with a nudge",
    "rating-complete": "Rating, complete",
    "feedback": "Feedback",
    "done": "Done",
    "done-return": "Done, where a platform waits for the worker",
    "done-dark": "Done, in a dark setting",
    "chat-dark": "Chat, in a dark setting",
    "taken-over": "Opened in another tab",
    "expired": "Expired",
    "returned": "Given back",
    "run-closed": "The study has ended",
    "run-full": "Every place is taken",
    "run-not-found": "No such study",
    "link-incomplete": "The link can’t be read",
    "link-expired": "The link has expired",
    "link-invalid": "The session is not known",
    "rate-limited": "Too many requests",
    "unreachable": "The server can’t be reached",
    "trouble": "Anything else that is in the way",
    "consent": "A consent, one box still to be ticked",
    "done-debriefing": "Done, with a debriefing",
    **{f"{part}-{tag}": f"{title}, in {tag}" for tag in TAGS for part, title in IN_LANGUAGES.items()},
}

LONG = (
    "Honestly, it is hard to say. When I was small we went to the same place by the sea every summer, and I "
    "thought it was the dullest village in the world. Now I would give a lot to sit on that harbour wall "
    "again and watch the boats come in!\n\nDo you have a place like that? "
    "Aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaah, I miss it."
)
LONG_TOPIC = "Whether people who grew up by the sea ever feel at home anywhere else, and what they miss most"


def assignment(page: Page, camera: Camera, stage: Stage) -> None:
    """A whole assignment; most states lie on its way."""
    _beginning(page, camera, stage)
    _first_chat(page, camera, stage)
    _first_rating(page, camera)
    for k, topic in enumerate(["Dogs", "Trains", "Cooking", "Music", "The sea"], start=2):
        open_topic(page, topic)
        for line in LINES:
            say(page, line)
        finish(page)
        rate(page, [30 + 7 * k, 80 - 5 * k, 50, 60 + k, 40, 20 + k, 75])
        press(page, re.compile("Submit ratings"))
    page.get_by_label("Your feedback").fill("Thank you, that was fun. The third one kept asking about dogs.")
    camera.shoot(page, "feedback")
    press(page, "Submit")
    expect(page.get_by_text("Your completion code")).to_be_visible()
    camera.shoot(page, "done")
    page.emulate_media(color_scheme="dark")
    camera.shoot(page, "done-dark")


def _beginning(page: Page, camera: Camera, stage: Stage) -> None:
    page.goto(f"{stage.url}/w/demo")
    expect(page.get_by_role("button", name="I understand")).to_be_visible()
    camera.shoot(page, "instructions", whole=True)
    press(page, "No thanks")
    camera.shoot(page, "leave")
    page.keyboard.press("Escape")
    press(page, "I understand")
    expect(page.get_by_label("Your topic")).to_be_visible()
    camera.shoot(page, "topic-free")
    press(page, "Start the conversation")
    camera.shoot(page, "topic-free-incomplete")
    open_topic(page)


def _first_chat(page: Page, camera: Camera, stage: Stage) -> None:
    camera.shoot(page, "chat-empty")
    for line in LINES[:4]:
        say(page, line)
    camera.shoot(page, "chat-middle")
    press(page, "Change topic")
    camera.shoot(page, "topic-dialog")
    press(page, "Save topic")
    camera.shoot(page, "topic-dialog-incomplete")
    choose(page, "How did the topic change?", "It is the same, only opinions changed")
    choose(page, "How do you feel about it?", "Ambivalent")
    camera.shoot(page, "topic-dialog-filled")
    choose(page, "How does the chatbot seem to feel about it?", "Like")
    press(page, "Save topic")
    if page.get_by_role("button", name=FINISH).is_visible():  # on a phone only once there are enough
        press(page, FINISH)
        camera.shoot(page, "too-few")
        press(page, "Keep chatting")
    page.get_by_label("Your message").fill(LINES[4])
    stage.stop()
    expect(page.get_by_text("Connection lost")).to_be_visible()
    page.get_by_label("Your message").press("Enter")
    page.wait_for_timeout(1_000)
    camera.shoot(page, "reconnecting")
    stage.start()
    expect(page.locator(".bubble-bot:not(.bubble-typing)")).to_have_count(5, timeout=30_000)
    for line in LINES[5:]:
        say(page, line)
    press(page, FINISH)
    camera.shoot(page, "confirm")
    press(page, "Finish and rate")


def _first_rating(page: Page, camera: Camera) -> None:
    expect(page.get_by_role("slider").first).to_be_attached()
    camera.shoot(page, "rating-untouched", whole=True)
    rate(page, [72, 31, 45])
    press(page, re.compile("Submit ratings"))
    camera.shoot(page, "rating-half", whole=True)
    rate(page, [72, 31, 45, 88, 64, 12, 95])
    camera.shoot(page, "rating-complete", whole=True)
    press(page, re.compile("Submit ratings"))


def icebreaker(page: Page, camera: Camera, stage: Stage) -> None:
    enter(page, f"{stage.url}/w/icebreaker")
    choose(page, "How do you feel about it?", "Ambivalent")
    camera.shoot(page, "topic-icebreaker")


def reports(page: Page, camera: Camera, stage: Stage) -> None:
    """A message that should not have been said."""
    enter(page, f"{stage.url}/w/demo")
    open_topic(page)
    for line in LINES[:2]:
        say(page, line)
    page.get_by_role("button", name="Report this message").last.click()
    camera.shoot(page, "message-report")
    press(page, "Send and continue")
    camera.shoot(page, "message-report-incomplete")
    choose(page, "What is wrong with it?", "It is offensive or hateful")
    page.get_by_label("Anything you would like to add?").fill("It laughed at me.")
    press(page, "Send and continue")
    camera.shoot(page, "message-reported")
    press(page, "Reported. Change or take back")
    camera.shoot(page, "message-report-again")


def waiting(page: Page, camera: Camera, stage: Stage) -> None:
    """A chat whose replies take long, then the same in a second tab."""
    page.clock.install()
    enter(page, f"{stage.url}/w/calm")
    open_topic(page)
    page.get_by_label("Your message").fill(LINES[0])
    page.keyboard.press("Enter")
    expect(page.locator(".bubble-typing")).to_be_visible()
    page.get_by_label("Your message").fill("I can already write the next one")
    camera.shoot(page, "chat-typing")
    page.clock.fast_forward(13_000)
    expect(page.get_by_text("Still thinking.")).to_be_visible()
    camera.shoot(page, "chat-slow")
    page.clock.fast_forward(30_000)
    expect(page.get_by_text("this time counts")).to_be_visible()
    camera.shoot(page, "chat-waiting")
    early = page.context.new_page()
    enter(early, f"{stage.url}/w/patient")
    open_topic(early)
    early.get_by_label("Your message").fill(LINES[0])
    early.keyboard.press("Enter")
    expect(early.locator(".bubble-typing")).to_be_visible()
    press(early, FINISH)
    camera.shoot(early, "confirm-waiting")
    early.close()
    second = page.context.new_page()
    second.goto(f"{stage.url}/w/calm")
    expect(page.get_by_role("button", name="Use it here instead")).to_be_visible()
    camera.shoot(page, "taken-over")
    second.close()


def long_texts(page: Page, camera: Camera, stage: Stage) -> None:
    enter(page, f"{stage.url}/w/demo?worker=long-{camera.look}")
    open_topic(page, LONG_TOPIC)
    for line in [LINES[0], LONG, LINES[1]]:
        say(page, line)
    page.get_by_label("Your message").fill(LONG)
    camera.shoot(page, "chat-long")
    page.emulate_media(color_scheme="dark")
    page.get_by_label("Your message").fill("")
    camera.shoot(page, "chat-dark")


def replaced(page: Page, camera: Camera, stage: Stage) -> None:
    enter(page, f"{stage.url}/w/failing")
    open_topic(page)
    page.get_by_label("Your message").fill(LINES[0])
    page.keyboard.press("Enter")
    expect(page.get_by_text("That chatbot couldn’t continue.")).to_be_visible()
    camera.shoot(page, "replaced")
    open_topic(page)
    camera.shoot(page, "replaced-chat")
    press(page, re.compile("^Leave"))
    camera.shoot(page, "leave-midway")


def cut_short(page: Page, camera: Camera, stage: Stage) -> None:
    enter(page, f"{stage.url}/w/faltering")
    open_topic(page)
    for line in LINES[:2]:
        say(page, line)
    page.get_by_label("Your message").fill(LINES[2])
    page.keyboard.press("Enter")
    expect(page.get_by_text("That chatbot couldn’t continue.")).to_be_visible()
    camera.shoot(page, "cut-short", whole=True)


def refused(page: Page, camera: Camera, stage: Stage) -> None:
    enter(page, f"{stage.url}/w/demo?worker=refused-{camera.look}")
    open_topic(page)
    for line in LINES[:2]:
        say(page, line)
    refuse(page, "say", "storage_failed")
    page.reload()
    page.get_by_label("Your message").fill(LINES[2])
    page.keyboard.press("Enter")
    expect(page.get_by_text("That couldn’t be saved.")).to_be_visible()
    camera.shoot(page, "refused")


def endings(page: Page, camera: Camera, stage: Stage) -> None:
    """Every page on which nothing more happens."""
    enter(page, f"{stage.url}/w/brief?worker=slow-{camera.look}")
    page.wait_for_timeout(2_000)
    browser = page.context.browser
    assert browser is not None
    other = context_of(browser, camera.width).new_page()  # of somebody else: a browser takes part once
    enter(other, f"{stage.url}/w/brief?worker=quick-{camera.look}")
    expect(page.get_by_role("heading", name="This session has ended")).to_be_visible()
    camera.shoot(page, "expired")
    page.goto(f"{stage.url}/w/icebreaker?worker=leaver-{camera.look}")
    press(page, "No thanks")
    press(page, "Leave the study")
    expect(page.get_by_role("heading", name="You have left the study")).to_be_visible()
    camera.shoot(page, "returned")
    page.goto(f"{stage.url}/w/closed")
    expect(page.get_by_role("heading", name="This study has ended")).to_be_visible()
    camera.shoot(page, "run-closed")
    if "run-full" not in camera.taken:  # the only place is taken once
        enter(other, f"{stage.url}/w/single?worker=first")
    page.goto(f"{stage.url}/w/single?worker=second")
    expect(page.get_by_role("heading", name="Every place is taken")).to_be_visible()
    camera.shoot(page, "run-full")
    page.goto(f"{stage.url}/w/nowhere")
    expect(page.get_by_role("heading", name="We can’t find this study")).to_be_visible()
    camera.shoot(page, "run-not-found")


def doors(page: Page, camera: Camera, stage: Stage) -> None:
    """What else there may be instead of a way in."""
    enter(page, f"{stage.url}/w/calm")
    make_token_old(page, stage, "calm")
    page.reload()
    expect(page.get_by_role("heading", name="This link has expired")).to_be_visible()
    camera.shoot(page, "link-expired")
    page.goto(f"{stage.url}/w/{'x' * 101}")
    expect(page.get_by_role("heading", name="This link doesn’t work")).to_be_visible()
    camera.shoot(page, "link-incomplete")
    unknown = {"token": "made.up.token", "socket": "/ws", "assignment": "made-up"}
    limited = {"code": "rate_limited", "message": "too many arrivals", "hint": "wait"}
    internal = {
        "code": "internal",
        "message": "Something went wrong on the server",
        "hint": "Try again later",
    }
    for name, title, answer in [
        ("unreachable", "We can’t reach the study", lambda route: route.abort()),
        ("rate-limited", "A short pause, please", lambda route: route.fulfill(json={"error": limited})),
        ("trouble", "Something went wrong", lambda route: route.fulfill(json={"error": internal})),
        ("link-invalid", "This link is no longer valid", lambda route: route.fulfill(json=unknown)),
    ]:
        page.route("**/api/join", answer)
        page.goto(f"{stage.url}/w/demo?worker=stranger")
        expect(page.get_by_role("heading", name=title)).to_be_visible()
        camera.shoot(page, name)
        page.unroute("**/api/join")
    page.route_web_socket(re.compile("/ws$"), lambda _: None)
    page.goto(f"{stage.url}/w/demo?worker=stranger")
    expect(page.get_by_role("heading", name="Connecting…")).to_be_visible()
    page.wait_for_timeout(500)
    camera.shoot(page, "connecting")


def board(page: Page, camera: Camera, stage: Stage) -> None:
    """A study with a consent and a debriefing."""
    page.goto(f"{stage.url}/w/board?worker=board-{camera.look}")
    page.get_by_label("You may store what I write.").check()
    press(page, "I agree and take part")
    camera.shoot(page, "consent", whole=True)
    page.get_by_label("I am at least 18 years old.").check()
    press(page, "I agree and take part")
    press(page, "I consent")
    open_topic(page)
    say(page, LINES[0])
    finish(page)
    rate(page, [50] * 7)
    press(page, "Submit ratings")
    press(page, "Submit")
    expect(page.get_by_role("heading", name="What this was about")).to_be_visible()
    camera.shoot(page, "done-debriefing", whole=True)


def languages(page: Page, camera: Camera, stage: Stage) -> None:
    """The page in other languages. Found by its parts: its words are what differs."""
    for tag in TAGS:
        page.goto(f"{stage.url}/w/in_{tag}?worker=reader-{tag}-{camera.look}")
        expect(page.locator(".glance")).to_be_visible()
        camera.shoot(page, f"instructions-{tag}", whole=True)
        page.locator(".bar .button-primary").click()
        page.locator("#topic").fill("Tea")
        page.get_by_role("radio").first.check()
        page.locator("form .button-primary").click()
        page.locator("#message").fill(LINES[0])
        page.keyboard.press("Enter")
        expect(page.locator(".bubble-bot:not(.bubble-typing)")).to_have_count(1)
        camera.shoot(page, f"chat-{tag}")
        page.locator(".chat-topic .button").click()
        camera.shoot(page, f"change-{tag}")
        page.keyboard.press("Escape")
        page.locator(".chat-next .button").click()
        page.locator("dialog .button-primary").click()
        expect(page.get_by_role("slider").first).to_be_attached()
        rate(page, [70])
        camera.shoot(page, f"rating-{tag}", whole=True)


def platform(page: Page, camera: Camera, stage: Stage) -> None:
    """The end of an assignment that came from a platform, as its server would tell it."""

    def listen(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()

        def to_page(message: str | bytes) -> None:
            done = {"phase": "done", "conversation": None, "return_to": f"{stage.url}/back"}
            socket.send(json.dumps([sent | done for sent in json.loads(message)]))

        server.on_message(to_page)

    page.route_web_socket(re.compile("/ws$"), listen)
    page.route(f"{stage.url}/back", lambda route: route.abort())  # it goes there by itself after a while
    page.goto(f"{stage.url}/w/demo?worker=platform-{camera.look}")
    expect(page.get_by_role("link", name="Go back now")).to_be_visible()
    camera.shoot(page, "done-return")


SCENES: list[Callable[[Page, Camera, Stage], None]] = [
    assignment,
    icebreaker,
    reports,
    waiting,
    long_texts,
    replaced,
    cut_short,
    refused,
    endings,
    doors,
    platform,
    board,
    languages,
]
