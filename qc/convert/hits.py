"""Write a run in the normative format of Ji et al. (ACL 2022), `hits_data.json`."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.formats.published import ACTIONS, NO_FEEDBACK, systems_named
from qc.run import SIMULATED_NOTE, WORD_COLUMNS, WRONG, Run, codes


@dataclass(frozen=True, slots=True)
class Loss:
    """One kind of data that is missing or changed in the file.

    Attributes:
        what: a description without full stop and count, such as "left-out assignments".
        count: their number.
        fatal: whether the file would misrepresent the ratings, so that it is not written.
    """

    what: str
    count: int
    fatal: bool = False

    def __str__(self) -> str:
        return f"{self.what}: {self.count}"


ASSIGNMENT = ["assignment", "hit", "worker", "seconds", "reward", "feedback"]
CONVERSATION = ["conversation", "position", "system", "persona"]
BLOCK = 2_000  # assignments converted at once; limits the memory

Json = dict[str, Any]


def assignments(run: Run) -> Iterator[Json]:
    """Yield the assignments of `run` in its order, each as nested objects.

    An assignment has the columns ASSIGNMENT and `conversations`, by position. A conversation has the columns
    CONVERSATION, with its persona as a list of sentences; `ratings`, by label; `facts`, by name, if the run
    has any; and `exchanges`, `topics` and `changes`, if it has texts. Unknown values are None.
    """
    bounds = _offsets(codes(run.conversations["assignment"]), len(run.assignments))
    for first in range(0, len(run.assignments), BLOCK):
        begins = bounds[first : first + BLOCK + 1]
        held = _conversations(run, int(begins[0]), int(begins[-1]))
        given = records(run.assignments[ASSIGNMENT].iloc[first : first + BLOCK])
        for assignment, (start, end) in zip(given, pairwise((begins - begins[0]).tolist()), strict=True):
            yield {**assignment, "conversations": held[start:end]}


def _offsets(owners: NDArray[np.integer], count: int) -> NDArray[np.int64]:
    """Return (count + 1,): the start of the rows of each owner 0 … count − 1 in the sorted `owners`."""
    return np.searchsorted(owners, np.arange(count + 1)).astype(np.int64)


def _conversations(run: Run, first: int, last: int) -> list[Json]:
    """Return the conversations from row `first` to before row `last`."""
    held = records(run.conversations[CONVERSATION].iloc[first:last])
    for conversation, ratings in zip(held, records(run.ratings.iloc[first:last]), strict=True):
        if conversation["persona"] is not None:
            conversation["persona"] = conversation["persona"].split("\n")
        conversation["ratings"] = ratings
    if run.facts is not None:
        for conversation, facts in zip(held, records(run.facts.iloc[first:last]), strict=True):
            conversation["facts"] = {name: value for name, value in facts.items() if value is not None}
    if run.words is None:
        return held
    for kind, columns in WORD_COLUMNS.items():
        frame = getattr(run.words, kind)
        begins = frame["conversation"].searchsorted(np.arange(first, last + 1))
        said = records(frame[["round", *columns]].iloc[begins[0] : begins[-1]])
        for conversation, (start, end) in zip(held, pairwise((begins - begins[0]).tolist()), strict=True):
            conversation[kind] = said[start:end]
    return held


def records(frame: pd.DataFrame) -> list[Json]:
    """Return the rows of `frame` in Python types, None for missing values; numbers as by `number`."""
    names, columns = frame.columns.to_list(), [_values(column) for _, column in frame.items()]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _values(column: pd.Series) -> list[Any]:
    known = column.astype(object).where(column.notna(), None).to_list()
    if column.dtype.kind != "f":
        return known
    return [None if value is None else number(value) for value in known]


def number(value: float) -> float:
    """Return a whole number as int; other numbers (and −0.0) unchanged."""
    whole = int(value)
    return whole if repr(value) == f"{whole}.0" else value


def losses(run: Run) -> list[Loss]:
    """Return the data of `run` that `hits_data.json` cannot hold."""
    seconds, rewards = run.assignments["seconds"], run.assignments["reward"]
    return [
        Loss("qc bots (hits_data.json names exactly one)", _wrong_qc(run), fatal=True),
        Loss("assignments of unknown working time", int(seconds.isna().sum()), fatal=True),
        Loss("rewards of assignments", int(rewards.notna().sum())),
        Loss("families of systems, or whether they have a persona", _unsuffixed(run)),
        Loss("replies of no words (read again as none)", _empty_replies(run)),
        *common_losses(run),
    ]


def _empty_replies(run: Run) -> int:
    return 0 if run.words is None else int((run.words.exchanges["reply"] == "").sum())


def common_losses(run: Run) -> list[Loss]:
    """Return the data that neither published format can hold."""
    notes = [note for note in run.notes if note != SIMULATED_NOTE]
    names = run.assignments[["assignment", "hit", "worker"]].astype(str)
    return [
        Loss(
            "assignments, their tasks or workers without a name", int((names == "").sum().sum()), fatal=True
        ),
        Loss("systems that are people, who would become chatbots and be ranked", len(run.people), fatal=True),
        Loss("the mark that assignments that were not completed take part", int(run.partial)),
        Loss("left-out assignments", len(run.left_out)),
        Loss(f"feedback that reads {NO_FEEDBACK!r}", int((run.assignments["feedback"] == NO_FEEDBACK).sum())),
        Loss("counts of what went wrong with a system", incidents(run)),
        Loss("models that answered for the systems", 0 if run.served is None else len(run.served)),
        Loss("notes", len(notes)),
        *asked_losses(run),
        Loss("places of conversations that were not held one after the other from 1", _out_of_turn(run)),
        Loss("names of conversations", _renamed(run)),
    ]


def asked_losses(run: Run) -> list[Loss]:
    """Return what workers were asked beside ratings, and what was recorded of how they wrote and waited."""
    answers = 0 if run.answers is None else len(run.answers.given)
    turns = 0 if run.turn_ratings is None else len(run.turn_ratings)
    quizzes = 0 if run.quizzes is None else len(run.quizzes)
    writing = 0 if run.writing is None else len(run.writing)
    waits = 0 if run.waits is None else int(run.waits.notna().sum())
    scenarios = 0 if run.scenarios is None else int(run.scenarios.notna().sum())
    return [
        Loss("answers to the study's own questions", answers),
        Loss("ratings of single replies", turns),
        Loss("quizzes after conversations", quizzes),
        Loss("conversations of which it is known how they were written", writing),
        Loss("conversations of which it is known how long workers waited for replies", waits),
        Loss("scenarios of conversations", scenarios),
    ]


def incidents(run: Run) -> int:
    """Return the number of counts that are not 0."""
    if run.incidents is None:
        return 0
    counts = run.incidents[[*WRONG]]
    return int((counts.fillna(0) != 0).to_numpy().sum())


def _wrong_qc(run: Run) -> int:
    """Return the number of QC bots, but 0 if there is one, and 1 if there is none."""
    count = int(run.systems["is_qc"].sum())
    return 0 if count == 1 else max(count, 1)


def _unsuffixed(run: Run) -> int:
    named = systems_named(run.systems["system"], run.systems["is_qc"].to_numpy(bool))
    return int((named != run.systems[named.columns]).any(axis=1).sum())


def _out_of_turn(run: Run) -> int:
    owners = pd.Series(codes(run.conversations["assignment"]))
    turns = owners.groupby(owners).cumcount() + 1
    return int((turns != run.conversations["position"]).sum())


def _renamed(run: Run) -> int:
    names = run.conversations["assignment"].astype(str) + "/" + run.conversations["position"].astype(str)
    return int((names != run.conversations["conversation"]).sum())


def write(run: Run, file: BinaryIO) -> None:
    """Write `run` into `file`."""
    content = {"metadata": _metadata(run), "data": [_assignment(one) for one in assignments(run)]}
    file.write(json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode())


def _metadata(run: Run) -> Json:
    systems = run.systems
    content = {
        "score": {
            row["label"]: {"positive": not row["negative"], "qc": row["counts_for_qc"], "max": row["maximum"]}
            for row in records(run.criteria)
        },
        "model": systems.loc[~systems["is_qc"], "system"].to_list(),
        "qc-model": systems.loc[systems["is_qc"], "system"].item(),
        "ranking": None,
        "sorted_scores": run.criteria["label"].to_list(),
    }
    return content | ({"simulated": True} if SIMULATED_NOTE in run.notes else {})


def _assignment(held: Json) -> Json:
    return {
        "hit": held["hit"],
        "assignment": held["assignment"],
        "worker": held["worker"],
        "duration in seconds": held["seconds"],
        "result": [_conversation(one) for one in held["conversations"]],
        "feedback": NO_FEEDBACK if held["feedback"] is None else held["feedback"],
    }


def _conversation(held: Json) -> Json:
    content = {"model": held["system"], "score": held["ratings"]}
    if "exchanges" in held:
        content["dialogue"] = [
            {"round": said["round"], "user": said["input"], "bot": said["reply"]}
            for said in held["exchanges"]
        ]
        content["topic"] = [
            {"round": mark["round"], "topic": mark["topic"], "attitude": mark["opinion"]}
            for mark in held["topics"]
        ]
        content["change of topic"] = [
            {"round": mark["round"], "action": ACTIONS[mark["how"]], "attitude": mark["bot_opinion"]}
            for mark in held["changes"]
        ]
    if held["persona"] is not None:
        content["persona"] = held["persona"]
    if held.get("facts"):
        content["facts"] = held["facts"]
    return content
