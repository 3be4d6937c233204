"""The figures for a paper on one run."""

from collections.abc import Iterator
from functools import partial

import numpy as np
from matplotlib.figure import Figure as Sheet
from numpy.typing import NDArray

from qc.analysis import Analysis
from qc.drawing.rows import limits
from qc.drawing.style import MUTED, RULE
from qc.number_format import decimal
from qc.paper.labels import label_points, parts_within
from qc.paper.sheet import FOOT, NAMES, POINTS, ROW, TEXT, PaperFigure, drawn, name_within, point
from qc.sections.systems.ranking import system_looks
from qc.table import SIGNIFICANT


def paper_figures(analysis: Analysis) -> Iterator[PaperFigure]:
    """Yield every figure for which the analysis has numbers."""
    drawers = {"ranking": _ranking, "significance": _significance, "replication": _replication}
    return drawn({name: partial(draw, analysis) for name, draw in drawers.items()}, analysis.signature)


def _ranking(analysis: Analysis, width: float) -> Sheet | None:
    names = [str(name) for name in analysis.scores.z["system"]]
    z = analysis.scores.z["overall"].to_numpy(np.float64)
    if not np.isfinite(z).any():
        return None
    found, looks = analysis.intervals, system_looks(analysis.run.systems)
    unknown = np.full(len(z), np.nan)
    low, high = (unknown, unknown) if found is None else (found.z_low[:, 0], found.z_high[:, 0])
    height = ROW * len(names) + FOOT + 0.05
    sheet = Sheet(figsize=(width, height))
    axes = sheet.add_axes((NAMES, FOOT / height, 0.98 - NAMES, ROW * len(names) / height))
    axes.set(ylim=(len(names) - 0.5, -0.5), xlim=limits(np.concatenate([z, low, high])))
    axes.set_yticks(range(len(names)), [name_within(name, width) for name in names])
    axes.set_xlabel("overall score (z)")
    axes.grid(axis="x")
    axes.axvline(0, color=MUTED, linewidth=0.6, zorder=1)
    for i, name in enumerate(names):
        if np.isfinite([low[i], high[i]]).all():
            axes.plot([low[i], high[i]], [i, i], color=looks[name][0], zorder=2)
        point(axes, z[i], i, looks[name])
    return sheet


def _significance(analysis: Analysis, width: float) -> Sheet | None:
    tests = analysis.significance
    if tests is None or not np.isfinite(tests.p[~np.eye(len(tests.systems), dtype=bool)]).any():
        return None
    names, count = tests.systems, len(tests.systems)
    side = width * (0.98 - NAMES)
    cell = min(side / count, 0.3)
    shades = (
        f"dark: p < {SIGNIFICANT:g} by worker, with Holm",
        f"grey: published p < {SIGNIFICANT:g}",
    )
    legend = parts_within(shades, 0.96 * width * POINTS, TEXT - 1)
    below = (2 + legend.count("\n")) * ROW
    height = cell * count + below + 0.1
    sheet = Sheet(figsize=(width, height))
    axes = sheet.add_axes((NAMES, below / height, cell * count / width, cell * count / height))
    axes.imshow(_shades(tests.p, tests.by_worker_holm), aspect="auto")
    axes.set_yticks(range(count), [name_within(f"{name}  {i}", width) for i, name in enumerate(names, 1)])
    axes.set_xticks(range(count), [str(i) for i in range(1, count + 1)])
    axes.spines[:].set_visible(False)
    sheet.text(0.98, 0.02 / height, legend, ha="right", va="bottom", size=TEXT - 1, color=MUTED)
    return sheet


def _shades(p: NDArray[np.float64], by_worker: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return, (S, S, 3), the colour of each ordered pair; the colours also differ in greyscale."""
    shades = np.full((*p.shape, 3), 0.95)
    off = ~np.eye(len(p), dtype=bool)
    shades[(p < SIGNIFICANT) & off] = 0.65
    shades[(by_worker < SIGNIFICANT) & off] = (0.0, 0.24, 0.4)
    shades[~off | np.isnan(p)] = 1.0
    return shades


def _replication(analysis: Analysis, width: float) -> Sheet | None:
    found = analysis.replication
    points = None if found is None else found.points.dropna(subset=["first", "second"])
    if found is None or points is None or points.empty:
        return None
    looks = system_looks(analysis.run.systems)
    first, second = (points[name].to_numpy(np.float64) for name in ("first", "second"))
    height = min(width, 3.2) * 0.95
    sheet = Sheet(figsize=(width, height))
    left = 0.48
    axes = sheet.add_axes((left / width, FOOT / height, 0.96 - left / width, 0.96 - FOOT / height))
    ends = limits(np.concatenate([first, second]))
    axes.set(xlim=ends, ylim=ends, xlabel="overall z, first run", ylabel="overall z, second run")
    axes.plot(ends, ends, color=RULE, linestyle=(0, (4, 3)), linewidth=0.8, zorder=1)
    for name, x, y in zip(points["system"], first, second, strict=True):
        point(axes, x, y, looks[str(name)])
    label_points(
        axes, first, second, [name_within(str(name), width) for name in points["system"]], TEXT - 1.5
    )
    r = found.z.pearson["overall"]
    if np.isfinite(r):
        axes.text(0.02, 0.98, f"r = {decimal(r)}", transform=axes.transAxes, va="top")
    return sheet
