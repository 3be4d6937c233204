"""Count failures and other incidents of each system from the views of turns and of notes."""

import numpy as np
import pandas as pd

from qc.errors import Problem
from qc.loading.database.views import Views, flags, located
from qc.run import FAILURES

BEGUN = ("active", "ended", "rated", "unrated", "failed")
_COLUMN_OF_KIND = {
    "bot_error": "errors",
    "gave_itself_away": "gave_away",
    "offensive_reply": "offensive",
    "offensive_input": "offensive_inputs",
    "flagged_reply": "flagged",
    "flagged_input": "flagged_inputs",
}


def incidents(
    views: Views,
    run_id: object,
    conversations: pd.DataFrame,
    systems: pd.Series,
    *,
    simulated: bool,
    problems: list[Problem],
) -> pd.DataFrame:
    """Return the incidents of each of `systems` (`Run.incidents`).

    Args:
        views: the views of the database.
        run_id: id of the run.
        conversations: the conversations to count: `conversation_id`, `system`, `status`.
        systems: the names of all systems.
        simulated: whether all workers were simulated. They wait less than people, so `overran` is then
            unknown.
        problems: receives the invalid values.
    """
    begun = conversations[conversations["status"].isin(BEGUN)]
    system = begun.set_index("conversation_id")["system"]
    turns = views.counts("v1_turn", ("conversation_id", "author", "overran"), run_id)
    inputs = turns[turns["author"] == "worker"]
    turns = turns[turns["author"] == "bot"].reset_index(drop=True)
    late = flags(turns["overran"], located("conversation", turns["conversation_id"]), problems)
    notes = views.counts("v1_note", ("conversation_id", "kind"), run_id)
    judged = _judged(views, run_id)
    failures = _failures(views, run_id)
    table = pd.DataFrame(
        {
            "conversations": begun["system"].value_counts(),
            "failed": begun.loc[begun["status"] == "failed", "system"].value_counts(),
            "replies": _per_system(turns, system),
            "overran": _per_system(turns[late], system),
            "inputs": _per_system(inputs, system),
            "reported": _per_system(_reported(views, run_id), system),
            "judged": _per_system(judged[judged["author"] == "bot"], system),
            "judged_inputs": _per_system(judged[judged["author"] == "worker"], system),
            **{
                column: _per_system(notes[notes["kind"] == kind], system)
                for kind, column in _COLUMN_OF_KIND.items()
            },
            **{
                column: _per_system(failures[failures["failure"] == kind], system)
                for kind, column in FAILURES.items()
            },
        }
    )
    table = table.reindex(pd.Index(systems, name="system")).fillna(0).reset_index()
    return table.assign(overran=np.nan) if simulated else table


def _failures(views: Views, run_id: object) -> pd.DataFrame:
    """Count failed tries by conversation and kind; empty for a database made before 0.2."""
    if not views.has("v2_note"):
        return pd.DataFrame(columns=["conversation_id", "failure", "n"])
    return views.counts("v2_note", ("conversation_id", "failure"), run_id)


def _judged(views: Views, run_id: object) -> pd.DataFrame:
    """Count the lines that the moderation service has judged, by conversation and author."""
    if not views.has("v1_moderated_line"):
        return pd.DataFrame(columns=["conversation_id", "author", "n"])
    found = views.counts("v1_moderated_line", ("conversation_id", "author", "flagged"), run_id)
    return found[found["flagged"].notna()]


def _reported(views: Views, run_id: object) -> pd.DataFrame:
    """Count the messages that workers have reported and not withdrawn, by conversation."""
    if not views.has("v1_message_report"):
        return pd.DataFrame(columns=["conversation_id", "n"])
    columns = ("conversation_id", "taken_back_at")
    found = views.rows("v1_message_report", columns, run_id, optional=("taken_back_at",))
    return found[found["taken_back_at"].isna()].assign(n=1)


def _per_system(counts: pd.DataFrame, system: pd.Series) -> pd.Series:
    """Sum the counts by system; conversations without a system are left out."""
    known = counts["conversation_id"].map(system)
    return counts["n"].astype(np.int64).groupby(known).sum()
