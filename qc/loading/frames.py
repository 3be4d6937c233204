"""Convert the texts, answers, items, quizzes, writing data and ratings of replies of a run to its frames.

In all functions, `order` holds the row numbers of the loader's conversations in the order of the run.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.errors import REPAIR, Problem, joined, quoted
from qc.run import (
    ASKED_PARTS,
    CHANGES,
    ITEM_KIND,
    ITEM_KINDS,
    OPINIONS,
    WORD_COLUMNS,
    WRITING_NUMBERS,
    Answers,
    Words,
)

# Round; then an input, a topic or a kind of change; then the reply or the opinion.
Spoken = tuple[int, str, str | None]
Rows = Sequence[tuple[object, ...]]
Columns = dict[str, Any]


@dataclass
class Speech:
    """Texts collected so far; `problems` is the loader's list."""

    problems: list[Problem]
    _said: dict[str, list[tuple[int, int, str, str | None]]] = field(
        default_factory=lambda: {kind: [] for kind in WORD_COLUMNS}
    )

    def add(
        self,
        row: int,
        where: str,
        exchanges: Sequence[Spoken],
        topics: Sequence[Spoken],
        changes: Sequence[Spoken],
    ) -> None:
        """Add the texts of the conversation in row `row`; `where` is its location in the source.

        An opinion of None was not given. Rounds are whole numbers from 0, below 2³¹.
        """
        opinions = [opinion for *_, opinion in (*topics, *changes) if opinion is not None]
        faults = [
            Problem(where, f"{quoted(given)} is none of {joined(known)}.", REPAIR)
            for values, known in ((opinions, OPINIONS), ([how for _, how, _ in changes], CHANGES))
            for given in values
            if given not in known
        ]
        if faults:
            self.problems += faults
            return
        for gathered, given in zip(self._said.values(), (exchanges, topics, changes), strict=True):
            gathered += [(row, *each) for each in given]

    def words(self) -> Words | None:
        """Return the frames; None if there is no text in any conversation."""
        return as_words(**self._said) if any(self._said.values()) else None


def as_words(exchanges: Rows | Columns, topics: Rows | Columns, changes: Rows | Columns) -> Words:
    """Return the frames of `Words` from rows, or from columns that may already have their types."""
    given = zip((exchanges, topics, changes), WORD_COLUMNS.values(), strict=True)
    return Words(*(_frame(values, columns) for values, columns in given))


def _frame(given: Rows | Columns, columns: dict[str, Any]) -> pd.DataFrame:
    types = {"conversation": np.int32, "round": np.int32, **columns}
    return pd.DataFrame(given, columns=list(types)).astype(types)


GIVEN_COLUMNS = ["assignment", "conversation", "system", "part", "label", "text", "number"]
QUESTION_COLUMNS = ["part", "label", "kind", "question", "choices", "points"]
TURN_COLUMNS = ["conversation", "turn", "value"]
QUIZ_COLUMNS = ["conversation", "choices", "why_not", "is_right", "about"]
WRITING_COLUMNS = ["conversation", *WRITING_NUMBERS]


def typed_answers(
    answers: Answers, assignments: pd.DataFrame, conversations: pd.DataFrame, order: NDArray[np.intp]
) -> Answers:
    """Return the answers of the analysed assignments, ordered as in `Answers`, with their systems.

    Args:
        answers: as read by the loader.
        assignments: the run's assignments.
        conversations: in the loader's order.
        order: see the module.
    """
    given = answers.given[answers.given["assignment"].isin(assignments["assignment"])]
    held = conversations.iloc[order]
    row = pd.Index(held["conversation"]).get_indexer(pd.Index(given["conversation"]))
    owner = pd.Index(assignments["assignment"]).get_indexer(pd.Index(given["assignment"]))
    part = pd.Index(ASKED_PARTS).get_indexer(pd.Index(given["part"]))
    systems = held["system"].astype(object).to_numpy()
    named = pd.Series(np.where(row >= 0, systems[row], None), given.index)
    found = given.assign(system=named).iloc[np.lexsort((row, part, owner))]
    texts = found[GIVEN_COLUMNS[:-1]].astype(object)
    texts = texts.where(texts.notna(), None)
    return replace(
        answers, given=texts.assign(number=found["number"].astype("float64")).reset_index(drop=True)
    )


def typed_scenarios(scenarios: pd.Series, order: NDArray[np.intp]) -> pd.Series:
    """Return the scenario of each conversation, as a category."""
    given = scenarios.iloc[order].reset_index(drop=True)
    return pd.Series(pd.Categorical(given, sorted(given.dropna().unique())), name="scenario")


def typed_facts(facts: pd.DataFrame, order: NDArray[np.intp]) -> pd.DataFrame | None:
    """Return the facts of each conversation that are known of any, by name; None if there are none."""
    known = facts.iloc[order].dropna(axis="columns", how="all").reset_index(drop=True)
    typed = {name: _numbers_or_texts(known[name]) for name in sorted(map(str, known))}
    return pd.DataFrame(typed) if typed else None


def _numbers_or_texts(values: pd.Series) -> pd.Series:
    if all(isinstance(value, bool | int | float) for value in values.dropna()):
        return values.astype(np.float64)
    return values.map(str, na_action="ignore").astype(str)


def typed_turn_ratings(ratings: pd.DataFrame, order: NDArray[np.intp]) -> pd.DataFrame:
    """Return the ratings of replies, with the run's row numbers of conversations."""
    found = _at_rows(ratings, order)
    found = found.astype({"conversation": np.int32, "turn": np.int32, "value": np.float64})
    return found.sort_values(["conversation", "turn"], ignore_index=True)[TURN_COLUMNS]


