"""Figures of agreement: workers who met the same systems, repeated items, effort."""

import numpy as np
from numpy.typing import NDArray

from qc.method.agreement import Agreement, Pairs
from qc.number_format import decimal, whole
from qc.render.drawing.density import correlations, density, density_key, density_scale, share_axis
from qc.render.drawing.figure import Drawing
from qc.render.drawing.panel import Panel, Scale, round_ticks, tick_labels
from qc.render.drawing.sheet import Sheet
from qc.render.drawing.style import MARGIN
from qc.robustness.filter_check import FilterCheck
from qc.transcripts.repeats import Repeats, SelfAgreement

MEASURES = {
    "minutes": "minutes per conversation, median of a worker",
    "words": "words per input, median of a worker",
}
SHOWN = 97.5
BIN_COUNT = 24
HEAD, TITLE, HEIGHT, FOOT, LEFT, RIGHT = 48.0, 32.0, 130.0, 58.0, 50.0, 16.0


def worker_effort(check: FilterCheck) -> Drawing | None:
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


def repeats(result: Repeats) -> Drawing | None:
    """Draw the distributions of r of items with their repeats, for workers who passed and who failed.

    None if no worker has an r.
    """
    passed, failed = result.passed, result.failed
    if len(passed.r) + len(failed.r) == 0:
        return None
    words = _repeats_words("passed", passed), _repeats_words("failed", failed)
    alt = (
        "Distributions of the correlation of each worker’s ratings of items with those of their repeats: "
        f"{'; '.join(words)}."
    )
    draw = correlations(passed.r, failed.r, "Pearson r of a worker’s two ratings", words)
    return Drawing("Agreement of workers with themselves", alt, draw)


def _repeats_words(name: str, group: SelfAgreement) -> str:
    if len(group.r) == 0:
        return f"{name}: no worker with r"
    return f"{name}: {whole(len(group.r))} workers, median r {decimal(group.quartiles[1], 2)}"


def agreement(result: Agreement) -> Drawing | None:
    """Draw the distributions of r over pairs of workers, for those who passed and for those who failed.

    None if there is no pair.
    """
    passed, failed = result.passed, result.failed
    if len(passed.r) + len(failed.r) == 0:
        return None
    words = _words("passed", passed), _words("failed", failed)
    alt = (
        f"Distributions of the correlation between two workers who met the same systems: {'; '.join(words)}."
    )
    draw = correlations(passed.r, failed.r, "Pearson r of two workers’ scores", words)
    return Drawing("Agreement between workers", alt, draw)


def _words(group: str, pairs: Pairs) -> str:
    if len(pairs.r) == 0:
        return f"{group}: no pair"
    return f"{group}: {whole(pairs.pairs)} pairs, median r {decimal(pairs.median_r, 2)}"
