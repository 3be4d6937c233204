"""The verdict in three sentences: the ranking, the agreement of another run, the quality of the data.

`headlines` says it in plain words, for the top of the page. `verdict` adds the numbers.
"""

import math
from dataclasses import dataclass

import numpy as np

from qc.analysis import LAX, SAME_DATA, Analysis
from qc.method.replication import FEWEST_SYSTEMS as FEWEST_CORRELATED
from qc.method.replication import Replication
from qc.method.scores import Scores, leaders
from qc.robustness.filter_check import FilterCheck
from qc.robustness.forecast import ReplicationForecast
from qc.robustness.fragility import SMALL
from qc.robustness.intervals import Intervals, systems_alike
from qc.run import SIMULATED_NOTE
from qc.sections.systems.replication import same_conclusions
from qc.statistics.confidence import LEVEL
from qc.table import between, chance, decimal, listed, percent, whole
from qc.transcripts.controls import Controls

# Systems of a group that are named; the others are only counted.
NAMED_SYSTEMS = 6
# Largest bound of the share of random workers among those who passed at which data look sound.
FEW_RANDOM = 0.1
# Smallest share of workers who passed at which data look sound.
MOST_PASSED = 0.5
# Fewest workers who passed for a statement about the data: of fewer, the bound is above FEW_RANDOM even in a
# run without a p above 1/2.
FEWEST_WORKERS = 20
# Limits for the lower end of the interval of a correlation between runs.
HIGH_AGREEMENT = 0.9
FAIR_AGREEMENT = 0.7
# With fewer systems r is above FAIR_AGREEMENT by chance alone too often: in 15 of 100 runs with 4 of them.
FEWEST_SYSTEMS = 5

ALIKE = "All systems were rated alike, so nothing can be said about their order."
SIMULATED = "Every worker of this run is simulated: what follows says nothing about what people think."


@dataclass(frozen=True, slots=True)
class Verdict:
    """The main statements about a run.

    Attributes:
        warning: to read before any finding; None if there is none.
        findings: three sentences: on the ranking, on another run, on the data.
    """

    warning: str | None
    findings: tuple[str, str, str]

    @property
    def sentences(self) -> tuple[str, ...]:
        """The warning, if any, and the findings."""
        return self.findings if self.warning is None else (self.warning, *self.findings)


def verdict(analysis: Analysis) -> Verdict:
    """Return the verdict on a run; it warns if every worker is simulated."""
    return Verdict(
        warning=SIMULATED if SIMULATED_NOTE in analysis.run.notes else None,
        findings=(_ranking(analysis), _another_run(analysis), _data(analysis)),
    )


def headlines(analysis: Analysis) -> tuple[str, str, str]:
    """Return the findings of the verdict in plain words, without their numbers."""
    return _plain_ranking(analysis), _plain_other_run(analysis), _plain_data(analysis)


def _plain_ranking(analysis: Analysis) -> str:
    z = analysis.scores.z
    scored = z.loc[z["overall"].notna(), "system"].to_list()
    if not scored:
        return "No worker passed quality control, so the systems cannot be compared."
    if len(scored) == 1:
        return f"{scored[0]} is the only system with a score."
    if systems_alike(analysis.sample, analysis.scores):
        return ALIKE
    first, found = leaders(analysis.scores), analysis.intervals
    highest = _highest(first)
    if found is None or len(first) > 1:
        return f"{highest}."
    rivals = _rivals(first[0], scored, found)
    if not rivals:
        return f"{highest}, and the difference to every other system is significant."
    if len(rivals) == len(scored) - 1:
        return f"{highest}, but no other system is significantly worse."
    return f"{highest}, but {listed(rivals, NAMED_SYSTEMS)} may be as good."


def _plain_other_run(analysis: Analysis) -> str:
    replication = analysis.replication
    if SAME_DATA in analysis.notes:
        return SAME_DATA
    if replication is None and "forecast" not in analysis.options.sections:
        return "Whether a second run would agree was not computed."
    if replication is None:
        expectation = _expectation(analysis.forecast)
        if expectation is None and systems_alike(analysis.sample, analysis.scores):
            return "All systems were rated alike, so whether a second run would agree cannot be told."
        if expectation is None:
            return "This run is too small to tell whether a second one would agree."
        return f"The scores of a second run of this size with other workers {expectation} with these."
    if not math.isfinite(replication.z.pearson["overall"]):
        return "The second run cannot be compared with this one."
    return f"The second run {_agreement(replication, analysis)}."


def _plain_data(analysis: Analysis) -> str:
    workers, check = analysis.rates.workers, analysis.filter_check
    if not analysis.sample.screening.has_test:
        return f"{whole(workers.passed)} of {whole(workers.total)} workers count; none of them was tested."
    passed = f"{whole(workers.passed)} of {whole(workers.total)} workers passed quality control"
    if workers.passed < FEWEST_WORKERS:
        return f"{passed}, which are too few to judge the data."
    if check is None or not math.isfinite(check.random_among_passed_bound):
        return f"{passed}."
    at_random = whole(check.random_among_passed_bound * workers.passed)
    if _look_sound(analysis, check):
        return f"{passed}, and at most {at_random} of these rated at random."
    return f"{passed}, but up to {at_random} of these may have rated at random."


