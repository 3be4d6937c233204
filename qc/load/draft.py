"""From what a loader has gathered to a `Run`: the checks that hold for every source, and the final types.

A loader turns its own format into the four frames of a `Draft`, each row with a `where` that tells a
person how to find it in the source. Everything that does not depend on the format happens here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from qc.errors import DataError, EmptyRunError, Problem
from qc.run import LeftOut, Run

CRITERION_COLUMNS = ["label", "negative", "counts_for_qc", "maximum"]
SYSTEM_COLUMNS = ["system", "family", "is_qc"]
ASSIGNMENT_COLUMNS = ["where", "assignment", "hit", "worker", "seconds"]
CONVERSATION_COLUMNS = ["where", "conversation", "assignment", "position", "system"]

SIMULATED_NOTE = (
    "SIMULATED WORKERS: all that is analysed here was done by a program. No person rated anything."
)
REPAIR = "Correct it or take the assignment out."


@dataclass(frozen=True)
class Draft:
    """What a loader found.

    `criteria`, `systems`, `assignments` and `conversations` have the columns named above. `ratings` has
    the rows of `conversations`; its columns are whatever criteria were rated, NaN where one was not.
    """

    name: str
    source: str
    criteria: pd.DataFrame
    systems: pd.DataFrame
    assignments: pd.DataFrame
    conversations: pd.DataFrame
    ratings: pd.DataFrame
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()
    partial: bool = False


def report_order(criteria: pd.DataFrame) -> pd.DataFrame:
    """Return `criteria` with those that count for quality control first, each group in its own order."""
    return criteria.sort_values("counts_for_qc", ascending=False, kind="stable", ignore_index=True)


def finish(draft: Draft, found: Sequence[Problem] = ()) -> Run:
    """Check `draft` and return it as a run with typed, ordered frames.

    `found` are the problems that the loader met itself; the rows they stand in are not in `draft`.

    Raises:
        DataError: some value cannot be used; all of them are listed.
        EmptyRunError: nothing is left to analyse.
    """
    problems = [
        *found,
        *_repeated_names(draft.criteria["label"], "criterion"),
        *_repeated_names(draft.systems["system"], "system"),
        *_repeated_assignments(draft.assignments),
        *_unknown_systems(draft.conversations, draft.systems),
        *_bad_seconds(draft.assignments),
        *_unknown_criteria(draft),
        *_bad_ratings(draft),
    ]
    if problems:
        raise DataError(draft.source, problems)
    if draft.conversations.empty:
        raise EmptyRunError(_nothing_left(draft))
    return _typed(draft)


def _repeated_names(names: pd.Series, kind: str) -> list[Problem]:
    repeated = names[names.duplicated()].unique()
    return [
        Problem(f"{kind} {name!r}", "is declared more than once.", "Declare it once.") for name in repeated
    ]


def _repeated_assignments(assignments: pd.DataFrame) -> list[Problem]:
    first = dict(zip(assignments["assignment"][::-1], assignments["where"][::-1], strict=True))
    repeated = assignments[assignments["assignment"].duplicated()]
    return [
        Problem(where, f"assignment {name!r} was already given at {first[name]}.", "Keep one of the two.")
        for where, name in zip(repeated["where"], repeated["assignment"], strict=True)
    ]


def _unknown_systems(conversations: pd.DataFrame, systems: pd.DataFrame) -> list[Problem]:
    unknown = conversations[~conversations["system"].isin(systems["system"])]
    known = ", ".join(systems["system"])
    return [
        Problem(where, f"unknown system {system!r}.", f"Known are: {known}.")
        for where, system in zip(unknown["where"], unknown["system"], strict=True)
    ]


def _bad_seconds(assignments: pd.DataFrame) -> list[Problem]:
    negative = assignments[assignments["seconds"] < 0]
    return [
        Problem(where, f"the working time is negative ({seconds:g} s).", REPAIR)
        for where, seconds in zip(negative["where"], negative["seconds"], strict=True)
    ]


def _unknown_criteria(draft: Draft) -> list[Problem]:
    known = ", ".join(draft.criteria["label"])
    strangers = draft.ratings.loc[:, ~draft.ratings.columns.isin(draft.criteria["label"])]
    where = draft.conversations["where"].to_numpy()
    return [
        Problem(where[row], f"unknown criterion {strangers.columns[column]!r}.", f"Known are: {known}.")
        for row, column in np.argwhere(strangers.notna().to_numpy())
    ]


def _bad_ratings(draft: Draft) -> list[Problem]:
    labels = draft.criteria["label"].to_list()
    maximum = draft.criteria["maximum"].to_numpy()
    values = draft.ratings.reindex(columns=labels).to_numpy(np.float64)
    where = draft.conversations["where"].to_numpy()
    missing = [
        Problem(where[row], f"{labels[column]!r} is not rated.", REPAIR)
        for row, column in np.argwhere(np.isnan(values))
    ]
    outside = [
        Problem(
            where[row],
            f"{labels[column]!r} is rated {values[row, column]:g}, not within 0 to {maximum[column]:g}.",
            REPAIR,
        )
        for row, column in np.argwhere((values < 0) | (values > maximum))
    ]
    return missing + outside


def _nothing_left(draft: Draft) -> str:
    if not draft.left_out:
        return f"{draft.source}: the run {draft.name!r} is empty: it holds no assignment. Collect some first."
    reasons = pd.Series([left.reason for left in draft.left_out]).value_counts()
    counts = ", ".join(f"{count} ({reason})" for reason, count in reasons.items())
    return (
        f"{draft.source}: the run {draft.name!r} holds no assignment that can be analysed; left out: "
        f"{counts}. Wait until some are completed, or use --include-partial for those that are not."
    )


def _typed(draft: Draft) -> Run:
    systems = draft.systems.astype({"system": str, "family": str, "is_qc": bool})
    systems = systems.sort_values(["is_qc", "system"], ignore_index=True)
    systems.insert(2, "has_persona", systems["system"].str.endswith("_p"))  # TODO loaders
    assignments = _assignments(draft.assignments, draft.conversations)
    conversations = draft.conversations.astype({"conversation": str, "assignment": str, "position": np.int64})
    order = conversations.reset_index(drop=True).sort_values(["assignment", "position", "conversation"]).index
    return Run(
        name=draft.name,
        source=draft.source,
        partial=draft.partial,
        criteria=draft.criteria.astype(
            {"label": str, "negative": bool, "counts_for_qc": bool, "maximum": np.float64}
        ).reset_index(drop=True),
        systems=systems,
        assignments=assignments,
        conversations=_conversations(conversations.iloc[order], assignments, systems),
        ratings=draft.ratings.iloc[order]
        .reindex(columns=draft.criteria["label"].to_list())
        .astype(np.float64)
        .reset_index(drop=True),
        left_out=draft.left_out,
        notes=draft.notes,
    )


def _assignments(assignments: pd.DataFrame, conversations: pd.DataFrame) -> pd.DataFrame:
    held = assignments[assignments["assignment"].isin(conversations["assignment"])]
    typed = held.drop(columns="where").astype(
        {"assignment": str, "hit": str, "worker": str, "seconds": np.float64}
    )
    typed = typed.sort_values("assignment", ignore_index=True)
    return typed.assign(
        worker=pd.Categorical(typed["worker"], sorted(typed["worker"].unique())), reward=np.nan, feedback=None
    )


def _conversations(
    conversations: pd.DataFrame, assignments: pd.DataFrame, systems: pd.DataFrame
) -> pd.DataFrame:
    assignment = pd.Categorical(conversations["assignment"], assignments["assignment"])
    system = pd.Categorical(conversations["system"], systems["system"])
    return pd.DataFrame(
        {
            "conversation": conversations["conversation"].to_numpy(),
            "assignment": assignment,
            "worker": assignments["worker"].array.take(assignment.codes.astype(np.int64)),
            "position": conversations["position"].to_numpy(),
            "system": system,
            "is_qc": systems["is_qc"].to_numpy()[system.codes],
            "persona": None,
        }
    )


def joined(names: Sequence[str], limit: int = 10) -> str:
    """Return `names` as a list in words, cut after `limit`."""
    shown = ", ".join(names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"
