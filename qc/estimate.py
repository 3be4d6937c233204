"""Estimate from judgments: `python -m qc.estimate SOURCE`. It composes reading, estimating and rendering."""

from pathlib import Path
from typing import Annotated

import typer

from qc.command import ALL, RunName, Where, progress, stderr_console, where_in
from qc.errors import OptionError
from qc.findings_command import Formats, Out, tell, wanted_formats, write_all
from qc.judgments import Selection, read_judgments
from qc.precision import EstimateOptions, estimate, steps
from qc.render.findings.estimate import estimate_findings

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")


@app.command(
    name="estimate",
    epilog="[b]A plain CSV[/b] has a judgment a row: item (or instance), system, worker, value, and where "
    "there are several, criterion (or prompt). Outputs that are not one for each item and system are named "
    "by a column output. Other columns of numbers that belong to the output are metrics.\n\n"
    "[b]Or an output a row[/b]: item, system, and the judgments side by side as fun_1, fun_2, …; its workers "
    "are then unknown.\n\n"
    "[b]A file of metrics[/b] is by output, by item and system, or by system. Outputs in it that nobody "
    "judged join the pool: they are what lets a metric save judgments.",
)
def estimate_command(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="A plain CSV of judgments, or a run: a hits_data.json, an MTurk batch CSV, our own export, "
            "an SQLite file or a database URL.",
        ),
    ],
    metrics: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="CSV with metrics of the outputs, also of those nobody judged."),
    ] = None,
    metric: Annotated[
        str, typer.Option(metavar="NAMES", help="Metrics to use as control variates, separated by commas.")
    ] = ALL,
    criterion: Annotated[
        str, typer.Option(metavar="NAMES", help="Criteria to estimate, separated by commas.")
    ] = ALL,
    where: Where = None,
    scale: Annotated[
        str | None,
        typer.Option(metavar="LOW,HIGH", help="Ends of the scale, for the exact confidence sequence."),
    ] = None,
    run: RunName = None,
    alpha: Annotated[
        float, typer.Option(help="Of a run: level at which a worker passes, p below it.")
    ] = 0.05,
    out: Out = None,
    formats: Formats = ALL,
    bootstrap: Annotated[int, typer.Option(metavar="N", help="Resamples for intervals.")] = 2000,
    seed: Annotated[int, typer.Option(help="Seed of everything that is drawn at random.")] = 0,
) -> None:
    """Say how precise each system's mean is, and how many human judgments a metric saves, if any."""
    with stderr_console() as stderr:
        options = EstimateOptions(_listed(criterion), _listed(metric), bootstrap, seed, _ends(scale))
        wanted = wanted_formats(formats, out)
        judgments = read_judgments(source, Selection(metrics, run, alpha, where_in(where)))
        with progress(stderr, steps(judgments, options)) as on_step:
            found = estimate_findings(estimate(judgments, options, on_step))
        files = write_all(found, out, wanted, stderr)
    tell(found, out, files)


def _listed(given: str) -> tuple[str, ...]:
    """Return the names in an option; none for ALL."""
    return () if given == ALL else tuple(name.strip() for name in given.split(",") if name.strip())


def _ends(given: str | None) -> tuple[float, float] | None:
    if given is None:
        return None
    try:
        low, high = (float(end) for end in given.split(","))
    except ValueError:
        raise OptionError(f"--scale is {given!r}; write two numbers, for example 0,100.") from None
    return low, high


if __name__ == "__main__":
    app(prog_name="python -m qc.estimate")
