"""Answers to a study's own questions, by the kind of answer. They enter no score.

Answers about conversations are counted per system, over all analysed workers: the worker filter is about
ratings, so workers who failed it count here too. Of items, the ordinary ones count, not the control items.
"""

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, assert_never, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.answers.marks import MARK_COLUMNS, count_marks
from qc.errors import Problem, quoted
from qc.run import Answers, Run

# The kinds of the server's studies; a test compares them.
AnswerKind = Literal["slider", "likert", "choice", "choices", "number", "text", "span"]
Question = dict[Hashable, Any]
_KEY = ["part", "label", "question", "system"]


@dataclass(frozen=True)
class AnswerCounts:
    """Answers to a study's own questions.

    Attributes:
        counts: questions with fixed answers: `part`, `label`, `question`, `system` (empty if a question is
            about no conversation), `answer`, `n`, and `share` of those who answered. If several answers may
            be chosen, shares can add up to more than 1. Answers that nobody gave are listed, with 0.
        numbers: sliders and numbers: the same keys, `n`, `mean`, `sd` (NaN for a single answer), `median`.
        texts: free texts: the same keys, and `n`.
        spans: marks in texts: the same keys, then MARK_COLUMNS: `mark` (a category or severity, empty for
            all), `n` (marks), `answers` (answers of workers who were asked, also those who marked nothing),
            `share` (of answers with a mark), `pairs` (of workers with the same text, of whom at least one
            marked it), `f1` (their mean agreement, NaN without pairs).
    """

    counts: pd.DataFrame
    numbers: pd.DataFrame
    texts: pd.DataFrame
    spans: pd.DataFrame


def count_answers(run: Run) -> AnswerCounts | None:
    """Count the answers to the study's own questions; None if it asked none, or the answers are unknown."""
    if run.answers is None:
        return None
    systems = run.systems["system"].to_list()
    counts: list[tuple[object, ...]] = []
    numbers: list[tuple[object, ...]] = []
    texts: list[tuple[object, ...]] = []
    spans: list[tuple[object, ...]] = []
    readers = _readers(run)
    for question, key, given in _groups(run.answers, systems, readers):
        kind: AnswerKind = question["kind"]
        match kind:
            case "choice" | "choices":
                counts += [(*key, *row) for row in _counted(question["choices"], given["text"], given)]
            case "likert":
                points = [str(point + 1) for point in range(question["points"])]
                said = given["number"].map("{:g}".format)
                counts += [(*key, *row) for row in _counted(points, said, given)]
            case "slider" | "number":
                numbers.append((*key, *_described(given["number"].to_numpy(np.float64))))
            case "text":
                texts.append((*key, len(given)))
            case "span":
                asked = readers[readers["system"] == key[-1]]
                spans += [(*key, *row) for row in count_marks(asked, given, run.source)]
            case _:
                assert_never(kind)
    return AnswerCounts(
        pd.DataFrame(counts, columns=[*_KEY, "answer", "n", "share"]),
        pd.DataFrame(numbers, columns=[*_KEY, "n", "mean", "sd", "median"]),
        pd.DataFrame(texts, columns=[*_KEY, "n"]),
        pd.DataFrame(spans, columns=[*_KEY, *MARK_COLUMNS]),
    )


def group_values(kind: AnswerKind, given: pd.DataFrame) -> pd.Series | None:
    """Return each answer as the name of a group; None for kinds whose answers give no single group."""
    match kind:
        case "choice":
            return given["text"]
        case "likert" | "slider" | "number":
            return given["number"].map("{:g}".format)
        case "choices" | "text" | "span":
            return None
        case _:
            assert_never(kind)


def unknown_kinds(answers: Answers) -> list[Problem]:
    """Return a problem for each question of a kind that is not known here."""
    unknown = answers.questions[~answers.questions["kind"].isin(get_args(AnswerKind))]
    return [
        Problem(
            f"question {row.label!r}",
            f"is answered by {quoted(row.kind)}, which this program does not know.",
            "Install a newer release of Candor.",
        )
        for row in unknown.itertuples()
    ]


def _readers(run: Run) -> pd.DataFrame:
    """Return who is asked about what: `answer`, `worker`, `system` and `text`.

    `answer` is the conversation, and `text` what was read in it: an item, or itself. Questions about no
    conversation have the assignment as `answer`, an empty `system`, and the same text for all.
    """
    held = pd.DataFrame({
        "answer": run.conversations["conversation"],
        "worker": run.conversations["worker"].astype(str),
        "system": run.conversations["system"].astype(str),
        "text": run.conversations["conversation"],
    })  # fmt: skip
    if run.items is not None:
        ordinary = run.items["kind"].eq("ordinary").to_numpy(bool)
        held = held.assign(text=run.items["item"].astype(str).to_numpy())[ordinary]
    asked = pd.DataFrame({
        "answer": run.assignments["assignment"],
        "worker": run.assignments["worker"].astype(str),
        "system": "",
        "text": "",
    })  # fmt: skip
    return pd.concat([held, asked], ignore_index=True)


def _groups(
    answers: Answers, systems: list[str], readers: pd.DataFrame
) -> Iterator[tuple[Question, tuple[str, ...], pd.DataFrame]]:
    """Yield each question, its keys and its answers; by system for questions about conversations."""
    given = answers.given.assign(
        answer=answers.given["conversation"].where(
            answers.given["conversation"].notna(), answers.given["assignment"]
        )
    )
    given = given[given["answer"].isin(readers["answer"])]
    for question in answers.questions.to_dict("records"):
        part, label = question["part"], question["label"]
        here = given[(given["part"] == part) & (given["label"] == label)]
        for system in systems if part == "conversation" else [""]:
            own = here[here["system"] == system] if system else here
            yield question, (part, label, question["question"], system), own


def _counted(
    answers: Iterable[str], said: pd.Series, given: pd.DataFrame
) -> Iterator[tuple[str, int, float]]:
    """Yield each of `answers` with its number and share in `said`, the answers of the rows of `given`."""
    # A worker who chose several answers has a row for each.
    of = len(given.drop_duplicates(["assignment", "conversation"]))
    for answer in answers:
        n = int((said == answer).sum())
        yield answer, n, n / of if of else np.nan


def _described(values: NDArray[np.float64]) -> tuple[int, float, float, float]:
    if not len(values):
        return 0, np.nan, np.nan, np.nan
    sd = float(values.std(ddof=1)) if len(values) > 1 else np.nan
    return len(values), float(values.mean()), sd, float(np.median(values))
