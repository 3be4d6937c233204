"""Figures of the findings of commands, as SVG, in two widths."""

from collections.abc import Sequence
from math import log10
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qc.comparison.several_runs import SeveralRuns
from qc.drawing.charts import limits, point, rows
from qc.drawing.panel import Panel, Scale, round_ticks, spread, tick_labels
from qc.drawing.sheet import Drawing, Sheet
from qc.drawing.style import (
    BLUE,
    FAMILY_COLOURS,
    FAMILY_MARKERS,
    GAP,
    GREEN,
    INK,
    MARGIN,
    MUTED,
    VERMILION,
    shortened,
    text_width,
)
from qc.planning.comparison import MetricError, PairedComparison, error_curve
from qc.planning.randomisation_analysis import PoolAgreement
from qc.precision.estimates import EstimatesOfPart
from qc.table import decimal, listed, percent, whole

LEFT, HEAD, FOOT, RIGHT, HEIGHT = 62.0, 40.0, 58.0, 24.0, 300.0
LINE = 22.0
LONGEST_NAME = 160.0
TICK_ROOM = 80.0
FIRST, MOST_POINTS = 19, 500

Array = NDArray[np.float64]


class CurveLine(NamedTuple):
    """A line: its sign in the legend, colour, SVG dash pattern, meaning, and values."""

    sign: str
    colour: str
    dash: str
    text: str
    values: Array


def widths(part: EstimatesOfPart) -> Drawing:
    """Draw the width of the interval against n, without and with the strongest metric.

    `part` must have a curve.
    """
    curve = part.curve
    assert curve is not None  # noqa: S101
    metric = part.metrics[0].metric
    lines = [
        CurveLine("■", MUTED, "", "mean of the judgments", curve.mean),
        CurveLine(
            "●", BLUE, "", f"with {shortened(metric, LONGEST_NAME)} as control variate", curve.control_variate
        ),
    ]
    n = np.asarray(curve.n, np.float64)

    def draw(width: float) -> Sheet:
        panel = _frame(width, lines, n, "judgments", "width of the 95 % interval")
        for each, shape in zip(lines, ("s", "o"), strict=True):
            panel.line(n, each.values, each.colour)
            panel.points(n, each.values, each.colour, shape)
        return panel.page

    title = f"Width against judgments: {part.criterion}, {part.system}"
    alt = (
        f"At {whole(curve.n[-1])} judgments the interval is {decimal(curve.mean[-1], 3)} wide, and "
        f"{decimal(curve.control_variate[-1], 3)} with {metric}; data efficiency by resampling "
        f"{decimal(curve.de, 2)}, with an endless pool and as if judgments were independent."
    )
    return Drawing(title, alt, draw)


def narrowing(part: EstimatesOfPart) -> Drawing:
    """Draw how intervals narrow while data come in.

    `part` must have looks.
    """
    looks = part.looks
    assert looks is not None  # noqa: S101
    n = np.arange(1, looks.n + 1, dtype=np.float64)
    lines = [
        CurveLine("┄", MUTED, "6 4", "fixed n: not to be looked at again and again", looks.fixed.half_width),
        CurveLine("━", BLUE, "", "at any n", looks.plain.half_width),
    ]
    if looks.varied is not None:
        text = f"at any n, with {shortened(looks.metric, LONGEST_NAME)}"
        lines.append(CurveLine("┉", GREEN, "3 3", text, looks.varied.half_width))
    if looks.exact is not None:
        lines.append(CurveLine("━", VERMILION, "", "at any n, exact", looks.exact.half_width))
    # Leave out the first intervals, which are too wide for the scale, and limit the number of points.
    shown = np.unique(np.linspace(min(FIRST, looks.n - 1), looks.n - 1, MOST_POINTS).astype(np.intp))
    lines = [each._replace(values=each.values[shown]) for each in lines]

    def draw(width: float) -> Sheet:
        panel = _frame(width, lines, n[shown], looks.unit, "half-width at 95 %")
        for each in lines:
            panel.line(n[shown], each.values, each.colour, 2.0, each.dash)
        return panel.page

    title = f"While data come in: {part.criterion}, {part.system}"
    alt = (
        f"After {whole(looks.n)} {looks.unit} the interval that may be looked at any time reaches "
        f"{decimal(looks.plain.half_width[-1], 3)} to each side; the one for a fixed n "
        f"{decimal(looks.fixed.half_width[-1], 3)}."
    )
    return Drawing(title, alt, draw)


