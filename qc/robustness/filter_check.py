"""Check the worker filter: how many random workers pass it, and how it and its level α change the scores.

A *random* worker gives ratings that do not depend on the bot. For such workers the filter's p-value should be
uniform, so a share α of them should pass. Three quantities come from the data:

- how often random workers really pass, by shuffling (`qc.robustness.shuffles`). A worker's ratings of one
  conversation are correlated, which the test ignores, so more than α of them pass;
- how many random workers there are, estimated from the number of p-values above 1/2;
- how many of those who passed are random at most (`most_at_random`).

**The estimates** have no interval: percentiles of workers drawn anew held the truth in 33 to 100 % of runs.
Source: Storey, *A direct approach to false discovery rates*, Journal of the Royal Statistical Society B 64,
2002, section 3. Honest workers rarely have p above λ, random workers have it with probability 1 - λ. We use λ
= 1/2, because this then holds even if p is only symmetric and not uniform, as with correlated ratings. The
solution of the equation can be impossible, mostly in a run of random workers; the estimate is then the
nearest possible value.

**The bound.** Let ρ be the chance of a random worker to pass over their chance to have p above 1/2. Of the
random workers who do either, a share 1 / (1 + ρ) have p above 1/2. So if k of those who passed were random,
the H workers with p above 1/2 would be so few with probability P(Binomial(k + H, 1 / (1 + ρ)) ≤ H) =
I_q(k, H + 1), where q = ρ / (1 + ρ). The bound is the largest k for which this is not improbable. It does not
need the number of random workers, and honest workers with p above 1/2 only raise it. Source: Thatcher,
*Relationships between Bayesian and confidence limits for predictions*, Journal of the Royal Statistical
Society B 26, 1964. `benchmarks/qc_truth.py --part random` prints how often it holds.

**Other levels α**: Ji et al., ACL 2022, the section on the influence of the filter's threshold. A worker's p
and z do not depend on α; α only decides whether the worker's conversations count.
"""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import betainc, gammaincinv

from qc.method.filter import Screening
from qc.method.sample import Sample
from qc.method.scores import Scores, places, ranks_of, score
from qc.robustness.shuffles import (
    FEWEST_SHUFFLES,
    HALF,
    RandomPass,
    describe_workers,
    simulate_random_workers,
)
from qc.statistics.confidence import LEVEL
from qc.statistics.correlation import pearson, spearman
from qc.statistics.groups import group_means
from qc.table import percent, whole

# Values of ρ by which its uncertainty is represented, as likely as one another.
RATIOS = 50


@dataclass(frozen=True, slots=True)
class RandomShares:
    """Shares among the T workers who were tested and have varying ratings, and the C with constant ratings.

    P of the T passed, F failed, and H have p above 1/2. g is the chance that a random worker passes. The
    estimated number of random workers among the T is N = min(H / (1 - 1/2), F / (1 - g), T). The second term
    is a limit because N (1 - g) random workers fail, and only F workers failed. A share is NaN if its
    denominator is 0.

    Attributes:
        random: (N + C) / (T + C).
        among_passed: N g / P, at most 1.
        honest_pass: (P - N g) / (T - N), the share of honest workers who pass, from 0 to 1; NaN if T - N is
            less than 1.
        among_failed: share of `honest_failed` among all who failed, F + C.
        honest_failed: F - N (1 - g), the number of honest workers who failed, at least 0.
    """

    random: float
    among_passed: float
    honest_pass: float
    among_failed: float
    honest_failed: float


@dataclass(frozen=True, slots=True)
class Screened:
    """Counts of the screening: T, P, H and C of `RandomShares`, and g."""

    tested: int
    passed: int
    high: int
    constant: int
    random_pass: float


def random_shares(counts: Screened) -> RandomShares:
    """Return the estimated shares."""
    g, failed = counts.random_pass, counts.tested - counts.passed
    most = failed / (1 - g) if g < 1 else np.inf
    random = float(np.minimum(counts.high / (1 - HALF), np.minimum(most, counts.tested)))
    honest = counts.tested - random
    honest_failed = float(np.maximum(failed - random * (1 - g), 0))
    return RandomShares(
        random=_of(random + counts.constant, counts.tested + counts.constant),
        among_passed=_of(random * g, counts.passed),
        honest_pass=_of(counts.passed - random * g, honest if honest >= 1 else 0),
        among_failed=_of(honest_failed, failed + counts.constant),
        honest_failed=honest_failed,
    )


