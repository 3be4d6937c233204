"""Arguments, error messages and progress bar shared by all commands."""

import io
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Annotated

import typer

from candor.common.terminal import Console
from qc.errors import OptionError, QcError
from qc.options import OnStep, no_step

EXIT_BAD_INPUT = 2
WIDTH_OF_A_FILE = 140
ALL = "all"

SourceName = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help="A hits_data.json, an MTurk batch CSV, a server's export, an SQLite file, "
        "or a database URL (sqlite:///…, postgresql://…).",
    ),
]
RunName = Annotated[
    str | None, typer.Option(help="Slug or id of the run, if the database holds several.", metavar="RUN")
]
Where = Annotated[
    str | None, typer.Option(metavar="COLUMN=TEXT", help="Use only the outputs whose COLUMN is TEXT.")
]
IncludePartial = Annotated[
    bool, typer.Option("--include-partial", help="Include assignments that were not completed.")
]
ProgressLines = Annotated[
    bool, typer.Option("--progress-lines", hidden=True, help="Print each step on stdout as a line of JSON.")
]
CriteriaFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="YAML file with the criteria to analyse, and how to use each."),
]

Alpha = Annotated[float, typer.Option(help="Level of quality control: a worker passes with p below it.")]
Bootstrap = Annotated[int, typer.Option(metavar="N", help="Resamples of the workers for intervals.")]
Seed = Annotated[int, typer.Option(help="Random seed.")]
Reward = Annotated[
    float | None,
    typer.Option(metavar="DOLLARS", help="Reward of each assignment, instead of the one in the source."),
]


@contextmanager
def stderr_console() -> Iterator[Console]:
    """Yield a console on stderr, for errors, warnings and progress.

    A QcError raised inside is printed, and the command ends with EXIT_BAD_INPUT. On stdout and stderr,
    characters that the terminal cannot show become `?`, because names in the data may hold any character.

    Raises:
        typer.Exit: in place of a QcError.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    stderr = Console(stderr=True, soft_wrap=True, markup=False)
    try:
        yield stderr
    except QcError as error:
        stderr.print(f"Error: {error}", style="red")
        raise typer.Exit(EXIT_BAD_INPUT) from None


def output_console() -> Console:
    """Return the console for results; output to a file or a pipe is not cut to a terminal's width."""
    console = Console(markup=False)
    return console if console.is_terminal else Console(width=WIDTH_OF_A_FILE, markup=False)


def names_in(
    option: str, given: str, known: tuple[str, ...], besides: tuple[str, ...] = ()
) -> frozenset[str]:
    """Split the value of an option, names separated by commas; ALL stands for all of `known`.

    `besides`: further names, for which ALL does not stand.

    Raises:
        OptionError: a name is not among them, or no name is given.
    """
    names = frozenset(name.strip() for name in given.split(",") if name.strip())
    if ALL in names:
        names = names - {ALL} | set(known)
    possible = (*known, *besides)
    if not names or not names.issubset(possible):
        raise OptionError(
            f"{option} is {given!r}; give names separated by commas, or {ALL!r}: {', '.join(possible)}."
        )
    return names


def where_in(given: str | None) -> tuple[str, str] | None:
    """Split `--where` into its column and its text; None if it is not given.

    Raises:
        OptionError: it is not of the form COLUMN=TEXT.
    """
    if given is None:
        return None
    column, sign, text = given.partition("=")
    if not sign:
        raise OptionError(f"--where is {given!r}; write COLUMN=TEXT, for example published=1.")
    return column, text


@contextmanager
def progress(stderr: Console, steps: int, *, lines: bool = False) -> Iterator[OnStep]:
    """Show a progress bar on a terminal, and yield the function that advances it.

    Args:
        stderr: where the bar is drawn, if that is a terminal.
        steps: how often the yielded function will be called: once when each step begins.
        lines: print each step as a line on stdout instead, for a program that has started this one:
            `{"step": description, "done": steps so far, "total": steps}`.
    """
    if lines:
        yield _lines(steps)
        return
    if not stderr.is_terminal:
        yield no_step
        return
    # Importing the bar takes longer than reading a small file.
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=stderr, transient=True) as bar:
        task = bar.add_task("", total=steps)
        done = count()

        def on_step(what: str) -> None:
            bar.update(task, description=what, completed=next(done), refresh=True)

        yield on_step
        bar.update(task, completed=next(done), refresh=True)


def _lines(steps: int) -> OnStep:
    done = count()

    def on_step(what: str) -> None:
        sys.stdout.write(json.dumps({"step": what, "done": next(done), "total": steps}) + "\n")
        sys.stdout.flush()

    return on_step
