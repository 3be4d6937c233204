"""Labels that do not cover one another."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from qc.render.figures.panel import Panel
from qc.render.figures.style import text_width

REACH, LINE = 9.0, 17.0
# Where a label of a point below the diagonal can stand, best first: on which side of the point (1 is right, 0
# the middle), and how far up. Above the diagonal all is mirrored, so that labels are led away from the line.
SPOTS = ((1, 0.0), (1, -12.0), (0, -17.0), (1, 12.0), (-1, -12.0), (-1, 0.0), (0, 17.0), (-1, 12.0))

Box = tuple[float, float, float, float]


def label_points(panel: Panel, x: NDArray[np.float64], y: NDArray[np.float64], labels: Sequence[str]) -> None:
    """Label points in the order given; a label that finds no free spot beside its point is left out."""
    data = list(zip(x.tolist(), y.tolist(), strict=True))
    points = [panel.at(*each) for each in data]
    taken: list[Box] = [(px - 5, py - 5, px + 5, py + 5) for px, py in points]
    inside = (panel.left, panel.top, panel.right, panel.bottom)
    for (px, py), label, at in zip(points, labels, data, strict=True):
        width = text_width(label)
        below = at[1] <= at[0]
        for best_side, best_up in SPOTS:
            side, up = (best_side, best_up) if below else (-best_side, -best_up)
            away = side * (REACH if up == 0 else REACH - 4)
            left = px + away + (side - 1) / 2 * width
            box = (left, py - up - LINE / 2, left + width, py - up + LINE / 2)
            if _within(box, inside) and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                panel.page.beside((left, py - up), label)
                break


def spread(heights: NDArray[np.float64], distance: float) -> NDArray[np.float64]:
    """Return `heights` moved as little as need be so that any two are at least `distance` apart.

    Where they would overlap, neighbours become a block around their common mean (pool adjacent violators,
    as in isotonic regression: Barlow et al., *Statistical Inference under Order Restrictions*, 1972).
    """
    order = np.argsort(heights, kind="stable")
    targets = heights[order] - np.arange(len(heights)) * distance
    blocks: list[list[float]] = []
    for target in targets.tolist():
        blocks.append([target])
        while len(blocks) > 1 and np.mean(blocks[-2]) > np.mean(blocks[-1]):
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    level = np.array([float(np.mean(block)) for block in blocks for _ in block])
    result = np.empty(len(heights))
    result[order] = level + np.arange(len(heights)) * distance
    return result


def _within(box: Box, frame: Box) -> bool:
    return frame[0] <= box[0] and frame[1] <= box[1] and box[2] <= frame[2] and box[3] <= frame[3]


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
