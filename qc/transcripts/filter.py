"""Worker filter: keep the workers who rate bad twins clearly lower than their items.

Source: Ji, PhD thesis, chapters 3 and 4: a signed-rank test over all pairs of a worker, from all their
assignments and on all criteria that count for quality control. The thesis only names the test; here it is the
one in `qc.statistics.rank_tests`. A worker with so few pairs that p cannot be below α cannot be judged, and
is not kept.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.errors import EmptyRunError
from qc.method.filter import NO_VARIANCE, Screening, require_level
from qc.method.sample import Sample, oriented
from qc.run import ItemKind, Run, codes
from qc.statistics.groups import group_varies
from qc.statistics.rank_tests import signed_rank_p_values, smallest_p
from qc.statistics.resampling import generator
from qc.table import percent


class Twins(NamedTuple):
    """Pairs of rows of `run.conversations`, both of one assignment: a control item, and its ordinary item."""

    control: NDArray[np.intp]
    ordinary: NDArray[np.intp]


def items_of(run: Run) -> pd.DataFrame:
    """Return the items of `run`.

    Raises:
        TypeError: workers of the run chatted; an error in the calling program.
    """
    if run.items is None:
        raise TypeError(f"the run {run.name!r} is of conversations, expected one of transcripts")
    return run.items


def of_kind(run: Run, kind: ItemKind) -> NDArray[np.bool_]:
    """Return, (presentations,), whether the item is of that kind."""
    return items_of(run)["kind"].eq(kind).to_numpy(bool)


def twins(run: Run, kind: ItemKind) -> Twins:
    """Return the control items of a kind whose ordinary item was rated in the same assignment."""
    assignment = codes(run.conversations["assignment"])
    position = run.conversations["position"].to_numpy(np.int64)
    ordinary = np.flatnonzero(of_kind(run, "ordinary"))
    control = np.flatnonzero(of_kind(run, kind))
    place = pd.MultiIndex.from_arrays([assignment[ordinary], position[ordinary]])
    named = items_of(run)["twin_of"].to_numpy(np.int64)[control]
    found = place.get_indexer(pd.MultiIndex.from_arrays([assignment[control], named]))
    return Twins(control[found >= 0], ordinary[found[found >= 0]])


# The signed-rank test treats pairs of ratings as independent. Ratings of one item on several criteria are
# correlated, so a worker who forms one random impression of each item passes more often than the level says.
# For such workers a bad twin and its item are exchangeable as a whole. Exchanging them at random in the
# data, all criteria together, shows how often they pass. benchmarks/random_raters.py simulates such workers.
#
# Source: Pitman, *Significance tests which may be applied to samples from any populations*, Supplement to the
# Journal of the Royal Statistical Society 4 (1937) 119-130, for exchanges within pairs.
EXCHANGES = 200
# Multiple of the level above which a note tells readers.
MUCH_MORE = 2.0


@dataclass(frozen=True)
class ChancePasses:
    """How often workers pass by chance.

    Attributes:
        level: the share that should pass, α.
        share: share of workers who pass when each bad twin and its item are exchanged at random; NaN if no
            worker can be tested.
        exchanges: number of random exchanges of each worker's pairs.
        seed: seed of the exchanges.
    """

    level: float
    share: float
    exchanges: int
    seed: int

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences that a reader must see."""
        if not self.share > MUCH_MORE * self.level:
            return ()
        return (
            "Ratings of one item hang together, so a worker who cannot tell bad twins passes the filter in "
            f"about {percent(self.share)} of cases, where α says {percent(self.level)}. A smaller --alpha "
            "keeps more of them out.",
        )


def chance_passes(sample: Sample, seed: int) -> ChancePasses:
    """Return how often the workers of a run of transcripts would pass by chance."""
    run, screening = sample.run, sample.screening
    scores, pairs = oriented(run), twins(run, "bad")
    counting = run.criteria["counts_for_qc"].to_numpy(bool)
    differences = (scores[pairs.control] - scores[pairs.ordinary])[:, counting]
    every = np.repeat(codes(run.conversations["worker"])[pairs.control], differences.shape[1])
    testable = screening.workers["testable"].to_numpy(bool)
    rng = generator(seed, "exchanges of bad twins")
    passed = 0
    for _ in range(EXCHANGES):
        signs = rng.choice([-1.0, 1.0], len(differences))[:, None]
        p = signed_rank_p_values((differences * signs).ravel(), every, len(testable))
        passed += int((p[testable] < screening.alpha).sum())
    tests = EXCHANGES * int(testable.sum())
    return ChancePasses(screening.alpha, passed / tests if tests else float("nan"), EXCHANGES, seed)


NO_PAIR = "no bad twin beside its ordinary item"


def screen_raters(run: Run, scores: NDArray[np.float64], alpha: float = 0.05) -> Screening:
    """Test every worker of a run of transcripts; without bad twins, keep all.

    Without a test, workers whose ratings are all the same may be right: every answer that they judged may be
    wrong, every text perfect. To leave them out would move the means away from 0 or 100.

    Args:
        run: the data.
        scores: (presentations, criteria), higher is better.
        alpha: level of the test: a worker passes with p below it.

    Raises:
        OptionError: `alpha` is not strictly between 0 and 1.
        EmptyRunError: no worker can be tested, because no criterion counts for quality control.
    """
    require_level(alpha)
    names = run.conversations["worker"].cat.categories
    workers, count = codes(run.conversations["worker"]), len(names)
    varies = group_varies(scores, workers, count)
    pairs = twins(run, "bad")
    if not len(pairs.control):
        unknown = np.full(count, np.nan)
        return Screening.of(alpha, names, unknown, unknown, varies, np.full(count, "", np.str_))
    counting = run.criteria["counts_for_qc"].to_numpy(bool)
    if not counting.any():
        raise EmptyRunError(
            f"{run.source}: no criterion counts for quality control, so no worker can be tested. "
            "Declare at least one that does."
        )
    difference = (scores[pairs.control] - scores[pairs.ordinary])[:, counting]
    owners = np.repeat(workers[pairs.control], int(counting.sum()))
    p = signed_rank_p_values(difference.ravel(), owners, count)
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
