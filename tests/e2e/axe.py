"""What axe, an accessibility checker, says of a page."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

# Resolves once the page is drawn and no colour is on its way to another.
SETTLED = """async () => {
    await new Promise(requestAnimationFrame);
    await Promise.allSettled(document.getAnimations().map((animation) => animation.finished));
    await new Promise(requestAnimationFrame);
}"""


def clean(page: Page) -> None:
    """Axe finds nothing."""
    found = Axe().run(page).response["violations"]
    assert not found, [(v["id"], v["nodes"][0]["html"]) for v in found]


def clean_in_both_colours(page: Page) -> None:
    """Axe finds nothing, in light and in dark."""
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.evaluate(SETTLED)
        clean(page)
