"""Draw heat maps: tables whose cells are coloured by their values."""

from collections.abc import Sequence
from dataclasses import dataclass

from qc.drawing.panel import Panel, Scale
from qc.drawing.sheet import Sheet
from qc.drawing.style import GAP, MUTED, PAPER, QUIET, SMALL, colour_on, shortened, text_width

MARGIN = 4.0
TALLEST_CELL, LOWEST_CELL = 46.0, 17.0
SMALLEST_PRINT, SMALLEST_LABEL = 12.5, 12.5
SHORT_LABEL = 24.0
# Share of the width.
LONGEST_ROW_LABEL = 0.3
LONGEST_COLUMN_LABEL = 110.0
NONE = "none"


@dataclass(frozen=True)
class Cells:
    """Colours and texts of the cells, row by row; QUIET or NONE colours cells without information."""

    colours: Sequence[Sequence[str]]
    texts: Sequence[Sequence[str]]


def heat_map(
    width: float, row_labels: Sequence[str], column_labels: Sequence[str], cells: Cells, foot: float
) -> Panel:
    """Return a panel on a new sheet with the cells, and `foot` units below them.

    Cell (i, j) is the unit square around x = j, y = i. Column labels are horizontal if they fit, else
    slanted. Numbers that would be too small to read are left out.
    """
    names = [shortened(label, LONGEST_ROW_LABEL * width) for label in row_labels]
    heads = [shortened(label, LONGEST_COLUMN_LABEL) for label in column_labels]
    widest = max(text_width(head) for head in heads)
    left = max(text_width(name) for name in names) + GAP + MARGIN
    fitting = SMALL * (width - left - MARGIN) / len(heads) / (widest + GAP / 2)
    level = fitting >= SMALLEST_LABEL or widest <= SHORT_LABEL
    # A slanted label of the last column extends beyond the column.
    right = MARGIN if level else max(MARGIN, widest * 0.5 - 10)
    top = SMALL + GAP if level else widest * 0.87 + SMALL + GAP
    cell = (width - left - right) / len(heads)
    row = min(max(cell, LOWEST_CELL), TALLEST_CELL)
    page = Sheet(width, top + row * len(names) + foot)
    scales = Scale(-0.5, len(heads) - 0.5), Scale(len(names) - 0.5, -0.5)
    panel = Panel(page, left, top, width - left - right, row * len(names), *scales)
    for i, name in enumerate(names):
        page.beside((left - GAP + 2, panel.at(0, i)[1]), name, size=min(SMALL, row * 0.8), anchor="end")
    for j, head in enumerate(heads):
        x = panel.at(j, 0)[0]
        if level:
            page.text((x, top - 6), head, size=min(SMALL, fitting), anchor="middle")
        else:
            page.text((x + 4, top - 6), head, turned=60)
    _paint(panel, cells.colours, cell, row)
    _print(panel, cells, cell, row)
    return panel


def _paint(panel: Panel, colours: Sequence[Sequence[str]], width: float, height: float) -> None:
    for i, line in enumerate(colours):
        for j, colour in enumerate(line):
            if colour != NONE:
                corner = panel.at(j - 0.5, i - 0.5)
                panel.page.rectangle(corner, (width, height), colour, edge=PAPER)


def _print(panel: Panel, cells: Cells, width: float, height: float) -> None:
    widest = max((text_width(text, 1.0) for line in cells.texts for text in line), default=0.0)
    size = min(SMALL, height * 0.6, (width - 3) / widest if widest else SMALL)
    if size < SMALLEST_PRINT:
        return
    for i, (line, colours) in enumerate(zip(cells.texts, cells.colours, strict=True)):
        for j, (text, colour) in enumerate(zip(line, colours, strict=True)):
            if text:
                ink = MUTED if colour in (QUIET, NONE) else colour_on(colour)
                panel.page.beside(panel.at(j, i), text, ink, size, "middle")