def typed_quizzes(quizzes: pd.DataFrame, order: NDArray[np.intp]) -> pd.DataFrame:
    """Return the quizzes, with the run's row numbers of conversations, ordered by them."""
    found = _at_rows(quizzes, order)
    found = found.astype(
        {"conversation": np.int32, "choices": np.int32, "is_right": np.float64, "about": object}
    )
    why = found["why_not"].astype(object)
    found = found.assign(why_not=why.where(why.notna(), None))
    return found.sort_values("conversation", ignore_index=True)[QUIZ_COLUMNS]


def typed_writing(writing: pd.DataFrame, order: NDArray[np.intp]) -> pd.DataFrame:
    """Return the writing data, with the run's row numbers of conversations, ordered by them."""
    found = _at_rows(writing, order)
    found = found.astype({"conversation": np.int32} | dict.fromkeys(WRITING_NUMBERS, np.int64))
    return found.sort_values("conversation", ignore_index=True)[WRITING_COLUMNS]


def _at_rows(found: pd.DataFrame, order: NDArray[np.intp]) -> pd.DataFrame:
    """Replace the loader's row numbers of conversations with those of the run."""
    row = np.empty(len(order), np.int32)
    row[order] = np.arange(len(order), dtype=np.int32)
    return found.assign(conversation=row[found["conversation"].to_numpy(np.intp)])


ITEM_COLUMNS = ["item", "kind", "twin_of", "output", "edit_share"]
# Kinds that need the ordinary item that they belong to.
NEEDING_TWIN = ("bad", "repeat")


def item_problems(presented: pd.DataFrame, items: pd.DataFrame, *, partial: bool) -> list[Problem]:
    """Return the problems of the items of a run.

    Args:
        presented: `where`, `assignment`, `position`, `system`, one row for each item shown to a worker.
        items: ITEM_COLUMNS, a row for each of `presented`.
        partial: whether assignments may be incomplete, so that a twin's ordinary item may be missing.
    """
    return [
        *_unknown_kinds(presented, items),
        *_lonely_twins(presented, items, partial=partial),
        *_changing_systems(presented, items),
        *_bad_shares(presented, items),
    ]


def ordinary_systems(presented: pd.DataFrame, items: pd.DataFrame) -> pd.Series:
    """Return the systems that made ordinary items, each once."""
    return presented.loc[items["kind"].eq("ordinary").to_numpy(), "system"].drop_duplicates()


def typed_items(items: pd.DataFrame, order: NDArray[np.intp]) -> pd.DataFrame:
    """Return the rows of `items` in `order`, with the types of `Run.items`."""
    names = sorted(set(items["item"].astype(str)))
    return (
        pd.DataFrame(
            {
                "item": pd.Categorical(items["item"].astype(str), names),
                "kind": pd.Categorical(items["kind"], dtype=ITEM_KIND),
                "twin_of": items["twin_of"].fillna(0).astype(np.int64).to_numpy(),
                "output": items["output"].astype(str).to_numpy(),
                "edit_share": items["edit_share"].astype(np.float64).to_numpy(),
            }
        )
        .iloc[order]
        .reset_index(drop=True)
    )


def _unknown_kinds(presented: pd.DataFrame, items: pd.DataFrame) -> list[Problem]:
    unknown = ~items["kind"].isin(ITEM_KINDS).to_numpy()
    return [
        Problem(where, f"the kind of the item is {quoted(kind)}.", f"Known are: {joined(ITEM_KINDS)}.")
        for where, kind in zip(presented["where"][unknown], items["kind"][unknown], strict=True)
    ]


def _lonely_twins(presented: pd.DataFrame, items: pd.DataFrame, *, partial: bool) -> list[Problem]:
    """Return a problem for each twin without the ordinary item that it belongs to."""
    ordinary = items["kind"].eq("ordinary").to_numpy()
    twin_of = items["twin_of"].astype(np.float64)
    place, twin = (
        pd.MultiIndex.from_arrays([presented["assignment"], position.astype(np.float64)])
        for position in (presented["position"], twin_of)
    )
    unsaid, missing = twin_of.isna().to_numpy(), ~twin.isin(place[ordinary])
    lonely = items["kind"].isin(NEEDING_TWIN).to_numpy() & (unsaid | (missing & (not partial)))
    return [
        Problem(
            where,
            f"the kind of the item is {kind!r}, but position {position:g} has no ordinary item."
            if np.isfinite(position)
            else f"the kind of the item is {kind!r}, but it does not name its ordinary item.",
            REPAIR,
        )
        for where, kind, position in zip(
            presented["where"][lonely], items["kind"][lonely], twin_of[lonely], strict=True
        )
    ]


def _changing_systems(presented: pd.DataFrame, items: pd.DataFrame) -> list[Problem]:
    """Return a problem for each ordinary item that is of another system elsewhere."""
    ordinary = items["kind"].eq("ordinary").to_numpy()
    rows = presented[ordinary].assign(item=items["item"][ordinary])
    first = rows.groupby("item")["system"].transform("first")
    changed = rows["system"] != first
    return [
        Problem(where, f"item {item!r} is of the system {system!r}, elsewhere of {made!r}.", REPAIR)
        for where, item, system, made in zip(
            rows["where"][changed],
            rows["item"][changed],
            rows["system"][changed],
            first[changed],
            strict=True,
        )
    ]


def _bad_shares(presented: pd.DataFrame, items: pd.DataFrame) -> list[Problem]:
    shares = items["edit_share"].to_numpy(np.float64)
    wrong = (shares < 0) | np.isinf(shares)
    return [
        Problem(where, f"the share of edited words is {share:g}.", REPAIR)
        for where, share in zip(presented["where"][wrong], shares[wrong], strict=True)
    ]
