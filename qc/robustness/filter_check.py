"""Check the worker filter: how many random workers pass it, and how it and its level α change the scores.

A *random* worker gives ratings that do not depend on the bot. For such workers the filter's p-value should be
uniform, so a share α of them should pass. Two quantities are estimated from the data:

- how often random workers really pass, by shuffling (`qc.robustness.shuffles`). A worker's ratings of one
  conversation are correlated, which the test ignores, so more than α of them pass;
- how many random workers there are, from the number of p-values above 1/2.

Source: Storey, *A direct approach to false discovery rates*, Journal of the Royal Statistical Society B 64,
2002, section 3. Honest workers rarely have p above λ, random workers have it with probability 1 - λ. We use λ
= 1/2, because this then holds even if p is only symmetric and not uniform, as with correlated ratings. The
solution of the equation can be impossible, mostly in a run of random workers; the estimate is then the
nearest possible value.

**Other levels α**: Ji et al., ACL 2022, the section on the influence of the filter's threshold. A worker's p
and z do not depend on α; α only decides whether the worker's conversations count.
"""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.method.filter import Screening
from qc.method.sample import Sample
from qc.method.scores import Scores, places, ranks_of, score
from qc.robustness.shuffles import RandomPass, describe_workers, simulate_random_workers
from qc.statistics.confidence import LEVEL
from qc.statistics.correlation import pearson, spearman
from qc.statistics.groups import group_means
from qc.statistics.resampling import generator, percentile_interval
from qc.table import percent, whole

HALF = 0.5
DRAWS = 4_000


