"""Test systems and raters by approximate randomisation: `python -m qc.randomisation SOURCE`."""

from typing import Annotated

import typer

from qc.command import ALL, RunName, Where, progress, stderr_console, where_in
from qc.estimators.randomisation import DRAWS
from qc.judgments import Selection, read_judgments
from qc.planning.opinion import opinion
from qc.planning.randomisation_analysis import STEPS, RandomisationOptions, Within, analyse_randomisation
from qc.render.findings.command import Criterion, Formats, Out, PerWorkerZ, tell, wanted_formats, write_all
from qc.render.findings.randomisation import randomisation_findings

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")


@app.command(
    epilog="Every two systems, within workers: candor plan randomisation judgments.csv\n\n"
    "Two pools of raters: candor plan randomisation experts.csv --other crowd.csv --out agreement"
)
def randomisation(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="Judgments: a CSV with columns item, system, worker, value (and criterion, position), or a "
            "run as `candor report` reads it.",
        ),
    ],
    within: Annotated[
        Within | None,
        typer.Option(
            help="Exchange scores of two systems within the same worker or item. Default: worker, or item if "
            "the source does not say who judged.",
        ),
    ] = None,
    other: Annotated[
        str | None,
        typer.Option(metavar="SOURCE2", help="Judgments of the same systems by another pool of raters."),
    ] = None,
    criterion: Criterion = None,
    where: Where = None,
    z: PerWorkerZ = False,
    run: RunName = None,
    draws: Annotated[
        int, typer.Option(metavar="N", help="Exchanges to draw, if there are too many to try all.")
    ] = DRAWS,
    seed: Annotated[int, typer.Option(help="Seed of the draws.")] = 0,
    out: Out = None,
    formats: Formats = ALL,
) -> None:
    """Test each pair of systems by approximate randomisation, and compare single raters with averages."""
    with stderr_console() as stderr:
        options = RandomisationOptions(within, draws, seed)
        wanted = wanted_formats(formats, out)
        read = read_judgments(source, Selection(run=run, where=where_in(where)))
        people = opinion(read, criterion, z=z)
        second = None if other is None else read_judgments(other, Selection(where=where_in(where)))
        others = None if second is None else opinion(second, criterion, z=z)
        with progress(stderr, STEPS) as on_step:
            analysis = analyse_randomisation(people, options, others, on_step)
        found = randomisation_findings(analysis, read.source, second.source if second else None)
        files = write_all(found, out, wanted, stderr)
    tell(found, out, files)


if __name__ == "__main__":
    app(prog_name="python -m qc.randomisation")
