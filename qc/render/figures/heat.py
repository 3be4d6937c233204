"""A table whose cells are coloured by their values: the frame of every heat map."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_hex
from numpy.typing import NDArray

from qc.render.figures.style import (
    GAP,
    MUTED,
    PAPER,
    QUIET,
    SMALL,
    WIDTH,
    Sheet,
    colour_on,
    panel,
    sheet,
    shortened,
    text_width,
)

MARGIN = 4.0
TALLEST_CELL, LOWEST_CELL = 46.0, 17.0
SMALLEST_PRINT, SMALLEST_LABEL = 9.0, 12.0
SHORT_LABEL = 24.0
LONGEST_ROW_LABEL = 170.0
LONGEST_COLUMN_LABEL = 110.0


@dataclass(frozen=True)
class Cells:
    """What is in the cells: (rows, columns, 4) RGBA colours, QUIET for cells that say nothing, and texts."""

    colours: NDArray[np.float64]
    texts: Sequence[Sequence[str]]


def heat_map(
    row_labels: Sequence[str], column_labels: Sequence[str], cells: Cells, foot: float
) -> tuple[Sheet, Axes, float]:
    """Return a sheet with the cells, their axes, and where the `foot` units below them begin.

    Cell (i, j) is the unit square around x = j, y = i. Column labels stand level if they fit, else aslant.
    Numbers too small to be read are left out.
    """
    names = [shortened(label, LONGEST_ROW_LABEL) for label in row_labels]
    heads = [shortened(label, LONGEST_COLUMN_LABEL) for label in column_labels]
    widest = max(text_width(head) for head in heads)
    left = max(text_width(name) for name in names) + GAP + MARGIN
    fitting = SMALL * (WIDTH - left - MARGIN) / len(heads) / (widest + GAP / 2)
    level = fitting >= SMALLEST_LABEL or widest <= SHORT_LABEL
    # A slanted label of the last column reaches beyond it.
    right = MARGIN if level else max(MARGIN, widest * 0.5 - 10)
    top = SMALL + GAP if level else widest * 0.87 + SMALL + GAP
    cell = (WIDTH - left - right) / len(heads)
    row = min(max(cell, LOWEST_CELL), TALLEST_CELL)
    height = row * len(names)
    page = sheet(top + height + foot)
    axes = panel(page, left, top, WIDTH - left - right, height)
    axes.set_xlim(-0.5, len(heads) - 0.5)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_yticks(range(len(names)), names)
    axes.set_xticks(range(len(heads)), heads)
    axes.tick_params(axis="x", top=False, labeltop=True, labelbottom=False)
    if level:
        axes.tick_params(axis="x", labelsize=min(SMALL, fitting))
    axes.tick_params(axis="y", labelsize=min(SMALL, row * 0.8))
    if not level:
        for label in axes.get_xticklabels():
            label.set(rotation=60, ha="left", rotation_mode="anchor", va="center")
    axes.spines[:].set_visible(False)
    _paint(axes, cells.colours)
    _print(axes, cells, cell, row)
    return page, axes, top + height


def _paint(axes: Axes, colours: NDArray[np.float64]) -> None:
    y, x = np.mgrid[: colours.shape[0], : colours.shape[1]].astype(float) - 0.5
    corners = np.stack([[x, y], [x + 1, y], [x + 1, y + 1], [x, y + 1]]).reshape(4, 2, -1).transpose(2, 0, 1)
    axes.add_collection(
        PolyCollection(
            list(corners), facecolors=colours.reshape(-1, 4), edgecolors=PAPER, linewidths=1.5, closed=True
        ),
        autolim=False,
    )


def _print(axes: Axes, cells: Cells, width: float, height: float) -> None:
    widest = max((text_width(text, 1.0) for line in cells.texts for text in line), default=0.0)
    size = min(SMALL, height * 0.6, (width - 5) / widest if widest else SMALL)
    if size < SMALLEST_PRINT:
        return
    for i, line in enumerate(cells.texts):
        for j, text in enumerate(line):
            if text:
                colour = MUTED if to_hex(cells.colours[i, j]) == QUIET else colour_on(cells.colours[i, j])
                axes.text(
                    j, i, text, ha="center", va="center_baseline", size=size, color=colour, clip_on=False
                )
