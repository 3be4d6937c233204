"""Two workers who are each other's chatbot, each with a page of their own, over a real server."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, WebSocket, expect

from tests.e2e.axe import clean
from tests.e2e.hands import context_of, enter, finish, open_topic, press, rate, say
from tests.e2e.stage import Stage

pytestmark = pytest.mark.browser
# What only the researchers' side knows: the system's name, its bot, and the bot that takes over.
SECRETS = ("mate", "human", "interviewer")


@pytest.fixture
def told() -> list[str]:
    """Every frame that either page was sent."""
    return []


@pytest.fixture
def pair(browser: Browser, told: list[str]) -> Iterator[tuple[Page, Page]]:
    """Two browsers: a wide one and a phone."""

    def listen(socket: WebSocket) -> None:
        socket.on("framereceived", lambda frame: told.append(str(frame)))

    contexts = [context_of(browser, width) for width in (1280, 360)]
    pages = [context.new_page() for context in contexts]
    for page in pages:
        page.on("websocket", listen)
    yield pages[0], pages[1]
    for context in contexts:
        context.close()


def waited(stage: Stage, run: str) -> list[tuple[int, str | None]]:
    """Return of each chat whether its waiting lies within the assignment's time, and why a bot took over.

    An assignment's minutes, in the report and for pay, are those from `agreed_at` to `ended_at`.
    """
    return stage.rows(
        "SELECT agreed_at <= waiting_since AND waiting_since <= coalesce(met_at, taken_over_at)"
        " AND coalesce(met_at, taken_over_at) < v1_assignment.ended_at, taken_over_because"
        " FROM human_conversation"
        " JOIN v1_conversation USING (conversation_id) JOIN v1_assignment USING (assignment_id)"
        " JOIN run ON run.id = v1_assignment.run_id WHERE run.slug = ?",
        run,
    )


def begin(page: Page, stage: Stage, run: str, worker: str, line: str) -> None:
    """Come, choose a topic and say the first line."""
    enter(page, f"{stage.url}/w/{run}?worker={worker}", consents=True)
    open_topic(page)
    page.get_by_label("Your message").fill(line)
    page.keyboard.press("Enter")


def hears(page: Page, *lines: str) -> None:
    expect(page.locator(".bubble-bot:not(.bubble-typing) .bubble-text")).to_have_text(list(lines))


def hand_in(page: Page) -> str:
    """Rate, hand in, and return the code for which the worker is paid."""
    rate(page, [70, 80, 60])
    press(page, "Submit ratings")
    press(page, "Submit")
    expect(page.get_by_text("Your completion code")).to_be_visible()
    return page.locator(".code").inner_text()


def test_two_workers_chat_one_leaves_and_the_other_rates(
    pair: tuple[Page, Page], stage: Stage, told: list[str]
) -> None:
    ann, bob = pair
    ann.clock.install()
    begin(ann, stage, "mates", "ann", "Hi! Do you sail?")
    expect(ann.locator(".bubble-typing")).to_be_visible()
    ann.clock.fast_forward(13_000)
    expect(ann.get_by_text("Still thinking.")).to_be_visible()
    ann.clock.fast_forward(30_000)
    expect(ann.get_by_text("this time counts as part of the task")).to_be_visible()
    clean(ann)
    begin(bob, stage, "mates", "bob", "Hello, I bake.")
    hears(ann, "Hello, I bake.")
    say_alone(ann, "What do you bake?")
    hears(bob, "Hi! Do you sail? What do you bake?")
    say_alone(bob, "Bread, mostly.")
    hears(ann, "Hello, I bake.", "Bread, mostly.")
    say_alone(ann, "With seeds?")
    press(bob, "Leave")
    press(bob, "Leave the study")
    expect(ann.get_by_role("heading", name="How was it?")).to_be_visible()
    clean(ann)
    assert hand_in(ann)
    assert not [word for frame in told for word in SECRETS if word in frame]
    assert waited(stage, "mates") == [(1, None)] * 2
    assert stage.rows("SELECT count(*) FROM v2_note WHERE kind = 'ended_by_partner'") == [(1,)]


def say_alone(page: Page, line: str) -> None:
    """Say a line whose answer another page writes."""
    page.get_by_label("Your message").fill(line)
    page.keyboard.press("Enter")


def test_where_nobody_comes_a_bot_answers_and_the_waiting_is_paid_time(
    pair: tuple[Page, Page], stage: Stage, told: list[str]
) -> None:
    page, _ = pair
    begin(page, stage, "alone", "eve", "Is anybody there?")
    expect(page.locator(".bubble-bot:not(.bubble-typing)")).to_have_count(1)
    say(page, "I bake bread.")
    finish(page)
    assert hand_in(page)
    assert not [word for frame in told for word in SECRETS if word in frame]
    assert waited(stage, "alone") == [(1, "nobody_came")]
