"""The worker's page in studies that ask for more than the published one does, and on small screens."""

import json
import re
from collections.abc import Callable

from playwright.sync_api import Page, Route, WebSocketRoute, expect

from tests.e2e.hands import LINES, choose, context_of, enter, finish, open_topic, press, rate, say
from tests.e2e.pictures.camera import Camera
from tests.e2e.stage import Stage

# What an open keyboard leaves of a phone's height, with letters as they are and twice as large.
SMALL = [(450, 16), (420, 16), (320, 16), (740, 32)]


def questions(page: Page, camera: Camera, stage: Stage) -> None:
    """Questions before, after and about a conversation, in every form; a situation; rated replies."""
    page.goto(f"{stage.url}/w/asking?worker=asked-{camera.look}")
    press(page, "I understand")
    press(page, "Continue")
    camera.shoot(page, "questions-before", whole=True)
    page.get_by_label("How old are you?").fill("31")
    choose(page, "How often?", "Daily")
    press(page, "Continue")
    camera.shoot(page, "topic-situation")
    open_topic(page, None)
    say(page, LINES[0])
    page.get_by_role("button", name="A good reply").click()
    camera.shoot(page, "chat-situation")
    finish(page)
    camera.shoot(page, "rating-forms", whole=True)
    press(page, re.compile("^Submit ratings"))
    camera.shoot(page, "rating-forms-missing", whole=True)
    rate(page, [10, 90])
    page.get_by_role("radio", name="3 of 7").check()
    page.get_by_role("radio", name="4 of 5").check()
    page.get_by_label("Why?").fill("It knew the sea.")
    press(page, re.compile("^Submit ratings"))
    page.get_by_role("checkbox", name="Phone").check()
    camera.shoot(page, "questions-after", whole=True)


def sides(page: Page, camera: Camera, stage: Stage) -> None:
    """Two chatbots side by side, chosen from after a turn and at the end."""
    enter(page, f"{stage.url}/w/turns?worker=turns-{camera.look}")
    open_topic(page)
    _say_to_both(page, LINES[0])
    camera.shoot(page, "sides-turn")
    enter(page, f"{stage.url}/w/ends?worker=ends-{camera.look}")
    open_topic(page)
    for line in LINES[:2]:
        _say_to_both(page, line)
    camera.shoot(page, "sides-chat")
    press(page, re.compile("^Finish"))
    press(page, "Finish and rate")
    press(page, "Submit and continue")
    camera.shoot(page, "sides-choice", whole=True)
    page.get_by_role("radio", name="Chatbot B").check()
    press(page, "Submit and continue")
    expect(page.get_by_role("heading", name="How was chatbot A?")).to_be_visible()
    camera.shoot(page, "sides-rating")


def _say_to_both(page: Page, text: str) -> None:
    replies = page.locator(".both .bubble-bot")
    before = replies.count()
    page.get_by_label("Your message").fill(text)
    page.get_by_label("Your message").press("Enter")
    expect(replies).to_have_count(before + 2)


def readers(page: Page, camera: Camera, stage: Stage) -> None:
    """Others' conversations are rated, texts too, after a tutorial; a text is improved."""
    page.goto(f"{stage.url}/w/reading?worker=reader-{camera.look}")
    press(page, "I understand")
    expect(page.get_by_role("slider").first).to_be_attached()
    camera.shoot(page, "reading", whole=True)
    page.goto(f"{stage.url}/w/improving?worker=improver-{camera.look}")
    camera.shoot(page, "reading-instructions", whole=True)
    press(page, "I understand")
    camera.shoot(page, "tutorial")
    page.get_by_role("radio", name="Nothing").check()
    press(page, "Answer")
    expect(page.get_by_text("Not quite.")).to_be_visible()
    camera.shoot(page, "tutorial-wrong")
    page.get_by_role("radio", name="A word is there twice").check()
    press(page, "Answer")
    expect(page.get_by_text("Right.")).to_be_visible()
    camera.shoot(page, "tutorial-right")
    rate(page, [70, 60, 20])
    press(page, re.compile("^Submit ratings"))
    expect(page.get_by_text("Please change what could be better.")).to_be_visible()
    camera.shoot(page, "improve", whole=True)


def own_data(page: Page, camera: Camera, stage: Stage) -> None:
    """A worker who may download and withdraw what they gave."""
    enter(page, f"{stage.url}/w/own_data_en?worker=owner-{camera.look}")
    open_topic(page)
    say(page, LINES[0])
    finish(page)
    rate(page, [50] * 7)
    press(page, "Submit ratings")
    press(page, "Submit")
    expect(page.locator(".code-text")).to_be_visible()
    camera.shoot(page, "done-own-data")
    press(page, "Withdraw…")
    camera.shoot(page, "done-withdraw")
    press(page, "Withdraw my data")
    expect(page.get_by_text("Your data have been removed.")).to_be_visible()
    camera.shoot(page, "done-withdrawn")


