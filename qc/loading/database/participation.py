"""Select the assignments to analyse, and record why others are left out."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.loading.database.engine import choose
from qc.loading.database.views import EXCLUSION, Views
from qc.run import SIMULATED_NOTE, LeftOut, Run, removed_note, words_removed_note
from qc.table import counted

SIMULATED, PERSON = "simulated worker", "a person, where simulated workers were asked for"


def taking_part(
    assignments: pd.DataFrame, rated: pd.DataFrame, include_partial: bool, *, only_simulated: bool = False
) -> tuple[pd.DataFrame, tuple[LeftOut, ...], list[str]]:
    """Return the assignments to analyse, those left out, and notes for readers.

    Args:
        assignments: all assignments of the run.
        rated: the rated conversations, or items.
        include_partial: include assignments that were not completed.
        only_simulated: analyse simulated workers instead of people, even if there are people.
    """
    reason = pd.Series("", index=assignments.index, dtype=object)
    reason[~assignments["assignment_id"].isin(rated["assignment_id"])] = "no rated conversation"
    if not include_partial:
        incomplete = assignments["status"] != "completed"
        reason[incomplete] = "not completed: " + assignments["status"]
    excluded = assignments["excluded"] != ""
    reason[excluded] = "excluded by the researchers: " + assignments["excluded"]
    simulated = assignments["simulated"]
    if only_simulated:
        reason[~simulated] = PERSON
    # A person who only opened the first page does not make it a run of real workers.
    real = bool((~simulated & (reason == "")).any())
    if real:
        reason[simulated] = SIMULATED
    # A database returns rows in no fixed order.
    out = assignments.assign(reason=reason)[reason != ""].sort_values("assignment_id")
    left_out = tuple(
        LeftOut(str(row.assignment_id), str(row.worker), str(row.reason)) for row in out.itertuples()
    )
    return (
        assignments[reason == ""].reset_index(drop=True),
        left_out,
        _simulation_notes(int(simulated.sum()), real) + _exclusion_notes(int(excluded.sum())),
    )


def exclusions(views: Views, run_id: object, assignments: pd.Series) -> pd.Series:
    """Return the researchers' reason for excluding each of these assignments; "" if not excluded.

    A database made before 0.2 has no exclusions.
    """
    if not views.has("v1_exclusion"):
        return pd.Series("", index=assignments.index, dtype=object)
    rows = views.rows("v1_exclusion", EXCLUSION, run_id)
    reasons = dict(zip(rows["assignment_id"], rows["reason"], strict=True))
    return assignments.map(lambda name: reasons.get(name, "")).astype(object)


def _exclusion_notes(excluded: int) -> list[str]:
    if not excluded:
        return []
    which = f"{counted(excluded, 'assignment')} {'is' if excluded == 1 else 'are'}"
    return [f"{which} excluded by the researchers; the reasons stand beside what is left out."]


def removal_notes(views: Views, run_id: object) -> list[str]:
    """Return notes on removed data. A database made before 0.2 has none."""
    if not views.has("v1_removal"):
        return []
    rows = views.rows("v1_removal", ("assignment_id", "extent"), run_id)
    words, everything = (int((rows["extent"] == extent).sum()) for extent in ("words", "all"))
    return [
        *([words_removed_note(words)] if words else []),
        *([removed_note(everything)] if everything else []),
    ]


def statuses(views: Views, run: Run) -> NDArray[np.str_]:
    """Return the status of each assignment of `run`, (assignments,); `run` was read from these views."""
    run_id, _ = choose(views, run.name, "--run")
    rows = views.rows("v1_assignment", ("assignment_id", "status"), run_id)
    by_name = rows.set_index("assignment_id")["status"]
    return by_name.loc[run.assignments["assignment"]].to_numpy(str)


def _simulation_notes(simulated: int, real: bool) -> list[str]:
    if not simulated:
        return []
    if real:
        which = f"{counted(simulated, 'assignment')} of simulated workers {'is' if simulated == 1 else 'are'}"
        return [f"{which} left out; the rest are of real ones."]
    return [SIMULATED_NOTE]


def left_unrated(count: int) -> list[str]:
    """Return a note on the conversations that were left unrated, if there are any."""
    if not count:
        return []
    return [
        f"Conversations left unrated on purpose, as the study's rate_share says: {count}. "
        "They are in no score."
    ]


def taken_over_conversations(views: Views, run_id: object) -> frozenset[str]:
    """Return the conversations with a person that a bot took over: they count for neither of the two."""
    if not views.has("v1_human_conversation"):
        return frozenset()
    columns = ("conversation_id", "taken_over_by")
    rows = views.rows("v1_human_conversation", columns, run_id, optional=("taken_over_by",))
    return frozenset(rows.loc[rows["taken_over_by"].notna(), "conversation_id"])


def of_people(views: Views, run_id: object) -> frozenset[str]:
    """Return the systems that are people, if any worker has met them."""
    if not views.has("v1_human_conversation") or "system" not in views.columns("v1_human_conversation"):
        return frozenset()
    return frozenset(views.rows("v1_human_conversation", ("system",), run_id)["system"])


def left_to_a_bot(count: int) -> list[str]:
    """Return a note on rated conversations with a person that a bot took over, if there are any."""
    if not count:
        return []
    return [
        f"Rated conversations with a person from whom a bot took over: {count}. They are in no score "
        "(view v1_human_conversation)."
    ]


def counting(conversations: pd.DataFrame, left_out: Sequence[LeftOut]) -> pd.DataFrame:
    """Return the conversations whose incidents count: all, but without simulated workers if people rated."""
    simulated = {out.assignment for out in left_out if out.reason == SIMULATED}
    return conversations[~conversations["assignment_id"].isin(simulated)]


def failures(conversations: pd.DataFrame, left_out: Sequence[LeftOut]) -> list[str]:
    """Return a note on the conversations that a system could not continue, if there are any."""
    counted = counting(conversations, left_out)
    failed = counted.loc[counted["status"] == "failed", "system"].value_counts().sort_index()
    if failed.empty:
        return []
    counts = ", ".join(f"{system} {count}" for system, count in failed.items())
    return [f"Conversations that a system could not carry on, not in its scores: {counts}."]
