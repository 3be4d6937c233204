"""Console of the commands, which removes control characters from all printed text."""

import re
from collections.abc import Iterable
from typing import Any

from rich import console as rich_console
from rich.segment import Segment

# All control characters except line feed, tab and carriage return, which people's texts contain; and the
# characters that change the direction of the text that follows.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class Console(rich_console.Console):
    """A console that prints text from untrusted files as it is: without markup or automatic colours."""

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, highlight=False, **options)

    def render(
        self, renderable: rich_console.RenderableType, options: rich_console.ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Render as rich does, but without control characters that come from a text."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else _printed(text), style, control)


def visible(text: str) -> str:
    """Return `text` with U+FFFD for each control character: terminals execute some of them as commands.

    This is also used for files that people open.
    """
    return _CONTROL.sub("\ufffd", text)


def _printed(text: str) -> str:
    """Return `text` without control characters; a carriage return would overwrite the text before it."""
    return visible(text).replace("\r", "\ufffd")