def extremes(page: Page, camera: Camera, stage: Stage) -> None:
    """A chat that is full, replies in Markdown, instructions that say what is recorded, a slow partner."""
    page.goto(f"{stage.url}/w/writing_en?worker=writer-{camera.look}")
    camera.shoot(page, "instructions-writing", whole=True)
    enter(page, f"{stage.url}/w/full?worker=full-{camera.look}")
    open_topic(page)
    for line in LINES[:2]:
        say(page, line)
    camera.shoot(page, "chat-full")
    enter(page, f"{stage.url}/w/demo?worker=talker-{camera.look}")
    open_topic(page)
    for line in LINES * 2:
        say(page, line)
    camera.shoot(page, "chat-many")
    enter(page, f"{stage.url}/w/rich?worker=rich-{camera.look}")
    open_topic(page)
    say(page, LINES[0])
    camera.shoot(page, "chat-rich")
    page.goto(f"{stage.url}/w/mates?worker=waiting-{camera.look}")
    press(page, "I agree and take part")
    camera.shoot(page, "instructions-partner", whole=True)


def judges(page: Page, camera: Camera, stage: Stage) -> None:
    """Passages and answers are read, judged by paragraphs, marked; a transcript is read again."""
    page.goto(f"{stage.url}/w/passages?worker=passages-{camera.look}")
    press(page, "I understand")
    expect(page.get_by_role("slider").first).to_be_attached()
    camera.shoot(page, "passage", whole=True)
    page.goto(f"{stage.url}/w/judging?worker=judge-{camera.look}")
    press(page, "I understand")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    camera.shoot(page, "correctness", whole=True)
    press(page, re.compile("^Submit ratings"))
    camera.shoot(page, "correctness-missing", whole=True)
    page.get_by_role("radio", name="Yes").check()
    for paragraph, verdict in enumerate(("It is correct", "Neither")):
        page.get_by_role("group").nth(1 + paragraph).get_by_role("radio", name=verdict).check()
    page.get_by_role("option").nth(1).click()
    page.get_by_role("option").nth(5).click()
    camera.shoot(page, "correctness-answered", whole=True)
    page.goto(f"{stage.url}/w/marking?worker=marker-{camera.look}")
    press(page, "I understand")
    word = page.get_by_role("option")
    word.nth(1).click()
    camera.shoot(page, "marks-half", whole=True)
    word.nth(2).click()
    camera.shoot(page, "marks-before", whole=True)
    press(page, "Continue")
    open_topic(page, "Tea")
    say(page, LINES[0])
    finish(page)
    page.locator("summary").first.click()
    rate(page, [50] * 7)
    for index in (0, 3):
        word.nth(index).click()
        word.nth(index + 1).click()
    press(page, re.compile("^Submit ratings"))
    camera.shoot(page, "rating-marks", whole=True)


