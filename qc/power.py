"""`candor plan power [SOURCE]`: number of judgments needed, from a source or an assumed sd."""

from typing import Annotated

import typer

from qc.command import ALL, RunName, Where, progress, stderr_console, where_in
from qc.errors import OptionError
from qc.judgments import Selection, read_judgments
from qc.options import require_draws
from qc.planning.opinion import opinion
from qc.planning.power_analysis import PlanOptions, analyse_power, plan_power, power_steps
from qc.render.findings import (
    Criterion,
    Findings,
    Formats,
    Metrics,
    Out,
    PerWorkerZ,
    tell,
    wanted_formats,
    write_all,
)
from qc.render.findings.power import power_findings

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")


@app.command(
    epilog="Without data: candor plan power --difference 2 --difference 4 --sd 25 --design-effect 1.5\n\n"
    "Difference that a size can detect: candor plan power --judgments 300 --sd 25\n\n"
    "From judgments: candor plan power judgments.csv --metrics scores.csv --out plan"
)
def power(
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="SOURCE",
            help="Judgments: a CSV with columns item, system, worker, value (and criterion, and metrics), or "
            "a run as `candor report` reads it. Without it, give --sd.",
        ),
    ] = None,
    difference: Annotated[
        list[float] | None,
        typer.Option(
            metavar="D",
            help="Difference of two systems’ means to detect; may be given several times. Default with "
            "SOURCE: the quartiles of its differences.",
        ),
    ] = None,
    judgments: Annotated[
        list[int] | None,
        typer.Option(
            metavar="N",
            help="Judgments of each system, to find the difference that they detect; may be given several "
            "times.",
        ),
    ] = None,
    sd: Annotated[
        float | None, typer.Option(metavar="S", help="Without SOURCE: standard deviation of a judgment.")
    ] = None,
    design_effect: Annotated[
        float | None,
        typer.Option(
            metavar="E",
            help="Without SOURCE: number of judgments that are worth one independent judgment, because those "
            "of one worker are correlated. Default: 1.",
        ),
    ] = None,
    power: Annotated[float, typer.Option(help="Probability of detecting a true difference.")] = 0.95,
    alpha: Annotated[float, typer.Option(help="Level of the two-sided test.")] = 0.05,
    metrics: Metrics = None,
    criterion: Criterion = None,
    lower_is_better: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A metric, or the criterion, where lower is better; may be given several times.",
        ),
    ] = None,
    where: Where = None,
    z: PerWorkerZ = False,
    run: RunName = None,
    bootstrap: Annotated[
        int, typer.Option(metavar="N", help="Resamples for the labels of the published method.")
    ] = 10_000,
    seed: Annotated[int, typer.Option(help="Seed of the resamples.")] = 0,
    out: Out = None,
    formats: Formats = ALL,
) -> None:
    """Compute how many judgments a difference needs, and how many judgments a metric is worth."""
    with stderr_console() as stderr:
        options = PlanOptions(tuple(difference or ()), tuple(judgments or ()), power, alpha)
        wanted = wanted_formats(formats, out)
        if source is None:
            _require_no_data(metrics, criterion, lower_is_better, where, z, run)
            found = _planned(options, sd, 1.0 if design_effect is None else design_effect)
        else:
            _require_no_plan(sd, design_effect, bootstrap, seed)
            read = read_judgments(source, Selection(metrics, run, where=where_in(where)))
            people = opinion(read, criterion, z=z, reverse=frozenset(lower_is_better or ()))
            with progress(stderr, power_steps(people)) as on_step:
                found = power_findings(analyse_power(people, options, bootstrap, seed, on_step), read.source)
        files = write_all(found, out, wanted, stderr)
    tell(found, out, files)


def _require_no_data(
    metrics: object, criterion: object, reverse: object, where: object, z: object, run: object
) -> None:
    given = {
        "--metrics": metrics,
        "--criterion": criterion,
        "--lower-is-better": reverse,
        "--where": where,
        "--z": z,
        "--run": run,
    }
    without = [name for name, value in given.items() if value]
    if without:
        raise OptionError(f"{', '.join(without)} is about judgments, but no SOURCE is given. Name it.")


def _require_no_plan(sd: float | None, design_effect: float | None, bootstrap: int, seed: int) -> None:
    given = [name for name, value in (("--sd", sd), ("--design-effect", design_effect)) if value is not None]
    if given:
        raise OptionError(
            f"{' and '.join(given)} cannot be combined with SOURCE, which sets this too. Leave one out."
        )
    require_draws(bootstrap)
    if seed < 0:
        raise OptionError(f"--seed is {seed}, but a seed is a whole number from 0.")


def _planned(options: PlanOptions, sd: float | None, design_effect: float) -> Findings:
    if sd is None or not options.differences + options.judgments:
        raise OptionError(
            "Nothing to plan with. Give --sd and --difference (how many judgments?) or --sd and "
            "--judgments (what difference do they show?), or name a SOURCE of judgments."
        )
    return power_findings(plan_power(options, sd, design_effect))


if __name__ == "__main__":
    app(prog_name="python -m qc.power")