def _frame(width: float, lines: Sequence[CurveLine], n: Array, across: str, up: str) -> Panel:
    """Return a panel on a new sheet, with a scale from 0 for all lines, axes, and a legend above."""
    head = HEAD + LINE * len(lines)
    page = Sheet(width, head + HEIGHT + FOOT)
    highest = max(float(np.nanmax(each.values, initial=0.0)) for each in lines)
    ends = Scale(float(n[0]) if len(n) > 1 else 0.0, float(n[-1])), Scale(0.0, highest * 1.08 or 1.0)
    panel = Panel(page, LEFT, head, width - LEFT - RIGHT, HEIGHT, *ends)
    heights = round_ticks(0.0, panel.y.last, 5)
    panel.y_axis(heights, tick_labels(heights), up)
    ticks = round_ticks(panel.x.first, panel.x.last, max(2, int(panel.width / TICK_ROOM)), whole=True)
    panel.x_axis(ticks, [whole(tick) for tick in ticks], across)
    for i, each in enumerate(lines):
        page.key((MARGIN, 24 + LINE * i), each.sign, each.colour, each.text)
    return panel


ERROR_LEFT, ERROR_HEAD, ERROR_FOOT, ERROR_HEIGHT = 62.0, 66.0, 58.0, 330.0
LABEL = 0.27  # share of the width
POINTS = 200
BIAS_LINE = 17.0
# Colours of metrics must differ from the colours of people's curves.
METRIC_COLOURS = tuple(colour for colour in FAMILY_COLOURS if colour not in (BLUE, GREEN))


def break_even(comparison: PairedComparison, metrics: Sequence[MetricError]) -> Drawing:
    """Draw people's error against the judgments of each system, and a line at the bias of each metric.

    Args:
        comparison: people's judgments; the perfect annotator's curve is drawn if the spread within outputs is
            known.
        metrics: the metrics to draw.
    """
    biases = np.array([float(next(iter(each.errors.values())).bias.mean()) for each in metrics])
    highest = max(0.5, float(biases.max(initial=0))) * 1.05
    last = max(1e3, 10 ** float(np.ceil(np.log10(4 * comparison.means.count.max()))))
    curves = _curves(comparison, last)
    differences = comparison.means.differences

    def draw(width: float) -> Sheet:
        labels = [shortened(each.metric, LABEL * width) for each in metrics]
        right = max((text_width(label) for label in labels), default=0.0) + 2 * GAP
        page = Sheet(width, ERROR_HEAD + ERROR_HEIGHT + ERROR_FOOT)
        scales = Scale(1.0, last, log10), Scale(0.0, highest)
        panel = Panel(page, ERROR_LEFT, ERROR_HEAD, width - ERROR_LEFT - right, ERROR_HEIGHT, *scales)
        shares = round_ticks(0.0, highest, 5)
        panel.y_axis(shares, [percent(share, 0) for share in shares], "pairs ordered wrongly")
        tens = [10.0**power for power in range(round(log10(last)) + 1)]
        panel.x_axis(tens, [whole(size) for size in tens], "judgments of each system")
        page.keys((MARGIN, 20), [("━", colour, text) for text, colour, _, _ in curves])
        for _, colour, dash, error in curves:
            panel.line(np.geomspace(1.0, last, POINTS), error, colour, 2.0, dash)
        heights = spread(biases, BIAS_LINE * highest / ERROR_HEIGHT)
        for i, (label, bias, height) in enumerate(
            zip(labels, biases.tolist(), heights.tolist(), strict=True)
        ):
            colour = METRIC_COLOURS[i % len(METRIC_COLOURS)]
            panel.horizontal(bias, colour, 1.5)
            page.beside((panel.right + GAP, panel.at(1.0, height)[1]), label, colour)
            if 1.0 <= metrics[i].worth <= last:
                page.marker(panel.at(metrics[i].worth, bias), "o", colour, 7)
        return page

    found = "; ".join(f"{each.metric} {_worth(each.worth)}" for each in metrics)
    alt = (
        f"How often people put two systems in the wrong order, against the judgments of each system, on "
        f"{whole(len(differences))} pairs. What metrics are worth in judgments: {found or 'there are none'}."
    )
    return Drawing("What a metric is worth in judgments", alt, draw)


