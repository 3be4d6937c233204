"""`candor plan workers [SOURCE]`: forecast results and cost for a number of workers."""

from collections.abc import Callable
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import pandas as pd
import typer

from qc.command import ALL, Alpha, RunName, output_console, progress, stderr_console
from qc.errors import EmptyRunError, OptionError
from qc.loading import load
from qc.method.filter import require_level
from qc.method.sample import require_competing, take_sample
from qc.planning.outlook import FEWEST_PASSED, MULTIPLES, POWER
from qc.planning.rater_model import RaterModel, assumed, fit, write_model
from qc.planning.run_plan import EXPERIMENTS, Costs, Expected, RunPlan, plan_run
from qc.render.findings import (
    Findings,
    FindingsFigure,
    FindingsTable,
    Formats,
    Out,
    tell,
    wanted_formats,
    write_all,
)
from qc.run import Run
from qc.signature import DIGEST_LENGTH, data_hash
from qc.statistics.confidence import LEVEL
from qc.table import COUNT, ONE, THREE, TWO, Column, Table, counted, decimal, listed, percent, whole

if TYPE_CHECKING:
    from qc.drawing.sheet import Drawing

FEWEST_EXPERIMENTS, MOST_EXPERIMENTS, MOST_WORKERS = 20, 2000, 20_000
CRITERIA, COUNTED = 7, 5  # of the published instrument
CARELESS = 0.3
NO_SHARE = 0.005  # shares below it are 0 %
DIFFERENCES = (0.1, 0.2, 0.3)

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")


@app.command(
    epilog="From a pilot, or a published run: candor plan workers pilot.json --pay 2.5 --fee 0.33\n\n"
    "Without data: candor plan workers --workers 100 --systems 5 --spread 8 --difference 0.2"
)
def plan(
    source: Annotated[
        str | None,
        typer.Argument(metavar="SOURCE", help="A pilot or another run, as `candor report` reads it."),
    ] = None,
    run: RunName = None,
    workers: Annotated[
        int | None,
        typer.Option(min=2, max=MOST_WORKERS, help="Number of workers. Default: as many as in SOURCE."),
    ] = None,
    difference: Annotated[
        list[float] | None,
        typer.Option(metavar="D", help="Difference of two systems’ z to detect; may be given several times."),
    ] = None,
    systems: Annotated[
        int | None, typer.Option(min=2, max=100, help="Without SOURCE: number of systems.")
    ] = None,
    spread: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=50,
            help="Without SOURCE: standard deviation of the systems’ true means, in points of 100.",
        ),
    ] = None,
    held: Annotated[
        int | None,
        typer.Option(
            "--conversations",
            min=1,
            help="Without SOURCE: conversations with systems in an assignment.",
        ),
    ] = None,
    pay: Annotated[float | None, typer.Option(min=0, help="What one assignment pays.")] = None,
    fee: Annotated[
        float, typer.Option(min=0, help="Share that the platform takes on top, as 0.2 for 20 %.")
    ] = 0.0,
    minutes: Annotated[
        float | None, typer.Option(min=0, help="Minutes for an assignment. Default: the median of SOURCE.")
    ] = None,
    alpha: Alpha = 0.05,
    experiments: Annotated[
        int,
        typer.Option(
            min=FEWEST_EXPERIMENTS,
            max=MOST_EXPERIMENTS,
            help="Simulated experiments for each number of workers.",
        ),
    ] = EXPERIMENTS,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    model_file: Annotated[
        Path | None,
        typer.Option(
            "--model",
            metavar="FILE",
            help="Write a model of how workers rate to FILE, for `candor crowd` and `candor rehearse`.",
        ),
    ] = None,
    out: Out = None,
    formats: Formats = ALL,
) -> None:
    """Forecast results with 0.5, 1, 2 and 4 times the workers, and how many a difference needs."""
    with stderr_console() as stderr:
        wanted = wanted_formats(formats, out)
        require_level(alpha)
        if fee > 1:
            raise OptionError(f"--fee is {fee:g}, but here it is a share. Write 0.2 for 20 %.")
        asked = tuple(difference or DIFFERENCES)
        if bad := [each for each in asked if not 0 < each < np.inf]:
            raise OptionError(f"--difference is {bad[0]:g}, but it must be above 0.")
        if source is None:
            if model_file is not None:
                raise OptionError("--model describes the workers of a run. Name a SOURCE.")
            model, name, known = _assumed(systems, spread, held, seed), "", np.nan
            data = f"assumed:{systems}:{spread:g}:{model.lineups.shape[1] - 1}"
            if workers is None:
                raise OptionError("Without SOURCE, --workers must say how many take part. Give it.")
            people = workers
        else:
            _require_no_assumptions(systems, spread, held)
            read, model, people, known, data = _fitted(source, run, alpha, seed)
            name = read.source
            if model_file is not None:
                write_model(model, read.criteria["label"].to_list(), model_file)
            people = people if workers is None else workers
        costs = Costs(pay, fee, known if minutes is None else minutes)
        with progress(stderr, len(MULTIPLES)) as on_step:
            found = plan_run(model, people, asked, costs, alpha, experiments, seed, on_step)
        shown = run_plan_findings(found, name, data, alpha, seed)
        files = write_all(shown, out, wanted, stderr)
    tell(shown, out, files)
    if model_file is not None:
        output_console().print(f"Model of how these workers rate: {model_file}.", soft_wrap=True)


