"""What every command prints to, and how it says what the user has to put right."""

from typing import NoReturn

from rich.console import Console
from rich.markup import escape

EXIT_REFUSED = 2
console = Console(highlight=False)
stderr = Console(stderr=True, highlight=False)


def fail(what: str, hint: str | None = None) -> NoReturn:
    """Print an error and, on a line of its own, what the user can do about it; end the process.

    Raises:
        SystemExit: with EXIT_REFUSED, as for options that cannot be read.
    """
    stderr.print(f"[red]Error:[/] {escape(what)}", soft_wrap=True)
    if hint is not None:
        stderr.print(escape(hint), soft_wrap=True)
    raise SystemExit(EXIT_REFUSED)
