"""Estimate scores from judgments, and whether they suffice: `candor estimate SOURCE`."""

from math import isfinite
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from candor.common.terminal import Console
from qc.command import ALL, RunName, Seed, Where, output_console, progress, stderr_console, where_in
from qc.errors import OptionError
from qc.judgments import Judgments, Selection, read_judgments
from qc.precision import EstimateOptions, Sequence, Stopping, StoppingStanding, estimate, steps, stopping
from qc.precision.confidence_sequence import FIRST_LOOK
from qc.render.findings import Formats, Out, tell, wanted_formats, write_all
from qc.render.findings.estimate import estimate_findings
from qc.run import SIMULATED_NOTE
from qc.statistics.confidence import LEVEL
from qc.table import decimal, whole

DIGITS = 2


def stopping_lines(stopping: Stopping) -> tuple[str, ...]:
    """Return the lines that are printed."""
    using = f" with {stopping.metric}" if stopping.metric else ""
    first = (
        f"{stopping.criterion}, by the {stopping.sequence} confidence sequence{using}: "
        f"{100 * LEVEL:.0f} % for each system, however often one looks."
    )
    return (first, *map(_line, stopping.standings), _verdict(stopping))


def _line(standing: StoppingStanding) -> str:
    counted = f"{whole(standing.n)} {standing.unit}"
    if standing.n < FIRST_LOOK:
        return f"{standing.system}: {counted}; there is an interval from {FIRST_LOOK} on."
    if not isfinite(standing.half_width):
        return (
            f"{standing.system}: {counted}, nearly all the same, or a few far from the others; there is no "
            "asymptotic interval yet. "
            "Use --sequence exact with --scale LOW,HIGH."
        )
    centre, reach = (decimal(value, DIGITS) for value in (standing.centre, standing.half_width))
    return f"{standing.system}: {centre} ± {reach} after {counted}."


def _verdict(stopping: Stopping) -> str:
    widest = stopping.widest
    if not isfinite(widest.half_width):
        return f"Not yet: {widest.system} has no interval, and ± {stopping.width:g} was asked for."
    said = f"the widest is ± {decimal(widest.half_width, DIGITS)} ({widest.system}), and"
    if stopping.reached:
        return f"Narrow enough: {said} ± {stopping.width:g} was asked for. The run may stop."
    return f"Not yet: {said} ± {stopping.width:g} was asked for."


EXIT_NOT_YET = 3

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")


@app.command(
    name="estimate",
    epilog="[b]A plain CSV[/b] has one judgment per row: item (or instance), system, worker, value, and, if "
    "there are several, criterion (or prompt). If a system has several outputs for an item, a column output "
    "names them. Other numeric columns that describe the output are metrics.\n\n"
    "[b]Or one output per row[/b]: item, system, and the judgments side by side as fun_1, fun_2, …; workers "
    "are then unknown.\n\n"
    "[b]A file of metrics[/b] is by output, by item and system, or by system. Outputs in it that nobody "
    "judged join the pool: with them a metric can save judgments.\n\n"
    "[b]--until[/b] computes only confidence sequences, which stay valid however often you check them. "
    f"The exit status is 0 if they are narrow enough, {EXIT_NOT_YET} if not yet, 2 if that is unknown.",
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
        str,
        typer.Option(
            metavar="NAMES",
            help="Metrics to use as control variates, separated by commas; several at once: judge_a+judge_b.",
        ),
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
        float, typer.Option(help="For a run: level of quality control; a worker passes with p below it.")
    ] = 0.05,
    out: Out = None,
    formats: Formats = ALL,
    bootstrap: Annotated[int, typer.Option(metavar="N", help="Resamples for intervals.")] = 2000,
    seed: Seed = 0,
    until: Annotated[
        float | None,
        typer.Option(metavar="WIDTH", help="Only check whether every system's mean is known to ± WIDTH."),
    ] = None,
    sequence: Annotated[
        Sequence | None,
        typer.Option(help="For --until.", show_default="exact where the ends of the scale are known"),
    ] = None,
) -> None:
    """Estimate each system's mean and its precision, and how many human judgments a metric saves."""
    with stderr_console() as stderr:
        options = EstimateOptions(_listed(criterion), _listed(metric), bootstrap, seed, _ends(scale))
        wanted = wanted_formats(formats, out)
        _require_fitting(until, sequence, options, metrics, out)
        judgments = read_judgments(source, Selection(metrics, run, alpha, where_in(where)))
        if until is not None:
            _look(judgments, until, sequence, options, stderr)
        with progress(stderr, steps(judgments, options)) as on_step:
            found = estimate_findings(estimate(judgments, options, on_step))
        files = write_all(found, out, wanted, stderr)
    tell(found, out, files)


def _require_fitting(
    until: float | None,
    sequence: Sequence | None,
    options: EstimateOptions,
    metrics: Path | None,
    out: Path | None,
) -> None:
    if until is None:
        if sequence is not None:
            raise OptionError("--sequence needs --until WIDTH. Give both, or leave out --sequence.")
        return
    if out is not None:
        raise OptionError("--until writes no files. Leave out --out.")
    if len(options.metrics) > 1 or (metrics is not None and not options.metrics):
        raise OptionError(
            "--until uses one metric, or several together. Leave out --metrics, or name one by --metric, "
            "several as judge_a+judge_b, and keep to it at every look."
        )
    if len(options.criteria) > 1:
        raise OptionError("--until checks one criterion. Name it with --criterion.")


def _look(
    judgments: Judgments,
    until: float,
    sequence: Sequence | None,
    options: EstimateOptions,
    stderr: Console,
) -> NoReturn:
    """Print the confidence sequences; the exit status says whether they are narrow enough."""
    criterion = options.criteria[0] if options.criteria else None
    metric = options.metrics[0] if options.metrics else ""
    found = stopping(judgments, until, criterion, sequence, options.ends, metric)
    if SIMULATED_NOTE in judgments.notes:
        stderr.print(f"! {SIMULATED_NOTE}", style="yellow")
    console = output_console()
    for line in stopping_lines(found):
        console.print(line, soft_wrap=True)
    raise typer.Exit(0 if found.reached else EXIT_NOT_YET)


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