def _fitted(source: str, run: str | None, alpha: float, seed: int) -> tuple[Run, RaterModel, int, float, str]:
    """Return a run, its rater model, its number of workers, their median minutes, and its hash."""
    read = load(source, run, words=False)
    if read.items is not None:
        raise OptionError(f"{read.source} rates transcripts. Plan those by `candor plan power`.")
    sample = take_sample(read, alpha)
    require_competing(read)
    passed = int(sample.screening.workers["passed"].sum())
    if passed < FEWEST_PASSED:
        raise EmptyRunError(
            f"{read.source}: {counted(passed, 'worker')} passed, too few to tell how people rate. Use a "
            "larger pilot."
        )
    seconds = read.assignments["seconds"].to_numpy(np.float64)
    known = seconds[np.isfinite(seconds)]
    minutes = float(np.median(known)) / 60 if len(known) else np.nan
    data = f"sha256:{data_hash(read)[:DIGEST_LENGTH]}"
    return read, fit(sample, seed), len(sample.screening.workers), minutes, data


def _assumed(systems: int | None, spread: float | None, held: int | None, seed: int) -> RaterModel:
    if systems is None or spread is None:
        raise OptionError(
            "Nothing to plan from. Name a SOURCE, or give --systems and --spread; in the published run 1 the "
            "spread is 8.8 points."
        )
    met = min(systems, 5) if held is None else held
    if not 2 <= met <= systems:
        raise OptionError(f"--conversations is {met}, but an assignment meets 2 to {systems} of the systems.")
    return assumed(systems, spread, CRITERIA, COUNTED, met, CARELESS, seed)


def _require_no_assumptions(systems: int | None, spread: float | None, held: int | None) -> None:
    options = {"--systems": systems, "--spread": spread, "--conversations": held}
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise OptionError(
            f"{', '.join(given)} cannot be combined with SOURCE, which sets this too. Leave one out."
        )


METHOD = (
    "Experiments drawn from a model of how workers rate, fitted to the source by simulated moments "
    "(McFadden, 1989): what a system deserves, the worker’s bias, the conversation’s mood, noise, ratings "
    "cut off at the ends of the scale. In each, workers are filtered and scores standardised as in a report, "
    "and a second run of fresh workers is drawn. Intervals and pairs told apart: as in a report, by a wild "
    "bootstrap of whole workers and the largest |t*| of all pairs. Workers needed: the normal approximation "
    "with the standard error and the bounds of the experiments."
)


def run_plan_findings(found: RunPlan, source: str, data: str, alpha: float, seed: int) -> Findings:
    """Return a plan in tables, figures and words.

    Args:
        found: the plan.
        source: source of the pilot; "" if there is none.
        data: identifies the data behind the model, for the signature.
        alpha: level of quality control.
        seed: random seed.
    """
    signature = {
        "candor": version("candor-eval"),
        "data": data,
        "experiments": str(found.experiments),
        "workers": ",".join(str(each.workers) for each in found.expected),
        "alpha": f"{alpha:g}",
        "seed": str(seed),
    }
    figures = [
        ("plan-width", "Half-width of the intervals.", "half-width (z)", lambda each: each.half_width),
        ("plan-pairs", "Pairs told apart.", "pairs told apart", lambda each: each.apart),
        ("plan-r", "Correlation with a second run.", "r", lambda each: each.r),
    ]
    return Findings(
        command="plan",
        title="How many workers",
        source=source,
        verdict=_verdict(found),
        notes=_notes(found, source),
        tables=(_expected(found), _needed(found), _model(found, source)),
        figures=tuple(_figure(found, *each) for each in figures),
        method=METHOD,
        signature="|".join(f"{key}={value}" for key, value in signature.items()),
    )


