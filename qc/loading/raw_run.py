"""Validate the data that a loader has read, and return them as a `Run`.

A loader converts its own format into a `RawRun`. Each row of its frames has a `where`, which tells people
where to find it in the source. Everything that does not depend on the format happens here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.answers import unknown_kinds
from qc.errors import REPAIR, DataError, EmptyRunError, Problem, joined
from qc.loading.frames import (
    item_problems,
    ordinary_systems,
    typed_answers,
    typed_facts,
    typed_items,
    typed_quizzes,
    typed_scenarios,
    typed_turn_ratings,
    typed_writing,
)
from qc.names import case_note, change_note, changes, clean, cleaned, shortened_ids
from qc.run import (
    DRAWN_NOTE,
    INCIDENT_COLUMNS,
    RATING_PROBABILITY,
    RESERVED_LABELS,
    Run,
    RunParts,
    Unrated,
    Words,
    codes,
)
from qc.statistics.groups import distinct
from qc.table import counted, listed, whole

DAY = 86_400.0
NAMED = 5
# Minimum number of different ratings in an assignment before an equal one counts as its copy: assignments
# with few different ratings can be equal by chance.
FEWEST_DIFFERENT = 5


def doubts(run: Run) -> list[str]:
    """Return notes on data that mislead: copied conversations, impossible working times, drawn items."""
    drawn = run.items is not None and run.facts is not None and RATING_PROBABILITY in run.facts
    return [*_copied(run), *_times(run), *([DRAWN_NOTE] if drawn else [])]


def _copied(run: Run) -> list[str]:
    owner = codes(run.conversations["assignment"])
    ratings = run.ratings.to_numpy(np.float64)
    if run.items is not None or not len(owner):
        return []
    varied = _different(ratings, owner, len(run.assignments)) >= FEWEST_DIFFERENT
    content = pd.Series(_digests(run, ratings, owner))
    copies = (content.duplicated() & varied).to_numpy()
    names = run.assignments["assignment"]
    first = dict(zip(content[::-1], names[::-1], strict=True))
    pairs = [f"{names[i]} as {first[content[i]]}" for i in np.flatnonzero(copies)[:NAMED].tolist()]
    if not pairs:
        return []
    count = int(copies.sum())
    return [
        f"The same conversations with the same ratings stand under a second assignment, and count again: "
        f"{whole(count)} assignment{'s' if count > 1 else ''} ({listed(pairs, NAMED)}"
        f"{' and more' if count > NAMED else ''}). If they were copied, take them out."
    ]


def _digests(run: Run, ratings: NDArray[np.float64], owner: NDArray[np.intp]) -> NDArray[np.uint64]:
    """Return a number for each assignment, equal for equal systems and ratings in the same order."""
    frame = pd.DataFrame(ratings)
    frame["system"], frame["position"] = codes(run.conversations["system"]), run.conversations["position"]
    rows = pd.util.hash_pandas_object(frame, index=False).to_numpy(np.uint64)
    sums = np.zeros(len(run.assignments), np.uint64)
    np.add.at(sums, owner, rows)  # sums of whole numbers, so the order does not matter
    return sums


def _different(ratings: NDArray[np.float64], owner: NDArray[np.intp], count: int) -> NDArray[np.intp]:
    """Return the number of different ratings in each assignment, compared to seven digits, without NaN."""
    rated = ~np.isnan(ratings)
    owners = np.repeat(owner, rated.sum(axis=1)).astype(np.int64)
    # Combine assignment (high bits) and rating (low bits) into one integer: that sorts in a tenth of the time
    # of a table of both.
    values = ratings[rated].astype(np.float32).view(np.uint32)
    return np.bincount(distinct(owners << 32 | values) >> 32, minlength=count)


def _times(run: Run) -> list[str]:
    seconds = run.assignments["seconds"].to_numpy(np.float64)
    none, long = int((seconds == 0).sum()), seconds[seconds > DAY]
    notes = []
    if none:
        notes.append(
            f"Working time 0 s, so hardly measured, but in the means: {counted(none, 'assignment')}."
        )
    if len(long):
        notes.append(
            "Working time above a day, which moves every mean of times: "
            f"{counted(len(long), 'assignment')}, the longest {whole(float(long.max()) / 3600)} hours."
        )
    return notes


CRITERION_COLUMNS = ["label", "negative", "counts_for_qc", "maximum"]
SYSTEM_COLUMNS = ["system", "family", "has_persona", "is_qc"]
ASSIGNMENT_COLUMNS = ["where", "assignment", "hit", "worker", "seconds", "reward", "feedback"]
CONVERSATION_COLUMNS = ["where", "conversation", "assignment", "position", "system", "persona"]

FIXED_NAMES = ("hits_data", "mturk_batch")
# Upper limit of amounts: a year in seconds, and more dollars than anyone pays.
MOST = 365 * 86_400.0
RESERVED = "is the name of a column of the results, so no criterion can have it."
RENAME = f"Choose a name other than {', '.join(RESERVED_LABELS)}."


@dataclass(frozen=True, kw_only=True)
class RawRun(RunParts):
    """Data of a run as read by a loader, not yet validated.

    Attributes:
        criteria, systems, assignments, conversations: with the columns named above.
        ratings: a row for each of `conversations`, a column for each rated criterion; NaN if not rated.
        items: a row for each of `conversations`, with the columns of `qc.loading.frames`; None if workers
            chatted.
        incidents: a row per system, in any order, with the columns of `Run.incidents`.
        words, turn_ratings, quizzes, writing: refer to rows of `conversations` by number, from 0, in any
            order.
        unrated: in its final order; assignments and systems are still text, and there are no workers.
        answers: as in `Run`, but in any order, and `system` may be missing.
        scenarios, facts, waits: a row for each of `conversations`; scenarios as text.
        ended: indexed by the name of the assignment.
    """


def report_order(criteria: pd.DataFrame) -> pd.DataFrame:
    """Return `criteria` with those that count for quality control first, each group in its own order."""
    return criteria.sort_values("counts_for_qc", ascending=False, kind="stable", ignore_index=True)


def build_run(raw: RawRun, found: Sequence[Problem] = (), criteria: pd.DataFrame | None = None) -> Run:
    """Validate `raw` and return it as a run with typed, ordered frames.

    Args:
        raw: the data from a loader.
        found: problems that the loader found itself; their rows are not in `raw`.
        criteria: the analyst's criteria, instead of the source's: only these are analysed, in this order.

    Raises:
        DataError: a value is invalid; the error lists all problems.
        EmptyRunError: nothing is left to analyse.
    """
    raw = _with_clean_names(raw)
    undeclared: list[Problem] = []
    if criteria is not None:
        undeclared = _unrated_criteria(criteria, raw)
        raw = replace(
            raw, criteria=criteria, ratings=raw.ratings.reindex(columns=criteria["label"].to_list())
        )
    problems = [
        *found,
        *undeclared,
        *_reserved_labels(raw.criteria["label"]),
        *_repeated_names(raw.criteria["label"], "criterion"),
        *_repeated_names(raw.systems["system"], "system"),
        *_repeated_assignments(raw.assignments),
        *shortened_ids(raw.assignments["worker"].unique()),
        *_unknown_systems(raw.conversations, raw.systems),
        *_bad_amounts(raw.assignments, "seconds", "the working time", "s"),
        *_bad_amounts(raw.assignments, "reward", "the reward", "dollars"),
        *_bad_positions(raw.conversations),
        *_unknown_criteria(raw),
        *([] if undeclared else _bad_ratings(raw)),
        *([] if raw.answers is None else unknown_kinds(raw.answers)),
        *([] if raw.items is None else item_problems(raw.conversations, raw.items, partial=raw.partial)),
    ]
    if problems:
        raise DataError(raw.source, problems)
    if raw.conversations.empty:
        raise EmptyRunError(_nothing_left(raw))
    run = _typed(raw)
    return replace(run, notes=(*run.notes, *(doubt for doubt in doubts(run) if doubt not in run.notes)))


def _with_clean_names(raw: RawRun) -> RawRun:
    """Return `raw` with clean names of systems, workers and criteria, and notes on them."""
    systems = changes([*raw.systems["system"].unique(), *raw.conversations["system"].unique()])
    workers = changes(raw.assignments["worker"].unique())
    criteria = changes([*raw.criteria["label"], *raw.ratings.columns])
    notes = (
        *change_note("systems", systems),
        *change_note("workers", workers),
        *change_note("criteria", criteria),
        *case_note("systems", map(clean, raw.conversations["system"].dropna().unique())),
        *case_note("workers", map(clean, raw.assignments["worker"].dropna().unique())),
    )
    if systems:
        raw = _with_clean_systems(raw)
    if workers:
        raw = replace(raw, assignments=raw.assignments.assign(worker=cleaned(raw.assignments["worker"])))
    if criteria:
        labels = raw.criteria.assign(label=cleaned(raw.criteria["label"])).drop_duplicates()
        by_label = raw.ratings.rename(columns=criteria).T.groupby(level=0, sort=False).first().T
        raw = replace(raw, criteria=labels.reset_index(drop=True), ratings=by_label)
    return replace(raw, notes=(*raw.notes, *(note for note in notes if note not in raw.notes)))


def _with_clean_systems(raw: RawRun) -> RawRun:
    def of(frame: pd.DataFrame) -> pd.DataFrame:
        return frame.assign(system=cleaned(frame["system"]))

    systems = of(raw.systems).assign(family=cleaned(raw.systems["family"]))
    unrated = raw.unrated
    return replace(
        raw,
        systems=systems.drop_duplicates().reset_index(drop=True),
        conversations=of(raw.conversations),
        unrated=None if unrated is None else replace(unrated, conversations=of(unrated.conversations)),
        incidents=None if raw.incidents is None else of(raw.incidents),
        served=None if raw.served is None else of(raw.served),
        people=frozenset(map(clean, raw.people)),
    )


def _repeated_names(names: pd.Series, kind: str) -> list[Problem]:
    repeated = names[names.duplicated()].unique()
    return [
        Problem(f"{kind} {name!r}", "is declared more than once.", "Declare it once.") for name in repeated
    ]


def _reserved_labels(labels: pd.Series) -> list[Problem]:
    reserved = labels[labels.isin(RESERVED_LABELS)].unique()
    return [Problem(f"criterion {label!r}", RESERVED, RENAME) for label in reserved]


def _unrated_criteria(criteria: pd.DataFrame, raw: RawRun) -> list[Problem]:
    if raw.conversations.empty:
        return []
    rated = raw.ratings.columns[raw.ratings.notna().any()]
    unknown = criteria.loc[~criteria["label"].isin(rated), "label"]
    return [
        Problem(f"criterion {label!r}", "is not rated in this source.", f"Rated are: {joined(list(rated))}.")
        for label in unknown
    ]


def _repeated_assignments(assignments: pd.DataFrame) -> list[Problem]:
    if not assignments["assignment"].duplicated().any():
        return []
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


def row_problems(
    wrong: pd.Series | NDArray[np.bool_], where: pd.Series, why: Callable[[int], str]
) -> list[Problem]:
    """Return a problem for each row that is `wrong`; `why` gives the reason for a row number, from 0."""
    return [Problem(where.iloc[row], why(row), REPAIR) for row in np.flatnonzero(wrong).tolist()]


def _bad_amounts(assignments: pd.DataFrame, column: str, what: str, unit: str) -> list[Problem]:
    values = assignments[column].to_numpy(np.float64)
    return row_problems(
        (values < 0) | (values > MOST),
        assignments["where"],
        lambda row: f"{what} is {_amiss(values[row])} ({values[row]:g} {unit}).",
    )


def _amiss(value: float) -> str:
    if value < 0:
        return "negative"
    return "infinite" if np.isinf(value) else f"more than {MOST:,.0f}"


def _bad_positions(conversations: pd.DataFrame) -> list[Problem]:
    positions = conversations["position"].to_numpy(np.float64)
    return row_problems(
        (positions < 1) | (positions != np.floor(positions)),
        conversations["where"],
        lambda row: f"the position is {positions[row]:g}, not a whole number from 1.",
    )


def _unknown_criteria(raw: RawRun) -> list[Problem]:
    known = ", ".join(raw.criteria["label"])
    strangers = raw.ratings.loc[:, ~raw.ratings.columns.isin(raw.criteria["label"])]
    where = raw.conversations["where"].to_numpy()
    return [
        Problem(where[row], f"unknown criterion {strangers.columns[column]!r}.", f"Known are: {known}.")
        for row, column in np.argwhere(strangers.notna().to_numpy())
    ]


def _bad_ratings(raw: RawRun) -> list[Problem]:
    labels = raw.criteria["label"].to_list()
    maximum = raw.criteria["maximum"].to_numpy()
    values = raw.ratings.reindex(columns=labels).to_numpy(np.float64)
    where = raw.conversations["where"].to_numpy()
    missing = [
        Problem(where[row], f"{labels[column]!r} is not rated.", REPAIR)
        for row, column in np.argwhere(np.isnan(values))
    ]
    outside = [
        Problem(
            where[row],
            f"{labels[column]!r} is rated {values[row, column]:.15g}, not within 0 to {maximum[column]:g}.",
            REPAIR,
        )
        for row, column in np.argwhere((values < 0) | (values > maximum))
    ]
    return missing + outside


def _nothing_left(raw: RawRun) -> str:
    if not raw.left_out:
        return f"{raw.source}: the run {raw.name!r} is empty: it holds no assignment. Collect some first."
    reasons = pd.Series([left.reason for left in raw.left_out]).value_counts()
    counts = ", ".join(f"{count} ({reason})" for reason, count in reasons.items())
    return (
        f"{raw.source}: the run {raw.name!r} holds no assignment that can be analysed; left out: "
        f"{counts}. Wait until some are completed, or include assignments that were not submitted "
        "(--include-partial)."
    )


def _typed(raw: RawRun) -> Run:
    systems = raw.systems.astype({"system": str, "family": str, "has_persona": bool, "is_qc": bool})
    if raw.items is not None:
        systems["is_qc"] = ~systems["system"].isin(ordinary_systems(raw.conversations, raw.items))
    systems = systems.sort_values(["is_qc", "system"], ignore_index=True)
    assignments = _assignments(raw.assignments, raw.conversations)
    conversations = _conversations(raw.conversations.reset_index(drop=True), assignments, systems)
    order = _order(conversations)
    if raw.items is not None:
        conversations["is_qc"] = raw.items["kind"].eq("bad").to_numpy(bool)
    ratings = raw.ratings.reindex(columns=raw.criteria["label"].to_list())
    return Run(
        name=raw.name,
        source=raw.source,
        partial=raw.partial,
        criteria=raw.criteria.astype(
            {"label": str, "negative": bool, "counts_for_qc": bool, "maximum": np.float64}
        ).reset_index(drop=True),
        systems=systems,
        assignments=assignments,
        conversations=conversations.iloc[order].reset_index(drop=True),
        ratings=ratings.iloc[order].astype(np.float64).reset_index(drop=True),
        items=None if raw.items is None else typed_items(raw.items, order),
        words=None if raw.words is None else _reordered(raw.words, order),
        people=raw.people,
        unrated=None if raw.unrated is None else _unrated(raw.unrated, assignments, systems),
        ended=None if raw.ended is None else raw.ended.reindex(assignments["assignment"]),
        state=raw.state,
        incidents=None if raw.incidents is None else _incidents(raw.incidents, systems),
        served=raw.served,
        answers=None
        if raw.answers is None
        else typed_answers(raw.answers, assignments, conversations, order),
        scenarios=None if raw.scenarios is None else typed_scenarios(raw.scenarios, order),
        facts=None if raw.facts is None else typed_facts(raw.facts, order),
        turn_ratings=None if raw.turn_ratings is None else typed_turn_ratings(raw.turn_ratings, order),
        quizzes=None if raw.quizzes is None else typed_quizzes(raw.quizzes, order),
        writing=None if raw.writing is None else typed_writing(raw.writing, order),
        waits=None if raw.waits is None else raw.waits.iloc[order].reset_index(drop=True),
        left_out=raw.left_out,
        notes=raw.notes,
    )


def _unrated(unrated: Unrated, assignments: pd.DataFrame, systems: pd.DataFrame) -> Unrated:
    rows = unrated.conversations
    assignment = pd.Categorical(rows["assignment"], assignments["assignment"])
    typed = pd.DataFrame(
        {
            "conversation": rows["conversation"].astype(str),
            "assignment": assignment,
            "worker": assignments["worker"].array.take(assignment.codes.astype(np.int64)),
            "system": pd.Categorical(rows["system"], systems["system"]),
        }
    )
    return replace(unrated, conversations=typed)


def _incidents(incidents: pd.DataFrame, systems: pd.DataFrame) -> pd.DataFrame:
    counts = [name for name in INCIDENT_COLUMNS[1:] if name != "overran"]
    by_system = incidents.drop_duplicates("system").set_index("system").reindex(systems["system"])
    ordered = by_system.fillna(dict.fromkeys(counts, 0)).reset_index()[INCIDENT_COLUMNS]
    typed: pd.DataFrame = ordered.astype({**dict.fromkeys(counts, np.int64), "overran": np.float64})
    return typed


def _assignments(assignments: pd.DataFrame, conversations: pd.DataFrame) -> pd.DataFrame:
    # `isin` would convert each text to a Python object; an index does not.
    held = assignments[
        pd.Index(conversations["assignment"]).unique().get_indexer(assignments["assignment"]) >= 0
    ]
    typed: pd.DataFrame = held.drop(columns="where").astype(
        {
            "assignment": str,
            "hit": str,
            "worker": str,
            "seconds": np.float64,
            "reward": np.float64,
            "feedback": str,
        }
    )
    typed = typed.sort_values("assignment", ignore_index=True)
    typed["worker"] = pd.Categorical(typed["worker"])
    return typed


def _conversations(
    conversations: pd.DataFrame, assignments: pd.DataFrame, systems: pd.DataFrame
) -> pd.DataFrame:
    assignment = pd.Categorical(conversations["assignment"], assignments["assignment"])
    system = pd.Categorical(conversations["system"], systems["system"])
    return pd.DataFrame(
        {
            "conversation": conversations["conversation"].astype(str),
            "assignment": assignment,
            "worker": assignments["worker"].array.take(assignment.codes.astype(np.int64)),
            "position": conversations["position"].astype(np.int64),
            "system": system,
            "is_qc": systems["is_qc"].to_numpy()[system.codes],
            "persona": conversations["persona"].astype(str),
        }
    )


def _order(conversations: pd.DataFrame) -> NDArray[np.intp]:
    """Return the row numbers by assignment, then position, then name."""
    owner, position = conversations["assignment"].cat.codes.to_numpy(), conversations["position"].to_numpy()
    order = np.lexsort((position, owner))
    same = (np.diff(owner[order]) == 0) & (np.diff(position[order]) == 0)
    # Compare names only to break ties, because sorting texts is slow.
    return np.lexsort((conversations["conversation"], position, owner)) if same.any() else order


def _reordered(words: Words, order: NDArray[np.intp]) -> Words:
    """Return `words` with row numbers of conversations after reordering by `order`."""
    row = np.empty(len(order), np.int32)
    row[order] = np.arange(len(order), dtype=np.int32)
    return Words(*(_by_row(frame, row) for frame in (words.exchanges, words.topics, words.changes)))


def _by_row(frame: pd.DataFrame, row: NDArray[np.int32]) -> pd.DataFrame:
    conversation = row[frame["conversation"].to_numpy()]
    key = conversation * np.int64(2**31) + frame["round"].to_numpy()
    frame = frame.assign(conversation=conversation)
    if (np.diff(key) < 0).any():
        frame = frame.iloc[np.argsort(key, kind="stable")]
    return frame.reset_index(drop=True)


def run_name(path: Path) -> str:
    """Return the name of the run in the file at `path`: the file's name, or its folder's for FIXED_NAMES.

    Both published formats have a fixed file name, so the folder distinguishes two runs.
    """
    folder = path.absolute().parent.name
    return folder if path.stem in FIXED_NAMES and folder else path.stem