def _look_sound(analysis: Analysis, check: FilterCheck) -> bool:
    """Return whether few who passed can be random, at least half passed, and the filter is not lax."""
    return (
        check.random_among_passed_bound <= FEW_RANDOM
        and analysis.rates.workers.rate >= MOST_PASSED
        and analysis.sample.screening.alpha <= LAX
    )


def _ranking(analysis: Analysis) -> str:
    z = analysis.scores.z
    scored = z.loc[z["overall"].notna(), "system"].to_list()
    if not scored:
        return "No worker passed the filter, so nothing can be said about the systems."
    if len(scored) == 1:
        return f"{scored[0]} is the only system with a score, so there is nothing to rank it against."
    if systems_alike(analysis.sample, analysis.scores):
        return ALIKE
    if analysis.intervals is None:
        return f"{_highest(leaders(analysis.scores))}; how sure that is was not computed."
    said = f"{_lead(analysis.scores, analysis.intervals)}; {_apart(scored, analysis.intervals)}."
    return " ".join(filter(None, (said, _decided_by_few(analysis))))


def _decided_by_few(analysis: Analysis) -> str:
    """Return a sentence on small removals of workers that change the ranking; "" if there are none."""
    first, pairs = analysis.fragility, analysis.fragile_pairs
    changes = []
    if first is not None and first.share <= SMALL:
        changes.append((len(first.workers), f"{first.successor} would have the highest score"))
    if pairs is not None and pairs.pair is not None and pairs.is_small(pairs.pair):
        named = f"{pairs.pair.first} and {pairs.pair.second}"
        groups = ", and their groups would be one" if pairs.pair == pairs.border else ""
        changes.append((len(pairs.pair.workers), f"{named} would no longer be told apart{groups}"))
    if pairs is not None and pairs.border not in (None, pairs.pair) and pairs.is_small(pairs.border):
        named = f"{pairs.border.first} and {pairs.border.second}"
        changes.append((len(pairs.border.workers), f"{named} would be in one group"))
    if not changes:
        return ""
    of = f" of the {whole(analysis.rates.workers.passed)} workers who passed"
    (fewest, change), *others = changes
    clauses = [f"without {whole(fewest)}{of}, {change}"]
    clauses += [f"without {whole(number)}, {other}" for number, other in others]
    return f"Few workers decide this: {'; '.join(clauses)}."


def _lead(scores: Scores, intervals: Intervals) -> str:
    first, best = leaders(scores), float(scores.z["overall"].iloc[0])
    low, high = float(intervals.z_low[0, 0]), float(intervals.z_high[0, 0])
    highest = f"{_highest(first)} (z = {decimal(best, 2)}"
    chances = intervals.best_chance[: len(first)]
    if not np.isfinite([*intervals.z_low[: len(first), 0], *chances]).all():
        return f"{highest}), but how sure that is cannot be told"
    if len(first) > 1:
        each = listed(list(map(chance, chances.tolist())), NAMED_SYSTEMS)
        return f"{highest}; their chances to be the best are {each})"
    sure = f"{percent(intervals.level, 0)} interval {between(low, high, 2)}"
    return f"{highest}, {sure}; its chance to be the best is {chance(float(chances[0]))})"


def _highest(first: list[str]) -> str:
    """Return a clause on the systems with the highest score."""
    named = listed(first, NAMED_SYSTEMS)
    return f"{named} has the highest score" if len(first) == 1 else f"{named} share the highest score"


def _apart(scored: list[str], intervals: Intervals) -> str:
    """Return a clause on which systems are distinguished, for all pairs together."""
    of = len(scored) * (len(scored) - 1) // 2
    told = of - len(intervals.indistinct)
    if of == 1:
        return "the two can be told apart" if told else "with these data the order of the two is open"
    if not told:
        return f"no two of the {whole(len(scored))} systems can be told apart"
    counted = f"all pairs taken together, {whole(told)} of {whole(of)} can be told apart"
    if len(intervals.groups) > 1:
        groups = "; then ".join(listed(group, NAMED_SYSTEMS) for group in intervals.groups)
        return f"{counted}, which makes {whole(len(intervals.groups))} groups: {groups}"
    named = listed(_rivals(scored[0], scored, intervals), NAMED_SYSTEMS)
    return f"{counted}, but these make no groups: {named} may be as good as the first"


def _rivals(first: str, scored: list[str], intervals: Intervals) -> list[str]:
    """Return the systems that cannot be told apart from `first`, best first."""
    rivals = {name for pair in intervals.indistinct if first in pair for name in pair} - {first}
    return [system for system in scored if system in rivals]


def _another_run(analysis: Analysis) -> str:
    replication, foreseen = analysis.replication, analysis.forecast
    if SAME_DATA in analysis.notes:
        return SAME_DATA
    if replication is None and "forecast" not in analysis.options.sections:
        return "Whether a second run would agree was not computed."
    if replication is None:
        return _foreseen(foreseen, analysis)
    return _replicated(replication, foreseen, analysis)