def _of(part: float, whole: float) -> float:
    """Return part / whole, limited to 0 to 1; NaN if whole is 0."""
    return float(np.clip(part / whole, 0, 1)) if whole > 0 else float("nan")


@dataclass(frozen=True, slots=True)
class PassesPerHigh:
    """ρ of the bound, with its standard error."""

    ratio: float
    error: float

    def drawn(self) -> NDArray[np.float64]:
        """Return RATIOS equally likely values of ρ, from a gamma distribution."""
        if not (self.error > 0 and self.ratio > 0):
            return np.array([self.ratio])
        shape = (self.ratio / self.error) ** 2
        middles = (np.arange(RATIOS) + 0.5) / RATIOS
        return np.asarray(gammaincinv(shape, middles) * self.ratio / shape, np.float64)


def most_at_random(passed: int, high: int, per_high: PassesPerHigh) -> int:
    """Return the largest number of random workers among the `passed`, at least 1; `high` is H.

    It is exceeded with a probability of (1 - LEVEL) / 2 at most if ρ is as `per_high` has it. It is stated
    with LEVEL all the same, because ρ is taken from workers who need not be random.
    """
    q = 1 - 1 / (1 + per_high.drawn())
    chances = betainc(np.arange(1, passed + 1)[:, None], high + 1, q).mean(axis=1)
    return min(max(int((chances > (1 - LEVEL) / 2).sum()), 1), passed)


FEWEST_MODELS = 10


@dataclass(frozen=True)
class FilterCheck:
    """Pass rates of random and honest workers, and scores without the filter; shares are from 0 to 1.

    Workers without p are left out: they fail, and nothing is known about them. A worker who rates every
    conversation the same counts as random, and never passes. T, F, P, N and g are defined in `RandomShares`;
    g is `simulated_random_pass`.

    Attributes:
        expected_random_pass: α, the share of random workers who pass if all ratings are independent.
        simulated_random_pass: the share of random workers who pass if whole conversations are shuffled. They
            are made from workers with p above 1/2, who are mostly random; if these are fewer than 10, from
            all T, which is too cautious.
        simulated_random_pass_error: its standard error, over the workers that the simulation is made from.
        shuffled_ratings_pass: the same if all ratings are shuffled: about α.
        random_p: (2000,) or fewer, ascending: p-values of the simulated workers. The expected number of
            random workers in a range of p is `random_share` × (number of workers with p) × (share of
            `random_p` in that range).
        random_share: estimated share of random workers among all who were tested.
        random_among_passed: the same among those who passed.
        random_among_passed_bound: the share of those who passed that is random at most, with LEVEL: see
            `most_at_random`. 1 if α is above 1/2.
        honest_pass: estimated share of honest workers who pass. Too high if honest workers have p above 1/2.
        honest_among_failed: estimated share of honest workers among those who were tested and failed.
        everyone: `system`, `z`, `z_everyone` (without the filter; only workers without variance are dropped,
            because they have no z), `rank`, `rank_everyone` (1 is best, ties share the best rank); in the
            order of the scores; NaN for a system without conversations.
        everyone_rho, everyone_r: Spearman's ρ and Pearson's r of the two z; NaN with fewer than 3 systems.
            High by construction, because most workers passed.
        failed_rho, failed_r: of `z` with the overall z of only the workers who failed, who share no rating
            with those who passed; NaN with fewer than 3 systems that both rated.
        workers: a row for each worker, see `qc.robustness.shuffles`.
        notes: the findings in sentences.

    All shares but α are NaN if no worker with varying ratings was tested. The shares among the passed are NaN
    if nobody passed. `honest_pass` is NaN if there is less than one honest worker.
    """

    expected_random_pass: float
    simulated_random_pass: float
    simulated_random_pass_error: float
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


def check_filter(sample: Sample, scores: Scores, seed: int) -> FilterCheck:
    """Check how well the filter works in this run."""
    random_pass, counts = _tested(sample, seed)
    shares = random_shares(counts)
    everyone = _everyone(sample, scores)
    z, z_everyone = everyone["z"].to_numpy(np.float64), everyone["z_everyone"].to_numpy(np.float64)
    z_failed = _means(sample, scores, ~sample.kept)
    return FilterCheck(
        expected_random_pass=sample.screening.alpha,
        simulated_random_pass=random_pass.conversations,
        simulated_random_pass_error=random_pass.error,
        shuffled_ratings_pass=random_pass.ratings,
        random_p=random_pass.p,
        random_share=shares.random,
        random_among_passed=shares.among_passed,
        random_among_passed_bound=_bound(sample.screening.alpha, counts, random_pass),
        honest_pass=shares.honest_pass,
        honest_among_failed=shares.among_failed,
        everyone=everyone,
        everyone_rho=spearman(z, z_everyone),
        everyone_r=pearson(z, z_everyone),
        failed_rho=spearman(z, z_failed),
        failed_r=pearson(z, z_failed),
        workers=describe_workers(sample),
        notes=_notes(sample.screening.alpha, counts, shares, random_pass),
    )


