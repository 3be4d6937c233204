"""Report on a run: `python -m qc.report SOURCE`. It composes load, analyse and render."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from qc.analysis import NEEDING_WORDS, SECTIONS, Analysis, AnalysisOptions, analyse, steps
from qc.command import (
    ALL,
    CriteriaFile,
    IncludePartial,
    ProgressLines,
    RunName,
    SourceName,
    names_in,
    output_console,
    progress,
    stderr_console,
)
from qc.comparison import compare
from qc.errors import EmptyRunError, OptionError
from qc.load import LoadOptions, Source, holds_run, is_database, open_source, read_criteria, read_run
from qc.load.choices import Choices, read_choices
from qc.load.worker_table import read_margins, with_background
from qc.method.scores import Scores
from qc.progress import OnStep
from qc.render import FORMATS, PAGE, show, write, writing_steps
from qc.render.findings import Findings, show_findings, write_findings
from qc.render.findings.comparison import comparison_findings
from qc.run import REHEARSAL_NOTE, Run

_SECTION_HELP = "\n\n".join(f"[b]{name}[/b]: {what}" for name, what in SECTIONS.items())

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")


@app.command(epilog=f"Sections for --only:\n\n{_SECTION_HELP}")
def report(
    source: SourceName,
    run: RunName = None,
    replicate: Annotated[
        str | None,
        typer.Option(
            metavar="RUN2",
            help="A second run of the same experiment to correlate with: another source, or, if SOURCE is a "
            "database, the slug or id of another run in it (./NAME is then a file of the same name).",
        ),
    ] = None,
    replicate_run: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="Slug or id of the run, if RUN2 is a database that holds several."),
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
    ] = 10_000,
    seed: Annotated[int, typer.Option(help="Seed of everything that is drawn at random.")] = 0,
    reward: Annotated[
        float | None,
        typer.Option(metavar="DOLLARS", help="Paid for each assignment, whatever the source says."),
    ] = None,
    background: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="CSV that says who the workers are: `worker` as in the run, and a column for each field, "
            "such as age. What the study asked before the first conversation is taken by itself.",
        ),
    ] = None,
    margins: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="CSV with field, group, share: the population that scores are to stand for, as well.",
        ),
    ] = None,
    criteria_file: CriteriaFile = None,
    include_partial: IncludePartial = False,
    simulated: Annotated[
        bool, typer.Option("--simulated", help="Report on simulated workers, and leave people out.")
    ] = False,
    progress_lines: ProgressLines = False,
) -> None:
    """Say which workers of a run are kept, how its systems score, and how sure that is."""
    with stderr_console() as stderr:
        options = AnalysisOptions(
            alpha,
            seed,
            bootstrap,
            reward,
            names_in("--only", only, tuple(SECTIONS)),
            read_margins(margins) if margins else None,
        )
        wanted = names_in("--format", formats, FORMATS)
        wanted = wanted if out else frozenset()
        _require_replicate(replicate, replicate_run)
        reads = 1 if replicate is None else 2
        total = reads + steps(options, replicate is not None) + writing_steps(wanted)
        with progress(stderr, total, lines=progress_lines) as on_step:
            asked = LoadOptions(
                run,
                include_partial,
                words=bool(options.sections & NEEDING_WORDS),
                replies=False,
                criteria=read_criteria(criteria_file) if criteria_file else None,
                simulated=simulated,
            )
            read = _read(source, asked, replicate, replicate_run, on_step)
            if isinstance(read, _Compared):
                found: Analysis | Findings = _compared(read, options, on_step)
            else:
                first, second = read
                first = with_background(first, background) if background else first
                found = analyse(first, options, second, on_step)
            files = _written(found, out, wanted, on_step) if out else []
    _tell(found, out, files)


class _Compared(NamedTuple):
    """A run of comparisons; `run` has what was rated beside, None where nothing was."""

    choices: Choices
    run: Run | None


def _compared(read: _Compared, options: AnalysisOptions, on_step: OnStep) -> Findings:
    """Return what comparisons side by side say, beside the scores of ratings where there are any."""
    found = compare(read.choices, options.alpha, options.bootstrap, options.seed, on_step)
    chosen = {"alpha": options.alpha, "seed": options.seed, "bootstrap": options.bootstrap}
    return comparison_findings(found, _rated(read.run, options), chosen)


def _rated(run: Run | None, options: AnalysisOptions) -> Scores | None:
    if run is None:
        return None
    try:
        return analyse(run, replace(options, sections=frozenset())).scores
    except EmptyRunError:  # without pairs with the qc bot no worker can be tested, so there is no z
        return None


def _written(found: Analysis | Findings, out: Path, wanted: frozenset[str], on_step: OnStep) -> list[Path]:
    if isinstance(found, Findings):
        return write_findings(found, out, wanted, on_step)
    return write(found, out, wanted, on_step)


def _require_replicate(replicate: str | None, run: str | None) -> None:
    if replicate is None and run is not None:
        raise OptionError(
            f"--replicate-run is {run!r}, but --replicate is not given. Name the second run's database by "
            "--replicate."
        )


def _read(
    source: str, asked: LoadOptions, replicate: str | None, replicate_run: str | None, on_step: OnStep
) -> tuple[Run, Run | None] | _Compared:
    """Return the run that is analysed and the second that `--replicate` names; or a run of comparisons."""
    with open_source(source) as first:
        if replicate is None:
            on_step("Reading the run")
            choices = read_choices(first, asked)
            if choices is None:
                return read_run(first, asked), None
            rated = choices.rated and is_database(first)
            return _Compared(choices, read_run(first, replace(asked, words=False)) if rated else None)
        with _second_source(first, replicate, replicate_run) as (second, name):
            on_step("Reading the run")
            run = read_run(first, asked)
            on_step("Reading the second run")
            other = read_run(second, replace(asked, run=name, words=False, option="--replicate-run"))
        _require_unmixed(run, other)
        return run, other


def _require_unmixed(run: Run, other: Run) -> None:
    for one, against in ((run, other), (other, run)):
        if REHEARSAL_NOTE in one.notes and REHEARSAL_NOTE not in against.notes:
            raise OptionError(
                f"{one.name} is a rehearsal and {against.name} is none: what programs rated is not compared "
                "with other data. Name another run by --replicate."
            )


@contextmanager
def _second_source(first: Source, replicate: str, run: str | None) -> Iterator[tuple[Source, str | None]]:
    """Open what `--replicate` and `--replicate-run` name: a run of the first source, else another source.

    Yields:
        The source of the second run, and which run of it; None for its only one.
    """
    there = "://" in replicate or os.path.exists(replicate)  # noqa: PTH110  # a name may be too long for a path
    if run is None and is_database(first) and (not there or holds_run(first, replicate)):
        yield first, replicate
    elif there:
        with open_source(replicate) as second:
            yield second, run
    else:
        raise OptionError(
            f"--replicate is {replicate!r}, but there is no such file. Give the path of the second run, or, "
            "if SOURCE is a database, the slug or id of another run in it."
        )


def _tell(found: Analysis | Findings, out: Path | None, files: list[Path]) -> None:
    console = output_console()
    if isinstance(found, Findings):
        show_findings(found, console)
    else:
        show(found, console)
    if out is None:
        console.print(f"Nothing was written. With --out DIR you get {PAGE.name}, tables and figures.")
    else:
        console.print(f"{len(files)} files written to {out}; begin with {files[0].name}.", soft_wrap=True)


if __name__ == "__main__":
    app(prog_name="python -m qc.report")
