"""Is the filter doing its job? How many who rate at random it lets pass, and what it changes.

A *random* worker is one whose ratings have nothing to do with the bot that is rated. The filter's p-value is
meant to be uniform for them, so a share α of them should pass. Two things are estimated from the data:

- how often random workers do pass, by shuffling (`qc.robustness.shuffles`). A worker's ratings of one
  conversation hang together, the test does not know, and so more than α of them pass;
- how many random workers there are. Storey, *A direct approach to false discovery rates*, Journal of the
  Royal Statistical Society B 64, 2002, section 3: honest workers hardly have p above λ, random ones have it
  with probability 1 - λ. We take λ = 1/2, where that holds even if p is not uniform but merely symmetric,
  as it is when ratings hang together.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.method.sample import Sample
from qc.method.scores import Scores, ranks_of
from qc.number_format import percent, whole
from qc.robustness.shuffles import RandomPass, simulate_random_workers
from qc.robustness.workers import describe_workers
from qc.statistics.correlation import pearson, spearman
from qc.statistics.groups import group_means

HALF = 0.5
FEWEST_MODELS = 10


@dataclass(frozen=True)
class FilterCheck:
    """What the filter lets pass and what it changes; shares are from 0 to 1.

    Below, T workers were tested and vary in their ratings, P of them passed and F failed; H have p above
    1/2; g is `simulated_random_pass`; N = min(H / (1 - 1/2), F / (1 - g)) is the estimated number of random
    workers among the T (the second term, because N (1 - g) of them fail and only F did). Workers without p
    take no part: they fail, and nothing is known of them. A worker who rates every conversation the same
    counts as random, and never passes.

    Attributes:
        expected_random_pass: α, the share of random workers who pass if every rating is independent.
        simulated_random_pass: the share who pass if whole conversations are shuffled, made from workers with
            p above 1/2, who are mostly random; from all T, which is too cautious, if those are fewer than 10.
        shuffled_ratings_pass: the same if all ratings are shuffled: about α.
        random_p: (2000,) or fewer, ascending: p-values of those simulated workers. `random_share` × number of
            workers with p × share of these in a range of p: how many random workers to expect in that range.
        random_share: (N + workers without variance) / (T + workers without variance).
        random_among_passed: N g / P.
        random_among_passed_bound: F / (1 - g) × g / P, at most 1: what it is if every worker who failed is
            random, that is if every honest worker passes. It bounds the expectation: how many of so many
            random workers pass is a matter of luck besides.
        honest_pass: (P - N g) / (T - N), the share of honest workers who pass. Too high if there are honest
            workers with p above 1/2.
        honest_among_failed: (F - N (1 - g)) / (F + workers without variance), the share of honest workers
            among those who were tested and failed.
        everyone: `system`, `z`, `z_everyone` (nobody dropped but workers without variance, who have no z),
            `rank`, `rank_everyone` (1 is best, the best shared by ties); in the order of the scores; NaN for
            a system without conversations.
        everyone_rho, everyone_r: Spearman's ρ and Pearson's r of the two z; NaN with fewer than 3 systems.
            High by construction: most of everyone are those who passed.
        failed_rho, failed_r: of `z` with the overall z of the workers who failed alone, who share no rating
            with those who passed; NaN with fewer than 3 systems that both rated.
        workers: a row for each, see `qc.robustness.workers`.
        notes: the findings in plain sentences.

    All shares but α are NaN if nobody who varies was tested; those among the passed if nobody passed; that of
    honest workers who pass if less than one is left.
    """

    expected_random_pass: float
    simulated_random_pass: float
    shuffled_ratings_pass: float
    random_p: NDArray[np.float64]
    random_share: float
    random_among_passed: float
    random_among_passed_bound: float
    honest_pass: float
    honest_among_failed: float
    everyone: pd.DataFrame
    everyone_rho: float
    everyone_r: float
    failed_rho: float
    failed_r: float
    workers: pd.DataFrame
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Tested:
    """How many were tested, and how often random workers pass: T, P, H and g of `FilterCheck`."""

    tested: int
    passed: int
    high: int
    constant: int
    random_pass: float

    @property
    def failed(self) -> int:
        return self.tested - self.passed

    @property
    def most_random(self) -> float:
        """F / (1 - g)."""
        return self.failed / (1 - self.random_pass) if self.random_pass < 1 else float(self.tested)

    @property
    def random(self) -> float:
        """N, the estimated number of random workers."""
        return min(self.high / (1 - HALF), self.most_random)

    @property
    def honest_failed(self) -> float:
        """How many honest workers failed."""
        return max(self.failed - self.random * (1 - self.random_pass), 0.0)

    def random_share(self) -> float:
        return _share(self.random + self.constant, self.tested + self.constant)

    def random_among_passed(self) -> float:
        return _share(self.random * self.random_pass, self.passed)

    def random_among_passed_bound(self) -> float:
        return min(_share(self.most_random * self.random_pass, self.passed), 1.0)

    def honest_pass(self) -> float:
        honest = self.tested - self.random
        return _share(self.passed - self.random * self.random_pass, honest if honest >= 1 else 0)

    def honest_among_failed(self) -> float:
        return _share(self.honest_failed, self.failed + self.constant)


def check_filter(sample: Sample, scores: Scores, seed: int) -> FilterCheck:
    """Return how well the filter does its job in this run."""
    random_pass, counts = _tested(sample, seed)
    everyone = _everyone(sample, scores)
    z, z_everyone = everyone["z"].to_numpy(np.float64), everyone["z_everyone"].to_numpy(np.float64)
    z_failed = _means(sample, scores, ~sample.kept)
    return FilterCheck(
        expected_random_pass=sample.screening.alpha,
        simulated_random_pass=random_pass.conversations,
        shuffled_ratings_pass=random_pass.ratings,
        random_p=random_pass.p,
        random_share=counts.random_share(),
        random_among_passed=counts.random_among_passed(),
        random_among_passed_bound=counts.random_among_passed_bound(),
        honest_pass=counts.honest_pass(),
        honest_among_failed=counts.honest_among_failed(),
        everyone=everyone,
        everyone_rho=spearman(z, z_everyone),
        everyone_r=pearson(z, z_everyone),
        failed_rho=spearman(z, z_failed),
        failed_r=pearson(z, z_failed),
        workers=describe_workers(sample),
        notes=_notes(sample.screening.alpha, counts, random_pass),
    )


def _tested(sample: Sample, seed: int) -> tuple[RandomPass, _Tested]:
    workers = sample.screening.workers
    p = workers["p"].to_numpy(np.float64)
    tested = workers["testable"].to_numpy(bool)
    constant = np.isfinite(p) & ~tested
    high = tested & (p > HALF)
    random_pass = simulate_random_workers(sample, high if high.sum() >= FEWEST_MODELS else tested, seed)
    counts = _Tested(
        tested=int(tested.sum()),
        passed=int(workers["passed"].sum()),
        high=int(high.sum()),
        constant=int(constant.sum()),
        random_pass=random_pass.conversations,
    )
    return random_pass, counts


def _share(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")


def _everyone(sample: Sample, scores: Scores) -> pd.DataFrame:
    table = pd.DataFrame({"system": scores.z["system"], "z": scores.z["overall"]})
    table["z_everyone"] = _means(sample, scores, np.ones(len(sample.workers), bool))
    for rank, z in (("rank", "z"), ("rank_everyone", "z_everyone")):
        table[rank] = table[z].rank(ascending=False, method="min")
    return table


def _means(sample: Sample, scores: Scores, rows: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the systems' overall z over those `rows` that have one, (S,), in the order of the scores."""
    overall = sample.overall["z"]
    used = rows & ~sample.is_qc & np.isfinite(overall)
    return group_means(overall[used], ranks_of(sample, scores)[sample.systems[used]], len(scores.z))


def _notes(alpha: float, counts: _Tested, random_pass: RandomPass) -> tuple[str, ...]:
    if not counts.tested:
        return ("No worker could be tested, so nothing can be said about the filter.",)
    of_random = (
        f"A worker who sets every slider at random passes with a probability of "
        f"{percent(random_pass.ratings)} (α = {alpha:g}). One who forms an opinion of each conversation that "
        f"has nothing to do with the bot passes with {percent(random_pass.conversations)}, because the "
        "ratings of a conversation hang together; the estimates use this figure."
    )
    honest_pass = counts.honest_pass()
    if not np.isfinite(honest_pass):
        return (of_random,)
    honest, failed = whole(counts.honest_failed), whole(counts.failed + counts.constant)
    of_honest = (
        f"Honest workers are estimated to pass {percent(honest_pass, 0)} of the time. Of the {failed} who "
        f"were tested and failed, about {honest} rated honestly without the test being able to tell: failing "
        "is no proof of bad work."
    )
    return of_random, of_honest
