"""Tests of typing by workers, as browsers, keyboards and input methods send it."""

import json
import random
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from candor.common.segmentation import characters
from tests.e2e.hands import BUBBLES, enter, open_topic, press, say
from tests.e2e.stage import Stage

pytestmark = pytest.mark.browser


# ---- numbers ---------------------------------------------------------------------------------


def test_a_number_is_stored_as_it_was_meant_or_refused(page: Page, stage: Stage) -> None:
    page.goto(f"{stage.url}/w/numbers?worker=counter")
    press(page, "Verstanden")
    age, hours = page.get_by_label("Wie alt sind Sie?"), page.get_by_label("Wie viele Stunden?")
    age.fill("30")
    age.hover()
    page.mouse.wheel(0, 400)
    page.mouse.wheel(0, -200)
    expect(age).to_have_value("30")
    # "1.500" is fifteen hundred to most who read German, and 1.5 to some.
    for nonsense in ("7-8", "1e", "--", "1.500", "1,5,0", "acht"):
        hours.fill("")
        hours.press_sequentially(nonsense)
        expect(page.get_by_text("Du kannst weitermachen.")).to_have_count(0)
        press(page, "Weiter")
        expect(hours).to_have_value(nonsense)
        expect(page.get_by_text("zum Beispiel 7,5.")).to_be_visible()
        expect(hours).to_be_focused()
    hours.fill("")
    hours.press_sequentially("7,5")
    page.reload()
    expect(hours).to_have_value("7,5")
    expect(age).to_have_value("30")
    press(page, "Weiter")
    expect(page.get_by_role("button", name="Gespräch beginnen")).to_be_visible()
    query = "SELECT label, number FROM v1_answer WHERE label IN ('age', 'hours') ORDER BY ordinal"
    assert stage.rows(query) == [("age", 30.0), ("hours", 7.5)]


# ---- an input method -------------------------------------------------------------------------

# Safari ends the composition first, and then tells of the Enter that ended it; others tell of the key first.
ENTER_OF_SAFARI = """field => {
    const key = (options) => {
        const event = new KeyboardEvent("keydown",
            { key: "Enter", code: "Enter", bubbles: true, cancelable: true, ...options });
        field.dispatchEvent(event);
    };
    field.dispatchEvent(new CompositionEvent("compositionstart", { bubbles: true }));
    field.dispatchEvent(new CompositionEvent("compositionend", { bubbles: true, data: "日本" }));
    key({ keyCode: 229, isComposing: false });
}"""


def test_the_enter_that_confirms_a_composed_word_sends_nothing(page: Page, stage: Stage) -> None:
    enter(page, f"{stage.url}/w/short?worker=composer")
    open_topic(page)
    message = page.get_by_label("Your message")
    message.fill("日本")
    message.evaluate(ENTER_OF_SAFARI)
    expect(message).to_have_value("日本")
    expect(page.locator(BUBBLES)).to_have_count(0)
    say(page, "日本")  # and the next Enter sends


# ---- characters ------------------------------------------------------------------------------


def test_emoji_are_not_too_long_and_half_a_character_is_sent(page: Page, stage: Stage) -> None:
    enter(page, f"{stage.url}/w/short?worker=emoji")
    open_topic(page)
    families = "👨‍👩‍👧‍👦" * 100  # 700 characters, 1,100 UTF-16 units
    say(page, families)
    assert stage.stored(families) == 1
    message = page.get_by_label("Your message")
    message.evaluate(
        """field => {
            field.value = "half \\ud83d of one";
            field.dispatchEvent(new Event("input", { bubbles: true }));
        }"""
    )
    message.press("Enter")
    expect(page.locator(BUBBLES)).to_have_count(4)
    assert stage.stored("half \ufffd of one") == 1


# ---- how much may be written -----------------------------------------------------------------


def test_the_browser_counts_characters_as_the_server_does(page: Page) -> None:
    table = json.loads((Path(__file__).parents[1] / "data" / "text_lengths.json").read_text("utf-8"))
    pieces = [row["text"] for row in table]
    draw = random.Random(12)
    texts = ["".join(draw.choices(pieces, k=draw.randint(1, 30))) for _ in range(2_000)]
    count = "texts => texts.map((text) => [...new Intl.Segmenter('en').segment(text)].length)"
    assert page.evaluate(count, texts) == [characters(text) for text in texts]


def test_a_thousand_emoji_of_a_family_are_a_message_and_one_more_is_too_much(
    page: Page, stage: Stage
) -> None:
    enter(page, f"{stage.url}/w/short?worker=families")
    open_topic(page)
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
    message = page.get_by_label("Your message")
    message.fill(family * 1_001)
    expect(page.get_by_text("1 character too many")).to_be_visible()
    message.fill("Z" + "\u0351" * 7_000)
    expect(page.get_by_text("1 character too many")).to_be_visible()
    say(page, family * 1_000)
    assert stage.stored(family * 1_000) == 1


# ---- another tab in front --------------------------------------------------------------------


VISIBILITY = """state => {
    Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
}"""


def test_the_tab_says_that_a_reply_has_come(page: Page, stage: Stage) -> None:
    enter(page, f"{stage.url}/w/short?worker=elsewhere")
    open_topic(page)
    page.evaluate(VISIBILITY, "hidden")
    expect(page).to_have_title("Conversation 1 – Candor")
    say(page, "Hello.")
    expect(page).to_have_title("● Conversation 1 – Candor")
    page.evaluate(VISIBILITY, "visible")
    expect(page).to_have_title("Conversation 1 – Candor")


def test_a_reply_sounds_in_another_tab_where_the_worker_wants_it(page: Page, stage: Stage) -> None:
    page.add_init_script(
        """{
            const start = OscillatorNode.prototype.start;
            window.tones = 0;
            OscillatorNode.prototype.start = function (...when) {
                window.tones += 1;
                return start.apply(this, when);
            };
        }"""
    )
    enter(page, f"{stage.url}/w/short?worker=listener-2")
    open_topic(page)
    choice = page.get_by_role("checkbox", name="Play a sound when a reply arrives")
    expect(choice).not_to_be_checked()
    page.evaluate(VISIBILITY, "hidden")
    say(page, "Hello.")
    assert page.evaluate("window.tones") == 0
    choice.check()
    assert page.evaluate("window.tones") == 1  # so that one knows how it sounds
    say(page, "Are you there?")
    assert page.evaluate("window.tones") == 2
    page.evaluate(VISIBILITY, "visible")
    say(page, "Good.")
    assert page.evaluate("window.tones") == 2
    page.reload()
    expect(choice).to_be_checked()
