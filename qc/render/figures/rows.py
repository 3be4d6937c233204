"""Rows of points with intervals on one axis: the frame of every figure that compares things line by line."""

from collections.abc import Container, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from qc.render.figures.style import (
    GAP,
    INK,
    LONGEST_LABEL,
    MUTED,
    PAPER,
    RULE,
    SMALL,
    WIDTH,
    Sheet,
    panel,
    sheet,
    shortened,
    text_width,
)

ROW = 30.0
HEAD, FOOT = 30.0, 56.0
MARGIN = 14.0


def rows(
    labels: Sequence[str],
    axis: str,
    extent: NDArray[np.float64],
    right: Sequence[str] = (),
    heading: str = "",
    strong: Container[int] = (),
) -> tuple[Sheet, Axes]:
    """Return a sheet and axes with one row for each label, the first on top, row i at height i.

    Args:
        labels: of the rows; an empty one leaves a gap.
        axis: what is measured.
        extent: every value that must be inside the axis; those that are not finite are ignored.
        right: texts at the right of the rows.
        heading: above `right`.
        strong: rows whose labels are bold.
    """
    shown = [shortened(label) for label in labels]
    left = (
        min(LONGEST_LABEL, max(text_width(label, bold=i in strong) for i, label in enumerate(shown)))
        + GAP
        + MARGIN / 2
    )
    reserved = max((text_width(text) for text in (*right, heading)), default=0.0) + (
        GAP + MARGIN if right else MARGIN
    )
    page = sheet(HEAD + ROW * len(labels) + FOOT)
    axes = panel(page, left, HEAD, WIDTH - left - reserved, ROW * len(labels))
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.set_xlim(*limits(extent))
    written = [i for i, label in enumerate(shown) if label]
    axes.set_yticks(written, [shown[i] for i in written])
    for i, tick in zip(written, axes.get_yticklabels(), strict=True):
        tick.set_fontweight("bold" if i in strong else "normal")
    axes.set_xlabel(axis)
    axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    axes.grid(axis="x")
    axes.axvline(0, color=MUTED, linewidth=1.2, zorder=1)
    for i, text in enumerate(right):
        aside(axes, i, text)
    if right:
        aside(axes, -0.5 - HEAD / 2 / ROW, heading, MUTED)
    return page, axes


def aside(axes: Axes, row: float, text: str, colour: str = INK) -> None:
    """Write `text` at the right of a row."""
    axes.annotate(
        text,
        (1, row),
        xycoords=("axes fraction", "data"),
        xytext=(GAP, 0),
        textcoords="offset points",
        va="center_baseline",
        color=colour,
        size=SMALL,
        annotation_clip=False,
    )


def limits(extent: NDArray[np.float64]) -> tuple[float, float]:
    """Return the ends of an axis that holds 0 and every finite value, with room at both ends."""
    finite = np.append(extent[np.isfinite(extent)], 0.0)
    low, high = float(finite.min()), float(finite.max())
    room = (high - low) * 0.06 or 1.0
    return low - room, high + room


def stripes(axes: Axes, count: int) -> None:
    """Shade every other row, so that a label and its point are seen to belong together."""
    for i in range(1, count, 2):
        axes.axhspan(i - 0.5, i + 0.5, color=RULE, alpha=0.3, linewidth=0, zorder=0)


def point(
    axes: Axes, x: float, y: float, colour: str, marker: str = "o", *, filled: bool = True, size: float = 9.0
) -> None:
    """Draw one marker, if there is a number to draw."""
    if np.isfinite(x):
        axes.plot(
            [x],
            [y],
            linestyle="none",
            marker=marker,
            markersize=size,
            markerfacecolor=colour if filled else PAPER,
            markeredgecolor=colour,
            markeredgewidth=2,
            zorder=3,
        )


def interval(axes: Axes, low: float, high: float, y: float, colour: str) -> None:
    """Draw an interval as a line, if there is one to draw."""
    if np.isfinite(low) and np.isfinite(high):
        axes.plot([low, high], [y, y], color=colour, linewidth=2.5, solid_capstyle="round", zorder=2)
