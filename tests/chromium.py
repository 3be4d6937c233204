"""The browser of this machine, for tests and pictures of every page."""

import shutil

from playwright.sync_api import Browser, Playwright

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# The same Chromium without windows and profiles: pages take half the processor time in it.
SHELL = "chromium-headless-shell"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def launch(playwright: Playwright) -> Browser:
    """Start the machine's own Chromium; raises RuntimeError when it has none."""
    path = next(filter(None, map(shutil.which, (SHELL, *BROWSERS))), None)
    if path is None:
        raise RuntimeError("no Chromium here: run tests/e2e/need-chromium")
    return playwright.chromium.launch(executable_path=path, args=FLAGS)