@dataclass(frozen=True, slots=True)
class Share:
    """A share from 0 to 1, and the ends of its interval; NaN if the denominator is 0."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class RandomShares:
    """Shares among the T workers who were tested and have varying ratings, and the C with constant ratings.

    P of the T passed, F failed, and H have p above 1/2. g is the chance that a random worker passes. The
    estimated number of random workers among the T is N = min(H / (1 - 1/2), F / (1 - g), T). The second term
    is a limit because N (1 - g) random workers fail, and only F workers failed.

    Attributes:
        random: (N + C) / (T + C).
        among_passed: N g / P, at most 1.
        honest_pass: (P - N g) / (T - N), the share of honest workers who pass, from 0 to 1.
        honest_failed: F - N (1 - g), the number of honest workers who failed, at least 0.
        among_failed: share of `honest_failed` among all who failed, F + C.
    """

    random: Share
    among_passed: Share
    honest_pass: Share
    among_failed: Share
    honest_failed: float


@dataclass(frozen=True, slots=True)
class Screened:
    """Counts of the screening: T, P, H and C of `RandomShares`, and g."""

    tested: int
    passed: int
    high: int
    constant: int
    random_pass: float

    @property
    def failed(self) -> int:
        """F of `RandomShares`."""
        return self.tested - self.passed

    @property
    def most_among_passed(self) -> float:
        """N g / P, at most 1, if every worker who failed were random; NaN if nobody passed."""
        return float(_of(self.random_pass * _most(np.array([self.failed]), self), np.array([self.passed]))[0])


def random_shares(counts: Screened, seed: int) -> RandomShares:
    """Return the shares, with percentile intervals from DRAWS draws of T workers each.

    Args:
        counts: the counts of the run.
        seed: seed of the draws.

    The intervals ignore the uncertainty of g. A draw in which a share does not exist counts at both ends.
    """
    point = {name: float(value[0]) for name, value in _shares(counts, *_observed(counts)).items()}
    drawn = _shares(counts, *_drawn(counts, seed))
    return RandomShares(
        random=_with_interval("random", point, drawn),
        among_passed=_with_interval("among_passed", point, drawn),
        honest_pass=_with_interval("honest_pass", point, drawn),
        among_failed=_with_interval("among_failed", point, drawn),
        honest_failed=point["honest_failed"],
    )


_Counts = NDArray[np.int64]


def _observed(counts: Screened) -> tuple[_Counts, _Counts]:
    return np.array([counts.passed]), np.array([counts.high])


def _drawn(counts: Screened, seed: int) -> tuple[_Counts, _Counts]:
    """Return the numbers who passed, and who have p above 1/2, in draws of workers with replacement.

    If the level is above 1/2, a worker can count as both.
    """
    both = max(counts.passed + counts.high - counts.tested, 0)
    kinds = np.array([counts.passed - both, both, counts.high - both])
    rest = counts.tested - kinds.sum()
    rng = generator(seed, "workers for random shares")
    chances = np.append(kinds, rest) / max(counts.tested, 1)
    drawn = rng.multinomial(counts.tested, chances if counts.tested else [0, 0, 0, 1], DRAWS)
    return drawn[:, 0] + drawn[:, 1], drawn[:, 1] + drawn[:, 2]


def _shares(counts: Screened, passed: _Counts, high: _Counts) -> dict[str, NDArray[np.float64]]:
    """Return each share for D pairs of counts, (D,)."""
    failed = counts.tested - passed
    random = np.minimum(high / (1 - HALF), _most(failed, counts))
    honest = counts.tested - random
    honest_failed = np.maximum(failed - random * (1 - counts.random_pass), 0)
    return {
        "random": _of(random + counts.constant, np.full(len(passed), counts.tested + counts.constant)),
        "among_passed": _of(random * counts.random_pass, passed),
        "honest_pass": _of(passed - random * counts.random_pass, np.where(honest >= 1, honest, 0)),
        "among_failed": _of(honest_failed, failed + counts.constant),
        "honest_failed": honest_failed,
    }


def _most(failed: _Counts, counts: Screened) -> NDArray[np.float64]:
    """Return the largest possible number of random workers: min(F / (1 - g), T)."""
    if not counts.random_pass < 1:
        return np.full(len(failed), float(counts.tested))
    return np.minimum(failed / (1 - counts.random_pass), counts.tested)


def _of(part: NDArray[np.float64], whole: NDArray[np.float64] | _Counts) -> NDArray[np.float64]:
    """Return part / whole, limited to 0 to 1; NaN if whole is 0."""
    return np.clip(part / np.where(whole > 0, whole, np.nan), 0, 1)


def _with_interval(name: str, point: dict[str, float], drawn: dict[str, NDArray[np.float64]]) -> Share:
    if np.isnan(point[name]):
        return Share(point[name], np.nan, np.nan)
    known = drawn[name]
    low, _ = percentile_interval(np.nan_to_num(known, nan=0.0), LEVEL)
    _, high = percentile_interval(np.nan_to_num(known, nan=1.0), LEVEL)
    return Share(point[name], float(low), float(high))


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
        random_among_passed_bound: F / (1 - g) × g / P, at most 1: the same if every worker who failed is
            random, that is, if every honest worker passes. It bounds the expected share; chance can still
            let more random workers pass.
        honest_pass: share of honest workers who pass. Too high if honest workers have p above 1/2.
        honest_among_failed: share of honest workers among those who were tested and failed.
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
    random_share: Share
    random_among_passed: Share
    random_among_passed_bound: float
    honest_pass: Share
    honest_among_failed: Share
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
    shares = random_shares(counts, seed)
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
        random_among_passed_bound=counts.most_among_passed,
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
    honest_pass = shares.honest_pass
    if not np.isfinite(honest_pass.value):
        return (of_random,)
    honest, failed = whole(shares.honest_failed), whole(counts.failed + counts.constant)
    of_honest = (
        f"Honest workers are estimated to pass {percent(honest_pass.value, 0)} of the time "
        f"({percent(LEVEL, 0)} interval {percent(honest_pass.low, 0)} to {percent(honest_pass.high, 0)}). Of "
        f"the {failed} who were tested and failed, about {honest} rated honestly without the test being able "
        "to tell: failing is no proof of bad work."
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
