"""Findings of `qc.plan`, for people."""

from collections.abc import Callable
from dataclasses import asdict
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from qc.planning.run_plan import POWER, Expected, RunPlan
from qc.render.findings.findings import Findings, FindingsFigure, FindingsTable
from qc.statistics.confidence import LEVEL
from qc.table import COUNT, ONE, THREE, TWO, Column, Table, decimal, listed, percent, whole

if TYPE_CHECKING:
    from qc.drawing.sheet import Drawing

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
        tables=(_expected(found), _needed(found), _model(found)),
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
        "fresh workers; its range holds the middle 95 % of the experiments. Hours are those that workers "
        "spend, together."
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


def _model(found: RunPlan) -> FindingsTable:
    model = found.model
    rows = {
        "worker’s bias, sd": model.worker_sd,
        "conversation’s mood, sd": model.conversation_sd,
        "noise of a rating, sd": model.rating_sd,
        "share who set sliders anywhere": model.random_share,
        "assignments of a worker, mean": float(np.mean(model.per_worker)),
    }
    frame = pd.DataFrame({"what": list(rows), "value": list(rows.values())})
    text = "Points of the scale, before ratings are cut off at its ends."
    columns = (Column("what", "What"), Column("value", "Value", TWO))
    return FindingsTable("model", "How workers rate", text, Table(frame, columns))


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
