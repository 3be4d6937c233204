"""Estimate from judgments: `python -m qc.estimate SOURCE`. It composes reading, estimating and rendering."""

from pathlib import Path
from typing import Annotated

import typer

from qc.command import ALL, RunName, names_in, output_console, progress, stderr_console
from qc.errors import OptionError
from qc.judgments import Selection, read_judgments
from qc.precision import EstimateOptions, Estimates, estimate, steps
from qc.render.estimates import FORMATS, PAGE, show, write, writing_steps

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
    where: Annotated[
        str | None,
        typer.Option(metavar="COLUMN=TEXT", help="Take only the outputs that hold TEXT in COLUMN."),
    ] = None,
    scale: Annotated[
        str | None,
        typer.Option(metavar="LOW,HIGH", help="Ends of the scale, for the exact confidence sequence."),
    ] = None,
    run: RunName = None,
    alpha: Annotated[
        float, typer.Option(help="Of a run: level at which a worker passes, p below it.")
    ] = 0.05,
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
    bootstrap: Annotated[int, typer.Option(metavar="N", help="Resamples for intervals.")] = 2000,
    seed: Annotated[int, typer.Option(help="Seed of everything that is drawn at random.")] = 0,
) -> None:
    """Say how precise each system's mean is, and how many human judgments a metric saves, if any."""
    with stderr_console() as stderr:
        options = EstimateOptions(_listed(criterion), _listed(metric), bootstrap, seed, _ends(scale))
        wanted = names_in("--format", formats, FORMATS) if out else frozenset()
        judgments = read_judgments(source, Selection(metrics, run, alpha, _where(where)))
        with progress(stderr, steps(judgments, options) + writing_steps(wanted)) as on_step:
            estimates = estimate(judgments, options, on_step)
            files = write(estimates, out, wanted, on_step) if out else []
    _tell(estimates, out, files)


def _listed(given: str) -> tuple[str, ...]:
    """Return the names in an option; none for ALL."""
    return () if given == ALL else tuple(name.strip() for name in given.split(",") if name.strip())


def _where(given: str | None) -> tuple[str, str] | None:
    if given is None:
        return None
    column, sign, text = given.partition("=")
    if not sign:
        raise OptionError(f"--where is {given!r}; write COLUMN=TEXT, for example published=1.")
    return column, text


def _ends(given: str | None) -> tuple[float, float] | None:
    if given is None:
        return None
    try:
        low, high = (float(end) for end in given.split(","))
    except ValueError:
        raise OptionError(f"--scale is {given!r}; write two numbers, for example 0,100.") from None
    return low, high


def _tell(estimates: Estimates, out: Path | None, files: list[Path]) -> None:
    console = output_console()
    show(estimates, console)
    if out is None:
        console.print(f"Nothing was written. With --out DIR you get {PAGE}, tables and figures.")
    else:
        console.print(f"{len(files)} files written to {out}; begin with {files[0].name}.", soft_wrap=True)


if __name__ == "__main__":
    app(prog_name="python -m qc.estimate")
