"""Results of the quiz after conversations: which workers recognise their partner's lines, or persona.

This is a check in addition to the worker filter. Of personas it is a measure of systems, too: nobody can
recognise a persona that does not show.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.method.sample import Sample
from qc.statistics.clustered_means import means_by_group
from qc.statistics.confidence import LEVEL
from qc.statistics.rank_tests import chance_of_as_many, exact_interval
from qc.statistics.resampling import generator


@dataclass(frozen=True)
class QuizResults:
    """Answers to the quizzes after conversations, including those with the QC bot.

    Attributes:
        about: what the quizzes are about, `lines` or `personas`.
        groups: a row for the workers who `passed` the filter, those who `failed`, and `all`: `group`,
            `workers` (with an answer), `asked`, `answered`, `right` (int), `expected` (expected number of
            right answers by guessing), `share` (of right answers; NaN without an answer), `low`, `high` (its
            interval, `means_by_group`).
        workers: a row for every worker of the run who was asked: `worker`, `passed`, `asked`, `answered`,
            `right`, `expected`, `share` as above, `low`, `high` (the exact interval); `p`, the probability of
            at least as many right answers by guessing; `above_chance`, whether p is below the level of the
            filter.
        systems: a row for every system asked about, the QC bot included, in the run's order: `system`,
            `workers` (with an answer), and the columns of a group, with the exact interval. Workers who
            failed the filter count, and each answer is taken as another worker's.
        agreement: a row for workers who `passed`, one for those who `failed`: `filter`, `above`, `not_above`
            (int: workers with an answer who are above chance, or not).
        not_asked: `why` (`few_lines`, `few_replies`; of personas `few_personas`, `no_persona`),
            `conversations` (int): without a quiz, by reason.
        alpha: the level of the filter.
    """

    about: str
    groups: pd.DataFrame
    workers: pd.DataFrame
    systems: pd.DataFrame
    agreement: pd.DataFrame
    not_asked: pd.DataFrame
    alpha: float


def describe_quiz(sample: Sample, draws: int, seed: int) -> QuizResults | None:
    """Return the results of the quiz, with intervals of groups from `draws`; None if the run has no quiz."""
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
        | _exact_interval(right[owner == worker])
        | _test(chances[owner == worker], right[owner == worker], alpha)
        for worker in np.unique(owner).tolist()
    ]
    columns = ["worker", "passed", *_COUNTS, "p", "above_chance"]
    workers = pd.DataFrame(rows, columns=columns).astype({"passed": bool, "above_chance": bool})
    answered = workers[workers["answered"] > 0]
    given = ~np.isnan(right)
    groups = [
        {"group": group, "workers": len(np.unique(owner[part & given]))}
        | _counts(chances[part], right[part])
        | _interval(right[part], owner[part], draws, generator(seed, f"bootstrap of quizzes, {group}"))
        for group, part in (
            ("passed", passed[owner]),
            ("failed", ~passed[owner]),
            ("all", np.ones(len(owner), bool)),
        )
    ]
    partner = sample.systems[asked["conversation"].to_numpy(np.intp)]
    systems = [
        {
            "system": str(sample.run.systems["system"].iloc[system]),
            "workers": len(np.unique(owner[(partner == system) & given])),
        }
        | _counts(chances[partner == system], right[partner == system])
        | _exact_interval(right[partner == system])
        for system in np.unique(partner).tolist()
    ]
    about = str(quizzes["about"].iloc[0]) if len(quizzes) else "lines"
    return QuizResults(
        about,
        pd.DataFrame(groups),
        workers,
        pd.DataFrame(systems, columns=["system", "workers", *_COUNTS]),
        _agreement(answered),
        _not_asked(quizzes, about),
        alpha,
    )


_COUNTS = ["asked", "answered", "right", "expected", "share", "low", "high"]


def _counts(chances: NDArray[np.float64], right: NDArray[np.float64]) -> dict[str, float]:
    """Return the columns _COUNTS of quizzes, but for the interval.

    Args:
        chances: probability of a right guess in each quiz.
        right: 1, 0, or NaN without an answer.
    """
    given = ~np.isnan(right)
    answered, found = int(given.sum()), int((right == 1).sum())
    share = found / answered if answered else float("nan")
    expected = float(np.sort(chances[given]).sum())
    return dict(zip(_COUNTS, (len(right), answered, found, expected, share), strict=False))


def _exact_interval(right: NDArray[np.float64]) -> dict[str, float]:
    low, high = exact_interval(int((right == 1).sum()), int((~np.isnan(right)).sum()), LEVEL)
    return {"low": low, "high": high}


def _interval(
    right: NDArray[np.float64], owner: NDArray[np.intp], draws: int, rng: np.random.Generator
) -> dict[str, float]:
    """Return the interval of a share of several workers, whose answers are not independent."""
    given = ~np.isnan(right)
    one_group = np.zeros(int(given.sum()), np.intp)
    _, _, low, high = means_by_group(right[given], owner[given], one_group, 1, draws, rng, (0, 1))
    return {"low": float(low[0]), "high": float(high[0])}


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


_REASONS = {"lines": ("few_lines", "few_replies"), "personas": ("few_personas", "no_persona")}


def _not_asked(quizzes: pd.DataFrame, about: str) -> pd.DataFrame:
    why = quizzes.loc[quizzes["choices"] == 0, "why_not"]
    rows = [{"why": name, "conversations": int((why == name).sum())} for name in _REASONS[about]]
    return pd.DataFrame(rows)
