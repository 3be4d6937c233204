"""Tables of the data collected and kept, of cost and incidents, and of a preregistration."""

from dataclasses import asdict
from typing import Any

import pandas as pd

from qc.analysis import Analysis
from qc.method.incidents import Incidents, Served
from qc.number_format import percent, whole
from qc.registration import Followed
from qc.render.table import COUNT, GROUPS, ONE, SHARE, THREE, TWO, WRITTEN, Column, P, Table

_FOLLOWED = {True: "yes", False: "no", None: "the data do not tell"}
_SUPPORTED = {True: "supported", False: "not supported", None: "cannot be tested"}


def points(found: Followed) -> Table:
    """Return the points of a preregistration: registered, found, and whether they agree."""
    rows = [(one.what, _FOLLOWED[one.followed], one.registered, one.found) for one in found.points]
    heads = {"what": "What", "followed": "Followed", "registered": "Registered", "found": "Found"}
    return Table(
        pd.DataFrame(rows, columns=list(heads)), tuple(Column(key, head) for key, head in heads.items())
    )


def decisions(found: Followed) -> Table:
    """Return the hypotheses, each with its test."""
    rows = [
        (f"{one.higher} > {one.lower}", one.difference, one.p, one.adjusted, _SUPPORTED[one.supported])
        for one in found.decisions
    ]
    return Table(
        pd.DataFrame(rows, columns=["hypothesis", "difference", "p", "adjusted", "decision"]),
        (
            Column("hypothesis", "Hypothesis"),
            Column("difference", "Difference in z", THREE),
            Column("p", "p", P),
            Column("adjusted", "p, Holm", P),
            Column("decision", "Decision"),
        ),
    )


def pass_rates(analysis: Analysis) -> Table:
    """Return the authors' table of pass rates."""
    counts = {"HIT": analysis.rates.hits, "Worker": analysis.rates.workers}
    rows = [(name, count.passed, count.total, count.rate) for name, count in counts.items()]
    columns = (Column("passrate", form=SHARE),)
    return Table(pd.DataFrame(rows, columns=["", "passed", "total", "passrate"]), columns)


def duration(analysis: Analysis) -> Table:
    """Return the minutes per conversation."""
    return Table(pd.DataFrame([asdict(analysis.minutes)], columns=list(GROUPS)))


def kept(analysis: Analysis) -> Table:
    """Return the numbers that passed the filter; a reader also sees the minutes."""
    rates, chatted = analysis.rates, analysis.run.items is None
    counts = {
        "workers": rates.workers,
        "assignments": rates.assignments,
        "HIT ids": rates.hits,
        "conversations with systems" if chatted else "judgments of items": rates.conversations,
    }
    rows = [
        (name, count.passed, count.total - count.passed, count.total, count.rate)
        for name, count in counts.items()
    ]
    heads = ["What", "Passed", "Failed", "Total", "Pass rate"]
    shown = [(name, *map(whole, numbers), percent(rate)) for name, *numbers, rate in rows]
    thing = "conversation" if chatted else "item"
    minutes = (TWO.text(getattr(analysis.minutes, group)) for group in GROUPS)
    return Table(
        pd.DataFrame(rows, columns=["unit", "passed", "failed", "total", "rate"]),
        (
            Column("What", "What"),
            *(Column(head, head, WRITTEN) for head in heads[1:]),
            Column("rate", form=SHARE),
        ),
        pd.DataFrame([*shown, (f"minutes per {thing}", *minutes, "")], columns=heads),
    )


def workload(analysis: Analysis) -> Table:
    """Return statistics of the assignments per worker."""
    spreads = [(group, getattr(analysis.workload, group)) for group in GROUPS]
    return Table(
        pd.DataFrame(
            [(group, spread.count, spread.mean, spread.median, spread.maximum) for group, spread in spreads],
            columns=["group", "workers", "mean", "median", "maximum"],
        ),
        (
            Column("group", "Workers"),
            Column("workers", "Number", COUNT),
            Column("mean", "Mean", TWO),
            Column("median", "Median", ONE),
            Column("maximum", "Most", COUNT),
        ),
    )


