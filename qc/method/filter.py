"""Worker filter: keep the workers who rate the quality-control bot clearly lower than the systems.

Source: Ji et al., *Achieving Reliable Human Assessment of Open-Domain Dialogue Systems*, ACL 2022, the
section on quality control; chapter 5 of Ji's PhD thesis. Each worker is tested once, on the ratings of all
their assignments. The result does not decide whether a worker is paid.
"""

from dataclasses import dataclass
from math import comb
from typing import Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.errors import EmptyRunError, OptionError
from qc.run import Run, codes
from qc.statistics.groups import group_varies
from qc.statistics.rank_tests import rank_sum_p_values
from qc.table import whole

NO_QC = "no conversation with the quality-control bot"
NO_SYSTEMS = "no conversation with a system"
NO_VARIANCE = "no variance: every conversation is rated the same"


@dataclass(frozen=True)
class Screening:
    """Result of the worker filter at level `alpha`.

    `workers` has one row per worker, ordered by `worker` (str):

    - `p` (float; NaN if no test is possible),
    - `smallest_p` (float; the smallest p possible with this number of ratings, if all differ),
    - `testable` (bool: p exists and the ratings vary; an untestable worker fails at every level),
    - `passed` (bool),
    - `reason` (str; why the worker failed, empty if they passed).
    """

    alpha: float
    workers: pd.DataFrame

    @classmethod
    def of(
        cls,
        alpha: float,
        workers: pd.Index,
        p: NDArray[np.float64],
        smallest_p: NDArray[np.float64],
        varies: NDArray[np.bool_],
        reason: NDArray[np.str_],
    ) -> Self:
        """Build the screening of `workers`; `reason` says why each failed, "" if they passed."""
        columns = {
            "worker": workers.to_numpy(),
            "p": p,
            "smallest_p": smallest_p,
            "testable": np.isfinite(p) & varies,
            "passed": reason == "",
            "reason": reason,
        }
        return cls(alpha, pd.DataFrame(columns))

    @property
    def has_test(self) -> bool:
        """Whether workers were tested; in a run of items without bad twins there is nothing to test."""
        return bool(self.workers["p"].notna().any())

    def keeps(self, workers: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return whether each worker passed; `workers`: codes of a `worker` column of the run."""
        return self.workers["passed"].to_numpy(bool)[workers]


def screen(run: Run, scores: NDArray[np.float64], alpha: float = 0.05) -> Screening:
    """Test every worker of `run`.

    Args:
        run: the data.
        scores: (conversations, criteria), as `sample.oriented` returns them: higher is better.
        alpha: level of the test: a worker passes with p below it.

    Raises:
        OptionError: `alpha` is not strictly between 0 and 1.
        EmptyRunError: no worker can be tested, because the run has no criterion that counts for quality
            control, no conversation with its QC bot, or none with a system.
    """
    require_level(alpha)
    _validate(run)
    names = run.conversations["worker"].cat.categories
    workers, count = codes(run.conversations["worker"]), len(names)
    is_qc = run.conversations["is_qc"].to_numpy(bool)
    p = worker_p_values(scores[:, run.criteria["counts_for_qc"].to_numpy(bool)], workers, is_qc, count)
    varies = group_varies(scores, workers, count)
    reason = np.select(
        [
            np.bincount(workers[is_qc], minlength=count) == 0,
            np.bincount(workers[~is_qc], minlength=count) == 0,
            ~varies,
            p >= alpha,
        ],
        [NO_QC, NO_SYSTEMS, NO_VARIANCE, f"rates the quality-control bot not clearly lower (p ≥ {alpha:g})"],
        default="",
    )
    return Screening.of(alpha, names, p, _smallest_p(run, is_qc, workers, count), varies, reason)


def _smallest_p(
    run: Run, is_qc: NDArray[np.bool_], workers: NDArray[np.intp], count: int
) -> NDArray[np.float64]:
    """Return the smallest p that each worker can have if all ratings differ, (workers,).

    With k ratings of the QC bot and m of the systems it is 1 / C(k + m, k): only one of these arrangements
    has the k ratings of the QC bot lowest.
    """
    criteria = int(run.criteria["counts_for_qc"].sum())
    of_qc, of_systems = (np.bincount(workers[at], minlength=count) * criteria for at in (is_qc, ~is_qc))
    return np.array([1 / comb(int(k + m), int(k)) for k, m in zip(of_qc, of_systems, strict=True)])


def nobody_passed(run: Run, screening: Screening) -> str | None:
    """Return a note for readers if no worker passed; None if one did."""
    if screening.workers["passed"].any():
        return None
    smallest = float(screening.workers["smallest_p"].min())
    why = "No worker passed, so no system has a score."
    if smallest < screening.alpha:
        return why
    return (
        f"{why} Unless ratings are tied, none could: with so few of them, the smallest possible p is "
        f"{smallest:.2g}, and α is {screening.alpha:g}. Ask for more criteria that count for quality "
        f"control, or for more {'conversations' if run.items is None else 'bad twins'}."
    )


def untested(screening: Screening) -> str | None:
    """Return a note that workers were not tested; None if they were."""
    if screening.has_test:
        return None
    return (
        "The items had no bad twins, so no worker could be tested: all are counted, and nothing tells who "
        "rated at random."
    )


def not_judged(run: Run, screening: Screening) -> str | None:
    """Return a note on workers who failed because they rated too little; None if there are none.

    With tied ratings the p of a chat worker is approximate and may be below their `smallest_p`, so some pass.
    """
    workers = screening.workers
    unable = workers["testable"] & ~workers["passed"] & (workers["smallest_p"] >= screening.alpha)
    number = int(unable.sum())
    if not number or not workers["passed"].any():
        return None
    whose = "1 worker has" if number == 1 else f"{whole(number)} workers have"
    if run.items is None:
        control, lowest = "conversations with the quality-control bot", "each of these lower than all others"
    else:
        control, lowest = "bad twins", "every bad twin lower"
    return (
        f"{whose} rated too few {control} to be judged: their p could not be below {screening.alpha:g} even "
        f"if they rated {lowest}. They are not kept, and nothing is said against their work. Next time, give "
        f"an assignment more {control}, or let more criteria count for quality control."
    )


def require_level(alpha: float) -> None:
    """Raise OptionError unless `alpha` is strictly between 0 and 1."""
    if not 0 < alpha < 1:
        raise OptionError(
            f"--alpha is {alpha:g}, but a significance level lies between 0 and 1, both excluded."
        )


def _validate(run: Run) -> None:
    if not run.criteria["counts_for_qc"].any():
        raise EmptyRunError(
            f"{run.source}: no criterion counts for quality control, so no worker can be tested. "
            "Declare at least one that does."
        )
    if not run.conversations["is_qc"].any():
        raise EmptyRunError(
            f"{run.source}: no conversation with the quality-control bot, so no worker can be tested. "
            "Check which system is declared as the quality-control bot."
        )
    if run.conversations["is_qc"].all():
        raise EmptyRunError(
            f"{run.source}: no conversation with a system, only with the quality-control bot. "
            "Check which system is declared as the quality-control bot."
        )


def worker_p_values(
    tested: NDArray[np.float64], workers: NDArray[np.intp], is_qc: NDArray[np.bool_], count: int
) -> NDArray[np.float64]:
    """Return each worker's p-value of the rank-sum test that they rate the QC bot lower than the systems.

    Args:
        tested: (conversations, criteria that count), higher is better.
        workers: (conversations,), codes from 0 to `count` - 1.
        is_qc: (conversations,), whether the conversation was with the QC bot.
        count: number of workers.

    Returns:
        (count,); NaN for a worker without a conversation of either kind.
    """
    order = np.lexsort((~is_qc, workers))
    rows = tested[order]
    n_qc = np.bincount(workers[is_qc], minlength=count)
    n_all = np.bincount(workers, minlength=count)
    start = np.cumsum(n_all) - n_all
    p = np.full(count, np.nan)
    # Workers with the same number of conversations of each kind are tested together, in one call.
    shapes = np.unique(np.column_stack([n_qc, n_all]), axis=0)
    for qc, both in shapes[(shapes[:, 0] > 0) & (shapes[:, 0] < shapes[:, 1])]:
        members = np.flatnonzero((n_qc == qc) & (n_all == both))
        ratings = rows[start[members, None] + np.arange(both)].reshape(len(members), -1)
        p[members] = rank_sum_p_values(ratings, int(qc) * tested.shape[1])
    return p