def _verdict(found: RunPlan) -> tuple[str, ...]:
    planned = found.expected[min(1, len(found.expected) - 1)]
    needs = listed([f"{whole(each.all_pairs)} for {each.difference:.3g}" for each in found.needed])
    return (
        f"{whole(planned.workers)} workers, of whom about {whole(planned.passed)} pass, would give intervals "
        f"of ± {decimal(planned.half_width, 2)} z, tell {decimal(planned.apart, 0)} of "
        f"{whole(planned.pairs)} pairs apart, and correlate with a second run at about "
        f"r = {decimal(planned.r)}.",
        f"Workers that tell a difference in z among all pairs with power {percent(POWER, 0)}: {needs}.",
    )


def _notes(found: RunPlan, source: str) -> tuple[str, ...]:
    notes = []
    if not source:
        notes.append("Nothing was measured: raters are assumed to be as in the published run 1.")
    few = [each.workers for each in found.expected if each.passed < 12]
    if few:
        notes.append(
            f"With {listed([whole(each) for each in few])} workers so few pass that intervals are rough."
        )
    return tuple(notes)


def _expected(found: RunPlan) -> FindingsTable:
    columns = (
        Column("workers", "Workers", COUNT),
        Column("passed", "Passed", COUNT),
        Column("half_width", "Intervals ±", THREE),
        Column("apart", "Pairs apart", ONE),
        Column("pairs", "Of", COUNT),
        Column("r", "r", THREE),
        Column("r_low", "95 % of r", THREE, upper="r_high"),
        Column("cost", "Cost", TWO),
        Column("hours", "Hours", ONE),
    )
    text = (
        "What so many workers would show, on average over the experiments. r: with a second run as large, of "
        "fresh workers; its range holds the middle 95 % of the experiments. These take the pilot for right, "
        "so a second run lies outside more often. Hours are those that workers spend, together."
    )
    frame = pd.DataFrame([asdict(each) for each in found.expected])
    return FindingsTable("expected", "What so many workers would show", text, Table(frame, columns))


def _needed(found: RunPlan) -> FindingsTable:
    columns = (
        Column("difference", "Difference in z", THREE),
        Column("one_pair", "One pair, chosen before", COUNT),
        Column("all_pairs", "Any pair among all", COUNT),
    )
    text = (
        f"Workers who must take part so that a true difference is found with power {percent(POWER, 0)}, "
        f"two-sided at {percent(1 - LEVEL, 0)}: a pair for itself, or all pairs together, as a report tells "
        "them apart."
    )
    frame = pd.DataFrame([asdict(each) for each in found.needed])
    return FindingsTable("needed", "Workers that a difference takes", text, Table(frame, columns))


RANDOM = "share of workers who rate at random"


def _model(found: RunPlan, source: str) -> FindingsTable:
    model = found.model
    rows = {
        "worker’s bias, sd": model.worker_sd,
        "conversation’s mood, sd": model.conversation_sd,
        "noise of a rating, sd": model.rating_sd,
        RANDOM: model.random_share,
        "assignments of a worker, mean": float(np.mean(model.per_worker)),
    }
    frame = pd.DataFrame({"what": list(rows), "value": list(rows.values())})
    text = (
        "Standard deviations are in points of the scale, before ratings are cut off at its ends. "
        f"{_random_workers(model.random_share, source)}"
    )
    columns = (Column("what", "What"), Column("value", "Value", TWO))
    # The text says the share in words, so a reader does not see its row.
    return FindingsTable(
        "model", "How workers rate", text, Table(frame, columns, frame[frame["what"] != RANDOM])
    )


def _random_workers(share: float, source: str) -> str:
    """Return what is assumed of workers who rate at random."""
    if not source:
        return f"Of all workers, {percent(share, 0)} are assumed to rate at random."
    estimate = "A report estimates the share among those who passed in another way, from their p-values."
    if share < NO_SHARE:
        return (
            "No worker is assumed to rate at random: workers with these biases, moods and noise already fail "
            f"quality control as often as in the source. {estimate}"
        )
    return (
        f"Of all workers, {percent(share, 0)} are assumed to rate at random, so that as many fail quality "
        f"control as in the source. {estimate}"
    )


def _figure(
    found: RunPlan, name: str, title: str, axis: str, value: Callable[[Expected], float]
) -> FindingsFigure:
    def draw() -> "Drawing":
        from qc.render.figures import curve  # noqa: PLC0415  # as other commands do

        return curve(
            [each.workers for each in found.expected], [value(each) for each in found.expected], title, axis
        )

    return FindingsFigure(
        name, title, "Against the number of workers, on average over the experiments.", draw
    )


if __name__ == "__main__":
    app(prog_name="python -m qc.plan")