def _curves(comparison: PairedComparison, last: float) -> list[tuple[str, str, str, NDArray[np.float64]]]:
    """Return name, colour, dashes and (POINTS,) errors for people, and for a perfect annotator if known."""
    sizes = np.geomspace(1.0, last, POINTS)
    errors = (comparison.means.differences, comparison.variances)
    people = np.asarray(error_curve(*errors, sizes.tolist()))
    curves = [("people", BLUE, "", people)]
    ratio = comparison.annotator.ratio
    if np.isfinite(ratio):
        perfect = np.asarray(error_curve(*errors, (ratio * sizes).tolist()))
        curves.append(("a perfect annotator", GREEN, "12 4", perfect))
    return curves


def _worth(judgments: float) -> str:
    return whole(judgments) if np.isfinite(judgments) else "more than any number"


SPREAD = 0.28


def one_against_average(pools: Sequence[PoolAgreement]) -> Drawing:
    """Draw r of each rater with the average of a pool, and the mean r; a row for each comparison.

    If the average is another pool's, r of the two averages is drawn too.
    """
    labels = [each.label for each in pools]
    extent = np.concatenate([np.array([-1.0, 1.0]), *(each.agreement.single for each in pools)])
    means = [_mean(each) for each in pools]

    def draw(width: float) -> Sheet:
        panel = rows(width, labels, "r of one rater with the average", extent, means, "mean")
        for i, each in enumerate(pools):
            r = np.sort(each.agreement.single[np.isfinite(each.agreement.single)])
            heights = i + SPREAD * np.resize([-1.0, 0, 1, -0.5, 0.5], len(r))
            for one in zip(r.tolist(), heights.tolist(), strict=True):
                panel.page.marker(panel.at(*one), "o", BLUE, 5, opacity=0.35)
            point(panel, each.agreement.mean, i, INK, "D")
            if np.isfinite(each.agreement.averages):
                point(panel, each.agreement.averages, i, VERMILION, "s")
        return panel.page

    found = "; ".join(
        f"{each.label}: {whole(np.isfinite(each.agreement.single).sum())} raters, mean r {_mean(each)}"
        for each in pools
    )
    alt = f"Correlation of single raters with an average. {found}."
    return Drawing("One rater against the average", alt, draw)


def _mean(pool: PoolAgreement) -> str:
    return decimal(pool.agreement.mean, 2)


PLAN_LEFT, PLAN_HEAD, PLAN_FOOT, PLAN_RIGHT, PLAN_HEIGHT = 62.0, 24.0, 58.0, 24.0, 220.0
PLAN_TICK_ROOM = 80.0


def curve(workers: Sequence[int], values: Sequence[float], title: str, axis: str) -> Drawing:
    """Draw a curve of forecast values against the number of workers, from 0 up."""
    across, up = np.array(workers, np.float64), np.array(values, np.float64)

    def draw(width: float) -> Sheet:
        page = Sheet(width, PLAN_HEAD + PLAN_HEIGHT + PLAN_FOOT)
        highest = float(np.nanmax(up, initial=0.0)) * 1.08 or 1.0
        ends = Scale(0.0, float(across[-1]) * 1.03), Scale(0.0, highest)
        panel = Panel(page, PLAN_LEFT, PLAN_HEAD, width - PLAN_LEFT - PLAN_RIGHT, PLAN_HEIGHT, *ends)
        heights = round_ticks(0.0, highest, 5)
        panel.y_axis(heights, tick_labels(heights), axis)
        ticks = round_ticks(0.0, panel.x.last, max(2, int(panel.width / PLAN_TICK_ROOM)), whole=True)
        panel.x_axis(ticks, [whole(tick) for tick in ticks], "workers")
        panel.line(across, up, BLUE)
        panel.points(across, up, BLUE)
        return page

    shown = [f"{decimal(value, 3)} with {whole(count)}" for count, value in zip(workers, values, strict=True)]
    return Drawing(title.rstrip("."), f"{axis}, by the number of workers: {listed(shown)}.", draw)


