"""Bots on the desk, in a real browser: added with all that their kind takes, tried, checked, examined."""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.axe import clean
from tests.e2e.hands import press
from tests.e2e.stage import Stage
from tests.e2e.studies import call, made
from tests.server.support.provider import SAID, providing

pytestmark = pytest.mark.browser

# Of every kind: what is filled in by label, and what the server has then. Nothing is asked.
NOWHERE = "http://127.0.0.1:1/v1"
HOSTED: dict[str, tuple[str, Any]] = {
    "Model": ("bird-7b", "bird-7b"),
    "Prompt": ("Be {persona}.", "Be {persona}."),
    "Temperature": ("0.7", 0.7),
    "Top p": ("0.9", 0.9),
    "Maximum tokens of a reply": ("200", 200),
    "Stop texts": ("END\nUser:", ["END", "User:"]),
    "Additional request settings": ('{"safe": {"on": true}}', {"safe": {"on": True}}),
    "When the model refuses": ("reply", "reply"),
    "Input price": ("1.25", 1.25),
    "Output price": ("10", 10),
    "Spending cap": ("5", 5),
}
OF_OPENAI: dict[str, tuple[str, Any]] = {
    "Maximum tokens of reasoning and reply": ("900", 900),
    "Seed": ("7", 7),
    "Reasoning effort": ("low", "low"),
    "Key header": ("api-key", "api-key"),
    "Streaming only": ("", True),
    "Instructions go into": ("developer", "developer"),
    "Join messages of one author in a row": ("", True),
    "Send text as a list of parts": ("", True),
}
NAMES = {
    "Model": "model",
    "Prompt": "prompt",
    "Temperature": "temperature",
    "Top p": "top_p",
    "Maximum tokens of a reply": "max_tokens",
    "Stop texts": "stop",
    "Additional request settings": "extra_body",
    "When the model refuses": "refusals",
    "Spending cap": "spending_cap",
    "Maximum tokens of reasoning and reply": "max_completion_tokens",
    "Seed": "seed",
    "Reasoning effort": "reasoning_effort",
    "Key header": "key_header",
    "Streaming only": "stream",
    "Instructions go into": "instructions",
    "Join messages of one author in a row": "alternating",
    "Send text as a list of parts": "parts",
}
KINDS: dict[str, dict[str, tuple[str, Any]]] = {
    "openai": HOSTED | OF_OPENAI,
    "anthropic": HOSTED,
    "gemini": HOSTED | {"Seed": OF_OPENAI["Seed"]},
    "bedrock": HOSTED,
    "http": {},
    "parlai-web": {},
}


def write(dialog: Locator, label: str, text: str) -> None:
    field = dialog.get_by_label(label, exact=True)
    kind = field.evaluate("e => e.type")
    if kind == "checkbox":
        field.check()
    elif kind == "select-one":
        field.select_option(text)
    else:
        field.fill(text)


def add_by_name(dialog: Locator, section: str, name: str, value: str) -> None:
    """Fill in one of the settings whose names are the researcher's own."""
    group = dialog.locator("details", has=dialog.page.locator("summary", has_text=section)).last
    group.locator("summary").click()
    group.get_by_label("Add by name").fill(name)
    group.get_by_label("Add by name").press("Enter")
    group.get_by_label(re.compile(f"^{name}$", re.IGNORECASE)).fill(value)


def test_every_kind_of_bot_is_registered_with_all_that_it_takes(page: Page, stage: Stage) -> None:
    made(page, stage, "kinds")
    page.get_by_role("tab", name="Bots").click()
    for kind, fields in KINDS.items():
        press(page, "Add a bot")
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("All studies").check()
        dialog.get_by_label("Name of the bot").fill(f"a-{kind}")
        dialog.get_by_label("Service").select_option(kind)
        dialog.get_by_label("Address", exact=True).fill(NOWHERE)
        expected: dict[str, Any] = {"kind": kind, "urls": [NOWHERE]}
        if fields:
            dialog.get_by_label("API key variable").fill("")
            dialog.get_by_text("Advanced", exact=True).click()
            dialog.get_by_text("Price of a million tokens").click()
            add_by_name(dialog, "Headers", "x-title", "birds")
            expected |= {"headers": {"x-title": "birds"}, "price": {"input": 1.25, "output": 10}}
        if kind == "openai":
            add_by_name(dialog, "Query", "api-version", "2026-01-01")
            expected |= {"query": {"api-version": "2026-01-01"}}
        for label, (text, value) in fields.items():
            write(dialog, label, text)
            expected |= {NAMES[label]: value} if label in NAMES else {}
        clean(page)
        dialog.get_by_role("button", name="Add", exact=True).last.click()
        expect(page.get_by_role("dialog")).to_have_count(0)
        assert call(page, stage, "GET", f"/bots/a-{kind}")["endpoint"] == expected