def quizzes(page: Page, camera: Camera, stage: Stage) -> None:
    """A quiz about personas, and the same with lines, as its server would show them."""
    about = ["personas"]

    def listen(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()

        def to_page(message: str | bytes) -> None:
            if about == ["lines"]:
                told = json.loads(message)
                for sent in told:
                    if (sent.get("quiz") or {}).get("lines"):
                        sent["quiz"] |= {"about": "lines", "lines": LINES[:4]}
                message = json.dumps(told)
            socket.send(message)

        server.on_message(to_page)

    page.route_web_socket(re.compile("/ws$"), listen)
    enter(page, f"{stage.url}/w/knowing?worker=knower-{camera.look}")
    open_topic(page)
    say(page, LINES[0])
    finish(page)
    rate(page, [50] * 7)
    press(page, "Submit ratings")
    expect(page.get_by_role("radio")).to_have_count(4)
    press(page, "Continue")
    camera.shoot(page, "quiz-personas", whole=True)
    about[0] = "lines"
    page.reload()
    expect(page.get_by_text(LINES[3])).to_be_visible()
    page.get_by_role("radio").nth(1).check()
    camera.shoot(page, "quiz-lines", whole=True)


def partners(page: Page, camera: Camera, stage: Stage) -> None:
    """Two people who are each other's chatbot; one leaves."""
    browser = page.context.browser
    assert browser is not None
    other = context_of(browser, camera.width, camera.shade).new_page()
    page.clock.install()
    for who, name, line in ((page, "ann", LINES[0]), (other, "bob", LINES[1])):
        enter(who, f"{stage.url}/w/mates?worker={name}-{camera.look}", consents=True)
        open_topic(who)
        who.get_by_label("Your message").fill(line)
        who.keyboard.press("Enter")
        if who is page:
            page.clock.fast_forward(13_000)
            expect(page.get_by_text("Still thinking.")).to_be_visible()
            page.clock.fast_forward(30_000)
            camera.shoot(page, "partner-waiting")
    expect(page.get_by_text(LINES[1])).to_be_visible()
    camera.shoot(page, "partner-chat")
    for who, reader, line in ((page, other, LINES[2]), (other, page, LINES[3])):
        who.get_by_label("Your message").fill(line)
        who.keyboard.press("Enter")
        expect(reader.get_by_text(line)).to_be_visible()
    page.get_by_label("Your message").fill(LINES[4])
    page.keyboard.press("Enter")
    press(other, re.compile("^Leave"))
    other.get_by_role("dialog").get_by_role("button", name="Leave the study").click()
    expect(page.get_by_role("heading", name="How was it?")).to_be_visible()
    camera.shoot(page, "partner-left", whole=True)
    other.context.close()


def around(page: Page, camera: Camera, stage: Stage) -> None:
    """The start page, a page that is missing, a browser that stores nothing, a part that cannot be drawn."""
    page.goto(stage.url)
    camera.shoot(page, "start-page", whole=True)
    page.goto(f"{stage.url}/nowhere")
    camera.shoot(page, "missing-page")
    page.goto(f"{stage.url}/w/numbers?worker=number-{camera.look}")
    page.locator(".bar .button-primary").click()
    page.get_by_label("Wie alt sind Sie?").fill("zwölf")
    page.get_by_role("button", name="Weiter").click()
    camera.shoot(page, "questions-numbers", whole=True)
    page.add_init_script("delete window.ResizeObserver")
    enter(page, f"{stage.url}/w/demo?worker=undrawn-{camera.look}")
    open_topic_of_broken(page)
    camera.shoot(page, "broken-part")


def open_topic_of_broken(page: Page) -> None:
    page.get_by_label("Your topic").fill("Baking bread")
    choose(page, "How do you feel about it?", "Like")
    press(page, "Start the conversation")
    expect(page.get_by_role("heading", name="This part of the page can’t be shown")).to_be_visible()


def closed_doors(page: Page, camera: Camera, stage: Stage) -> None:
    """Why somebody may not take part now, or not at all; as the server would say it."""
    codes = [
        "run_paused",
        "run_out_of_hours",
        "run_complete",
        "run_not_ready",
        "not_invited",
        "took_part",
        "already_took_part",
        "link_unsigned",
        "link_altered",
        "link_expired",
        "link_unfilled",
        "link_ambiguous",
        "outdated_page",
    ]
    for code in codes:
        answer: dict[str, object] = {
            "error": {"code": code, "message": "worker={{%PROLIFIC_PID%}}", "hint": ""},
            "again_at": "2026-03-02T08:00:00Z" if code == "run_out_of_hours" else None,
        }
        page.route("**/api/join", _refusal(answer))
        page.goto(f"{stage.url}/w/demo?worker=stranger")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        page.wait_for_timeout(200)
        camera.shoot(page, f"door-{code.replace('_', '-')}")
        page.unroute("**/api/join")


def _refusal(answer: dict[str, object]) -> Callable[[Route], None]:
    return lambda route: route.fulfill(status=409, json=answer)


def small(page: Page, camera: Camera, stage: Stage) -> None:
    """Each screen while a keyboard is open, and with letters twice as large, in three languages."""
    for tag in ("en", "de", "ja"):
        run = "in_ja" if tag == "ja" else f"ten_{tag}"
        page.goto(f"{stage.url}/w/{run}?worker=small-{tag}-{camera.look}")
        expect(page.locator(".glance")).to_be_visible()
        _small(page, camera, f"instructions-{tag}")
        page.locator(".bar .button-primary").click()
        expect(page.locator("#topic")).to_be_visible()
        page.locator("#topic").fill("Brot backen mit Sauerteig und Körnern am Wochenende")
        page.get_by_role("radio").first.check()
        _small(page, camera, f"topic-{tag}")
        page.locator("form .button-primary").click()
        for replies, line in enumerate(LINES if tag != "ja" else LINES[:1], start=1):
            page.locator("#message").fill(line)
            page.locator("#message").press("Enter")
            expect(page.locator(".bubble-bot:not(.bubble-typing)")).to_have_count(replies)
        _small(page, camera, f"chat-{tag}")
        page.locator(".chat-topic .button").click()
        _small(page, camera, f"change-{tag}")
        page.keyboard.press("Escape")
        page.locator(".chat-next .button").click()
        _small(page, camera, f"finish-{tag}")
        page.locator("dialog .button-primary").click()
        expect(page.get_by_role("slider").first).to_be_attached()
        _small(page, camera, f"rating-{tag}")
        rate(page, [70, 60, 50])
        page.locator(".bar .button-primary").click()
        expect(page.locator("textarea")).to_be_visible()
        _small(page, camera, f"feedback-{tag}")
        page.locator("form .button-primary").click()
        expect(page.locator(".code-text")).to_be_visible()
        _small(page, camera, f"done-{tag}")


def _small(page: Page, camera: Camera, name: str) -> None:
    for height, letters in SMALL:
        page.set_viewport_size({"width": camera.width, "height": height})
        page.evaluate("size => { document.documentElement.style.fontSize = `${size}px` }", letters)
        camera.shoot(page, f"small-{name}-{height}", height=height)
    page.evaluate("document.documentElement.style.fontSize = ''")


SCENES: list[Callable[[Page, Camera, Stage], None]] = [
    questions,
    sides,
    readers,
    own_data,
    extremes,
    judges,
    quizzes,
    partners,
    around,
    closed_doors,
    small,
]
