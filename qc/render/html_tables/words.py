"""What is known of the words of the conversations."""

import pandas as pd

from qc.number_format import percent, whole
from qc.render.html_tables.html_table import Column, HtmlTable, html_table, one, two
from qc.render.tables import Tables
from qc.render.tables.named import GROUPS
from qc.run import CHANGES, OPINIONS


def topics(tables: Tables) -> dict[str, HtmlTable]:
    """Return opinions of topics and changes of topic."""
    if "topics_opinions.csv" not in tables:
        return {}
    return {
        "opinions": _opinions(tables["topics_opinions.csv"]),
        "changes": _changes(tables["topic_changes.csv"]),
    }


def _opinions(shares: pd.DataFrame) -> HtmlTable:
    named = shares["topics"].map({"opening": "opening topic", "every": "every topic"})
    return html_table(
        shares.assign(which=named + ", " + shares["group"]),
        Column("which", "Topics, workers"),
        Column("n", "Number", whole),
        *(Column(opinion, f"{opinion.capitalize()} %", two) for opinion in OPINIONS),
    )


def _changes(changes: pd.DataFrame) -> HtmlTable:
    wide = changes.pivot(index="kind", columns="group", values=["count", "share"]).reindex(list(CHANGES))
    wide.columns = pd.Index([" ".join(pair) for pair in wide.columns])
    columns = [
        column
        for group in GROUPS
        for column in (
            Column(f"count {group}", group.capitalize(), whole),
            Column(f"share {group}", f"{group.capitalize()} %", percent),
        )
    ]
    return html_table(wide.reset_index(), Column("kind", "Kind of change"), *columns)


def effort(tables: Tables) -> dict[str, HtmlTable]:
    """Return how much workers wrote."""
    lengths = tables.get("effort.csv")
    if lengths is None:
        return {}
    wide = lengths.pivot(index="measure", columns="group", values=["median", "mean"])
    wide.columns = pd.Index([" ".join(pair) for pair in wide.columns])
    wide = wide.reindex(lengths["measure"].unique()).reset_index()
    columns = [
        Column(f"{value} {group}", f"{value.capitalize()}, {group}", two if value == "mean" else one)
        for value in ("median", "mean")
        for group in GROUPS
    ]
    wide = wide.assign(what=wide["measure"].str.replace("_", " "))
    return {"effort": html_table(wide, Column("what", "What"), *columns)}
