"""Report on a run: `python -m qc.report SOURCE`. What can be asked; `qc.reporting` does it."""

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
from qc.process import settle, spare_modules

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