def test_mistakes_stand_at_their_fields_on_a_phone(phone: Page, stage: Stage) -> None:
    made(phone, stage, "mistaken")
    phone.get_by_role("tab", name="Bots").click()
    press(phone, "Add a bot")
    dialog = phone.get_by_role("dialog")
    dialog.get_by_label("All studies").check()
    dialog.get_by_label("Name of the bot").fill("claude")
    dialog.get_by_label("Service").select_option("anthropic")
    dialog.get_by_text("Advanced", exact=True).click()
    dialog.get_by_label("Temperature", exact=True).fill("warm")
    dialog.get_by_label("Additional request settings").fill("{not json")
    dialog.get_by_label("Spending cap", exact=True).fill("5")
    dialog.get_by_role("button", name="Add", exact=True).last.click()
    expect(dialog.get_by_text("Fix the problems above first.")).to_be_visible()
    expect(dialog.get_by_text("Enter a number from 0 to 2")).to_be_visible()
    expect(dialog.get_by_text("Enter settings, each as")).to_be_visible()
    expect(dialog.get_by_text("This is required")).to_be_visible()  # the model
    clean(phone)
    assert phone.evaluate("document.documentElement.scrollWidth") <= 360
    dialog.get_by_label("Model", exact=True).fill("claude-x")
    dialog.get_by_label("Temperature", exact=True).fill("1")
    dialog.get_by_label("Additional request settings").fill("")
    dialog.get_by_role("button", name="Add", exact=True).last.click()
    expect(dialog.get_by_text("counted by the price of a million tokens")).to_be_visible()
    dialog.get_by_label("Spending cap", exact=True).fill("")
    expect(dialog.get_by_label("API key variable")).to_have_value("ANTHROPIC_API_KEY")
    dialog.get_by_label("API key variable").fill("NO_SUCH_KEY")
    dialog.get_by_role("button", name="Add", exact=True).last.click()
    expect(dialog.get_by_text("NO_SUCH_KEY", exact=False)).to_be_visible()  # what the server says of the key
    dialog.get_by_label("API key variable").fill("")
    dialog.get_by_role("button", name="Add", exact=True).last.click()
    expect(phone.get_by_role("dialog")).to_have_count(0)
    made_of = call(phone, stage, "GET", "/bots/claude")["endpoint"]
    assert made_of["urls"] == ["https://api.anthropic.com/v1"]  # its own address, which nobody had to write


def test_what_a_check_and_the_examination_of_the_qc_bot_found_is_shown(phone: Page, stage: Stage) -> None:
    made(phone, stage, "examined")
    call(phone, stage, "POST", "/bots", {"name": "shut", "endpoint": {"kind": "http", "urls": [NOWHERE]}})
    phone.get_by_role("tab", name="Bots").click()
    press(phone, "Examine the QC bot")
    expect(phone.get_by_text("lines stand in the corpus as they are")).to_be_visible()
    expect(phone.get_by_text("A small language model prefers")).to_be_visible()
    press(phone, "Check shut")
    expect(phone.get_by_text("Not fit for workers")).to_be_visible()
    expect(phone.get_by_text("Does it answer?")).to_be_visible()
    clean(phone)


def say(page: Page, text: str) -> None:
    page.get_by_label("Message", exact=True).fill(text)
    press(page, "Send")


def test_a_bot_of_a_study_that_is_not_finished_is_added_tried_and_checked(page: Page, stage: Stage) -> None:
    made(page, stage, "untold")
    page.get_by_label("Title").fill("")
    expect(page.get_by_text("to fill in").first).to_be_visible()
    page.get_by_role("tab", name="Bots").click()
    with providing() as provider:
        press(page, "Add a bot")
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Service").select_option("ollama")
        expect(dialog.get_by_label("API key variable")).to_have_value("")
        dialog.get_by_label("Name of the bot").fill("Far")
        dialog.get_by_label("Address", exact=True).fill(provider.url)
        expect(dialog.get_by_label("Service")).to_have_value("openai")
        dialog.get_by_label("Model", exact=True).fill("m")
        dialog.get_by_role("button", name="Add", exact=True).last.click()
        expect(dialog.get_by_text("Enter a name: lowercase letters")).to_be_visible()
        dialog.get_by_label("Name of the bot").fill("far")
        dialog.get_by_role("button", name="Add", exact=True).last.click()
        expect(page.get_by_text("only in this study, in no system yet")).to_be_visible()

        press(page, "Try far")
        talk = page.get_by_role("log", name="Conversation")
        say(page, "Hello there!")
        expect(talk.locator(".line-bot", has_text=SAID)).to_have_count(1)
        say(page, "Where did you go?")
        expect(talk.locator(".line-bot", has_text=SAID)).to_have_count(2)
        talk.locator(".making > summary").last.click()
        making = talk.locator(".making").last
        expect(making.locator(".making-messages")).to_contain_text("Hello there!")
        expect(making.locator(".making-messages")).to_contain_text("Where did you go?")
        expect(making.get_by_text("HTTP status 200")).to_be_visible()
        clean(page)
        provider.refuses = 401, {"error": {"message": "Incorrect API key provided."}}
        say(page, "Are you there?")
        expect(talk.get_by_text("The endpoint wants a key.")).to_be_visible()
        expect(talk.get_by_text("Incorrect API key provided.").first).to_be_visible()
        clean(page)
        provider.refuses = None
        press(page, "Try again")
        expect(talk.locator(".line-bot", has_text=SAID)).to_have_count(3)
        press(page, "Start over")
        expect(talk.locator(".line-bot", has_text=SAID)).to_have_count(0)
        press(page, "Close")

        press(page, "Check far")
        expect(page.get_by_text("Not fit for workers")).to_be_visible()  # it always says the same
        expect(page.get_by_text("Fix what failed, then check the bot again.")).to_be_visible()
        clean(page)
    assert call(page, stage, "GET", "/studies/untold")["version"] == 1  # nothing of it was saved


def test_a_builtin_bot_is_tried_on_a_phone(phone: Page, stage: Stage) -> None:
    made(phone, stage, "pocket")
    phone.get_by_role("tab", name="Bots").click()
    press(phone, "Try builtin:reflect")
    say(phone, "I feel good.")
    expect(phone.locator(".line-bot")).to_be_visible()
    expect(phone.get_by_text(re.compile("· free$"))).to_be_visible()
    clean(phone)
    assert phone.evaluate("document.documentElement.scrollWidth") <= 360
    phone.keyboard.press("Escape")
    expect(phone.get_by_role("button", name="Try builtin:reflect")).to_be_focused()
