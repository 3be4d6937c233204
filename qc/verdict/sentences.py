"""The verdict in three sentences: who leads, whether another run would agree, whether the data are good."""

import math
from typing import Protocol

from qc.method.pass_rate import PassRates
from qc.method.replication import Replication
from qc.method.sample import Sample
from qc.method.scores import Scores
from qc.run import SIMULATED_NOTE, Run
from qc.verdict.filter_check import FilterCheck
from qc.verdict.forecast import Forecast
from qc.verdict.intervals import Intervals
from qc.verdict.numerals import between, decimal, listed, percent

NAMED_PAIRS = 4
FEW_RANDOM = 0.1
HIGH_AGREEMENT = 0.9
FAIR_AGREEMENT = 0.7

SIMULATED = "Every worker of this run is simulated: what follows says nothing about what people think."


class Results(Protocol):
    """What the verdict is drawn from: an analysis."""

    @property
    def run(self) -> Run: ...  # noqa: D102
    @property
    def sample(self) -> Sample: ...  # noqa: D102
    @property
    def rates(self) -> PassRates: ...  # noqa: D102
    @property
    def scores(self) -> Scores: ...  # noqa: D102
    @property
    def intervals(self) -> Intervals | None: ...  # noqa: D102
    @property
    def forecast(self) -> Forecast | None: ...  # noqa: D102
    @property
    def replication(self) -> Replication | None: ...  # noqa: D102
    @property
    def filter_check(self) -> FilterCheck | None: ...  # noqa: D102


def verdict(results: Results) -> tuple[str, ...]:
    """Return what to say of the ranking, of another run, of the data; first a warning if all is simulated."""
    warning = (SIMULATED,) if SIMULATED_NOTE in results.run.notes else ()
    return (*warning, _ranking(results), _another_run(results), _data(results))


def _ranking(results: Results) -> str:
    z = results.scores.z
    scored = z.loc[z["overall"].notna(), "system"].to_list()
    if not scored:
        return "No worker passed the filter, so nothing can be said about the systems."
    if len(scored) == 1:
        return f"{scored[0]} is the only system with a score, so there is nothing to rank it against."
    if results.intervals is None:
        return f"{scored[0]} has the highest score; how sure that is was not computed."
    return f"{_lead(results.scores, results.intervals)}; {_indistinct(scored, results.intervals)}."


def _lead(scores: Scores, intervals: Intervals) -> str:
    leader, best = scores.z["system"].iloc[0], float(scores.z["overall"].iloc[0])
    place = intervals.systems.index(leader)
    low, high = float(intervals.z_low[place, 0]), float(intervals.z_high[place, 0])
    said = f"z = {decimal(best, 2)}, {percent(intervals.level, 0)} interval {between(low, high, 2)}"
    first = (
        f"comes first in {percent(float(intervals.best_chance[place]), 0)} of the resamples of the workers"
    )
    rivals = {name for pair in intervals.indistinct if leader in pair for name in pair} - {leader}
    if rivals:
        ranked = [system for system in scores.z["system"] if system in rivals]
        return (
            f"{leader} has the highest score ({said}) and {first}, but {listed(ranked)} cannot be told apart "
            "from it"
        )
    return f"{leader} leads every other system clearly ({said}) and {first}"


def _indistinct(scored: list[str], intervals: Intervals) -> str:
    pairs = [pair for pair in intervals.indistinct if set(pair) <= set(scored)]
    of = len(scored) * (len(scored) - 1) // 2
    if of == 1:
        return "with these data the order of the two is open" if pairs else "there is no third system"
    if not pairs:
        return f"all {of} pairs of systems can be told apart"
    named = listed([f"{first} from {second}" for first, second in pairs], NAMED_PAIRS)
    which = f": {named}" if len(pairs) <= NAMED_PAIRS else ""
    return f"of {of} pairs of systems, {len(pairs)} cannot be told apart{which}"


def _another_run(results: Results) -> str:
    replication, foreseen = results.replication, results.forecast
    if replication is None:
        return _foreseen(foreseen)
    return _replicated(replication, foreseen, results.run.name)


def _foreseen(forecast: Forecast | None) -> str:
    if forecast is None or not math.isfinite(forecast.low):
        return "Whether a second run would agree was not computed, or the run is too small to tell."
    if forecast.low >= HIGH_AGREEMENT:
        expectation = "would very likely agree"
    elif forecast.low >= FAIR_AGREEMENT:
        expectation = "would probably agree in the main"
    else:
        expectation = "might well disagree"
    return (
        f"A second run of the same size with fresh workers {expectation}: its overall scores are forecast to "
        f"correlate with these at r = {decimal(forecast.r)} ({percent(forecast.level, 0)} interval "
        f"{between(forecast.low, forecast.high)})."
    )


def _replicated(replication: Replication, forecast: Forecast | None, first: str) -> str:
    r, same = replication.z.pearson["overall"], replication.same_conclusions
    named = "The second run" if replication.name == first else f"The second run, {replication.name},"
    pairs = f"for {same.n} of {same.of} pairs of systems both draw the same conclusion"
    if not math.isfinite(r):
        return f"{named} has too few systems in common with this one for a correlation; {pairs}."
    if r >= HIGH_AGREEMENT:
        outcome = "agrees"
    elif r >= FAIR_AGREEMENT:
        outcome = "agrees in the main"
    else:
        outcome = "does not agree"
    foreseen = f"; from this run alone r = {decimal(forecast.r)} was forecast" if forecast else ""
    return f"{named} {outcome}: the overall scores correlate at r = {decimal(r)}, and {pairs}{foreseen}."


def _data(results: Results) -> str:
    workers, check = results.rates.workers, results.filter_check
    passed = f"{workers.passed:,} of {workers.total:,} workers passed the filter ({percent(workers.rate)})"
    if check is None or not math.isfinite(check.random_among_passed_bound):
        alpha = percent(results.sample.screening.alpha, 0)
        return f"{passed}; how many of them rate at random is not known (of all who do, about {alpha} pass)."
    share, bound = check.random_among_passed, check.random_among_passed_bound
    trust = "The data look sound" if bound <= FEW_RANDOM else "The data call for caution"
    return (
        f"{trust}: {passed}, and of those who passed about {percent(share)}, hardly more than "
        f"{percent(bound)}, are estimated to have rated at random."
    )
