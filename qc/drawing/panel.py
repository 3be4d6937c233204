"""A panel: a rectangle on a sheet with data coordinates and axes, and labels that cover nothing."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import floor, log10
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qc.drawing.sheet import Point, Sheet
from qc.drawing.style import GAP, INK, MUTED, RULE, SMALL, TEXT, fitting, text_width
from qc.table import decimal

Array = NDArray[np.float64]
TICK_PAD, TITLE_PAD = 19.0, 43.0
NICE_STEPS = (1.0, 2.0, 5.0, 10.0)


def _itself(value: float) -> float:
    return value


@dataclass(frozen=True)
class Scale:
    """The data values at the two ends of an axis, and the transformation that lengths are proportional to."""

    first: float
    last: float
    shape: Callable[[float], float] = _itself

    def share(self, value: float) -> float:
        """Return the distance of `value` from the first end, as a share of the axis."""
        first, last = self.shape(self.first), self.shape(self.last)
        return (self.shape(value) - first) / ((last - first) or 1.0)


@dataclass(frozen=True)
class Panel:
    """A rectangle of a sheet; `x` runs from left to right, `y` from bottom to top. Lengths are in units."""

    page: Sheet
    left: float
    top: float
    width: float
    height: float
    x: Scale
    y: Scale

    @property
    def right(self) -> float:
        """Its right edge."""
        return self.left + self.width

    @property
    def bottom(self) -> float:
        """Its bottom edge."""
        return self.top + self.height

    def at(self, x: float, y: float) -> Point:
        """Return the position of data coordinates on the sheet."""
        return self.left + self.x.share(x) * self.width, self.bottom - self.y.share(y) * self.height

    def line(self, x: Array, y: Array, colour: str, width: float = 2.0, dash: str = "") -> None:
        """Draw a line through data; a point that is not finite is a gap."""
        known = np.isfinite(x) & np.isfinite(y)
        for stretch in np.split(np.arange(len(x)), np.flatnonzero(~known)):
            inside = stretch[known[stretch]]
            if len(inside) > 1:
                points = [self.at(*each) for each in zip(x[inside].tolist(), y[inside].tolist(), strict=True)]
                self.page.line(points, colour, width, dash)

    def points(self, x: Array, y: Array, colour: str, shape: str = "o", *, filled: bool = True) -> None:
        """Draw a marker at each finite data point."""
        for each in zip(x.tolist(), y.tolist(), strict=True):
            if np.isfinite(each).all():
                self.page.marker(self.at(*each), shape, colour, 6.0, filled=filled)

    def vertical(self, x: float, colour: str = MUTED, width: float = 1.0, dash: str = "") -> None:
        """Draw a vertical line through the panel; nothing if `x` is outside."""
        if 0 <= self.x.share(x) <= 1:
            at = self.at(x, self.y.first)[0]
            self.page.line([(at, self.bottom), (at, self.top)], colour, width, dash)

    def horizontal(self, y: float, colour: str = MUTED, width: float = 1.0, dash: str = "") -> None:
        """Draw a horizontal line through the panel; nothing if `y` is outside."""
        if 0 <= self.y.share(y) <= 1:
            at = self.at(self.x.first, y)[1]
            self.page.line([(self.left, at), (self.right, at)], colour, width, dash)

    def steps(
        self, heights: Array, edges: Array, base: Array | None = None
    ) -> tuple[list[Point], list[Point]]:
        """Return the outlines of bars between `edges`: their tops from left to right, then their bases."""
        base = np.zeros(len(heights)) if base is None else base
        along = np.repeat(edges, 2)[1:-1].tolist()
        upper, lower = (np.repeat(values, 2).tolist() for values in (heights, base))
        return (
            [self.at(x, y) for x, y in zip(along, upper, strict=True)],
            [self.at(x, y) for x, y in zip(along, lower, strict=True)],
        )

    def x_axis(
        self, ticks: Sequence[float], labels: Sequence[str], title: str = "", *, grid: bool = False
    ) -> None:
        """Draw the bottom axis with its ticks, `labels` and `title`; `grid` draws lines at the ticks."""
        for tick, label in zip(ticks, labels, strict=True):
            at = self.at(tick, self.y.first)[0]
            if grid:
                self.page.line([(at, self.bottom), (at, self.top)], RULE)
            self.page.text((at, self.bottom + TICK_PAD), label, anchor="middle")
        self.page.line([(self.left, self.bottom), (self.right, self.bottom)], MUTED)
        if title:
            size = fitting(title, self.page.width - 2 * GAP, TEXT)
            half = text_width(title, size) / 2 + GAP
            middle = min(max((self.left + self.right) / 2, half), self.page.width - half)
            self.page.text((middle, self.bottom + TITLE_PAD), title, size=size, anchor="middle")

    def y_axis(self, ticks: Sequence[float], labels: Sequence[str], title: str = "") -> None:
        """Draw lines at the ticks, their `labels` on the left, and `title` at the top left."""
        for tick, label in zip(ticks, labels, strict=True):
            at = self.at(self.x.first, tick)[1]
            self.page.line([(self.left, at), (self.right, at)], RULE)
            self.page.beside((self.left - 6, at), label, anchor="end")
        if title:
            self.heading(title)

    def heading(self, text: str) -> None:
        """Write a line of text above the panel, at its left end."""
        self.page.text((min(self.left, 12.0), self.top - 12), text, INK, SMALL)


def round_ticks(low: float, high: float, most: int, *, whole: bool = False) -> list[float]:
    """Return at most `most` + 1 multiples of 1, 2 or 5 times a power of ten from `low` to `high`.

    With `whole` all are whole numbers.
    """
    span = (high - low) or 1.0
    power = 10.0 ** floor(log10(span / most))
    steps = [max(nice * power, 1.0 if whole else 0.0) for nice in NICE_STEPS]
    ends = ((step, *_within(low, high, step)) for step in steps)
    step, first, last = next(each for each in ends if each[2] - each[1] <= most)
    return [float(f"{k * step:.12g}") for k in range(first, last + 1)]


def _within(low: float, high: float, step: float) -> tuple[int, int]:
    """Return the first and the last multiple of `step` from `low` to `high`."""
    return int(np.ceil(low / step - 1e-9)), int(np.floor(high / step + 1e-9))


def tick_labels(ticks: Sequence[float]) -> list[str]:
    """Return the ticks as text, all with the number of digits that the finest needs."""
    digits = max((len(f"{tick:.6f}".rstrip("0").partition(".")[2]) for tick in ticks), default=0)
    return [decimal(tick, digits) for tick in ticks]


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
            if _lies_in(box, frame) and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                found = LabelPlace(side, x + away, left, middle)
                break
        placed.append(found)
    return placed


def _lies_in(box: Box, frame: Box) -> bool:
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
