"""Marks in texts: how often workers mark something, and whether two workers mark the same characters.

Agreement is the mean F1 of pairs of workers who read the same text: 2 |A ∩ B| / (|A| + |B|), A and B the
characters that each has marked. The unmarked characters do not enter, so that long texts do not raise it
(Hripcsak and Rothschild, *Agreement, the F-measure, and reliability in information retrieval*, JAMIA 2005).
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.errors import DataError, Problem, quoted

MOST_READERS = 1_000  # of one text; the first ones
_EXPORT_AGAIN = "Export the run again, or repair the file."
# The line and the number of each marked character.
Marked = NDArray[np.int64]
MARK_COLUMNS = ["mark", "n", "answers", "share", "pairs", "f1"]


def count_marks(
    readers: pd.DataFrame, given: pd.DataFrame, source: str
) -> Iterator[tuple[str, int, int, float, int, float]]:
    """Yield MARK_COLUMNS: of all marks (`mark` is empty), then of each category and severity that was given.

    Args:
        readers: all who were asked, `answer` (index of the answer), `worker` and `text` (the text that they
            read).
        given: their marks, `answer` and `text` (the mark as it is stored).
        source: where they were read from, for messages.

    Raises:
        DataError: A mark is invalid.
    """
    marks = [
        (answer, _mark(text, source)) for answer, text in zip(given["answer"], given["text"], strict=True)
    ]
    names = {str(mark[key]) for _, mark in marks for key in ("category", "severity") if key in mark}
    for name in ("", *sorted(names)):
        own: dict[object, list[Mapping[str, Any]]] = {}
        for answer, mark in marks:
            if not name or name in (mark.get("category"), mark.get("severity")):
                own.setdefault(answer, []).append(mark)
        pairs, f1 = _agreement(readers, {answer: _characters(each) for answer, each in own.items()})
        share = len(own) / len(readers) if len(readers) else np.nan
        yield name, sum(map(len, own.values())), len(readers), share, pairs, f1


def mean_f1(marked: Sequence[Marked]) -> tuple[int, float]:
    """Return the number of pairs of which at least one has marked something, and their mean F1.

    Args:
        marked: the characters that each worker has marked in one text, each once.

    Returns:
        The mean is NaN without such pairs.
    """
    if len(marked) < 2 or not any(len(each) for each in marked):
        return 0, np.nan
    known, where = np.unique(np.concatenate(marked), return_inverse=True)
    chosen = np.zeros((len(marked), len(known)), np.float32)
    chosen[np.repeat(np.arange(len(marked)), [len(each) for each in marked]), where] = 1
    both = chosen @ chosen.T
    size = chosen.sum(axis=1)
    one, other = np.triu_indices(len(marked), k=1)
    of = size[one] + size[other]
    scores = 2 * both[one, other][of > 0].astype(np.float64) / of[of > 0]
    return len(scores), float(scores.mean()) if len(scores) else np.nan


def _agreement(readers: pd.DataFrame, marked: Mapping[object, Marked]) -> tuple[int, float]:
    nothing = np.empty(0, np.int64)
    total, pairs = 0.0, 0
    for _, of_text in readers.drop_duplicates(["text", "worker"]).groupby("text", observed=True, sort=True):
        answers = of_text["answer"].to_list()[:MOST_READERS]
        found, f1 = mean_f1([marked.get(answer, nothing) for answer in answers])
        pairs += found
        total += found * f1 if found else 0.0
    return pairs, total / pairs if pairs else np.nan


def _characters(marks: Sequence[Mapping[str, Any]]) -> Marked:
    return np.unique(
        np.concatenate([(mark["line"] << 32) + np.arange(mark["start"], mark["end"]) for mark in marks])
    )


def _mark(text: object, source: str) -> Mapping[str, Any]:
    try:
        mark = json.loads(str(text))
        places = [mark[key] for key in ("line", "start", "end")]
        fits = all(type(place) is int and 0 <= place <= 1_000_000 for place in places)
    except (ValueError, TypeError, KeyError):
        fits = False
    if not fits:
        problem = Problem(
            "an answer", f"the mark {quoted(text)} is not a line, a start and an end.", _EXPORT_AGAIN
        )
        raise DataError(source, [problem])
    return dict(mark)
