"""A researcher who answers in a chatbot's place: a worker's page and the desk, over a real server."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.axe import clean
from tests.e2e.hands import context_of, enter, finish, open_topic, press, rate
from tests.e2e.stage import Stage

pytestmark = pytest.mark.browser

LONG = "My bees do. " * 100  # 1,200 characters, where 1,000 are the most


def write(page: Page, line: str) -> None:
    page.get_by_label("Your message").fill(line)
    page.keyboard.press("Enter")


def answer(desk: Page, line: str) -> None:
    """Paste an answer, which is not cut, and send it."""
    field = desk.get_by_label("Your answer")
    field.fill("")
    field.focus()
    desk.keyboard.insert_text(line)
    expect(field).to_have_value(line)
    press(desk, "Answer")


def test_a_researcher_answers_at_the_desk_and_the_worker_is_not_told(
    browser: Browser, page: Page, stage: Stage
) -> None:
    context = context_of(browser, 360)
    worker = context.new_page()
    told: list[str] = []
    worker.on("websocket", lambda s: s.on("framereceived", lambda frame: told.append(str(frame))))
    enter(worker, f"{stage.url}/w/wizards?worker=dot", consents=True)
    open_topic(worker, "Honey")
    page.goto(f"{stage.url}/desk/runs/wizards#token={stage.token}")
    press(page, "Answer as a chatbot")
    expect(page.get_by_text("No worker is waiting.")).to_be_visible()
    clean(page)
    write(worker, "Do you like honey?")
    expect(page.get_by_text("1 worker is waiting.")).to_be_visible()
    expect(page.get_by_text("I keep bees.")).to_be_visible()
    expect(page.get_by_text("Do you like honey?")).to_be_visible()
    clean(page)
    answer(page, LONG)
    expect(page.get_by_role("alert").filter(has_text="at most 1000 characters")).to_be_visible()
    answer(page, "I make it, in a way.")
    replies = worker.locator(".bubble-bot:not(.bubble-typing) .bubble-text")
    expect(replies).to_have_text(["I make it, in a way."])
    expect(page.get_by_text("No worker is waiting.")).to_be_visible()
    write(worker, "In which way?")
    answer(page, "My bees do the work.")
    expect(replies).to_have_text(["I make it, in a way.", "My bees do the work."])
    finish(worker)
    rate(worker, [70, 80, 60])
    press(worker, "Submit ratings")
    press(worker, "Submit")
    expect(worker.get_by_text("Your completion code")).to_be_visible()
    context.close()
    frames = "".join(told)
    assert not [word for word in ("mate", "human", "wizard", "interviewer") if word in frames]
    said = stage.rows("SELECT turn_index, answered_by FROM v1_wizard_line ORDER BY turn_index")
    assert [index for index, _ in said] == [1, 3]
    researchers = {by for _, by in said}
    assert len(researchers) == 1
    calls = stage.rows("SELECT DISTINCT model, replica FROM bot_call WHERE model = 'human:wizard'")
    assert calls == [("human:wizard", *researchers)]
