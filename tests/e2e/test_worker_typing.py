"""What a worker types, as browsers, keyboards and input methods send it."""

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.hands import BUBBLES, enter, open_topic, press, say
from tests.e2e.stage import Stage

pytestmark = pytest.mark.browser


# ---- numbers ---------------------------------------------------------------------------------


def test_a_number_is_stored_as_it_was_meant_or_refused(page: Page, stage: Stage) -> None:
    page.goto(f"{stage.url}/w/numbers?worker=counter")
    press(page, "Ich habe verstanden")
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
        expect(page.get_by_text("Sie können weitergehen.")).to_have_count(0)
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


# ---- another tab in front --------------------------------------------------------------------


def test_the_tab_says_that_a_reply_has_come(page: Page, stage: Stage) -> None:
    enter(page, f"{stage.url}/w/short?worker=elsewhere")
    open_topic(page)
    visibility = """state => {
        Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
    }"""
    page.evaluate(visibility, "hidden")
    expect(page).to_have_title("Conversation 1 – Candor")
    say(page, "Hello.")
    expect(page).to_have_title("● Conversation 1 – Candor")
    page.evaluate(visibility, "visible")
    expect(page).to_have_title("Conversation 1 – Candor")
