"""What a metric is worth: how often people err, against how often a metric does."""

from collections.abc import Sequence

import numpy as np
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from qc.estimators.break_even import error_curve
from qc.number_format import percent, whole
from qc.planning.comparison import Comparison
from qc.planning.metric_error import MetricError
from qc.render.figures.figure import Drawing
from qc.render.figures.labels import spread
from qc.render.figures.style import (
    BLUE,
    FAMILY_COLOURS,
    GAP,
    GREEN,
    SMALL,
    WIDTH,
    key,
    panel,
    sheet,
    shortened,
    text_width,
)

LEFT, HEAD, FOOT, HEIGHT, LABEL = 62.0, 46.0, 58.0, 330.0, 150.0
POINTS = 200
LINE = 17.0
# Lines of metrics must not look like the curves of people.
METRIC_COLOURS = tuple(colour for colour in FAMILY_COLOURS if colour not in (BLUE, GREEN))


def break_even(comparison: Comparison, metrics: Sequence[MetricError]) -> Drawing:
    """Draw people's error against the judgments of each system, and a line at the bias of each metric.

    Args:
        comparison: of people; the perfect annotator's curve is drawn if the spread within outputs is known.
        metrics: those whose lines are drawn.
    """
    labels = [shortened(each.metric, LABEL) for each in metrics]
    right = max((text_width(label) for label in labels), default=0.0) + 2 * GAP
    page = sheet(HEAD + HEIGHT + FOOT)
    axes = panel(page, LEFT, HEAD, WIDTH - LEFT - right, HEIGHT)
    first, last = 1.0, max(1e3, 10 ** np.ceil(np.log10(4 * comparison.means.count.max())))
    sizes = np.geomspace(first, last, POINTS)
    differences, variances = comparison.means.differences, comparison.variances
    end = key(page, LEFT, 22, "━", BLUE, "people")
    axes.plot(sizes, error_curve(differences, variances, sizes.tolist()), color=BLUE)
    ratio = comparison.annotator.ratio
    if np.isfinite(ratio):
        key(page, end + 2 * GAP, 22, "━", GREEN, "a perfect annotator")
        axes.plot(
            sizes,
            error_curve(differences, variances, (ratio * sizes).tolist()),
            color=GREEN,
            linestyle=(0, (6, 2)),
        )
    biases = np.array([float(next(iter(each.errors.values())).bias.mean()) for each in metrics])
    highest = max(0.5, float(biases.max(initial=0))) * 1.05
    axes.set(xscale="log", xlim=(first, last), ylim=(0, highest))
    axes.set(xlabel="judgments of each system", ylabel="pairs ordered wrongly")
    axes.xaxis.set_major_locator(LogLocator())
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda size, _: whole(size)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda share, _: percent(share, 0)))
    axes.grid(axis="y")
    heights = spread(biases, LINE * highest / HEIGHT)
    for i, (label, bias, height) in enumerate(zip(labels, biases, heights, strict=True)):
        colour = METRIC_COLOURS[i % len(METRIC_COLOURS)]
        axes.axhline(bias, color=colour, linewidth=1.5)
        axes.annotate(
            label,
            (1, height),
            xycoords=("axes fraction", "data"),
            xytext=(GAP, 0),
            textcoords="offset points",
            va="center",
            size=SMALL,
            color=colour,
        )
        if first <= metrics[i].worth <= last:
            axes.plot([metrics[i].worth], [bias], color=colour, marker="o", markersize=7)
    found = "; ".join(f"{each.metric} {_worth(each.worth)}" for each in metrics)
    alt = (
        f"How often people put two systems in the wrong order, against the judgments of each system, on "
        f"{whole(len(differences))} pairs. What metrics are worth in judgments: {found or 'there are none'}."
    )
    return Drawing(page, "What a metric is worth in judgments", alt)


def _worth(judgments: float) -> str:
    return whole(judgments) if np.isfinite(judgments) else "more than any number"
