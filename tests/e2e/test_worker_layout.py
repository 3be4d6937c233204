"""Tests of the worker's page's layout on small screens, with large letters and in forced colours."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.hands import choose, enter, open_topic, say
from tests.e2e.stage import Stage

pytestmark = pytest.mark.browser

# With the keyboard open, at 400 % zoom, with letters half as large again.
SMALL = [(360, 420, 16), (360, 380, 16), (390, 450, 16), (320, 256, 16), (390, 844, 24), (360, 740, 16)]

# The pairs of these parts that lie on each other, and those that do not lie in the view as a whole.
MISPLACED = """selectors => {
    const place = (selector) => document.querySelector(selector).getBoundingClientRect();
    const places = selectors.map((selector) => [selector, place(selector)]);
    const out = places.filter(([, { left, top, right, bottom, width }]) =>
        !width || left < 0 || top < 0 || right > innerWidth || bottom > innerHeight).map(([name]) => name);
    const over = places.flatMap(([a, p], index) => places.slice(index + 1)
        .filter(([, q]) => p.left < q.right && q.left < p.right && p.top < q.bottom && q.top < p.bottom)
        .map(([b]) => `${a} on ${b}`));
    return [...out, ...over];
}"""


@pytest.mark.parametrize("run", ["short", "in_de"])
def test_nothing_of_a_chat_is_lost_on_a_small_screen(phone: Page, stage: Stage, run: str) -> None:
    phone.goto(f"{stage.url}/w/{run}?worker=small")
    phone.locator(".button-primary").click()
    phone.locator("#topic").fill("Brot backen mit Sauerteig und Körnern am Wochenende")
    phone.get_by_role("radio").first.check()
    phone.locator(".button-primary").click()
    expect(phone.get_by_role("log")).to_be_visible()
    for width, height, letters in SMALL:
        phone.set_viewport_size({"width": width, "height": height})
        phone.evaluate("size => { document.documentElement.style.fontSize = `${size}px` }", letters)
        expect(phone.locator(".chat-count")).to_have_text(re.compile(r"^\D+ 0 \D+ [12]$"))
        expect(phone.locator(".chat-count-short")).to_have_text(re.compile(r"^0 \D+ [12]$"))
        parts = [
            ".top > .button",
            ".top-steps p",
            ".chat-topic-text",
            ".chat-count-short",
            ".composer-input",
            ".composer-send",
        ]
        phone.wait_for_function(f"selectors => ({MISPLACED})(selectors).length === 0", arg=parts)
        assert phone.evaluate("document.querySelector('.log').clientHeight") > 30
        assert phone.get_by_role("textbox").evaluate("field => field.scrollHeight <= field.clientHeight")
        # A phone's `innerWidth` grows with what is too wide.
        assert phone.evaluate("document.documentElement.scrollWidth") <= width


def test_japanese_phrases_break_where_large_letters_leave_no_room(phone: Page, stage: Stage) -> None:
    phone.goto(f"{stage.url}/w/in_ja?worker=large")
    phone.locator(".button-primary").click()
    phone.locator("#topic").fill("パン")
    phone.get_by_role("radio").first.check()
    phone.locator(".button-primary").click()
    phone.locator("#message").fill("こんにちは")
    phone.locator("#message").press("Enter")
    phone.locator(".chat-next .button").click()
    phone.locator("dialog .button-primary").click()
    expect(phone.get_by_role("slider").first).to_be_attached()
    phone.set_viewport_size({"width": 360, "height": 740})
    phone.evaluate("document.documentElement.style.fontSize = '32px'")
    assert phone.evaluate("document.documentElement.scrollWidth") <= 360


# The height that an open keyboard leaves, of phones old and new, with letters up to twice as large.
KEYBOARD_OPEN = [
    (360, 420, 16),
    (390, 450, 16),
    (360, 320, 16),
    (320, 320, 16),
    (390, 450, 32),
    (360, 360, 32),
]


@pytest.mark.parametrize("language", ["en", "de"])
def test_with_the_keyboard_open_topic_and_count_stand_on_one_bar(
    phone: Page, stage: Stage, language: str
) -> None:
    phone.goto(f"{stage.url}/w/ten_{language}?worker=bar")
    phone.locator(".button-primary").click()
    topic = "Brot backen mit Sauerteig und Körnern am Wochenende"
    phone.locator("#topic").fill(topic)
    phone.get_by_role("radio").first.check()
    phone.locator(".button-primary").click()
    phone.locator(".composer-input").tap()
    parts = [".chat-topic-text", ".chat-inputs", ".composer-input", ".composer-send"]
    for enough in (False, True):
        for width, height, letters in KEYBOARD_OPEN:
            phone.set_viewport_size({"width": width, "height": height})
            phone.evaluate("size => { document.documentElement.style.fontSize = `${size}px` }", letters)
            phone.wait_for_function(f"selectors => ({MISPLACED})(selectors).length === 0", arg=parts)
            bar = phone.locator(".chat-side").bounding_box()
            shown = phone.locator(".chat-topic-text").bounding_box()
            assert bar is not None
            assert shown is not None
            assert bar["y"] == 0
            assert bar["height"] == 48 if letters == 16 else bar["height"] < 70
            assert shown["width"] > 3 * letters
            assert phone.evaluate("document.querySelector('.log').clientHeight") > 100
            # A phone's `innerWidth` grows with what is too wide.
        assert phone.evaluate("document.documentElement.scrollWidth") <= width
        if not enough:
            expect(phone.locator(".chat-next .button")).to_be_hidden()
            for replies in range(1, 11):
                phone.locator(".composer-input").fill("Hallo!")
                phone.locator(".composer-input").press("Enter")
                expect(phone.locator(".bubble-bot:not(.bubble-typing)")).to_have_count(replies)
            parts[1] = ".chat-next .button"
    # With the end of writing the header comes back, but not while the finger is on a button below it.
    phone.locator(".chat-next .button").tap()
    expect(phone.get_by_role("dialog")).to_be_visible()
    phone.keyboard.press("Escape")
    # Whoever stops writing can leave again, and the topic as a whole is the button that changes it.
    phone.locator(".log").tap()
    expect(phone.locator(".top > .button")).to_be_in_viewport(ratio=1)
    phone.locator(".chat-topic-text").tap(force=True)
    expect(phone.get_by_role("dialog")).to_be_visible()


TABLE = """log => {
    const words = ["Ingredient", "Quantity", "Temperature", "Duration",
        "Difficulty", "Equipment", "Origin", "Season"];
    const row = (name) => `<tr>${words.map((word) => `<${name}>${word}</${name}>`).join("")}</tr>`;
    log.insertAdjacentHTML("beforeend", `<div class="bubble bubble-bot"><div class="bubble-text reply-rich">
        <table tabindex="0"><thead>${row("th")}</thead><tbody>${row("td")}</tbody></table></div></div>`);
}"""


def test_forced_colours_keep_what_is_chosen(phone: Page, stage: Stage) -> None:
    phone.emulate_media(forced_colors="active")
    enter(phone, f"{stage.url}/w/short?worker=chooser")
    choose(phone, "How do you feel about it?", "Like")
    edges = "cards => cards.map((card) => getComputedStyle(card).borderTopWidth)"
    assert phone.locator(".card-radio").evaluate_all(edges) == ["3px", "1px", "1px"]


def test_a_wide_table_scrolls_and_forced_colours_keep_bubbles_and_meter(phone: Page, stage: Stage) -> None:
    enter(phone, f"{stage.url}/w/short?worker=table")
    open_topic(phone)
    say(phone, "What do I need?")
    phone.locator(".log").evaluate(TABLE)
    heights = "cells => cells.map((cell) => cell.clientHeight)"
    # A word of ten letters has no room in an eighth of a phone: it stands on one line, and the table scrolls.
    assert max(phone.locator(".reply-rich th, .reply-rich td").evaluate_all(heights)) < 50
    assert phone.locator(".reply-rich table").evaluate("table => table.scrollWidth > table.clientWidth")
    assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
    phone.emulate_media(forced_colors="active")
    edges = "bubbles => bubbles.map((bubble) => getComputedStyle(bubble).borderTopWidth)"
    assert set(phone.locator(".bubble").evaluate_all(edges)) == {"2px"}
    colours = "spans => spans.map((span) => getComputedStyle(span).backgroundColor)"
    now, later = phone.locator(".meter span").evaluate_all(colours)
    assert now != later
