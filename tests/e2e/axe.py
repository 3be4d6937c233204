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


def clean(page: Page) -> None:
    """Axe finds nothing."""
    page.evaluate(SETTLED)
    found = Axe().run(page).response["violations"]
    assert not found, [(v["id"], v["nodes"][0]["html"]) for v in found]


def clean_in_both_colours(page: Page) -> None:
    """Axe finds nothing, in light and in dark."""
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        clean(page)
