"""Workers, the filter that they go through, and how they agree."""

from functools import partial

import numpy as np

from qc.analysis import Analysis
from qc.number_format import decimal, percent, probability, whole
from qc.render.html_tables.html_table import Column, HtmlTable, html_table, one
from qc.render.tables import Tables


def workers(analysis: Analysis) -> dict[str, HtmlTable]:
    """Return those who failed, those who passed with a remark, the others; each by p, the highest first."""
    check = analysis.filter_check
    if check is None:
        return {}
    passed, remark = check.workers["passed"], check.workers["remark"]
    ordered = check.workers.assign(place=np.where(passed, np.where(remark == "", 2, 1), 0)).sort_values(
        ["place", "p", "worker"], ascending=[True, False, True], na_position="first"
    )
    shown = ordered.assign(
        outcome=np.where(ordered["passed"], "passed", "failed"),
        said=(ordered["reason"] + "; " + ordered["remark"]).str.strip("; "),
    )
    columns = (
        Column("worker", "Worker"),
        Column("outcome", "Filter"),
        Column("p", "p", probability),
        Column("assignments", "Assign\u00adments", whole),
        Column("conversations", "Conver\u00adsations", whole),
        Column("sd", "SD of ratings", one),
        Column("identical", "Identical ratings", partial(percent, digits=0)),
        Column("minutes", "Minutes", one),
        Column("words", "Words an input", whole),
        Column("said", "Why, and remarks"),
    )
    return {"workers": html_table(shown, *columns)}


def everyone(tables: Tables) -> dict[str, HtmlTable]:
    """Return the ranking if everyone were kept."""
    if "everyone.csv" not in tables:
        return {}
    columns = (
        Column("system", "System"),
        Column("rank", "Rank", whole),
        Column("rank_everyone", "Rank, everyone kept", whole),
        Column("z", "z", decimal),
        Column("z_everyone", "z, everyone kept", decimal),
    )
    return {"everyone": html_table(tables["everyone.csv"], *columns)}


def agreement(tables: Tables) -> dict[str, HtmlTable]:
    """Return how workers agree who met the same systems."""
    if "rater_agreement.csv" not in tables:
        return {}
    columns = (
        Column("group", "Both workers"),
        Column("pairs", "Pairs", whole),
        Column("median_r", "Median r", decimal),
    )
    return {"agreement": html_table(tables["rater_agreement.csv"], *columns)}


def alpha(tables: Tables) -> dict[str, HtmlTable]:
    """Return what another level of the filter would change."""
    table = tables.get("alpha.csv")
    if table is None:
        return {}
    columns = [
        Column("level", "α"),
        Column("workers", "Workers kept", whole),
        Column("conversations", "Conversations", whole),
        Column("ranking_rho", "ρ with this ranking", decimal),
    ]
    if table["replication_r"].notna().any():
        columns.append(Column("replication_r", "r with the second run", decimal))
    return {"alpha": html_table(table.assign(level=[f"{level:g}" for level in table["alpha"]]), *columns)}
