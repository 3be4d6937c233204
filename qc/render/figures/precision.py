"""The figures of estimates: widths against n, and how intervals narrow while data come in."""

import numpy as np
from matplotlib.ticker import MaxNLocator
from matplotlib.typing import LineStyleType
from numpy.typing import NDArray

from qc.number_format import decimal, whole
from qc.precision.estimates import Part
from qc.render.figures.figure import Drawing
from qc.render.figures.style import (
    BLUE,
    GREEN,
    MUTED,
    VERMILION,
    WIDTH,
    key,
    panel,
    sheet,
    shortened,
)

LEFT, HEAD, FOOT, RIGHT, HEIGHT = 74.0, 84.0, 58.0, 16.0, 300.0
LINE = 22.0
LONGEST_NAME = 240.0
# Two lines may lie on each other: where a metric does nothing.
_STYLES: dict[str, LineStyleType] = {"┄": (0, (4, 3)), "━": "-", "┉": (0, (1.5, 1.5))}


def widths(part: Part) -> Drawing:
    """Draw the width of the interval against n, without and with the strongest metric.

    `part` has a curve.
    """
    curve = part.curve
    assert curve is not None  # noqa: S101
    metric = part.metrics[0].metric
    page = sheet(HEAD + HEIGHT + FOOT)
    axes = panel(page, LEFT, HEAD, WIDTH - LEFT - RIGHT, HEIGHT)
    axes.plot(curve.n, curve.mean, color=MUTED, marker="s", markersize=6)
    axes.plot(curve.n, curve.control_variate, color=BLUE, marker="o", markersize=6)
    axes.set_ylim(0, float(curve.mean.max()) * 1.08)
    axes.set_xlabel("judgments")
    axes.set_ylabel("width of the 95 % interval")
    axes.grid(axis="y")
    key(page, LEFT, 28, "■", MUTED, "mean of the judgments")
    key(page, LEFT, 28 + LINE, "●", BLUE, f"with {shortened(metric, LONGEST_NAME)} as control variate")
    title = f"Width against judgments: {part.criterion}, {part.system}"
    alt = (
        f"At {whole(curve.n[-1])} judgments the interval is {decimal(curve.mean[-1], 3)} wide, and "
        f"{decimal(curve.control_variate[-1], 3)} with {metric}; data efficiency by resampling "
        f"{decimal(curve.de, 2)}, with an endless pool and as if judgments were independent."
    )
    return Drawing(page, title, alt)


def narrowing(part: Part) -> Drawing:
    """Draw how intervals narrow while data come in.

    `part` has looks.
    """
    looks = part.looks
    assert looks is not None  # noqa: S101
    n = np.arange(1, looks.n + 1)
    lines: list[tuple[str, str, str, NDArray[np.float64]]] = [
        ("┄", MUTED, "fixed n: not to be looked at again and again", looks.fixed.half_width),
        ("━", BLUE, "at any n", looks.plain.half_width),
    ]
    if looks.varied is not None:
        text = f"at any n, with {shortened(looks.metric, LONGEST_NAME)}"
        lines.append(("┉", GREEN, text, looks.varied.half_width))
    if looks.exact is not None:
        lines.append(("━", VERMILION, "at any n, exact", looks.exact.half_width))
    head = 28 + LINE * len(lines)
    page = sheet(head + HEIGHT + FOOT)
    axes = panel(page, LEFT, head, WIDTH - LEFT - RIGHT, HEIGHT)
    for number, (sign, colour, text, half_width) in enumerate(lines):
        axes.plot(n[19:], half_width[19:], color=colour, linestyle=_STYLES[sign])
        key(page, LEFT, 24 + LINE * number, sign, colour, text)
    axes.set_ylim(bottom=0)
    axes.set_xlabel(looks.unit)
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.set_ylabel("half-width at 95 %")
    axes.grid(axis="y")
    title = f"While data come in: {part.criterion}, {part.system}"
    alt = (
        f"After {whole(looks.n)} {looks.unit} the interval that may be looked at any time reaches "
        f"{decimal(looks.plain.half_width[-1], 3)} to each side; the one for a fixed n "
        f"{decimal(looks.fixed.half_width[-1], 3)}."
    )
    return Drawing(page, title, alt)
