"""Place labels so that they cover nothing."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qc.drawing.panel import Panel
from qc.drawing.style import text_width

Box = tuple[float, float, float, float]  # left, lower y, right, higher y


class Spot(NamedTuple):
    """A possible position of a label, relative to its point: the side, and the distances along x and y.

    `side`: 1 is right, 0 the middle, -1 left.
    """

    side: int
    away: float
    along: float


class LabelPlace(NamedTuple):
    """Position of a label: `x` is its anchor on `side`, `left` its left end, `y` its middle."""

    side: int
    x: float
    left: float
    y: float


def free_spots(
    points: Sequence[tuple[float, float]],
    widths: Sequence[float],
    mirrored: Sequence[bool],
    spots: Sequence[Spot],
    *,
    height: float,
    half: float,
    frame: Box,
) -> list[LabelPlace | None]:
    """Return the position of each point's label, placed in the given order; None if no spot is free.

    Args:
        points: positions of the points.
        widths: widths of their labels.
        mirrored: whether the spots of a point are mirrored at the point.
        spots: possible positions of a label, best first.
        height: height of every label.
        half: half the side of the square around a point that no label may cover.
        frame: box that contains every label.
    """
    taken: list[Box] = [(x - half, y - half, x + half, y + half) for x, y in points]
    placed: list[LabelPlace | None] = []
    for (x, y), width, is_mirrored in zip(points, widths, mirrored, strict=True):
        found = None
        for spot in spots:
            side, away, along = (-spot.side, -spot.away, -spot.along) if is_mirrored else spot
            left, middle = x + away + (side - 1) / 2 * width, y + along
            box = (left, middle - height / 2, left + width, middle + height / 2)
            if _within(box, frame) and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                found = LabelPlace(side, x + away, left, middle)
                break
        placed.append(found)
    return placed


def _within(box: Box, frame: Box) -> bool:
    return frame[0] <= box[0] and frame[1] <= box[1] and box[2] <= frame[2] and box[3] <= frame[3]


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


REACH, LINE, HALF_POINT = 9.0, 17.0, 5.0
# Possible positions of a label of a point below the diagonal, best first: side of the point (1 is right, 0
# the middle), and distance up. Above the diagonal they are mirrored, so that labels point away from the
# line.
SPOTS = ((1, 0.0), (1, -12.0), (0, -17.0), (1, 12.0), (-1, -12.0), (-1, 0.0), (0, 17.0), (-1, 12.0))


def label_points(panel: Panel, x: NDArray[np.float64], y: NDArray[np.float64], labels: Sequence[str]) -> None:
    """Label points in the given order; a label without a free spot is left out."""
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
    """Return `heights` moved as little as possible so that any two are at least `distance` apart.

    Overlapping neighbours become a block around their common mean (pool adjacent violators, as in isotonic
    regression: Barlow et al., *Statistical Inference under Order Restrictions*, 1972).
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