def distribution(analysis: Analysis) -> Table:
    """Return how many workers did how many assignments."""
    return Table(
        pd.DataFrame([asdict(each) for each in analysis.workload.distribution]),
        (
            Column("assignments", "Assignments", COUNT),
            Column("passed", "Workers who passed", COUNT),
            Column("failed", "Workers who failed", COUNT),
        ),
    )


def cost(analysis: Analysis) -> Table:
    """Return the cost in dollars."""
    return Table(pd.DataFrame([asdict(analysis.cost)]))


def served(found: Served) -> Table:
    """Return the models that answered for the systems. A reader sees fewer columns than the file has."""
    shown = found.table.assign(model=[_served_as(row) for row in found.table.itertuples()])
    columns = (
        Column("system", "System"),
        Column("model", "Model as served"),
        Column("sampling", "Settings"),
        Column("calls", "Calls", COUNT),
        Column("failed", "of them no reply", COUNT),
        Column("tokens_in", "Tokens in", ONE),
        Column("tokens_out", "Tokens out", ONE),
        Column("cost", "Cost", TWO),
    )
    return Table(found.table, columns, shown)


def _served_as(row: Any) -> str:
    """Return a model with its revision and the first characters of its prompt's hash, if known."""
    known = {"revision": row.revision, "prompt": row.prompt_hash[:8]}
    told = ", ".join(f"{name} {value}" for name, value in known.items() if value)
    return f"{row.model} ({told})".strip() if told else str(row.model)


_FAILURE_WORDS = {
    "timed_out": "timed out",
    "busy": "busy",
    "gone": "gone",
    "refused": "refused",
    "declined": "declined",
    "budget_spent": "no money left",
    "broken_off": "broken off",
    "empty": "empty",
    "thoughts_only": "thoughts only",
    "too_long": "too long",
    "other_errors": "other",
}


def incidents(found: Incidents) -> Table:
    """Return the incidents of each system; a reader sees in words how tries failed, if any did."""
    how = [
        ", ".join(f"{whole(row[kind])} {words}" for kind, words in _FAILURE_WORDS.items() if row[kind])
        for row in found.table.to_dict("records")
    ]
    columns = (
        Column("system", "System"),
        Column("conversations", "Conversations begun", COUNT),
        Column("failed", "Failed", COUNT),
        Column("failed_share", "of them", SHARE),
        Column("replies", "Replies", COUNT),
        Column("errors", "Failed tries", COUNT),
        *((Column("how", "How they failed"),) if any(how) else ()),
        Column("overran", "Late", COUNT),
        Column("overran_share", "of them", SHARE),
        Column("gave_away", "Gave itself away", COUNT),
    )
    return Table(found.table, columns, found.table.assign(how=how))


def offensive(found: Incidents) -> Table:
    """Count the replies of each system, and the inputs to it, with words of the list of offensive words."""
    columns = (
        Column("system", "System"),
        Column("replies", "Replies", COUNT),
        Column("offensive", "with offensive words", COUNT),
        Column("offensive_share", "of them", SHARE),
        Column("inputs", "Workers’ inputs", COUNT),
        Column("offensive_inputs", "with offensive words", COUNT),
        Column("offensive_inputs_share", "of them", SHARE),
        *((Column("reported", "Reported", COUNT),) if found.table["reported"].any() else ()),
    )
    return Table(found.table[[column.key for column in columns]], columns)


def flagged(found: Incidents) -> Table | None:
    """Count the lines that the moderation service has judged and flagged; None if there are none."""
    if not found.table[["judged", "judged_inputs"]].to_numpy().any():
        return None
    columns = (
        Column("system", "System"),
        Column("judged", "Replies judged", COUNT),
        Column("flagged", "Flagged", COUNT),
        Column("flagged_share", "of them", SHARE),
        Column("judged_inputs", "Workers’ inputs judged", COUNT),
        Column("flagged_inputs", "Flagged", COUNT),
        Column("flagged_inputs_share", "of them", SHARE),
    )
    return Table(found.table[[column.key for column in columns]], columns)


def left_out(analysis: Analysis) -> Table:
    """Return the assignments that are not analysed."""
    keys = ["assignment", "worker", "reason"]
    frame = pd.DataFrame([asdict(out) for out in analysis.run.left_out], columns=keys)
    return Table(frame, tuple(Column(key, key.capitalize()) for key in keys))
