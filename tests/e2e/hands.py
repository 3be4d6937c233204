"""A worker's hands on the page, for tests and pictures alike."""

import json
import re
from typing import Literal

from playwright.sync_api import Browser, BrowserContext, Page, WebSocketRoute, expect

from tests.e2e.stage import Stage
from tests.support.waiting import PATIENCE

# The button that ends a conversation; while messages are missing, it says how many.
FINISH = re.compile("^Finish & rate")
# What has been said, by either.
BUBBLES = ".bubble:not(.bubble-typing)"
HEIGHTS = {1280: 800, 768: 1024, 390: 844, 360: 740}

LINES = [
    "I spent the whole weekend baking bread, have you ever tried?",
    "Mine came out rather flat, but it tasted good.",
    "What do you like to do when you have a free day?",
    "That sounds relaxing. I mostly go walking with my dog.",
    "He is a small terrier and he is afraid of cats.",
    "Do you have any animals?",
    "I grew up in the country, so there were always some around.",
    "We used to have hens. Collecting the eggs was my job.",
    "Would you rather live in a city or in a village?",
    "I think I would miss the quiet. It was nice talking to you!",
]


def context_of(browser: Browser, width: int, shade: Literal["light", "dark"] = "light") -> BrowserContext:
    phone = width < 600
    context = browser.new_context(
        viewport={"width": width, "height": HEIGHTS[width]},
        is_mobile=phone,
        has_touch=phone,
        color_scheme=shade,
        locale="en-GB",
        # Moving dots are drawn 60 times a second while a reply is due; on phones they are seen to work.
        reduced_motion="no-preference" if phone else "reduce",
    )
    context.set_default_timeout(PATIENCE * 1_000)
    return context


def press(page: Page, name: str | re.Pattern[str]) -> None:
    page.get_by_role("button", name=name, exact=isinstance(name, str)).click()


def choose(page: Page, legend: str, choice: str) -> None:
    page.get_by_role("group", name=legend).get_by_role("radio", name=choice, exact=True).check()


def open_topic(page: Page, topic: str | None = "Baking bread") -> None:
    if topic is not None:
        page.get_by_label("Your topic").fill(topic)
    choose(page, "How do you feel about it?", "Like")
    press(page, "Start the conversation")
    expect(page.get_by_role("log")).to_be_visible()


def enter(page: Page, url: str, consents: bool = False) -> None:
    page.goto(url)
    if consents:
        press(page, "I agree and take part")
    press(page, "I understand")
    expect(page.get_by_role("button", name="Start the conversation")).to_be_visible()


def say(page: Page, text: str) -> None:
    replies = page.locator(".bubble-bot:not(.bubble-typing)")
    before = replies.count()
    message = page.get_by_label("Your message")
    message.fill(text)
    message.press("Enter")
    expect(replies).to_have_count(before + 1)


def rate(page: Page, values: list[int]) -> None:
    for slider, value in zip(page.get_by_role("slider").all(), values, strict=False):
        slider.fill(str(value))


def finish(page: Page) -> None:
    press(page, FINISH)
    press(page, "Finish and rate")
    expect(page.get_by_role("slider").first).to_be_attached()


def to_rating(page: Page, link: str) -> None:
    enter(page, link)
    open_topic(page)
    say(page, "I bake bread.")
    say(page, "It is good bread.")
    finish(page)


def refuse(page: Page, kind: str, code: str) -> None:
    """Let the server refuse every message of a kind from now on, as far as this page can tell."""

    def listen(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()

        def to_server(message: str | bytes) -> None:
            sent = json.loads(message)
            if sent["type"] != kind:
                server.send(message)
                return
            answer = {"type": "error", "id": sent["id"], "code": code, "message": "No."}
            socket.send(json.dumps(answer | {"retry": False}))

        socket.on_message(to_server)

    page.route_web_socket(re.compile("/ws$"), listen)


def make_token_old(page: Page, stage: Stage, run: str) -> None:
    """Make what this browser remembers of its session in `run` look as if it were 30 days old."""
    key = f"candor:{run}::token"
    token = page.evaluate("key => JSON.parse(localStorage[key])", key)
    old = stage.old_token(token)
    page.evaluate("([key, old]) => { localStorage[key] = JSON.stringify(old) }", [key, old])


def be_outdated(page: Page, times: int) -> None:
    """Let this page greet the server like one of protocol version 1, the next so many times.

    Greetings are counted, not sockets: a page opens several in vain while its server is away.
    """

    def listen(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()

        def to_server(message: str | bytes) -> None:
            nonlocal times
            sent = json.loads(message)
            if times and sent["type"] == "hello":
                times -= 1
                del sent["protocol"]
            server.send(json.dumps(sent))

        socket.on_message(to_server)

    page.route_web_socket(re.compile("/ws$"), listen)


def left_by_version_one(page: Page, key: str, value: object) -> None:
    """Write what a page of protocol version 1 would have kept of the session that this browser remembers.

    It must remember its assignment, not the ticket of its first visit: that version had no tickets.
    """
    token_key = next(k for k in page.evaluate("Object.keys(localStorage)") if k.endswith(":token"))
    token = json.loads(page.evaluate("key => localStorage[key]", token_key))
    name = token.rsplit(".", 2)[0]
    page.evaluate(
        "([key, value]) => { localStorage[key] = value }", [f"candor:{name}:{key}", json.dumps(value)]
    )
