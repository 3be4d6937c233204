"""Opinions of topics, changes of topic, words of the topics, and scores by area of the topic."""

from collections.abc import Mapping
from dataclasses import asdict

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.drawing.charts import interval, point, rows
from qc.drawing.sheet import Drawing, Sheet
from qc.drawing.style import BLUE, DESCENT, INK, LINE_HEIGHT, MARGIN, MUTED, WIDE, shortened, text_width
from qc.method.topics import Topics, describe_topics
from qc.robustness.topic_areas import TopicAreas, score_topic_areas
from qc.run import CHANGES, OPINIONS
from qc.sections import schema
from qc.sections.analysis import Analysis
from qc.sections.section import Json, Part, Section
from qc.statistics.clustered import FEWEST_CARRIERS
from qc.table import (
    COUNT,
    GROUPS,
    INTERVAL,
    SHARE,
    THREE,
    TWO,
    Column,
    Table,
    decimal,
    listed,
    side_by_side,
    whole,
)


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


def areas(found: TopicAreas) -> Table | None:
    """Return the effect of each area of topics; None if there is none."""
    if found.effect is None:
        return None
    frame = pd.DataFrame([asdict(level) for level in found.effect.levels]).rename(columns={"name": "area"})
    columns = (
        Column("area", "Area"),
        Column("n", "Conver\u00adsations", COUNT),
        Column("workers", "Workers", COUNT),
        Column("effect", "z, less the system’s mean", THREE),
        INTERVAL,
        Column("high", None, THREE),
    )
    return Table(frame, columns, frame.sort_values("effect", ascending=False, kind="stable"))


def systems_by_area(found: TopicAreas) -> Table | None:
    """Return the score of each system in each area; None if there are none."""
    return None if found.systems.empty else Table(found.systems)


def draw_areas(found: TopicAreas) -> Drawing | None:
    """Draw the effect of each area with its interval, the best first; None if there is none."""
    if found.effect is None:
        return None
    levels = sorted(found.effect.levels, key=lambda level: -level.effect)
    ends = np.array([(level.low, level.effect, level.high) for level in levels]).ravel()
    right = [whole(level.n) for level in levels]

    def draw(width: float) -> Sheet:
        panel = rows(width, [level.name for level in levels], "z, less the system’s mean", ends, right, "n")
        for row, level in enumerate(levels):
            interval(panel, level.low, level.high, row, BLUE)
            point(panel, level.effect, row, BLUE)
        return panel.page

    alt = (
        f"Mean z by area of the topic with intervals: from {decimal(levels[0].effect, 2)} ({levels[0].name}) "
        f"to {decimal(levels[-1].effect, 2)} ({levels[-1].name})."
    )
    return Drawing("Scores by area of the topic", alt, draw)


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


def _areas_document(found: TopicAreas) -> Json:
    effect = found.effect
    return {
        "why_not": found.why_not or None,
        "recognised": found.recognised,
        "areas": [] if effect is None else [asdict(level) for level in effect.levels],
        "statistic_name": None if effect is None else effect.statistic_name,
        "statistic": None if effect is None else effect.statistic,
        "p": None if effect is None else effect.p,
        "sentence": "" if effect is None else effect.sentence,
        "systems": found.systems.to_dict("records"),
    }


AREAS = Part(
    kind=TopicAreas,
    make=lambda a: score_topic_areas(a.sample, a.scores, a.options.bootstrap, a.options.seed),
    key="topic_areas",
    content=_areas_document,
    option="topics",
    of_chats=True,
    schema=schema.record(
        "Scores by area of the opening topic, of the workers who passed; absent if the source has no topics.",
        why_not=schema.text("Why there are none; null if there are.", null=True),
        recognised=schema.number("Share of the topics that are in an area other than `other`."),
        areas=schema.rows(
            "Each area.",
            name=schema.text("Name; `other` for topics without a known word."),
            n=schema.integer("Conversations."),
            workers=schema.integer("Workers who had them; fewer than 10 give no interval."),
            effect=schema.number("Mean z relative to the mean of the same system.", null=True),
            low=schema.number("Lower end of its interval.", null=True),
            high=schema.number("Upper end.", null=True),
        ),
        statistic_name=schema.text("Name of the test statistic.", null=True),
        statistic=schema.number("Its value.", null=True),
        p=schema.number("p-value that areas do not differ.", null=True),
        sentence=schema.text("The finding in a sentence; empty if there is none."),
        systems=schema.rows(
            "Each system in each area.",
            area=schema.text("Name."),
            system=schema.text("The system."),
            n=schema.integer("Conversations."),
            workers=schema.integer("Workers who had them."),
            z=schema.number("Mean overall z; null with fewer than five workers.", null=True),
            low=schema.number(
                "Lower end of its interval; null with fewer than five workers, where few of many did most of "
                "it, or where all do the same.",
                null=True,
            ),
            high=schema.number("Upper end.", null=True),
        ),
    ),
)


def _words(analysis: Analysis) -> Mapping[str, object]:
    return {"areas": analysis.topic_areas, "fewest": FEWEST_CARRIERS}


SECTION = Section(
    id="topics",
    title="Topics",
    parts=(TOPICS, AREAS),
    tables=(
        TOPICS.file("topics_opinions.csv", "what workers thought of the topics", opinions),
        TOPICS.file("topic_changes.csv", "how topics changed", changes),
        TOPICS.file("topic_words.csv", "the most frequent words of the topics", topic_words),
        AREAS.file("topic_areas.csv", "scores by area of the opening topic", areas),
        AREAS.file("topic_areas_systems.csv", "scores of each system by area", systems_by_area),
    ),
    figures=(
        TOPICS.file("topics.svg", "a word cloud of the topics", draw_topic_words),
        AREAS.file("topic_areas.svg", "scores by area of the opening topic", draw_areas),
    ),
    words=_words,
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
{% if areas %}
<details>
<summary>Scores by area of the topic</summary>
{% if areas.why_not %}
<p>Scores by area of the topic are not given. {{ areas.why_not }}</p>
{% else %}
<p>{{ areas.effect.sentence | tight }} A topic belongs to the area of the first word in it that stands in \
our list of English words; {{ areas.recognised | percent(0) }} of the topics have such a word.\
{% if areas.few %} Fewer than {{ fewest }} workers chose some areas, which have no interval: \
{{ areas.few | join(", ") }}.{% endif %}</p>
{% call drawing("topic_areas", "Scores by area of the topic.") %}
How much better or worse conversations were rated than the mean of the same system; lines are 95 % \
intervals, each looked at alone.
{% endcall %}
{% call table("topic_areas.csv", "Scores by area of the opening topic.") %}
Of the workers who passed. Other topics have no word that the list knows.
{% endcall %}
<p>The score of each system in each area, with its interval, is in <code>topic_areas_systems.csv</code>. \
Most of these stand on few conversations, so differences are expected by chance alone.</p>
{% endif %}
</details>
{% endif %}
""",
)
