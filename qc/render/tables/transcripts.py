"""Tables of a transcript run, besides its scores."""

from dataclasses import asdict

import pandas as pd

from qc.render.table import COUNT, INTERVAL, ONE, SHARE, THREE, TWO, Column, P, Table
from qc.transcripts.controls import Controls, Coverage
from qc.transcripts.edits import Conventions, Edits
from qc.transcripts.filter import ChancePasses
from qc.transcripts.repeats import Repeats
from qc.transcripts.two_way import TwoWay

_KINDS = {"ordinary": "ordinary items", "bad": "bad twins", "repeat": "repeats", "reference": "references"}
_QUARTILES = ("r_low", "r_median", "r_high")


def conventions(found: Conventions) -> Table:
    """Return the scores by both conventions for z."""
    columns = (
        Column("system", "System"),
        Column("items", "Items", COUNT),
        Column("judgments", "Judgments", COUNT),
        Column("n_published", "n as published", COUNT),
        Column("z", "z, all ratings", THREE),
        Column("z_without_bad", "z, without bad twins", THREE),
        Column("raw", "Raw", TWO),
    )
    return Table(found.table, columns)


def coverage(found: Coverage) -> Table:
    """Return the distribution of workers per item."""
    columns = (
        Column("raters", "Workers", COUNT),
        Column("items", "Items that so many rated", COUNT),
        Column("items_passed", "… who passed", COUNT),
    )
    return Table(found.table, columns)


def controls(found: Controls) -> Table:
    """Return the score of each kind of item, and its distance from ordinary items."""
    columns = (
        Column("group", "Workers who"),
        Column("named", "Kind"),
        # Important columns come first, so that a phone shows them without scrolling.
        Column("difference", "Above ordinary", ONE),
        Column("low", INTERVAL.head, ONE, upper="high"),
        Column("raw", "Raw", ONE),
        Column("z", "z", TWO),
        Column("workers", "Workers", COUNT),
        Column("ratings", "Shown", COUNT),
    )
    return Table(found.table, columns, found.table.assign(named=found.table["kind"].map(_KINDS)))


def controls_by_worker(found: Controls) -> Table:
    """Return the mean raw score that each worker gave to each kind of item."""
    return Table(found.by_worker, form=ONE)


def chance_passes(found: ChancePasses) -> Table:
    """Return how often workers pass by chance."""
    return Table(pd.DataFrame([asdict(found)]), (Column("level", form=SHARE), Column("share", form=SHARE)))


def kappa(found: Repeats) -> Table:
    """Return workers' agreement with themselves, by group and number of categories."""
    rows = [
        {"group": name, **asdict(each)}
        for name, group in (("passed", found.passed), ("failed", found.failed))
        for each in group.kappas
    ]
    columns = (
        Column("group", "Workers who"),
        Column("categories", "Categories", COUNT),
        Column("kappa", "κ", THREE),
        Column("observed", "Agree", THREE),
        Column("expected", "By chance", THREE),
        Column("pairs", "Pairs", COUNT),
    )
    return Table(pd.DataFrame(rows), columns)


def repeat_correlations(found: Repeats) -> Table:
    """Return the distribution of single workers' correlations with themselves, by group."""
    spread = found.workers.groupby("passed")["sd"].median()
    rows = [
        {
            "group": name,
            "workers": len(group.r),
            "without_r": group.without_r,
            **dict(zip(_QUARTILES, group.quartiles, strict=True)),
            "median_sd": spread.get(name == "passed", float("nan")),
        }
        for name, group in (("passed", found.passed), ("failed", found.failed))
    ]
    columns = (
        Column("group", "Workers who"),
        Column("r_low", "r, lower quartile", TWO),
        Column("r_median", "Median", TWO),
        Column("r_high", "Upper quartile", TWO),
        Column("workers", "Workers with r", COUNT),
        Column("without_r", "without", COUNT),
        Column("median_sd", "Median SD of ratings", ONE),
    )
    return Table(pd.DataFrame(rows), columns)


def repeats(found: Repeats) -> Table:
    """Return each worker's agreement with themselves; a reader sees the lowest first."""
    ordered = found.workers.sort_values(["r", "worker"], na_position="first")
    columns = (
        Column("worker", "Worker"),
        Column("outcome", "Filter"),
        Column("pairs", "Pairs", COUNT),
        Column("r", "r", TWO),
        Column("distance", "Mean distance", ONE),
        Column("sd", "SD of all ratings", ONE),
    )
    shown = ordered.assign(outcome=ordered["passed"].map({True: "passed", False: "failed"}))
    return Table(found.workers, columns, shown)


def errors(found: TwoWay) -> Table:
    """Return the standard errors of scores for other workers, for other items, and for both."""
    columns = (
        Column("system", "System"),
        Column("z", "z", THREE),
        Column("low", "95 %, both", THREE, upper="high"),
        Column("both", "Error, both", THREE),
        Column("by_worker", "by worker", THREE),
        Column("by_item", "by item", THREE),
        Column("workers", "Workers", COUNT),
        Column("items", "Items", COUNT),
    )
    return Table(found.systems, columns)


def error_pairs(found: TwoWay) -> Table:
    """Return the differences of systems with their two-way errors."""
    columns = (
        Column("first", "System"),
        Column("second", "Other"),
        Column("difference", "Difference in z", THREE),
        Column("error", "Error, both", THREE),
        Column("p", "p", P),
        Column("holm", "p, Holm", P),
    )
    return Table(found.pairs, columns)


def edits(found: Edits) -> Table:
    """Return how much workers changed in the texts of each system."""
    columns = (
        Column("system", "System"),
        Column("judgments", "Judgments", COUNT),
        Column("edited", "Changed", SHARE),
        Column("edit_share", "Edited words over length", THREE),
    )
    return Table(found.table, columns)
