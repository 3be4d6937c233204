"""Report on a run: `python -m qc.report SOURCE`. It composes load, analyse and render."""

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from qc.analysis import NEEDING_WORDS, SECTIONS, Analysis, OnStep, Options, analyse
from qc.errors import OptionError, QcError
from qc.load import is_database, load
from qc.render import FORMATS, show, write
from qc.run import Run

EXIT_BAD_INPUT = 2
WIDTH_OF_A_FILE = 140
ALL = "all"

_SECTION_HELP = "\n\n".join(f"[b]{name}[/b]: {what}" for name, what in SECTIONS.items())

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")


@app.command(epilog=f"Sections for --only:\n\n{_SECTION_HELP}")
def report(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="A hits_data.json, an MTurk batch CSV, our own export (.jsonl or .parquet), an SQLite file, "
            "or a database URL (sqlite:///…, postgresql://…).",
        ),
    ],
    run: Annotated[
        str | None, typer.Option(help="Slug or id of the run, if the database holds several.", metavar="RUN")
    ] = None,
    replicate: Annotated[
        str | None,
        typer.Option(
            metavar="RUN2",
            help="A second run of the same experiment to correlate with: another source, or the slug or id "
            "of another run in the same database.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Directory for everything that is written; made if absent.", metavar="DIR"),
    ] = None,
    formats: Annotated[
        str,
        typer.Option(
            "--format", metavar="NAMES", help=f"What to write, separated by commas: {', '.join(FORMATS)}."
        ),
    ] = ALL,
    only: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="Sections to compute, separated by commas; who is kept and the scores always are.",
        ),
    ] = ALL,
    alpha: Annotated[float, typer.Option(help="Level at which a worker passes: p below it.")] = 0.05,
    bootstrap: Annotated[
        int, typer.Option(metavar="N", help="Resamples of the workers for intervals.")
    ] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of everything that is drawn at random.")] = 0,
    reward: Annotated[
        float | None,
        typer.Option(metavar="DOLLARS", help="Paid for an assignment, if the source does not say."),
    ] = None,
    criteria_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="YAML file that says which criteria are analysed, and how."),
    ] = None,
    include_partial: Annotated[
        bool, typer.Option("--include-partial", help="Let assignments take part that were not completed.")
    ] = False,
) -> None:
    """Say which workers of a run are kept, how its systems score, and how sure that is."""
    _accept_any_character()
    messages = Console(stderr=True, markup=False, highlight=False, soft_wrap=True)
    try:
        options = Options(alpha, seed, bootstrap, reward, _names("--only", only, tuple(SECTIONS)))
        wanted = _names("--format", formats, FORMATS) if out else frozenset()
        with _progress(messages, len(options.sections) + len(wanted) + 2) as on_step:
            on_step(f"Reading {source}")
            words = bool(options.sections & NEEDING_WORDS)
            first = load(source, run, include_partial, words=words, criteria=criteria_file)
            second = _second(source, replicate, include_partial, criteria_file)
            analysis = analyse(first, options, second, on_step)
            files = write(analysis, out, wanted, on_step) if out else []
    except QcError as error:
        messages.print(f"Error: {error}", style="red")
        raise typer.Exit(EXIT_BAD_INPUT) from None
    _tell(analysis, out, files)


def _names(option: str, given: str, known: tuple[str, ...]) -> frozenset[str]:
    if given == ALL:
        return frozenset(known)
    names = frozenset(name.strip() for name in given.split(",") if name.strip())
    unknown = sorted(names - set(known))
    if unknown or not names:
        raise OptionError(
            f"{option} is {given!r}; give names separated by commas, or {ALL!r}: {', '.join(known)}."
        )
    return names


def _second(source: str, replicate: str | None, include_partial: bool, criteria: Path | None) -> Run | None:
    """Return the run that `--replicate` names: another source, or another run of the same database."""
    if replicate is None:
        return None
    if "://" in replicate or Path(replicate).exists():
        return load(replicate, None, include_partial, words=False, criteria=criteria)
    if is_database(source):
        return load(source, replicate, include_partial, words=False, criteria=criteria)
    raise OptionError(
        f"--replicate is {replicate!r}, but there is no such file, and {source} is no database that could "
        "hold a run of that name. Give the path of the second run."
    )


@contextmanager
def _progress(console: Console, steps: int) -> Iterator[OnStep]:
    """Show a bar on a terminal while the work goes on; `on_step` is called when the next step begins."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=steps)

        def on_step(what: str) -> None:
            bar.update(task, description=what, advance=1)

        yield on_step


def _tell(analysis: Analysis, out: Path | None, files: list[Path]) -> None:
    console = _output()
    show(analysis, console)
    if out is None:
        console.print("Nothing was written. With --out DIR you get report.html, tables and figures.")
    else:
        console.print(f"{len(files)} files written to {out}; begin with {files[0].name}.", soft_wrap=True)


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