def _tested(sample: Sample, seed: int) -> tuple[RandomPass, Screened]:
    workers = sample.screening.workers
    p = workers["p"].to_numpy(np.float64)
    tested = workers["testable"].to_numpy(bool)
    constant = np.isfinite(p) & ~tested
    high = tested & (p > HALF)
    random_pass = simulate_random_workers(sample, high if high.sum() >= FEWEST_MODELS else tested, seed)
    counts = Screened(
        tested=int(tested.sum()),
        passed=int(workers["passed"].sum()),
        high=int(high.sum()),
        constant=int(constant.sum()),
        random_pass=random_pass.conversations,
    )
    return random_pass, counts


def _bound(alpha: float, counts: Screened, random_pass: RandomPass) -> float:
    if alpha > HALF or not counts.passed:
        return 1.0 if counts.passed else float("nan")
    per_high = _passes_per_high(random_pass, of_high=counts.high >= FEWEST_MODELS)
    return most_at_random(counts.passed, counts.high, per_high) / counts.passed


def _passes_per_high(random_pass: RandomPass, *, of_high: bool) -> PassesPerHigh:
    """Return ρ; `of_high` says whether the models were chosen for their p above 1/2.

    If they were, a worker is among them the more likely, the more often their p is above 1/2, so that each
    counts with one over how often it is.
    """
    passed, high = random_pass.by_model, random_pass.high_by_model
    if not high.any():
        return PassesPerHigh(np.inf, 0.0)
    # A share estimated as 0 would weigh infinitely.
    weights = 1 / np.maximum(high, 1 / FEWEST_SHUFFLES) if of_high else np.ones(len(high))
    ratio = float((weights * passed).sum() / (weights * high).sum())
    spread = weights * (passed - ratio * high) / (weights * high).mean()
    error = float(spread.std(ddof=1) / np.sqrt(len(spread))) if len(spread) > 1 else 0.0
    return PassesPerHigh(ratio, error)


def _everyone(sample: Sample, scores: Scores) -> pd.DataFrame:
    table = pd.DataFrame({"system": scores.z["system"], "z": scores.z["overall"]})
    table["z_everyone"] = _means(sample, scores, np.ones(len(sample.workers), bool))
    for rank, z in (("rank", "z"), ("rank_everyone", "z_everyone")):
        table[rank] = places(table[z].to_numpy(np.float64))
    return table