def _foreseen(forecast: ReplicationForecast | None, analysis: Analysis) -> str:
    expectation = _expectation(forecast)
    if forecast is None or expectation is None:
        alike = systems_alike(analysis.sample, analysis.scores)
        why = "all systems were rated alike" if alike else "it is too small"
        return f"Whether a second run would agree cannot be told from this one: {why}."
    return (
        f"A second run of the same size with fresh workers {expectation}: its overall scores are forecast to "
        f"correlate with these at r = {decimal(forecast.r)} ({percent(forecast.level, 0)} interval "
        f"{between(forecast.low, forecast.high)})."
    )


def _expectation(forecast: ReplicationForecast | None) -> str | None:
    """Return a verb for whether a second run would agree; None if that cannot be told."""
    if forecast is None or not math.isfinite(forecast.low):
        return None
    if forecast.low >= HIGH_AGREEMENT:
        return "would very likely agree"
    if forecast.low >= FAIR_AGREEMENT:
        return "would probably agree in the main"
    return "might well disagree"


def _replicated(replication: Replication, forecast: ReplicationForecast | None, analysis: Analysis) -> str:
    r = replication.z.pearson["overall"]
    same_name = replication.name == analysis.run.name
    named = "The second run" if same_name else f"The second run, {replication.name},"
    pairs = same_conclusions(replication.same_conclusions)
    if not math.isfinite(r):
        return f"{named} cannot be correlated with this one, since {_uncorrelated(replication)}; {pairs}."
    ends = replication.overall_interval
    known = f"r = {decimal(r)}"
    if math.isfinite(ends.low):
        sure = f"{percent(LEVEL, 0)} interval {between(ends.low, ends.high)}"
        known = f"{known} ({sure}{_against(forecast, r)})"
    outcome = _agreement(replication, analysis)
    return f"{named} {outcome}: the overall scores correlate at {known}, and {pairs}."


def _uncorrelated(replication: Replication) -> str:
    count = len(replication.systems)
    if count >= FEWEST_CORRELATED:
        return "in one of them all systems have the same overall score"
    if count == 0:
        return "no system has a score in both"
    return f"only {'1 system has' if count == 1 else f'{whole(count)} systems have'} a score in both"


def _agreement(replication: Replication, analysis: Analysis) -> str:
    """Return a verb for whether a second run agrees, or the reason why that is unknown."""
    count, ends = len(replication.systems), replication.overall_interval
    if count < FEWEST_SYSTEMS:
        return f"can be compared on {whole(count)} systems only, too few to tell whether it agrees"
    found = analysis.intervals
    if found is not None and not (found.simultaneous_low > 0).any():
        return "cannot be said to agree or not, since this run tells no two systems apart"
    if ends.low >= HIGH_AGREEMENT:
        return "agrees closely"
    if ends.low >= FAIR_AGREEMENT:
        return "agrees"
    return "does not agree" if ends.high < FAIR_AGREEMENT else "may agree or not"


def _against(forecast: ReplicationForecast | None, r: float) -> str:
    """Return a clause on where r lies relative to the forecast; "" without a forecast."""
    if forecast is None or not math.isfinite(forecast.low):
        return ""
    where = "within" if forecast.low <= r <= forecast.high else "below" if r < forecast.low else "above"
    return f"; {where} the {between(forecast.low, forecast.high)} that this run alone foretells"


def _data(analysis: Analysis) -> str:
    workers, check = analysis.rates.workers, analysis.filter_check
    if not analysis.sample.screening.has_test:
        return (
            f"{whole(workers.passed)} of {whole(workers.total)} workers count; none of them was tested, "
            "because no item had a bad twin."
        )
    passed = f"{whole(workers.passed)} of {whole(workers.total)} workers passed the filter"
    if analysis.transcripts is not None and workers.passed:
        return f"{passed} ({percent(workers.rate)}); {_controlled(analysis.transcripts.controls)}."
    if workers.passed < FEWEST_WORKERS:
        return f"There are too few workers to judge the data: {passed}."
    passed = f"{passed} ({percent(workers.rate)})"
    if check is None or not math.isfinite(check.random_among_passed_bound):
        return f"{passed}; how many of them rated at random was not estimated."
    bound = check.random_among_passed_bound
    trust = "The data look sound" if _look_sound(analysis, check) else "The data call for caution"
    return (
        f"{trust}: {passed}, and at most {whole(bound * workers.passed)} of those who passed "
        f"({percent(bound)}) rated at random ({percent(LEVEL, 0)} confidence)."
    )


def _controlled(controls: Controls) -> str:
    """Return a clause on the distance of control items from ordinary ones, for workers who passed."""
    rows = controls.table[controls.table["group"] == "passed"].set_index("kind")["difference"]
    named = (("bad", "bad twins", -1, "lower"), ("reference", "references", 1, "higher"))
    distances = [
        f"{what} {decimal(sign * float(rows[kind]), 1)} points {side}"
        for kind, what, sign, side in named
        if kind in rows and math.isfinite(rows[kind])
    ]
    if not distances:
        return "what they rated tells nothing of control items"
    return f"on average they rated {' and '.join(distances)} than ordinary items"
