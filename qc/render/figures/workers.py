"""Figure: p-values of the workers in the filter."""

import numpy as np
from numpy.typing import NDArray

from qc.method.filter import Screening
from qc.number_format import whole
from qc.render.drawing.figure import Drawing
from qc.render.drawing.panel import round_ticks, tick_labels
from qc.render.drawing.rootogram import height, rootogram
from qc.render.drawing.sheet import Sheet
from qc.render.drawing.style import FAILED, INK, MARGIN, PASSED
from qc.robustness.filter_check import FilterCheck

WIDEST_BIN = 0.05


def worker_p_values(screening: Screening, check: FilterCheck | None, bad: str) -> Drawing:
    """Draw the distribution of the workers' p-values, and the level α below which workers pass.

    Args:
        screening: the p-values.
        check: estimated share of random workers; None leaves their line out.
        bad: name of the bot or items that workers should rate lower.
    """
    p = screening.workers["p"].to_numpy(np.float64)
    passed = screening.workers["passed"].to_numpy(bool)
    edges = _edges(screening.alpha)
    bars = rootogram(p, passed, edges)
    level = None
    if check is not None and np.isfinite(check.random_share.value):
        level = random_level(screening, check, edges)

    def draw(width: float) -> Sheet:
        page = Sheet(width, height(3))
        panel = bars.panel(page)
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


def random_level(screening: Screening, check: FilterCheck, edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the expected number of random workers in each bin; workers without variance have p = 1."""
    workers = screening.workers
    with_p = workers["p"].notna()
    constant = int((with_p & ~workers["testable"]).sum())
    shares = np.histogram(check.random_p, edges)[0] / max(len(check.random_p), 1)
    level = np.maximum(check.random_share.value * with_p.sum() - constant, 0) * shares
    level[-1] += constant
    return np.asarray(level, np.float64)


def _edges(alpha: float) -> NDArray[np.float64]:
    """Return the edges of bins from 0 to 1, including α, so that no bin mixes passed and failed workers."""
    below = np.linspace(0, alpha, int(np.ceil(alpha / WIDEST_BIN - 1e-9)) + 1)
    above = np.linspace(alpha, 1, int(np.ceil((1 - alpha) / WIDEST_BIN - 1e-9)) + 1)
    return np.concatenate([below, above[1:]])


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
