"""Figure: error rate of people by number of judgments, compared with that of a metric."""

from collections.abc import Sequence
from math import log10

import numpy as np
from numpy.typing import NDArray

from qc.drawing.figure import Drawing
from qc.drawing.labels import spread
from qc.drawing.panel import Panel, Scale, round_ticks
from qc.drawing.sheet import Sheet
from qc.drawing.style import BLUE, FAMILY_COLOURS, GAP, GREEN, MARGIN, shortened, text_width
from qc.estimators.pairs import error_curve
from qc.number_format import percent, whole
from qc.planning.comparison import PairedComparison
from qc.planning.metric_error import MetricError

LEFT, HEAD, FOOT, HEIGHT = 62.0, 66.0, 58.0, 330.0
LABEL = 0.27  # share of the width
POINTS = 200
LINE = 17.0
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
        page = Sheet(width, HEAD + HEIGHT + FOOT)
        scales = Scale(1.0, last, log10), Scale(0.0, highest)
        panel = Panel(page, LEFT, HEAD, width - LEFT - right, HEIGHT, *scales)
        shares = round_ticks(0.0, highest, 5)
        panel.y_axis(shares, [percent(share, 0) for share in shares], "pairs ordered wrongly")
        tens = [10.0**power for power in range(round(log10(last)) + 1)]
        panel.x_axis(tens, [whole(size) for size in tens], "judgments of each system")
        page.keys((MARGIN, 20), [("━", colour, text) for text, colour, _, _ in curves])
        for _, colour, dash, error in curves:
            panel.line(np.geomspace(1.0, last, POINTS), error, colour, 2.0, dash)
        heights = spread(biases, LINE * highest / HEIGHT)
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
