"""Consoles of the commands, and the message for an error that the user can fix."""

import re
import sys
from typing import Annotated, Any, NoReturn

import typer
from rich import console as rich_console
from rich.markup import escape
from rich.text import Text

EXIT_REFUSED = 2
# All control characters except line feed and tab: a terminal treats some of them as commands, and some
# reverse the direction of all following text.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def harmless(text: str) -> str:
    """Return `text` with control characters replaced, so that a terminal shows it and does nothing else."""
    return _CONTROL.sub("\ufffd", text)


class Console(rich_console.Console):
    """A console for texts of any origin, which removes control characters before it prints."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Return `text` as it is printed, wherever it is."""
        return super().render_str(harmless(text), **options)


console = Console(highlight=False)
stderr = Console(stderr=True, highlight=False)
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
