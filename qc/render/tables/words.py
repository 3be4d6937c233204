"""Tables about the words of conversations."""

from dataclasses import asdict

import numpy as np
import pandas as pd

from qc.method.effort import Effort
from qc.method.topics import Topics
from qc.render.table import COUNT, GROUPS, ONE, SHARE, TWO, Column, Table
from qc.run import CHANGES, OPINIONS


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
        _side_by_side(frame, "kind", ["count", "share"], list(CHANGES)),
    )


def topic_words(found: Topics) -> Table:
    """Return the words of the topics."""
    return Table(pd.DataFrame(found.words, columns=["word", "count"]))


def effort(found: Effort) -> Table:
    """Return the lengths of workers' messages; a reader sees the groups of workers side by side."""
    lengths = [
        {"group": group, "measure": measure, **each}
        for group in GROUPS
        for measure, each in asdict(getattr(found, group)).items()
    ]
    frame = pd.DataFrame(lengths, columns=["group", "measure", "n", "mean", "median"])
    rows = _side_by_side(frame, "measure", ["median", "mean"], list(frame["measure"].unique()))
    columns = (
        Column(f"{value} {group}", f"{value.capitalize()}, {group}", TWO if value == "mean" else ONE)
        for value in ("median", "mean")
        for group in GROUPS
    )
    return Table(
        frame, (Column("what", "What"), *columns), rows.assign(what=rows["measure"].str.replace("_", " "))
    )


def _side_by_side(frame: pd.DataFrame, index: str, values: list[str], order: list[str]) -> pd.DataFrame:
    """Return `values` of each group in columns such as `count passed`, with rows in the order `order`."""
    wide = frame.pivot(index=index, columns="group", values=values).reindex(order)
    wide.columns = pd.Index([" ".join(pair) for pair in wide.columns])
    return wide.reset_index()
