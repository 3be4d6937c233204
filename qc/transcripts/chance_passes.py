"""Estimate how often workers pass the filter who cannot tell bad twins from their items.

The signed-rank test takes every pair of ratings for itself. Those of one item on several criteria hang
together, so that somebody who forms one impression of each item, whichever it is, passes more often than the
level says.
For such workers a bad twin and its item are exchangeable as wholes: exchanging them at random in the ratings
that are there, all criteria together, shows how often they pass. benchmarks/random_raters.py has made-up
ones.

Source: Pitman, *Significance tests which may be applied to samples from any populations*, Supplement to the
Journal of the Royal Statistical Society 4 (1937) 119-130, for exchanges within pairs.
"""

from dataclasses import dataclass

import numpy as np

from qc.method.sample import Sample
from qc.method.standardise import oriented
from qc.number_format import percent
from qc.run import codes
from qc.statistics.chance import generator
from qc.statistics.signed_rank import signed_rank_p_values
from qc.transcripts.twins import twins

EXCHANGES = 200
# Of the level; above it a reader is told.
MUCH_MORE = 2.0


@dataclass(frozen=True)
class ChancePasses:
    """How often workers pass by chance.

    Attributes:
        level: the share that should, α.
        share: that of the workers who do pass when each bad twin and its item are exchanged at random; NaN if
            no worker can be tested.
        exchanges: how often each worker's pairs were exchanged.
        seed: of the exchanges.
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
