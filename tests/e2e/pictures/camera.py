"""Takes pictures of pages, and is strict about what it sees."""

import re
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import BrowserContext, ConsoleMessage, Page

from tests.e2e.axe import SETTLED, WITH_TARGETS, violations
from tests.e2e.hands import HEIGHTS


@dataclass
class Camera:
    """Takes pictures of one width and shade (`light` or `dark`), and is strict about what it sees."""

    out: Path
    width: int
    shade: str
    url: str
    troubles: list[str]
    taken: set[str]

    @property
    def look(self) -> str:
        """What tells this camera's pictures, and the workers in them, from those of another."""
        return f"{self.shade}-{self.width}"

    def shoot(self, page: Page, name: str, *, whole: bool = False, height: int | None = None) -> None:
        """Take a picture of what is in sight, of the `whole` page, or of so much as `height` shows."""
        page.mouse.move(0, 0)
        page.wait_for_timeout(350)
        page.evaluate(SETTLED)
        for rule, element in violations(page, options=WITH_TARGETS):
            self.troubles.append(f"{name} {self.look}: axe {rule}: {element[:160]}")
        wide = page.evaluate("document.documentElement.scrollWidth")
        if wide > self.width:
            self.troubles.append(f"{name} {self.look}: scrolls sideways ({wide} px)")
        usual = HEIGHTS[self.width]
        shown = page.evaluate("document.documentElement.scrollHeight") if whole else height or usual
        page.set_viewport_size({"width": self.width, "height": shown})
        suffix = "" if self.shade == "light" else f"-{self.shade}"
        page.screenshot(path=self.out / f"{name}{suffix}-{self.width}.png")
        page.set_viewport_size({"width": self.width, "height": usual})
        self.taken.add(name)

    def watch(self, context: BrowserContext) -> None:
        def said(message: ConsoleMessage) -> None:
            # The last is axe, which cannot reach into the report's sandboxed frame.
            expected = re.search(
                r"WebSocket connection|Failed to load resource|recipient window's origin \('null'\)",
                message.text,
            )
            if message.type in {"error", "warning"} and not expected:
                self.troubles.append(f"{self.look}: console: {message.text}")

        context.on("console", said)
        context.on("weberror", lambda error: self.troubles.append(f"{self.look}: {error.error}"))
        context.on(
            "request",
            lambda request: (
                None if request.url.startswith(self.url) else self.troubles.append(f"asked for {request.url}")
            ),
        )
