"""A panel: a rectangle on a sheet with data coordinates and axes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import floor, log10

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
