"""Report on one run: `python -m qc.report SOURCE`. It composes load, filter, standardise, score, render."""

import io
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from qc.analysis import analyse
from qc.errors import QcError
from qc.load import load
from qc.render import show, write

EXIT_BAD_INPUT = 2
WIDTH_OF_A_FILE = 140

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def report(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="A hits_data.json, an MTurk batch CSV, an SQLite file, or a database URL (sqlite:///…, postgresql://…).",
        ),
    ],
    run: Annotated[
        str | None, typer.Option(help="Slug or id of the run, if the database holds several.", metavar="RUN")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Directory for report.json and the tables; made if absent.", metavar="DIR"),
    ] = None,
    alpha: Annotated[float, typer.Option(help="Level at which a worker passes: p below it.")] = 0.05,
    include_partial: Annotated[
        bool, typer.Option("--include-partial", help="Let assignments take part that were not completed.")
    ] = False,
) -> None:
    """Say which workers of a run are kept and how its systems score."""
    _accept_any_character()
    messages = Console(stderr=True, markup=False, highlight=False, soft_wrap=True)
    try:
        with messages.status(f"Reading and analysing {source} …"):
            analysis = analyse(load(source, run, include_partial), alpha)
            files = write(analysis, out) if out else []
    except QcError as error:
        messages.print(f"Error: {error}", style="red")
        raise typer.Exit(EXIT_BAD_INPUT) from None
    console = _output()
    show(analysis, console)
    if files:
        console.print(f"Written to {out}: {', '.join(file.name for file in files)}", soft_wrap=True)


def _accept_any_character() -> None:
    """Let what a terminal cannot show come out as `?`; names in the data may hold any character."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _output() -> Console:
    """Return the console for results; what goes into a file or a pipe is not cut to a terminal's width."""
    console = Console(markup=False, highlight=False)
    return console if console.is_terminal else Console(markup=False, highlight=False, width=WIDTH_OF_A_FILE)


if __name__ == "__main__":
    app(prog_name="python -m qc.report")
