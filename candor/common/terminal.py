"""Print texts of any origin at a terminal, ask there for confirmation, and report the user's mistakes."""

import re
import sys
from collections.abc import Iterable
from typing import Annotated, Any, NoReturn

import typer
from rich import console as rich_console
from rich.markup import escape
from rich.segment import Segment

EXIT_REFUSED = 2
# All control characters except line feed, tab and carriage return, which people's texts contain; and the
# characters that change the direction of the text that follows.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """Return `text` with U+FFFD for each control character: terminals execute some of them as commands.

    This is also used for files that people open.
    """
    return _CONTROL.sub("\ufffd", text)


class Console(rich_console.Console):
    """A console for texts of any origin: it prints no control characters, and colours nothing by itself."""

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, **options)

    def render(
        self, renderable: rich_console.RenderableType, options: rich_console.ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Render as rich does, but without control characters that come from a text."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else _printed(text), style, control)


def _printed(text: str) -> str:
    """Return `text` without control characters; a carriage return would overwrite the text before it."""
    return visible(text).replace("\r", "\ufffd")


console = Console()
stderr = Console(stderr=True)
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation of possible costs.")]


def fail(what: str, hint: str | None = None) -> NoReturn:
    """Print an error and, on a separate line, a hint for the user; end the process.

    Raises:
        SystemExit: with EXIT_REFUSED, as for invalid options.
    """
    stderr.print(f"[red]Error:[/] {escape(what)}", soft_wrap=True)
    if hint is not None:
        stderr.print(escape(hint), soft_wrap=True)
    raise SystemExit(EXIT_REFUSED)


def agree(question: str | None, *, yes: bool) -> None:
    """Ask the user to confirm an action that costs money or cannot be undone.

    Args:
        question: printed before the prompt; None asks nothing.
        yes: whether the user has confirmed already, with `--yes`.

    Raises:
        SystemExit: the user refuses, or there is no terminal to ask at.
    """
    if yes or question is None:
        return
    stderr.print(escape(question), soft_wrap=True)
    if not sys.stdin.isatty():
        fail("nothing was done: there is no terminal to ask at.", "To do it, add --yes to the command.")
    if not typer.confirm("Continue?", default=False, err=True):
        fail("nothing was done.", "To continue without being asked, add --yes to the command.")
