"""Opinions of topics, changes of topic, and words of the topics."""

from dataclasses import asdict

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.drawing.sheet import Drawing, Sheet
from qc.drawing.style import BLUE, DESCENT, INK, LINE_HEIGHT, MARGIN, MUTED, WIDE, shortened, text_width
from qc.method.topics import Topics, describe_topics
from qc.run import CHANGES, OPINIONS
from qc.sections import schema
from qc.sections.section import Part, Section
from qc.table import COUNT, GROUPS, SHARE, TWO, Column, Table, listed, side_by_side, whole


def opinions(found: Topics) -> Table:
    """Return workers' opinions about the topics."""
    shares = [
        {"topics": which, "group": group, **asdict(shares)}
        for which, by_group in (("opening", found.opening), ("every", found.every))
        for group, shares in by_group.items()
    ]
    frame = pd.DataFrame(shares, columns=["topics", "group", "n", *OPINIONS])
    named = frame["topics"].map({"opening": "opening topic", "every": "every topic"})
    columns = (
        Column("which", "Topics, workers"),
        Column("n", "Number", COUNT),
        *(Column(opinion, f"{opinion.capitalize()} %", TWO) for opinion in OPINIONS),
    )
    return Table(frame, columns, frame.assign(which=named + ", " + frame["group"]))


def changes(found: Topics) -> Table:
    """Return the changes of topic; a reader sees the groups of workers side by side."""
    frame = pd.DataFrame(
        [
            (group, kind, count, count / changes.n if changes.n else np.nan)
            for group, changes in found.changes.items()
            for kind, count in changes.counts.items()
        ],
        columns=["group", "kind", "count", "share"],
    )
    columns = [
        column
        for group in GROUPS
        for column in (
            Column(f"count {group}", group.capitalize(), COUNT),
            Column(f"share {group}", f"{group.capitalize()} %", SHARE),
        )
    ]
    return Table(
        frame,
        (Column("kind", "Kind of change"), *columns, Column("share", form=SHARE)),
        side_by_side(frame, "kind", ["count", "share"], list(CHANGES)),
    )


def topic_words(found: Topics) -> Table:
    """Return the words of the topics."""
    return Table(pd.DataFrame(found.words, columns=["word", "count"]))


SHOWN = 70
LARGEST, SMALLEST = 64.0, 13.0
TALLEST, SPACE = 380.0, 4.0
LONGEST_WORD = 0.7  # share of the width
NAMED = 8
SPOTS = 1000
GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))


def draw_topic_words(result: Topics) -> Drawing | None:
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


_TOPICS_SCHEMA = schema.record(
    "Topics.",
    opening=schema.record(
        "Opinions of opening topics.",
        passed=schema.shared("opinions", "Workers who passed."),
        failed=schema.shared("opinions", "Workers who failed."),
        all=schema.shared("opinions", "All workers."),
    ),
    every=schema.record(
        "Opinions of all topics.",
        passed=schema.shared("opinions", "Workers who passed."),
        failed=schema.shared("opinions", "Workers who failed."),
        all=schema.shared("opinions", "All workers."),
    ),
    changes=schema.record(
        "Kinds of change.",
        passed=schema.shared("changes", "Workers who passed."),
        failed=schema.shared("changes", "Workers who failed."),
        all=schema.shared("changes", "All workers."),
    ),
    words=schema.array(
        "Words of topics of workers who passed, the most frequent first.",
        {"type": "array", "prefixItems": [schema.text(), schema.integer()], "minItems": 2, "maxItems": 2},
    ),
)

TOPICS = Part(
    kind=Topics,
    make=lambda a: describe_topics(a.sample),
    key="topics",
    option="topics",
    schema=_TOPICS_SCHEMA,
)

SECTION = Section(
    id="topics",
    title="Topics",
    parts=(TOPICS,),
    tables=(
        TOPICS.file("topics_opinions.csv", "what workers thought of the topics", opinions),
        TOPICS.file("topic_changes.csv", "how topics changed", changes),
        TOPICS.file("topic_words.csv", "the most frequent words of the topics", topic_words),
    ),
    figures=(TOPICS.file("topics.svg", "a word cloud of the topics", draw_topic_words),),
    page="""\
{% call drawing("topics", "Words of the topics.") %}
The larger a word, the more often it occurs in topics of workers who passed.
{% endcall %}
{% call table("topics_opinions.csv", "What workers thought of the topics.") %}
Per cent of topics that workers said they like, are ambivalent about, or dislike. Conversations with the \
quality-control bot count.
{% endcall %}
{% call table("topic_changes.csv", "How topics changed.") %}
How often each kind of change was recorded, and its share of all changes.
{% endcall %}
""",
)
