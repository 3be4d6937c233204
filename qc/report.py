"""Report on a run: `python -m qc.report SOURCE`."""

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

# Of glibc's mallopt (malloc.h).
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_LARGEST = 2**31 - 1


def settle() -> None:
    """Let one thread multiply matrices, and keep freed memory for what comes next.

    Starting the matrix library's threads takes a tenth of a small report, and every large product is
    made by one of them in any case (`qc.statistics.resampling`). A large run makes arrays of 100 MB by the
    hundred: given back and asked for again, their pages take the system a third of the report's time. Modules
    are some hundred thousand objects that all stay: searching them for garbage as they are imported takes a
    tenth of a small report, so nothing is searched until `spare_modules`.

    To be called before NumPy and PyArrow are imported; what the environment sets already stays.
    """
    gc.disable()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if sys.platform == "linux":
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "jemalloc")
        _keep_freed()


def spare_modules() -> None:
    """Search for garbage again, but never in what was imported: large arrays hang on small cycles."""
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
            "database, the slug or id of another run in it (./NAME is then a file of the same name).",
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
            help="Another run, named as for --replicate; give it again for more. Then the report is "
            "not of one run, but of all of them side by side: scores, correlations, conclusions.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Directory for everything that is written; made if absent.", metavar="DIR"),
    ] = None,
    formats: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="NAMES",
            help=f"What to write, separated by commas: {', '.join(FORMATS)}; for a paper, and not among "
            f"{ALL}: {', '.join(PAPER_FORMATS)}.",
        ),
    ] = ALL,
    only: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="Sections to compute, separated by commas; who is kept and the scores always are.",
        ),
    ] = ALL,
    alpha: Alpha = 0.05,
    bootstrap: Bootstrap = 10_000,
    seed: Seed = 0,
    reward: Reward = None,
    fee: Annotated[
        float,
        typer.Option(
            metavar="PERCENT", help="What the platform takes on top of the rewards, as 20 for 20 %."
        ),
    ] = 0.0,
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
    preregistration: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A file of `candor study preregister`: say point by point whether it was followed.",
        ),
    ] = None,
    include_partial: IncludePartial = False,
    simulated: Annotated[
        bool, typer.Option("--simulated", help="Report on simulated workers, and leave people out.")
    ] = False,
    workers: Annotated[
        bool, typer.Option("--workers", help="List the workers who failed, here on the terminal.")
    ] = False,
    progress_lines: ProgressLines = False,
) -> None:
    """Say which workers of a run are kept, how its systems score, and how sure that is."""
    with stderr_console() as stderr:
        sections = names_in("--only", only, tuple(SECTIONS))
        if 0 < fee < 1:  # no platform takes so little: it is a share, as `candor plan` has it
            raise OptionError(f"--fee is {fee:g}, but here it is in per cent. Write 20 for 20 %.")
        options = AnalysisOptions(
            alpha=alpha, seed=seed, bootstrap=bootstrap, reward=reward, sections=sections, fee=fee / 100
        )
        wanted = _formats(formats)
        settle()
        # What is slow to import, and not needed for `--help`.
        from qc.reporting import ReportSource, report_on  # noqa: PLC0415

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
            together=tuple(together or ()),
        )
        report_on(asked, options, out, wanted, stderr, lines=progress_lines, workers=workers)


def _formats(given: str) -> frozenset[str]:
    return frozenset(FORMATS) if given == ALL else names_in("--format", given, (*FORMATS, *PAPER_FORMATS))


if __name__ == "__main__":
    app(prog_name="python -m qc.report")
