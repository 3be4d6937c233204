"""Words and characters that workers wrote."""

from dataclasses import asdict

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.drawing.charts import density, density_key, density_scale, share_axis
from qc.drawing.panel import Panel, Scale, round_ticks, tick_labels
from qc.drawing.sheet import Drawing, Sheet
from qc.drawing.style import MARGIN
from qc.method.workload import Effort, describe_effort
from qc.robustness.filter_check import FilterCheck
from qc.sections import schema
from qc.sections.analysis import Analysis
from qc.sections.section import MadeFile, Part, Section
from qc.table import GROUPS, ONE, TWO, Column, Table, decimal, side_by_side


def lengths(found: Effort) -> Table:
    """Return the lengths of workers' messages; a reader sees the groups of workers side by side."""
    lengths = [
        {"group": group, "measure": measure, **each}
        for group in GROUPS
        for measure, each in asdict(getattr(found, group)).items()
    ]
    frame = pd.DataFrame(lengths, columns=["group", "measure", "n", "mean", "median"])
    rows = side_by_side(frame, "measure", ["median", "mean"], list(frame["measure"].unique()))
    columns = (
        Column(f"{value} {group}", f"{value.capitalize()}, {group}", TWO if value == "mean" else ONE)
        for value in ("median", "mean")
        for group in GROUPS
    )
    return Table(
        frame, (Column("what", "What"), *columns), rows.assign(what=rows["measure"].str.replace("_", " "))
    )


MEASURES = {
    "minutes": "minutes per conversation, median of a worker",
    "words": "words per input, median of a worker",
}
SHOWN = 97.5
BIN_COUNT = 24
HEAD, TITLE, HEIGHT, FOOT, LEFT, RIGHT = 48.0, 32.0, 130.0, 58.0, 50.0, 16.0


def draw_effort(check: FilterCheck) -> Drawing | None:
    """Draw the distributions of minutes and words for workers who passed and who failed; None if unknown.

    Values above the percentile SHOWN are outside the axis.
    """
    workers = check.workers
    passed = workers["passed"].to_numpy(bool)
    known = {name: workers[name].to_numpy(np.float64) for name in MEASURES}
    known = {name: values for name, values in known.items() if np.isfinite(values).any()}
    if not known:
        return None
    shown = {name: _groups(values, passed) for name, values in known.items()}

    def draw(width: float) -> Sheet:
        block = TITLE + HEIGHT + FOOT
        page = Sheet(width, HEAD + block * len(shown) + MARGIN)
        for i, (name, (groups, bins)) in enumerate(shown.items()):
            size = (width - LEFT - RIGHT, HEIGHT)
            ends = Scale(0.0, float(bins[-1])), density_scale(groups, bins)
            panel = Panel(page, LEFT, HEAD + block * i + TITLE, *size, *ends)
            share_axis(panel)
            ticks = round_ticks(0.0, float(bins[-1]), 6)
            panel.x_axis(ticks, tick_labels(ticks), MEASURES[name])
            for values, of_passed in zip(groups, (True, False), strict=True):
                density(panel, values, bins, passed=of_passed)
        density_key(page, MARGIN, 18, "passed", "failed")
        return page

    alts = [
        f"{MEASURES[name].split(',')[0]} {_median(groups[0])} passed, {_median(groups[1])} failed"
        for name, (groups, _) in shown.items()
    ]
    alt = f"Distributions over the workers; in the middle: {'; '.join(alts)}."
    return Drawing("Time and words of the workers", alt, draw)


def _groups(
    values: NDArray[np.float64], passed: NDArray[np.bool_]
) -> tuple[tuple[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]:
    """Return the known values of those who passed and of those who failed, and the edges of the bins."""
    finite = np.isfinite(values)
    bins = np.linspace(0, float(np.percentile(values[finite], SHOWN)) or 1.0, BIN_COUNT + 1)
    return (values[finite & passed], values[finite & ~passed]), bins


def _median(values: NDArray[np.float64]) -> str:
    return decimal(float(np.median(values)) if len(values) else np.nan, 1)


def _draw(analysis: Analysis) -> Drawing | None:
    check = analysis.filter_check
    return draw_effort(check) if analysis.effort and check else None


EFFORT = Part(
    kind=Effort,
    make=lambda a: describe_effort(a.sample),
    key="effort",
    option="effort",
    schema=schema.record(
        "How much workers wrote.",
        passed=schema.shared("effort", "Workers who passed."),
        failed=schema.shared("effort", "Workers who failed."),
        all=schema.shared("effort", "All workers."),
        counting=schema.text("How a word is counted."),
    ),
)

SECTION = Section(
    id="effort",
    title="Effort",
    parts=(EFFORT,),
    tables=(EFFORT.file("effort.csv", "words and characters that workers wrote", lengths),),
    figures=(
        MadeFile("effort.svg", "time and words of the workers; also needs `filter`", _draw, option="effort"),
    ),
    page="""\
{% call drawing("effort", "Time and words of the workers.") %}
Each worker counts once, with their median; the marks above are the medians of the two groups. The highest \
values lie beyond the axis.
{% endcall %}
{% call table("effort.csv", "What workers wrote.") %}
{{ found.counting }} Conversations with the quality-control bot are left out. Where workers who failed \
write less, the filter catches carelessness.
{% endcall %}
""",
)
