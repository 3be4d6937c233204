"""Labels that do not cover one another."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from qc.render.figures.free_spots import Spot, free_spots
from qc.render.figures.panel import Panel
from qc.render.figures.style import text_width

REACH, LINE, HALF_POINT = 9.0, 17.0, 5.0
# Where a label of a point below the diagonal can stand, best first: on which side of the point (1 is right, 0
# the middle), and how far up. Above the diagonal all is mirrored, so that labels are led away from the line.
SPOTS = ((1, 0.0), (1, -12.0), (0, -17.0), (1, 12.0), (-1, -12.0), (-1, 0.0), (0, 17.0), (-1, 12.0))


def label_points(panel: Panel, x: NDArray[np.float64], y: NDArray[np.float64], labels: Sequence[str]) -> None:
    """Label points in the order given; a label that finds no free spot beside its point is left out."""
    places = free_spots(
        [panel.at(*each) for each in zip(x.tolist(), y.tolist(), strict=True)],
        [text_width(label) for label in labels],
        (y > x).tolist(),
        [Spot(side, side * (REACH if up == 0 else REACH - 4), -up) for side, up in SPOTS],
        height=LINE,
        half=HALF_POINT,
        frame=(panel.left, panel.top, panel.right, panel.bottom),
    )
    for place, label in zip(places, labels, strict=True):
        if place is not None:
            panel.page.beside((place.left, place.y), label)


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
