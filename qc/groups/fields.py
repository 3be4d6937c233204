"""Background fields of the workers who passed, such as age, and each worker's group in them.

The data come from a file by pseudonym (`Run.background`), and from a study's questions before the first
conversation. Free text and questions with several answers are left out, because they give no single group.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.answers import AnswerKind, group_values
from qc.method.sample import Sample
from qc.run import Answers
from qc.table import decimal

# A numeric field with more distinct values than this is divided at its quartiles.
MOST_VALUES = 10
QUARTILES = (0.25, 0.5, 0.75)


@dataclass(frozen=True)
class WorkerField:
    """A field of the background, of W workers who passed.

    Attributes:
        name: the column of the file, or the label of the question.
        groups: names of the non-empty groups, in display order.
        codes: (W,), index in `groups`; −1 if unknown.
    """

    name: str
    groups: tuple[str, ...]
    codes: NDArray[np.intp]


def fields_of(sample: Sample) -> tuple[WorkerField, ...]:
    """Return the fields with a known value for at least one worker who passed.

    A column of the file takes precedence over a question of the same name. If a worker has answered a
    question several times, the first answer counts.
    """
    workers = pd.Index(sample.screening.workers.loc[sample.screening.workers["passed"], "worker"])
    found: dict[str, WorkerField] = {}
    for name, known, order in (*_of_file(sample), *_of_answers(sample)):
        field = _field(name, known.reindex(workers), order)
        if field.groups:
            found.setdefault(name, field)
    return tuple(found.values())


def _of_file(sample: Sample) -> Iterator[tuple[str, pd.Series, tuple[str, ...]]]:
    """Yield the name of each column, its values by worker, and no order."""
    background = sample.run.background
    if background is not None:
        for name in background.columns.drop("worker"):
            yield str(name), background.set_index("worker")[name], ()


def _of_answers(sample: Sample) -> Iterator[tuple[str, pd.Series, tuple[str, ...]]]:
    """Yield the label of each question, the first answer of each worker, and the order of the answers."""
    answers = sample.run.answers
    if answers is None:
        return
    owner = sample.run.assignments.set_index("assignment")["worker"].astype(str)
    for question, choices in zip(
        answers.questions.itertuples(), answers.questions["choices"].tolist(), strict=True
    ):
        if question.part != "before":
            continue
        given = _given(answers, str(question.label))
        values = group_values(cast(AnswerKind, question.kind), given)
        if values is None:
            continue
        first = pd.Series(values.to_numpy(), index=owner.reindex(given["assignment"]).to_numpy())
        yield str(question.label), first[~first.index.duplicated()], tuple(map(str, choices))


def _given(answers: Answers, label: str) -> pd.DataFrame:
    given = answers.given
    return given[(given["part"] == "before") & (given["label"] == label)]


def _field(name: str, known: pd.Series, order: tuple[str, ...]) -> WorkerField:
    values, bands = _banded(known)
    order = bands or order
    there = set(values.dropna())
    groups = tuple(each for each in order if each in there) or tuple(sorted(there, key=_natural))
    return WorkerField(name, groups, np.asarray(pd.Categorical(values, groups).codes, np.intp))


def _natural(group: str) -> tuple[float, str]:
    """Return the sort key of a group: numbers first, by size."""
    try:
        return float(group), group
    except ValueError:
        return float("inf"), group


def _banded(known: pd.Series) -> tuple[pd.Series, tuple[str, ...]]:
    """Return the values as groups; more than MOST_VALUES distinct numbers are divided at their quartiles.

    Returns:
        The values; and the names of the bands in order, none if nothing was divided.
    """
    numbers = pd.to_numeric(known, errors="coerce")
    if numbers.nunique() <= MOST_VALUES or numbers.notna().sum() < known.notna().sum():
        return known, ()
    cuts = np.unique(np.quantile(numbers.dropna(), QUARTILES))
    shown = [decimal(cut, 2).removesuffix(".00") for cut in cuts]
    between = (f"{low} to {high}" for low, high in pairwise(shown))
    names = (f"up to {shown[0]}", *between, f"over {shown[-1]}")
    band = np.minimum(np.searchsorted(cuts, numbers.to_numpy(np.float64)), len(cuts))
    return pd.Series(np.array(names, object)[band], known.index).where(numbers.notna()), names
