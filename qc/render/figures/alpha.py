"""What another level α would change."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MultipleLocator
from numpy.typing import NDArray

from qc.number_format import decimal, whole
from qc.render.figures.figure import Drawing
from qc.render.figures.labels import spread
from qc.render.figures.ranking import Look, Looks
from qc.render.figures.rows import limits
from qc.render.figures.style import (
    BLUE,
    GAP,
    INK,
    MUTED,
    PAPER,
    SMALL,
    WIDTH,
    panel,
    sheet,
    shortened,
    text_width,
)
from qc.robustness.alpha import AlphaInfluence

LEFT, HEAD, BETWEEN, FOOT = 62.0, 34.0, 46.0, 56.0
LINE, LOW_PANEL, LEADER = 18.0, 90.0, 18.0
FEWEST_LINES = 14

Array = NDArray[np.float64]
LONGEST_NAME = 150.0


def alpha_influence(result: AlphaInfluence, looks: Looks, chosen: float) -> Drawing | None:
    """Draw scores, workers kept and, with a second run, the correlation with it against α.

    None if no system has a score at any level.

    Args:
        result: the levels.
        looks: colour, marker and whether it is filled, of each system.
        chosen: the level of the analysis.
    """
    alphas = np.array([level.alpha for level in result.levels])
    z = np.array([level.z for level in result.levels]).reshape(len(alphas), len(result.systems))
    if not np.isfinite(z).any():
        return None
    names = [shortened(name, LONGEST_NAME) for name in result.systems]
    right = max(text_width(name) for name in names) + LEADER + GAP
    lower = [("workers kept", np.array([float(level.workers) for level in result.levels]), 0)]
    r = np.array([level.replication_r for level in result.levels])
    if np.isfinite(r).any():
        lower.append(("r with the second run", r, 3))
    height = max(FEWEST_LINES, len(names) + 1) * LINE
    page = sheet(HEAD + height + (BETWEEN + LOW_PANEL) * len(lower) + FOOT)
    tops = [HEAD + height + BETWEEN + i * (BETWEEN + LOW_PANEL) for i in range(len(lower))]
    panels = [panel(page, LEFT, HEAD, WIDTH - LEFT - right, height)]
    panels += [panel(page, LEFT, top, WIDTH - LEFT - right, LOW_PANEL) for top in tops]
    _scores(panels[0], alphas, z, names, [looks[name] for name in result.systems], height)
    for axes, (title, values, digits) in zip(panels[1:], lower, strict=True):
        _steps(axes, alphas, values, title, digits)
    for axes in panels:
        _frame(axes, alphas)
    panels[-1].set_xlabel("level α of the worker filter")
    panels[-1].tick_params(labelbottom=True)
    alt = _alt(result)
    if alphas[0] <= chosen <= alphas[-1]:
        _mark(panels, chosen)
    else:
        outside = f"The chosen α = {chosen:g} lies outside."
        panels[0].set_title(outside, loc="right", size=SMALL, color=MUTED, pad=10)
        alt += f" {outside}"
    return Drawing(page, "Influence of the level α", alt)


def _scores(axes: Axes, alphas: Array, z: Array, names: list[str], looks: list[Look], height: float) -> None:
    axes.set_title("overall z", loc="left", size=SMALL, color=INK, pad=10)
    ends = limits(z)
    axes.set_ylim(ends)
    for j, (colour, marker, filled) in enumerate(looks):
        axes.plot(
            alphas,
            z[:, j],
            color=colour,
            marker=marker,
            markersize=6,
            linestyle="-" if filled else (0, (4, 1.5)),
            markerfacecolor=colour if filled else PAPER,
            linewidth=1.8,
        )
    known = np.flatnonzero(np.isfinite(z[-1]))
    if len(known):
        heights = spread(z[-1, known], (ends[1] - ends[0]) * LINE / height)
        for i, y in zip(known.tolist(), heights, strict=True):
            axes.annotate(
                names[i],
                (alphas[-1], z[-1, i]),
                xytext=(1 + LEADER / axes.bbox.width * axes.figure.dpi / 72, y),
                textcoords=("axes fraction", "data"),
                va="center_baseline",
                size=SMALL,
                annotation_clip=False,
                arrowprops={
                    "arrowstyle": "-",
                    "color": looks[i][0],
                    "shrinkA": 3,
                    "shrinkB": 5,
                    "relpos": (0, 0.5),
                },
            )


def _steps(axes: Axes, alphas: Array, values: Array, title: str, digits: int) -> None:
    axes.set_title(title, loc="left", size=SMALL, color=INK, pad=8)
    axes.plot(alphas, values, color=BLUE, marker="o", markersize=6)
    finite = values[np.isfinite(values)]
    low, high = float(finite.min()), float(finite.max())
    room = (high - low) * 0.25 or abs(high) * 0.05 or 1.0
    axes.set_ylim(low - room, high + room)
    axes.set_yticks([low, high] if low < high else [low])
    axes.set_yticklabels([decimal(tick, digits) for tick in axes.get_yticks()])


def _mark(panels: list[Axes], chosen: float) -> None:
    for axes in panels:
        axes.axvline(chosen, color=MUTED, linewidth=1.5, linestyle=(0, (4, 2)))
    panels[0].annotate(
        "chosen",
        (chosen, 1),
        xycoords=("data", "axes fraction"),
        ha="center",
        va="bottom",
        size=SMALL,
        color=MUTED,
    )


def _frame(axes: Axes, alphas: Array) -> None:
    axes.set_xlim(alphas[0] - 0.003, alphas[-1] + 0.003)
    axes.xaxis.set_major_locator(MultipleLocator(0.02))
    axes.tick_params(labelbottom=False)
    axes.grid(axis="y")


def _alt(result: AlphaInfluence) -> str:
    first, last = result.levels[0], result.levels[-1]
    rho = [level.ranking_rho for level in result.levels if np.isfinite(level.ranking_rho)]
    sure = f"; the ranking correlates with the chosen one by at least {decimal(min(rho))}" if rho else ""
    return (
        f"Lines of overall z against α: from α = {first.alpha:g} to {last.alpha:g} the workers kept go from "
        f"{whole(first.workers)} to {whole(last.workers)}{sure}."
    )
