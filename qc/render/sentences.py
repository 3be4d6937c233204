"""The verdict in three sentences: who leads, whether another run would agree, whether the data are good."""

import math
from dataclasses import dataclass

from qc.analysis import SAME_DATA, Analysis
from qc.method.replication import Replication, SameConclusions
from qc.method.scores import Scores
from qc.number_format import between, decimal, listed, percent, whole
from qc.robustness.forecast import Forecast
from qc.robustness.intervals import Intervals
from qc.run import SIMULATED_NOTE
from qc.statistics.confidence import LEVEL
from qc.transcripts.controls import Controls

NAMED_PAIRS = 4
# Of those who passed, the share of random workers at which data still look sound.
FEW_RANDOM = 0.1
# Workers who passed below which nothing is said of the data.
FEWEST_WORKERS = 12
# Correlations between runs, of a forecast the lower end of its interval.
HIGH_AGREEMENT = 0.9
FAIR_AGREEMENT = 0.7

SIMULATED = "Every worker of this run is simulated: what follows says nothing about what people think."


@dataclass(frozen=True, slots=True)
class Verdict:
    """What to say first of a run.

    Attributes:
        warning: what to know before any finding; None if nothing is amiss.
        findings: three sentences: of the ranking, of another run, of the data.
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


def _ranking(analysis: Analysis) -> str:
    z = analysis.scores.z
    scored = z.loc[z["overall"].notna(), "system"].to_list()
    if not scored:
        return "No worker passed the filter, so nothing can be said about the systems."
    if len(scored) == 1:
        return f"{scored[0]} is the only system with a score, so there is nothing to rank it against."
    if analysis.intervals is None:
        return f"{scored[0]} has the highest score; how sure that is was not computed."
    return f"{_lead(analysis.scores, analysis.intervals)}; {_apart(scored, analysis.intervals)}."


def _lead(scores: Scores, intervals: Intervals) -> str:
    leader, best = scores.z["system"].iloc[0], float(scores.z["overall"].iloc[0])
    rank = intervals.systems.index(leader)
    low, high = float(intervals.z_low[rank, 0]), float(intervals.z_high[rank, 0])
    highest = f"{leader} has the highest score (z = {decimal(best, 2)}"
    if not math.isfinite(low):
        return f"{highest}), but a single worker rated it, which does not tell how sure that is"
    return (
        f"{highest}, {percent(intervals.level, 0)} interval {between(low, high, 2)}) and comes first in "
        f"{percent(float(intervals.best_chance[rank]), 0)} of the resamples of the workers"
    )


def _apart(scored: list[str], intervals: Intervals) -> str:
    """Return which systems can be told apart by the interval of their difference, each pair for itself."""
    pairs = [pair for pair in intervals.indistinct if set(pair) <= set(scored)]
    of = len(scored) * (len(scored) - 1) // 2
    if of == 1:
        return "with these data the order of the two is open" if pairs else "the two can be told apart"
    alone = "each pair of systems looked at alone"
    if not pairs:
        return f"{alone}, all {whole(of)} pairs can be told apart"
    rivals = {name for pair in pairs if scored[0] in pair for name in pair} - {scored[0]}
    leads = (
        f"{listed([system for system in scored if system in rivals])} cannot be told apart from it"
        if rivals
        else "it can be told apart from every other"
    )
    named = listed([f"{first} from {second}" for first, second in pairs], NAMED_PAIRS)
    which = f": {named}" if len(pairs) <= NAMED_PAIRS else ""
    return f"{alone}, {leads}, and {whole(len(pairs))} of {whole(of)} pairs cannot be told apart{which}"


def _another_run(analysis: Analysis) -> str:
    replication, foreseen = analysis.replication, analysis.forecast
    if SAME_DATA in analysis.notes:
        return SAME_DATA
    if replication is None and "forecast" not in analysis.options.sections:
        return "Whether a second run would agree was not computed."
    if replication is None:
        return _foreseen(foreseen)
    return _replicated(replication, foreseen, analysis.run.name)


def _foreseen(forecast: Forecast | None) -> str:
    if forecast is None or not math.isfinite(forecast.low):
        return "Whether a second run would agree cannot be told from this one: it is too small."
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
    r = replication.z.pearson["overall"]
    named = "The second run" if replication.name == first else f"The second run, {replication.name},"
    pairs = same_conclusions(replication.same_conclusions)
    if not math.isfinite(r):
        return f"{named} has too few systems in common with this one for a correlation; {pairs}."
    if r >= HIGH_AGREEMENT:
        outcome = "agrees"
    elif r >= FAIR_AGREEMENT:
        outcome = "agrees in the main"
    else:
        outcome = "does not agree"
    known = forecast is not None and math.isfinite(forecast.r)
    foreseen = f"; from this run alone r = {decimal(forecast.r)} was forecast" if forecast and known else ""
    return f"{named} {outcome}: the overall scores correlate at r = {decimal(r)}, and {pairs}{foreseen}."


def same_conclusions(same: SameConclusions) -> str:
    """Return on how many pairs two runs agree, as a clause."""
    if same.of == 0:
        return "no pair of systems can be compared in both"
    return f"for {whole(same.n)} of {whole(same.of)} pairs of systems both draw the same conclusion"


def _data(analysis: Analysis) -> str:
    workers, check = analysis.rates.workers, analysis.filter_check
    passed = f"{whole(workers.passed)} of {whole(workers.total)} workers passed the filter"
    if workers.passed < FEWEST_WORKERS:
        return f"There are too few workers to judge the data: {passed}."
    passed = f"{passed} ({percent(workers.rate)})"
    if analysis.transcripts is not None:
        return f"{passed}; {_controlled(analysis.transcripts.controls)}."
    if check is None or not math.isfinite(check.random_among_passed_bound):
        return f"{passed}; how many of them rate at random was not estimated."
    share, bound = check.random_among_passed, check.random_among_passed_bound
    trust = "The data look sound" if bound <= FEW_RANDOM else "The data call for caution"
    return (
        f"{trust}: {passed}, and of those who passed about {percent(share.value, 0)} are estimated to have "
        f"rated at random ({percent(LEVEL, 0)} interval {percent(share.low, 0)} to {percent(share.high, 0)}; "
        f"{percent(bound, 0)} if everyone who failed did)."
    )


def _controlled(controls: Controls) -> str:
    """Return how far control items lay from ordinary ones, with the workers who passed, as a clause."""
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