RUN_LEFT, RUN_HEAD, RUN_FOOT = 52.0, 34.0, 44.0
RUN_LINE, LEADER, FEWEST_LINES = 18.0, 18.0, 16
# Width of the longest names, as a share of the figure's width; horizontal distances between systems, as
# shares of the distance between runs.
NAME, STEP, ASIDE = 0.27, 0.03, 0.14
LISTED = 6


def longitudinal(found: SeveralRuns) -> Drawing | None:
    """Draw overall z of every system in every run, with its interval; None if no system has a score."""
    if not np.isfinite(found.z).any():
        return None
    count, runs = found.z.shape
    moved = asides(count)
    ends = np.concatenate([found.z, found.low, found.high]).ravel()

    def draw(width: float) -> Sheet:
        names = [shortened(name, NAME * width) for name in found.systems]
        right = max(text_width(name) for name in names) + LEADER + GAP
        height = max(FEWEST_LINES, count + 1) * RUN_LINE
        page = Sheet(width, RUN_HEAD + height + RUN_FOOT)
        inner = width - RUN_LEFT - right
        panel = Panel(
            page, RUN_LEFT, RUN_HEAD, inner, height, Scale(-0.35, runs - 1 + 0.25), Scale(*limits(ends))
        )
        ticks = round_ticks(panel.y.first, panel.y.last, 6)
        panel.y_axis(ticks, tick_labels(ticks), "overall z")
        room = inner / runs - GAP
        panel.x_axis(list(range(runs)), [shortened(name, room) for name in found.names])
        panel.horizontal(0, MUTED)
        for number in range(count):
            _system(panel, found, number, np.arange(runs) + moved[number])
        _labels(panel, found, names, moved)
        return page

    return Drawing("Overall scores from run to run", _alt(found), draw)


def asides(count: int) -> NDArray[np.float64]:
    """Return horizontal offsets of the systems, so that their intervals do not overlap."""
    step = min(STEP, 2 * ASIDE / max(count - 1, 1))
    return np.asarray((np.arange(count) - (count - 1) / 2) * step)


def look(number: int) -> tuple[str, str]:
    """Return the colour and the marker of the system in row `number`."""
    return FAMILY_COLOURS[number % len(FAMILY_COLOURS)], FAMILY_MARKERS[number % len(FAMILY_MARKERS)]


def _system(panel: Panel, found: SeveralRuns, number: int, across: NDArray[np.float64]) -> None:
    colour, marker = look(number)
    panel.line(across, found.z[number], colour, 1.8)
    for x, low, high in zip(across.tolist(), found.low[number], found.high[number], strict=True):
        if np.isfinite([low, high]).all():
            panel.page.line([panel.at(x, low), panel.at(x, high)], colour, 1.2)
    panel.points(across, found.z[number], colour, marker)


def _labels(panel: Panel, found: SeveralRuns, names: list[str], moved: NDArray[np.float64]) -> None:
    """Name every system at the right, with a line from its last score."""
    scored = np.isfinite(found.z)
    known = np.flatnonzero(scored.any(axis=1))
    last = found.z.shape[1] - 1 - np.argmax(scored[known, ::-1], axis=1)
    values = found.z[known, last]
    span = panel.y.last - panel.y.first
    heights = spread(values, span * RUN_LINE / panel.height)
    places = zip(known.tolist(), last.tolist(), values.tolist(), heights.tolist(), strict=True)
    for number, run, z, height in places:
        end, label = panel.at(run + moved[number], z), (panel.right + LEADER, panel.at(0, height)[1])
        panel.page.line([(end[0] + 6, end[1]), (label[0] - 3, label[1])], look(number)[0], 1, "2 3")
        panel.page.beside(label, names[number])


def _alt(found: SeveralRuns) -> str:
    r = [
        f"{row['first']} and {row['second']} r = {decimal(row['pearson'])}"
        for row in found.pairs.to_dict("records")
    ]
    return (
        f"Lines of overall z of {whole(len(found.systems))} systems through {whole(len(found.names))} runs, "
        f"each score with its 95 % interval; {listed(r, LISTED)}."
    )
