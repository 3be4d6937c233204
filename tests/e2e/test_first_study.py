"""From the desk's first page to an open run in German: no YAML, and 15 clicks beside typing."""

from functools import partial
from itertools import count
from typing import Any

import pytest
import yaml
from fastapi import FastAPI
from playwright.sync_api import Locator, Page, expect

from tests.bots.support.app_server import running
from tests.e2e.axe import clean
from tests.e2e.stage import Stage
from tests.e2e.studies import call, desk

pytestmark = pytest.mark.browser
MOST_CLICKS = 15
NEAR = 3  # fields that somebody reaches by Tab rather than by a click
OPENINGS = ("Ich mag", "Gestern sah ich", "Erzählen Sie mir etwas über", "Ich denke oft an", "Mir fehlt")
THINGS = ("das Meer", "alte Brücken", "den Garten", "frisches Brot", "lange Züge", "kalte Tage", "den Markt")
CONSENT = "## Ihre Daten\n\n- Wir speichern, was Sie schreiben.\n- Sie können jederzeit aufhören."


def model() -> FastAPI:
    """Return a server of a language model behind OpenAI's interface, which says something new each time."""
    app = FastAPI()
    said = count()

    @app.post("/v1/chat/completions")
    def complete() -> dict[str, Any]:
        number = next(said)
        text = f"{OPENINGS[number % len(OPENINGS)]} {THINGS[number % len(THINGS)]}."
        message = {"role": "assistant", "content": text}
        return {"choices": [{"message": message, "finish_reason": "stop"}]}

    return app


class Newcomer:
    """Somebody's hands: clicks and choices from a list are counted; they type where the focus is."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.clicks = 0

    def click(self, target: Locator) -> None:
        target.click()
        self.clicks += 1

    def press(self, name: str) -> None:
        self.click(self.page.get_by_role("button", name=name, exact=True))

    def go(self, step: str) -> None:
        steps = self.page.get_by_role("navigation", name="Steps of the study")
        self.click(steps.get_by_role("button", name=step))

    def choose(self, field: Locator, option: str) -> None:
        field.select_option(label=option)
        self.clicks += 1

    def type(self, field: Locator, text: str) -> None:
        """Type into a field that has the focus, or that Tab reaches soon; else it takes a click."""
        for _ in range(NEAR):
            if field.evaluate("field => field === document.activeElement"):
                break
            self.page.keyboard.press("Tab")
        else:
            self.click(field)
        self.page.keyboard.insert_text(text)
        expect(field).to_have_value(text)


def add_bot(hands: Newcomer, name: str, address: str, service: str | None = None) -> None:
    form = hands.page.get_by_role("form", name="Add a bot")
    field = partial(form.get_by_label, exact=True)
    expect(field("Name of the bot")).to_be_focused()
    hands.type(field("Name of the bot"), name)
    if service is not None:
        hands.choose(field("Service"), service)
    hands.type(field("Address"), address)
    hands.type(field("Model"), "m")
    hands.click(form.get_by_role("button", name="Add", exact=True))
    expect(field("Name of the bot")).to_have_value("")


def test_a_german_study_with_two_own_bots_is_opened_in_fifteen_clicks(page: Page, stage: Stage) -> None:
    hands = Newcomer(page)
    field = partial(page.get_by_label, exact=True)
    desk(page, stage, "")
    with running(model()) as one, running(model()) as other:
        hands.press("New study")
        hands.type(field("Name"), "erste")
        hands.choose(field("Language of the workers"), "German")
        hands.press("Create the study")
        expect(field("Title")).to_be_focused()
        hands.type(field("Title"), "Gespräche mit zwei Chatbots")
        hands.press("Next: Consent and texts")
        hands.type(field("Consent text"), CONSENT)
        preview = page.frame_locator("iframe")
        expect(preview.get_by_role("heading", name="Ihre Daten")).to_be_visible()
        hands.go("Bots")
        add_bot(hands, "meiner", f"{one}/v1", "Another OpenAI-compatible service")
        add_bot(hands, "anderer", f"{other}/v1")
        expect(field("Systems per worker")).to_have_value("2")
        hands.press("Next: Ratings and questions")
        hands.click(page.get_by_role("radio", name="7 points"))
        hands.press("Add question at the end")
        hands.click(page.get_by_role("menuitem", name="One of several answers"))
        hands.type(field("Question"), "Wie oft sprechen Sie mit Chatbots?")
        hands.type(field("Answers to choose from"), "Nie\nManchmal\nOft")
        hands.go("Recruiting and payment")
        hands.type(field("Payment"), "5 Euro")
        status = page.locator(".study-head [role=status]")
        expect(status).to_contain_text("no problems")
        clean(page)
        hands.press("Open a run")
        hands.press("Open the run")
        page.wait_for_url("**/desk/runs/erste")
    assert hands.clicks <= MOST_CLICKS
    written: dict[str, Any] = yaml.safe_load(call(page, stage, "GET", "/studies/erste")["yaml"])
    assert written["language"] == "de"
    assert written["qc"] == {"corpus": "builtin:smalltalk_de"}
    assert written["texts"]["consent"] == {"version": "1.0", "text": CONSENT}
    assert [system["bot"] for system in written["systems"]] == ["meiner", "anderer"]
    assert {criterion["scale"]["points"] for criterion in written["criteria"]} == {7}
    (question,) = written["questionnaires"]["after"]
    assert question["choices"] == ["Nie", "Manchmal", "Oft"]
    assert question["label"] == "wie_oft_sprechen_sie_mit_chatbots"
    page.goto(f"{stage.url}/w/erste")
    expect(page.get_by_role("heading", name="Ihre Daten")).to_be_visible()
    expect(page.get_by_role("listitem").filter(has_text="Sie können jederzeit aufhören.")).to_be_visible()
