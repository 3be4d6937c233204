"""Figure: topics that workers chose.

The layout is our own: that of the package `wordcloud` 1.9.6 measures a word from the top of its letters but
draws it from the top of the line, and so lets words cover one another.
"""

import numpy as np
from numpy.typing import NDArray

from qc.method.topics import Topics
from qc.number_format import listed, whole
from qc.render.figures.figure import Drawing
from qc.render.figures.sheet import Sheet
from qc.render.figures.style import (
    BLUE,
    DESCENT,
    INK,
    LINE_HEIGHT,
    MARGIN,
    MUTED,
    WIDE,
    shortened,
    text_width,
)

SHOWN = 70
LARGEST, SMALLEST = 64.0, 13.0
TALLEST, SPACE = 380.0, 4.0
LONGEST_WORD = 0.7  # of the width
NAMED = 8
SPOTS = 1000
GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))


def topic_words(result: Topics) -> Drawing | None:
    """Draw the most frequent words of the topics, the larger the more frequent; None if there are none."""
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
    """Return where boxes can stand without covering one another, the first in the middle.

    Every box takes the free spot nearest to the middle, out of spots that lie like the seeds of a sunflower
    (Vogel, *A better way to construct the sunflower head*, Mathematical Biosciences 44, 1979).

    Args:
        boxes: (boxes, 2), widths and heights.
        room: how far from the middle they may reach, across and up.

    Returns:
        (boxes, 2), x and y of the upper left corners, from the middle; NaN where there is no spot.
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
