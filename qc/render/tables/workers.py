"""Tables of workers, the worker filter, and agreement between workers."""

import numpy as np
import pandas as pd

from qc.analysis import Analysis
from qc.method.agreement import Agreement
from qc.render.table import COUNT, ONE, P_EXACT, ROUGH_SHARE, THREE, Column, P, Table
from qc.robustness.alpha import AlphaInfluence
from qc.robustness.filter_check import FilterCheck
from qc.robustness.random_shares import Share


def p_values(analysis: Analysis) -> Table:
    """Return p of every worker; a reader sees only those who failed, with the reason."""
    workers = analysis.sample.screening.workers
    columns = (Column("worker", "Worker"), Column("p", "p", P_EXACT), Column("reason", "Reason"))
    return Table(workers[["worker", "p"]], columns, workers[~workers["passed"]])


def workers(found: FilterCheck) -> Table:
    """Return all data about each worker.

    A reader sees those who failed, then those who passed with a remark, then the others; in each group the
    highest p first.
    """
    passed, remark = found.workers["passed"], found.workers["remark"]
    ordered = found.workers.assign(group=np.where(passed, np.where(remark == "", 2, 1), 0)).sort_values(
        ["group", "p", "worker"], ascending=[True, False, True], na_position="first"
    )
    shown = ordered.assign(
        outcome=np.where(ordered["passed"], "passed", "failed"),
        said=(ordered["reason"] + "; " + ordered["remark"]).str.strip("; "),
    )
    columns = (
        Column("worker", "Worker"),
        Column("outcome", "Filter"),
        Column("said", "Why, and remarks"),
        Column("p", "p", P),
        Column("assignments", "Assign\u00adments", COUNT),
        Column("conversations", "Conver\u00adsations", COUNT),
        Column("sd", "SD of ratings", ONE),
        Column("identical", "Identical ratings", ROUGH_SHARE),
        Column("minutes", "Minutes", ONE),
        Column("words", "Words an input", COUNT),
    )
    return Table(found.workers, columns, shown)


def filter_check(found: FilterCheck) -> Table:
    """Return the results of the filter check."""
    keys = (
        "expected_random_pass",
        "simulated_random_pass",
        "simulated_random_pass_error",
        "random_share",
        "random_among_passed",
        "random_among_passed_bound",
        "everyone_r",
        "everyone_rho",
        "failed_r",
        "failed_rho",
    )
    row: dict[str, float] = {}
    for key in keys:
        value = getattr(found, key)
        if isinstance(value, Share):
            row |= {key: value.value, f"{key}_low": value.low, f"{key}_high": value.high}
        else:
            row[key] = value
    return Table(pd.DataFrame([row]))


def everyone(found: FilterCheck) -> Table:
    """Return the ranking without the filter."""
    columns = (
        Column("system", "System"),
        Column("rank", "Rank", COUNT),
        Column("rank_everyone", "Rank, everyone kept", COUNT),
        Column("z", "z", THREE),
        Column("z_everyone", "z, everyone kept", THREE),
    )
    return Table(found.everyone, columns)


def agreement(found: Agreement) -> Table:
    """Return the agreement between workers who rated the same systems."""
    groups = {"passed": found.passed, "failed": found.failed}
    return Table(
        pd.DataFrame(
            [(group, pairs.pairs, pairs.median_r, pairs.sampled) for group, pairs in groups.items()],
            columns=["group", "pairs", "median_r", "sampled"],
        ),
        (
            Column("group", "Both workers"),
            Column("pairs", "Pairs", COUNT),
            Column("median_r", "Median r", THREE),
        ),
    )


def agreement_r(found: Agreement) -> Table:
    """Return r of each pair of workers who rated the same systems."""
    groups = {"passed": found.passed, "failed": found.failed}
    parts = [pd.DataFrame({"group": group, "r": pairs.r}) for group, pairs in groups.items()]
    return Table(pd.concat(parts, ignore_index=True))


def alpha(found: AlphaInfluence, kept: str) -> Table:
    """Return the results at other levels of the filter; `kept` is the heading of the kept data."""
    rows = [
        (level.alpha, level.workers, level.conversations, level.ranking_rho, level.replication_r, *level.z)
        for level in found.levels
    ]
    keys = ["alpha", "workers", "conversations", "ranking_rho", "replication_r"]
    frame = pd.DataFrame(rows, columns=[*keys, *(f"z {system}" for system in found.systems)])
    columns = [
        Column("level", "α"),
        Column("workers", "Workers kept", COUNT),
        Column("conversations", kept, COUNT),
        Column("ranking_rho", "ρ with this ranking", THREE),
    ]
    if frame["replication_r"].notna().any():
        columns.append(Column("replication_r", "r with the second run", THREE))
    return Table(frame, tuple(columns), frame.assign(level=[f"{level:g}" for level in frame["alpha"]]))
