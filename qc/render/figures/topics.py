"""Figures of topics and of pasted characters.

The layout of the word cloud is our own. The package `wordcloud` 1.9.6 measures a word from the top of its
letters but draws it from the top of the line, so its words can overlap.
"""

import numpy as np
from numpy.typing import NDArray

from qc.method.topics import Topics
from qc.number_format import listed, percent, whole
from qc.render.drawing.figure import Drawing
from qc.render.drawing.panel import round_ticks
from qc.render.drawing.rootogram import height, rootogram
from qc.render.drawing.sheet import Sheet
from qc.render.drawing.style import (
    BLUE,
    DESCENT,
    FAILED,
    INK,
    LINE_HEIGHT,
    MARGIN,
    MUTED,
    PASSED,
    WIDE,
    shortened,
    text_width,
)
from qc.robustness.writing import WritingResults

BINS = np.linspace(0.0, 1.0, 21)


def pasted_shares(found: WritingResults) -> Drawing | None:
    """Draw the distribution of the share of pasted characters over the workers; None if nobody wrote."""
    shares = found.workers["pasted_share"].to_numpy(np.float64)
    passed = found.workers["passed"].to_numpy(bool)
    known = np.isfinite(shares)
    if not known.any():
        return None
    bars = rootogram(shares, passed, BINS)

    def draw(width: float) -> Sheet:
        page = Sheet(width, height(2))
        panel = bars.panel(page)
        across = round_ticks(0.0, 1.0, 5)
        panel.x_axis(across, [whole(100 * tick) for tick in across], "% of a worker’s characters were pasted")
        for top, sign, colour, words, group in (
            (20, "■", PASSED, "passed", passed),
            (40, "□", FAILED, "failed", ~passed),
        ):
            page.key((MARGIN, top), sign, colour, f"{words}: {whole((group & known).sum())} workers")
        return page

    alt = (
        f"Histogram of the share of pasted characters of {whole(known.sum())} workers: "
        f"{whole((shares == 0).sum())} pasted nothing, {whole((shares >= found.threshold).sum())} "
        f"{percent(found.threshold, 0)} or more."
    )
    return Drawing("Workers by what they pasted", alt, draw)


SHOWN = 70
LARGEST, SMALLEST = 64.0, 13.0
TALLEST, SPACE = 380.0, 4.0
LONGEST_WORD = 0.7  # share of the width
NAMED = 8
SPOTS = 1000
GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))


def topic_words(result: Topics) -> Drawing | None:
    """Draw a word cloud of the topics, with larger words for more frequent ones; None if there are none."""
    words = result.words[:SHOWN]
    if not words:
        return None
    most = words[0][1]
    named = [f"{word} ({whole(count)})" for word, count in words[:NAMED]]

    def draw(width: float) -> Sheet:
        largest = LARGEST * min(1.0, width / WIDE + 0.1)
        sizes = [SMALLEST + (largest - SMALLEST) * (count / most) ** 0.7 for _, count in words]
        fitting = [
            shortened(word, LONGEST_WORD * width, size) for (word, _), size in zip(words, sizes, strict=True)
        ]
        boxes = np.array(
            [(text_width(word, size), size * LINE_HEIGHT) for word, size in zip(fitting, sizes, strict=True)]
        )
        corners = scattered(boxes + SPACE, np.array([width / 2 - MARGIN, TALLEST / 2 - MARGIN]))
        placed = np.isfinite(corners[:, 0])
        top = float(corners[placed, 1].min())
        page = Sheet(width, float((corners + boxes)[placed, 1].max()) - top + 2 * MARGIN)
        for i in np.flatnonzero(placed).tolist():
            baseline = corners[i, 1] - top + MARGIN + boxes[i, 1] - DESCENT * sizes[i]
            share = words[i][1] / most
            colour = BLUE if share >= 0.5 else INK if share >= 0.15 else MUTED
            page.text((width / 2 + corners[i, 0], baseline), fitting[i], colour, sizes[i])
        return page

    return Drawing("Words of the topics", f"Word cloud; most frequent: {listed(named, NAMED)}.", draw)


def scattered(boxes: NDArray[np.float64], room: NDArray[np.float64]) -> NDArray[np.float64]:
    """Place boxes without overlap, the first in the middle.

    Every box takes the free spot nearest to the middle. The spots are arranged like the seeds of a sunflower
    (Vogel, *A better way to construct the sunflower head*, Mathematical Biosciences 44, 1979).

    Args:
        boxes: (boxes, 2), widths and heights.
        room: largest horizontal and vertical distance from the middle.

    Returns:
        (boxes, 2), x and y of the upper left corners, relative to the middle; NaN if there is no free spot.
    """
    seeds = np.arange(SPOTS)
    radius = np.sqrt(seeds / SPOTS)[:, None]
    turns = np.column_stack([np.cos(seeds * GOLDEN_ANGLE), np.sin(seeds * GOLDEN_ANGLE)])
    centres = radius * turns * room
    corners = np.full(boxes.shape, np.nan)
    for i, box in enumerate(boxes):
        upper, lower = centres - box / 2, centres + box / 2
        others = corners[:i][np.isfinite(corners[:i, 0])]
        sizes = boxes[:i][np.isfinite(corners[:i, 0])]
        covers = (upper[:, None] < others + sizes) & (others < lower[:, None])
        free = ~covers.all(axis=2).any(axis=1) & (upper >= -room).all(axis=1) & (lower <= room).all(axis=1)
        if free.any():
            corners[i] = upper[np.argmax(free)]
    return corners
