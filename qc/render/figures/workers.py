"""What the worker filter sees: p-values of the workers."""

import numpy as np
from numpy.typing import NDArray

from qc.method.filter import Screening
from qc.number_format import whole
from qc.render.figures.figure import Drawing
from qc.render.figures.style import (
    FAILED,
    GAP,
    INK,
    MARGIN,
    PASSED,
    SMALL,
    WIDTH,
    key,
    panel,
    sheet,
    text_width,
)
from qc.robustness.filter_check import FilterCheck

WIDEST_BIN = 0.05
HEIGHT, AXIS_LABEL, HEAD, FOOT = 330.0, 34.0, 74.0, 56.0


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
    counts = [np.histogram(p[group & np.isfinite(p)], edges)[0] for group in (passed, ~passed)]
    highest = max(1, int((counts[0] + counts[1]).max()))
    ticks = _ticks(highest)
    left = AXIS_LABEL + max(text_width(whole(tick)) for tick in ticks)
    page = sheet(HEIGHT)
    axes = panel(page, left, HEAD, WIDTH - left - MARGIN - GAP, HEIGHT - HEAD - FOOT)
    axes.set(xlim=(0, 1), xlabel=f"p: does the worker rate {bad} lower?", ylabel="workers (√ scale)")
    axes.grid(axis="y")
    axes.stairs(counts[0], edges, fill=True, color=PASSED, linewidth=0)
    axes.stairs(
        counts[0] + counts[1], edges, baseline=counts[0], fill=True, color=FAILED, hatch="//", linewidth=0
    )
    # A rootogram (Tukey, Exploratory Data Analysis, 1977): few workers at one p stay visible beside many.
    axes.set_yscale("function", functions=(_root, np.square))
    axes.set_ylim(0, highest * 1.12)
    axes.set_yticks(ticks, [whole(tick) for tick in ticks])
    axes.minorticks_off()
    axes.axvline(screening.alpha, color=INK, linewidth=1.5, linestyle=(0, (4, 2)))
    axes.annotate(
        f"  α = {screening.alpha:g}",
        (screening.alpha, 1),
        xycoords=("data", "axes fraction"),
        va="top",
        size=SMALL,
    )
    key(page, MARGIN, 20, "■", PASSED, f"passed: {whole(passed.sum())} workers")
    key(page, MARGIN, 40, "▨", FAILED, f"failed: {whole((~passed).sum())}{_untested(p)}")
    if check is not None and np.isfinite(check.random_share.value):
        axes.stairs(
            random_level(screening, check, edges), edges, color=INK, linewidth=2, linestyle=(0, (1, 1.5))
        )
        key(page, MARGIN, 60, "···", INK, "workers who rate at random, as estimated and simulated")
    return Drawing(page, "Workers by p-value", _alt(screening, check))


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


def _root(count: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.sqrt(np.maximum(count, 0))


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