def _means(sample: Sample, scores: Scores, rows: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the systems' overall z over those of `rows` with a z, (S,), in the order of the scores."""
    overall = sample.overall["z"]
    used = rows & sample.competes & np.isfinite(overall)
    return group_means(overall[used], ranks_of(sample, scores)[sample.systems[used]], len(scores.z))


def _notes(alpha: float, counts: Screened, shares: RandomShares, random_pass: RandomPass) -> tuple[str, ...]:
    if not counts.tested:
        return ("No worker could be tested, so nothing can be said about the filter.",)
    of_random = (
        f"A worker who sets every slider at random passes with a probability of "
        f"{percent(random_pass.ratings)} (α = {alpha:g}). One who forms an opinion of each conversation that "
        f"has nothing to do with the bot passes with {_with_error(random_pass)}, because the ratings of a "
        "conversation hang together; the estimates use this figure."
    )
    if not np.isfinite(shares.honest_pass):
        return (of_random,)
    honest, failed = whole(shares.honest_failed), whole(counts.tested - counts.passed + counts.constant)
    of_honest = (
        f"Honest workers are estimated to pass {percent(shares.honest_pass, 0)} of the time. Of the {failed} "
        f"who were tested and failed, about {honest} rated honestly without the test being able to tell: "
        "failing is no proof of bad work."
    )
    return of_random, of_honest


def _with_error(random_pass: RandomPass) -> str:
    if not np.isfinite(random_pass.error):
        return f"about {percent(random_pass.conversations, 0)}"
    return f"{percent(random_pass.conversations, 0)} (standard error {percent(random_pass.error, 0)})"


LEVELS = tuple(percent / 100 for percent in range(1, 11))


@dataclass(frozen=True)
class AlphaLevel:
    """The results at one level.

    Attributes:
        alpha: the level; a worker passes with p below it.
        workers: number of workers who pass.
        conversations: number of their conversations with the systems.
        z: (S,), overall z scores; NaN for a system without a conversation.
        ranking_rho: Spearman's ρ with the overall z scores at the chosen α; NaN with fewer than 3 systems.
        replication_r: Pearson's r with the second run's overall z scores at this same level; NaN without
            a second run, or with fewer than 3 systems in common.
    """

    alpha: float
    workers: int
    conversations: int
    z: NDArray[np.float64]
    ranking_rho: float
    replication_r: float


@dataclass(frozen=True)
class AlphaInfluence:
    """The results at the levels 0.01 to 0.10; `systems` is the order of every level's `z`."""

    systems: tuple[str, ...]
    levels: tuple[AlphaLevel, ...]


def alpha_influence(sample: Sample, scores: Scores, other: Sample | None) -> AlphaInfluence:
    """Return the results of `sample` at each level, and its agreement with `other`, a second run, if given.

    As in the replication, the correlation uses only systems and criteria that both runs have.
    """
    systems = tuple(scores.z["system"])
    chosen = scores.z["overall"].to_numpy(np.float64)
    labels = sample.run.criteria["label"].to_list()
    z, conversations = _by_level(sample, systems, labels)
    replication = _replication(sample, other, systems, labels)
    workers = np.bincount(_first_level(sample), minlength=len(LEVELS) + 1).cumsum()
    return AlphaInfluence(
        systems,
        tuple(
            AlphaLevel(
                alpha=alpha,
                workers=int(workers[level]),
                conversations=int(conversations[level]),
                z=z[level],
                ranking_rho=spearman(chosen, z[level]),
                replication_r=replication[level],
            )
            for level, alpha in enumerate(LEVELS)
        ),
    )


def _first_level(sample: Sample) -> NDArray[np.intp]:
    """Return the index of the lowest level at which each worker passes; the number of levels if none."""
    table = sample.screening.workers
    p = np.where(table["testable"], table["p"], np.nan)
    return np.searchsorted(LEVELS, p, side="right")


def _by_level(
    sample: Sample, systems: tuple[str, ...], labels: list[str]
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return the overall z of `systems` over `labels`, (levels, S), and the conversations, (levels,)."""
    if sample.items is not None:
        return _rescored(sample, systems, labels)
    first, own = _first_level(sample)[sample.workers], sample.run.systems["system"].to_list()
    rows = sample.competes & (first < len(LEVELS))
    columns = [sample.run.criteria["label"].to_list().index(label) for label in labels]
    overall = np.take(sample.z[rows], columns, axis=1).mean(axis=1)
    shape = (len(LEVELS), len(own))
    cells = first[rows] * shape[1] + sample.systems[rows]
    # A worker who passes at one level passes at every higher level.
    counts = np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape).cumsum(axis=0)
    sums = np.bincount(cells, weights=overall, minlength=shape[0] * shape[1]).reshape(shape).cumsum(axis=0)
    means = sums / np.where(counts > 0, counts, np.nan)
    return means[:, [own.index(system) for system in systems]], counts.sum(axis=1)


def _rescored(
    sample: Sample, systems: tuple[str, ...], labels: list[str]
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Do the same for a run of transcripts, where a judgment's weight depends on which others pass."""
    first, table = _first_level(sample), sample.screening.workers
    z, judgments = np.full((len(LEVELS), len(systems)), np.nan), np.zeros(len(LEVELS), np.intp)
    for level, alpha in enumerate(LEVELS):
        screening = Screening(alpha, table.assign(passed=first <= level))
        at_level = replace(sample, screening=screening)
        scores = score(at_level).z.set_index("system").loc[list(systems), labels]
        z[level], judgments[level] = scores.mean(axis=1), at_level.counted.sum()
    return z, judgments


def _replication(
    sample: Sample, other: Sample | None, systems: tuple[str, ...], labels: list[str]
) -> list[float]:
    """Return Pearson's r between the overall z scores of the two runs at each level."""
    if other is None:
        return [np.nan] * len(LEVELS)
    there = set(other.run.systems.loc[other.run.competing, "system"])
    systems = tuple(system for system in systems if system in there)
    labels = [label for label in labels if label in set(other.run.criteria["label"])]
    if not systems or not labels:
        return [np.nan] * len(LEVELS)
    first, second = (_by_level(run, systems, labels)[0] for run in (sample, other))
    return [pearson(*pair) for pair in zip(first, second, strict=True)]
