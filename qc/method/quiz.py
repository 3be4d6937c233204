"""Results of the quiz after conversations: which workers recognise their partner's lines.

This is a check in addition to the worker filter.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.method.sample import Sample
from qc.statistics.confidence import LEVEL
from qc.statistics.rank_tests import chance_of_as_many, exact_interval


@dataclass(frozen=True)
class QuizResults:
    """Answers to the quizzes after conversations, including those with the QC bot.

    Attributes:
        groups: a row for the workers who `passed` the filter, those who `failed`, and `all`: `group`,
            `workers` (with an answer), `asked`, `answered`, `right` (int), `expected` (expected number of
            right answers by guessing), `share` (of right answers), `low`, `high` (its exact interval, as if
            all answers were independent); NaN without an answer.
        workers: a row for every worker of the run who was asked: `worker`, `passed`, `asked`, `answered`,
            `right`, `expected`, `share`, `low`, `high` as above; `p`, the probability of at least as many
            right answers by guessing; `above_chance`, whether p is below the level of the filter.
        agreement: a row for workers who `passed`, one for those who `failed`: `filter`, `above`, `not_above`
            (int: workers with an answer who are above chance, or not).
        not_asked: `why` (`few_lines`, `few_replies`), `conversations` (int): without a quiz, by reason.
        alpha: the level of the filter.
    """

    groups: pd.DataFrame
    workers: pd.DataFrame
    agreement: pd.DataFrame
    not_asked: pd.DataFrame
    alpha: float


def describe_quiz(sample: Sample) -> QuizResults | None:
    """Return the results of the quiz; None if the run has no quiz."""
    quizzes = sample.run.quizzes
    if quizzes is None:
        return None
    asked = quizzes[quizzes["choices"] > 0]
    owner = sample.workers[asked["conversation"].to_numpy(np.intp)]
    chances, right = 1 / asked["choices"].to_numpy(np.float64), asked["is_right"].to_numpy(np.float64)
    passed = sample.screening.workers["passed"].to_numpy(bool)
    alpha = sample.screening.alpha
    names = sample.screening.workers["worker"]
    rows = [
        {"worker": names.iloc[worker], "passed": bool(passed[worker])}
        | _counts(chances[owner == worker], right[owner == worker])
        | _test(chances[owner == worker], right[owner == worker], alpha)
        for worker in np.unique(owner).tolist()
    ]
    columns = ["worker", "passed", *_COUNTS, "p", "above_chance"]
    workers = pd.DataFrame(rows, columns=columns).astype({"passed": bool, "above_chance": bool})
    answered = workers[workers["answered"] > 0]
    groups = [
        {"group": group, "workers": int(among[answered.index].sum())} | _counts(chances[part], right[part])
        for group, among, part in (
            ("passed", workers["passed"], passed[owner]),
            ("failed", ~workers["passed"], ~passed[owner]),
            ("all", workers["answered"] >= 0, np.ones(len(owner), bool)),
        )
    ]
    return QuizResults(pd.DataFrame(groups), workers, _agreement(answered), _not_asked(quizzes), alpha)


_COUNTS = ["asked", "answered", "right", "expected", "share", "low", "high"]


def _counts(chances: NDArray[np.float64], right: NDArray[np.float64]) -> dict[str, float]:
    """Return the columns _COUNTS of quizzes.

    Args:
        chances: probability of a right guess in each quiz.
        right: 1, 0, or NaN without an answer.
    """
    given = ~np.isnan(right)
    answered, found = int(given.sum()), int((right == 1).sum())
    low, high = exact_interval(found, answered, LEVEL)
    share = found / answered if answered else float("nan")
    expected = float(np.sort(chances[given]).sum())
    return dict(zip(_COUNTS, (len(right), answered, found, expected, share, low, high), strict=True))


def _test(chances: NDArray[np.float64], right: NDArray[np.float64], alpha: float) -> dict[str, float]:
    given = ~np.isnan(right)
    if not given.any():
        return {"p": float("nan"), "above_chance": False}
    p = chance_of_as_many(int((right == 1).sum()), np.sort(chances[given]))
    return {"p": p, "above_chance": p < alpha}


def _agreement(answered: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for name, passed in (("passed", True), ("failed", False)):
        above = answered.loc[answered["passed"] == passed, "above_chance"]
        rows.append({"filter": name, "above": int(above.sum()), "not_above": int((~above).sum())})
    return pd.DataFrame(rows)


def _not_asked(quizzes: pd.DataFrame) -> pd.DataFrame:
    why = quizzes.loc[quizzes["choices"] == 0, "why_not"]
    rows = [{"why": name, "conversations": int((why == name).sum())} for name in ("few_lines", "few_replies")]
    return pd.DataFrame(rows)
