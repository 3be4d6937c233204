"""What workers wanted to talk about.

The layout is our own: that of the package `wordcloud` 1.9.6 measures a word from the top of its letters but
draws it from the top of the line, and so lets words cover one another.
"""

import numpy as np
from numpy.typing import NDArray

from qc.method.topics import Topics
from qc.number_format import listed, whole
from qc.render.figures.figure import Drawing
from qc.render.figures.style import BLUE, INK, MARGIN, MUTED, WIDTH, sheet, shortened, text_box

SHOWN = 70
LARGEST, SMALLEST = 64.0, 13.0
TALLEST, SPACE = 380.0, 4.0
LONGEST_WORD = 0.7 * WIDTH
NAMED = 8
SPOTS = 1600
GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))


def topic_words(result: Topics) -> Drawing | None:
    """Draw the most frequent words of the topics, the larger the more frequent; None if there are none."""
    words = result.words[:SHOWN]
    if not words:
        return None
    most = words[0][1]
    sizes = [SMALLEST + (LARGEST - SMALLEST) * (count / most) ** 0.7 for _, count in words]
    shown = [shortened(word, LONGEST_WORD, size) for (word, _), size in zip(words, sizes, strict=True)]
    boxes = np.array([text_box(word, size) for word, size in zip(shown, sizes, strict=True)])
    corners = scattered(boxes[:, :2] + SPACE)
    placed = np.isfinite(corners[:, 0])
    top = corners[placed, 1].min()
    height = float((corners + boxes[:, :2])[placed, 1].max() - top) + 2 * MARGIN
    page = sheet(height)
    for i in np.flatnonzero(placed):
        baseline = corners[i, 1] - top + MARGIN + boxes[i, 1] - boxes[i, 2]
        share = words[i][1] / most
        page.text(
            0.5 + corners[i, 0] / WIDTH,
            1 - baseline / height,
            shown[i],
            size=sizes[i],
            color=BLUE if share >= 0.5 else INK if share >= 0.15 else MUTED,
        )
    named = [f"{word} ({whole(count)})" for word, count in words[:NAMED]]
    return Drawing(page, "Words of the topics", f"Word cloud; most frequent: {listed(named, NAMED)}.")


def scattered(boxes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return where boxes can stand without covering one another, the first in the middle.

    Every box takes the free spot nearest to the middle, out of spots that lie like the seeds of a sunflower
    (Vogel, *A better way to construct the sunflower head*, Mathematical Biosciences 44, 1979).

    Args:
        boxes: (boxes, 2), widths and heights.

    Returns:
        (boxes, 2), x and y of the upper left corners, from the middle; NaN where there is no spot.
    """
    seeds = np.arange(SPOTS)
    radius = np.sqrt(seeds / SPOTS)[:, None]
    turns = np.column_stack([np.cos(seeds * GOLDEN_ANGLE), np.sin(seeds * GOLDEN_ANGLE)])
    room = np.array([WIDTH / 2 - MARGIN, TALLEST / 2 - MARGIN])
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
