"""Where the parts of the worker's page lie on small screens, with large letters and in forced colours."""

import re

import pytest
from playwright.sync_api import Page, expect

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
        expect(phone.locator(".chat-inputs strong")).to_have_text(re.compile(r"^\D+ 0 \D+ [12]$"))
        parts = [
            ".top > .button",
            ".top-steps p",
            ".chat-topic-text",
            ".chat-topic .button",
            ".chat-inputs strong",
            ".chat-next .button",
            ".composer-input",
            ".composer-send",
        ]
        phone.wait_for_function(f"selectors => ({MISPLACED})(selectors).length === 0", arg=parts)
        assert phone.evaluate("document.querySelector('.log').clientHeight") > 30
        assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
