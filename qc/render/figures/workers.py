"""What the worker filter sees: p-values of the workers."""

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from qc.method.filter import Screening
from qc.number_format import whole
from qc.render.figures.figure import Drawing
from qc.render.figures.panel import Panel, Scale, round_ticks, tick_labels
from qc.render.figures.sheet import Sheet
from qc.render.figures.style import FAILED, GAP, INK, MARGIN, PASSED, text_width
from qc.robustness.filter_check import FilterCheck

WIDEST_BIN = 0.05
HEIGHT, HEAD, FOOT = 350.0, 96.0, 56.0

Array = NDArray[np.float64]


def worker_p_values(screening: Screening, check: FilterCheck | None, bad: str) -> Drawing:
    """Draw how the workers' p-values are distributed, and the level α below which they pass.

    Args:
        screening: the p-values.
        check: what share of the workers may have rated at random; None leaves their level out.
        bad: what is to be rated lower, in words.
    """
    p = screening.workers["p"].to_numpy(np.float64)
    passed = screening.workers["passed"].to_numpy(bool)
    edges = _edges(screening.alpha)
    counts = [
        np.histogram(p[group & np.isfinite(p)], edges)[0].astype(np.float64) for group in (passed, ~passed)
    ]
    highest = max(1, int((counts[0] + counts[1]).max()))
    ticks = _ticks(highest)
    level = None
    if check is not None and np.isfinite(check.random_share.value):
        level = random_level(screening, check, edges)

    def draw(width: float) -> Sheet:
        page = Sheet(width, HEIGHT)
        left = MARGIN + GAP + max(text_width(whole(tick)) for tick in ticks)
        size = (width - left - MARGIN - GAP, HEIGHT - HEAD - FOOT)
        # A rootogram (Tukey, Exploratory Data Analysis, 1977): few workers at one p stay visible beside many.
        ends = Scale(0.0, 1.0), Scale(0.0, highest * 1.12, _root)
        panel = Panel(page, left, HEAD, *size, *ends)
        panel.y_axis(ticks, [whole(tick) for tick in ticks], "workers (√ scale)")
        _bars(panel, counts[0], edges, np.zeros(len(counts[0])), PASSED, 1.0)
        _bars(panel, counts[0] + counts[1], edges, counts[0], FAILED, 0.4)
        if level is not None:
            panel.page.line(panel.steps(level, edges)[0], INK, 2, "2 3")
            page.key((MARGIN, 60), "···", INK, "random, as estimated and simulated")
        panel.vertical(screening.alpha, INK, 1.5, "6 3")
        at = panel.at(screening.alpha, panel.y.last)
        page.text((at[0] + 6, at[1] + 12), f"α = {screening.alpha:g}")
        across = round_ticks(0.0, 1.0, 5)
        panel.x_axis(across, tick_labels(across), f"p: does the worker rate {bad} lower?")
        page.key((MARGIN, 20), "■", PASSED, f"passed: {whole(passed.sum())} workers")
        page.key((MARGIN, 40), "□", FAILED, f"failed: {whole((~passed).sum())}{_untested(p)}")
        return page

    return Drawing("Workers by p-value", _alt(screening, check), draw)


def _bars(panel: Panel, heights: Array, edges: Array, base: Array, colour: str, opacity: float) -> None:
    upper, lower = panel.steps(heights, edges, base)
    panel.page.polygon([*upper, *reversed(lower)], colour, opacity=opacity, edge=colour, width=1)


def random_level(screening: Screening, check: FilterCheck, edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how many workers of each bin are expected to rate at random; without variance p is 1."""
    workers = screening.workers
    with_p = workers["p"].notna()
    constant = int((with_p & ~workers["testable"]).sum())
    shares = np.histogram(check.random_p, edges)[0] / max(len(check.random_p), 1)
    level = np.maximum(check.random_share.value * with_p.sum() - constant, 0) * shares
    level[-1] += constant
    return np.asarray(level, np.float64)


def _edges(alpha: float) -> NDArray[np.float64]:
    """Return the ends of bins from 0 to 1; α is one of them, so that no bin holds both kinds of workers."""
    below = np.linspace(0, alpha, int(np.ceil(alpha / WIDEST_BIN - 1e-9)) + 1)
    above = np.linspace(alpha, 1, int(np.ceil((1 - alpha) / WIDEST_BIN - 1e-9)) + 1)
    return np.concatenate([below, above[1:]])


def _root(count: float) -> float:
    return sqrt(max(count, 0.0))


def _ticks(highest: int) -> list[float]:
    """Return round numbers from 0 to about `highest`, about evenly spaced on a square-root scale."""
    steps = [highest * (i / 4) ** 2 for i in range(1, 5)]
    return [0.0, *sorted({max(1.0, float(f"{step:.1g}")) for step in steps})]


def _untested(p: NDArray[np.float64]) -> str:
    count = int(np.isnan(p).sum())
    return f" ({whole(count)} of them could not be tested)" if count else ""


def _alt(screening: Screening, check: FilterCheck | None) -> str:
    workers = screening.workers
    text = (
        f"Histogram of the p-values of {whole(len(workers))} workers: {whole(workers['passed'].sum())} lie "
        f"below α = {screening.alpha:g} and passed"
    )
    if check is not None and np.isfinite(check.random_share.value):
        text += f"; a dotted level shows an estimated {check.random_share.value:.0%} who may rate at random"
    return text + "."
