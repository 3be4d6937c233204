"""Place labels of points without covering labels, points or the frame."""

from collections.abc import Sequence
from typing import NamedTuple

Box = tuple[float, float, float, float]  # left, lower y, right, higher y


class Spot(NamedTuple):
    """Where a label can stand, from its point: on which side, how far along x and along y.

    `side`: 1 is right, 0 the middle, -1 left.
    """

    side: int
    away: float
    along: float


class Place(NamedTuple):
    """Where a label stands: `x` is where it is attached by `side`, `left` where it begins, `y` its middle."""

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
) -> list[Place | None]:
    """Return where the label of each point stands, in the order given; None where no spot is free.

    Args:
        points: where they are.
        widths: of their labels.
        mirrored: whether a point takes the spots mirrored at itself.
        spots: where a label can stand, best first.
        height: of every label.
        half: of the square around a point that no label covers, half a side.
        frame: in which every label stands.
    """
    taken: list[Box] = [(x - half, y - half, x + half, y + half) for x, y in points]
    placed: list[Place | None] = []
    for (x, y), width, is_mirrored in zip(points, widths, mirrored, strict=True):
        found = None
        for spot in spots:
            side, away, along = (-spot.side, -spot.away, -spot.along) if is_mirrored else spot
            left, middle = x + away + (side - 1) / 2 * width, y + along
            box = (left, middle - height / 2, left + width, middle + height / 2)
            if _within(box, frame) and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                found = Place(side, x + away, left, middle)
                break
        placed.append(found)
    return placed


def _within(box: Box, frame: Box) -> bool:
    return frame[0] <= box[0] and frame[1] <= box[1] and box[2] <= frame[2] and box[3] <= frame[3]


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
