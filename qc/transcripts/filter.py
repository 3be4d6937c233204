"""Keep the workers who rate bad twins clearly lower than their items.

Source: Ji, PhD thesis, chapters 3 and 4: a signed-rank test over all pairs of a worker, from all their
assignments and on all criteria that count for quality control. The thesis names only the test; here it is
that of `qc.statistics.signed_rank`. Who has so few pairs that no p could lie below α cannot be judged, and is
not kept: nothing speaks for them.
"""

import numpy as np
from numpy.typing import NDArray

from qc.errors import EmptyRunError
from qc.method.filter import NO_VARIANCE, Screening, require_level
from qc.number_format import whole
from qc.run import Run, codes
from qc.statistics.groups import group_varies
from qc.statistics.signed_rank import signed_rank_p_values, smallest_p
from qc.transcripts.twins import twins

NO_PAIR = "no bad twin beside its ordinary item"


def screen_raters(run: Run, scores: NDArray[np.float64], alpha: float = 0.05) -> Screening:
    """Test every worker of a run of transcripts and return who is kept.

    Args:
        run: the data.
        scores: (presentations, criteria), higher is better.
        alpha: level at which a worker passes: p below it.

    Raises:
        OptionError: `alpha` is not strictly between 0 and 1.
        EmptyRunError: nobody can be tested, because the run has no criterion that counts for quality control,
            or no bad twin.
    """
    require_level(alpha)
    counting = run.criteria["counts_for_qc"].to_numpy(bool)
    pairs = twins(run, "bad")
    _require_test(run, counting, len(pairs.control))
    names = run.conversations["worker"].cat.categories
    workers, count = codes(run.conversations["worker"]), len(names)
    difference = (scores[pairs.control] - scores[pairs.ordinary])[:, counting]
    owners = np.repeat(workers[pairs.control], int(counting.sum()))
    p = signed_rank_p_values(difference.ravel(), owners, count)
    varies = group_varies(scores, workers, count)
    smallest = np.array([smallest_p(int(pairs)) for pairs in np.bincount(owners, minlength=count)])
    reason = np.select(
        [np.isnan(p), ~varies, smallest >= alpha, p >= alpha],
        [
            NO_PAIR,
            NO_VARIANCE,
            f"too few pairs to be judged: no p of so few lies below {alpha:g}",
            f"rates bad twins not clearly lower (p ≥ {alpha:g})",
        ],
        default="",
    )
    return Screening.of(alpha, names, p, smallest, varies, reason)


def not_judged(screening: Screening) -> str | None:
    """Return what a reader must know of workers with too few pairs to be judged; None without any."""
    workers = screening.workers
    number = int((workers["testable"] & (workers["smallest_p"] >= screening.alpha)).sum())
    if not number or not workers["passed"].any():
        return None
    whose = "1 worker has" if number == 1 else f"{whole(number)} workers have"
    return (
        f"{whose} rated too few bad twins to be judged: their ratings could not give a p below "
        f"{screening.alpha:g} even if every bad twin were rated lower. They are not kept, and nothing is "
        "said against their work."
    )


def _require_test(run: Run, counting: NDArray[np.bool_], pairs: int) -> None:
    if not counting.any():
        raise EmptyRunError(
            f"{run.source}: no criterion counts for quality control, so no worker can be tested. "
            "Declare at least one that does."
        )
    if pairs == 0:
        raise EmptyRunError(
            f"{run.source}: nobody rated a bad twin and the item that it was made of, so no worker can be "
            "tested. Give the study's lists bad twins."
        )
