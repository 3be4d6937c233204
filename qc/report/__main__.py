"""`candor report SOURCE`: report on a run."""

import ctypes
import gc
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from qc.command import (
    ALL,
    Alpha,
    Bootstrap,
    CriteriaFile,
    IncludePartial,
    ProgressLines,
    Reward,
    RunName,
    Seed,
    SourceName,
    names_in,
    stderr_console,
)
from qc.errors import OptionError
from qc.options import FORMATS, PAPER_FORMATS, SECTIONS, AnalysisOptions

# Parameters of glibc's mallopt (malloc.h).
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_LARGEST = 2**31 - 1


def settle() -> None:
    """Tune the process for a report: one matrix thread, freed memory kept, no garbage collection.

    - One thread: starting the matrix library's threads takes a tenth of the time of a small report, and
      large products use one thread anyway (`qc.statistics.resampling`).
    - Keep freed memory: a large run makes hundreds of arrays of 100 MB. Returning their pages to the system
      and requesting them again takes a third of the report's time.
    - No garbage collection until `spare_modules`: imported modules are some hundred thousand objects that
      all stay. Searching them during the imports takes a tenth of the time of a small report.

    Call this before NumPy and PyArrow are imported. Settings in the environment take precedence.
    """
    gc.disable()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if sys.platform == "linux":
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "jemalloc")
        _keep_freed()


def spare_modules() -> None:
    """Resume garbage collection, but skip imported modules; small cycles can hold large arrays."""
    gc.freeze()
    gc.enable()


def _keep_freed() -> None:
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:  # musl has none
        mallopt(_M_MMAP_THRESHOLD, _LARGEST)
        mallopt(_M_TRIM_THRESHOLD, _LARGEST)


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
            "database, the slug or id of another run in it (write ./NAME for a file with the same name).",
        ),
    ] = None,
    replicate_run: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="Slug or id of the run, if RUN2 is a database that holds several."),
    ] = None,
    together: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            metavar="RUN",
            help="Another run, named as for --replicate; may be given several times. The report then shows "
            "all runs side by side: scores, correlations, conclusions.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Output directory; created if missing.", metavar="DIR"),
    ] = None,
    formats: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="NAMES",
            help=f"Formats to write, separated by commas: {', '.join(FORMATS)}. To publish, and not part of "
            f"{ALL}: {', '.join(PAPER_FORMATS)}.",
        ),
    ] = ALL,
    only: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="Sections to compute, separated by commas. Quality control and scores are always computed.",
        ),
    ] = ALL,
    alpha: Alpha = 0.05,
    bootstrap: Bootstrap = 10_000,
    seed: Seed = 0,
    reward: Reward = None,
    fee: Annotated[
        float,
        typer.Option(
            metavar="PERCENT", help="Fee of the platform on top of the rewards, in per cent: 20 for 20 %."
        ),
    ] = 0.0,
    background: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="CSV with data about workers: `worker` as in the run, and a column for each field, such as "
            "age. Answers to the study's questions before the first conversation are used without it.",
        ),
    ] = None,
    margins: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="CSV with field, group, share: a population; scores are also weighted to match it.",
        ),
    ] = None,
    references: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The items of a study of texts, as uploaded (JSON Lines with item, system, reference): "
            "scores are also given by the length of the reference.",
        ),
    ] = None,
    dialogues: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Dialogues of other people in ParlAI's text format, such as ConvAI2: compare the lengths of "
            "workers' messages with theirs.",
        ),
    ] = None,
    criteria_file: CriteriaFile = None,
    preregistration: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A file of `candor study preregister`: check point by point whether it was followed.",
        ),
    ] = None,
    include_partial: IncludePartial = False,
    simulated: Annotated[
        bool, typer.Option("--simulated", help="Report on simulated workers only, not on people.")
    ] = False,
    workers: Annotated[
        bool, typer.Option("--workers", help="List the workers who failed on the terminal.")
    ] = False,
    progress_lines: ProgressLines = False,
) -> None:
    """Report on a run: which workers passed, the scores of the systems, and how certain they are."""
    with stderr_console() as stderr:
        sections = names_in("--only", only, tuple(SECTIONS))
        if 0 < fee < 1:  # no platform takes less than 1 %: this is a share, as in `candor plan workers`
            raise OptionError(f"--fee is {fee:g}, but here it is in per cent. Write 20 for 20 %.")
        options = AnalysisOptions(
            alpha=alpha, seed=seed, bootstrap=bootstrap, reward=reward, sections=sections, fee=fee / 100
        )
        wanted = names_in("--format", formats, FORMATS, PAPER_FORMATS)
        settle()
        # Slow to import, and not needed for `--help`.
        from qc.report.reporting import ReportSource, report_on  # noqa: PLC0415

        spare_modules()
        asked = ReportSource(
            source=source,
            run=run,
            replicate=replicate,
            replicate_run=replicate_run,
            criteria=criteria_file,
            preregistration=preregistration,
            include_partial=include_partial,
            simulated=simulated,
            background=background,
            margins=margins,
            references=references,
            dialogues=dialogues,
            together=tuple(together or ()),
        )
        report_on(asked, options, out, wanted, stderr, lines=progress_lines, workers=workers)


if __name__ == "__main__":
    app(prog_name="python -m qc.report")
