"""Check a page with axe, an accessibility checker."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

# Resolves once the page is drawn and nothing that ends is on its way: no colour to another, no dialog in.
SETTLED = """async () => {
    const ends = (animation) => Number.isFinite(animation.effect.getComputedTiming().endTime);
    await new Promise(requestAnimationFrame);
    await Promise.allSettled(document.getAnimations().filter(ends).map((animation) => animation.finished));
    await new Promise(requestAnimationFrame);
}"""
# All rules, and the sizes of targets (WCAG 2.2). A target that is half under a bar counts as too small: this
# is for pages that are shown from their top, while `clean` checks them wherever they were scrolled to.
WITH_TARGETS = {"rules": {"target-size": {"enabled": True}}}
# The rules that hang on colours.
_COLOURS = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
# What axe says of all that it has passed takes a quarter of its time: only violations leave the page.
_VIOLATIONS = """([within, options]) => axe.run(within, { resultTypes: ["violations"], ...options }).then(
    ({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html])
)"""


def clean(page: Page) -> None:
    """Axe finds nothing."""
    page.evaluate(SETTLED)
    found = violations(page)
    assert not found, found


def clean_in_both_colours(page: Page) -> None:
    """Axe finds nothing, in light and in dark, where only the colours are others."""
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    page.evaluate(SETTLED)
    found = violations(page, options=_COLOURS)
    assert not found, found
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    clean(page)


def violations(page: Page, within: str = ":root", options: object = None) -> list[list[str]]:
    """Return each rule of axe that is broken within a part of the page, with the first element that does."""
    page.evaluate(Axe().axe_script)
    found: list[list[str]] = page.evaluate(_VIOLATIONS, [within, options])
    return found
