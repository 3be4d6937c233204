"""Consoles of the commands, which keep control characters of any text from the terminal."""

import re
from collections.abc import Iterable
from typing import Any

from rich import console as rich_console
from rich.segment import Segment

# All but line feed, tab and carriage return, which texts of people hold; and what turns the direction of all
# that follows.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class Console(rich_console.Console):
    """A console that shows names and words of files by strangers and does nothing else with them.

    No text is markup, and nothing in it is coloured by guess.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, highlight=False, **options)

    def render(
        self, renderable: rich_console.RenderableType, options: rich_console.ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Return what is printed: colours and moves are rich's own, never those of a text."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else _printed(text), style, control)


def visible(text: str) -> str:
    """Return `text` with U+FFFD for each control character: a terminal takes some of them for commands.

    Files that people open have none either.
    """
    return _CONTROL.sub("\ufffd", text)


def _printed(text: str) -> str:
    """Return `text` without control characters; a carriage return would write over what stands before it."""
    return visible(text).replace("\r", "\ufffd")
