"""Check an analysis and its data against a preregistration, point by point, and test its hypotheses.

A hypothesis compares the overall scores of two systems. It is tested like the verdicts of a report: by the
rank test that treats workers as the independent units (`qc.statistics.clustered_ranks`). Holm's correction
covers the registered hypotheses, so the chance of supporting any false one is at most the registered level.

Source: Holm, *A Simple Sequentially Rejective Multiple Test Procedure*, 1979.
"""

import math
from datetime import UTC, datetime

import numpy as np
import pandas as pd

from qc.loading.registration import Followed, HypothesisDecision, Point, Preregistration, RegisteredTarget
from qc.method.significance import compare_by_worker
from qc.run import RunState
from qc.sections.analysis import Analysis
from qc.statistics.confidence import holm
from qc.table import counted, whole

_BY_HAND = "excluded by the researchers: "
_UNKNOWN = math.nan, math.nan


def follow(analysis: Analysis, registration: Preregistration) -> Followed:
    """Compare the analysis with the preregistration."""
    points = (
        _before(analysis, registration),
        _run(analysis, registration),
        _study(analysis, registration),
        _criteria(analysis, registration),
        _filter(analysis, registration),
        *_target(analysis, registration),
        _stopping(analysis.run.state, registration),
        _exclusions(analysis, registration),
    )
    return Followed(
        registration.registered,
        registration.hash,
        registration.familywise,
        points,
        _decisions(analysis, registration),
    )


def _before(analysis: Analysis, registration: Preregistration) -> Point:
    first = _first_begun(analysis)
    said = f"on {registration.at:%Y-%m-%d %H:%M} UTC"
    if registration.begun_before:
        found = f"{counted(registration.begun_before, 'assignment')} had begun by then"
        return Point("registered before the first assignment", said, found, followed=False)
    if first is None:
        return Point("registered before the first assignment", said, "the data have no times", None)
    found = f"the first assignment that is analysed began on {first:%Y-%m-%d %H:%M} UTC"
    return Point("registered before the first assignment", said, found, registration.at <= first)


def _first_begun(analysis: Analysis) -> datetime | None:
    ended, seconds = analysis.run.ended, analysis.run.assignments["seconds"]
    if ended is None:
        return None
    begun = pd.to_datetime(ended.to_numpy()) - pd.to_timedelta(seconds.to_numpy(), unit="s")
    first = begun.min()
    return None if pd.isna(first) else first.floor("us").to_pydatetime().replace(tzinfo=UTC)


def _run(analysis: Analysis, registration: Preregistration) -> Point:
    name = analysis.run.name
    from_server = analysis.run.ended is not None
    same = name == registration.run
    return Point("run", registration.run, name, same if same or from_server else None)


def _study(analysis: Analysis, registration: Preregistration) -> Point:
    said, state = f"{registration.study}, {registration.study_hash}", analysis.run.state
    if state is None:
        return Point("study", said, "the data do not say which text it was", followed=None)
    return Point("study", said, state.study_hash, state.study_hash == registration.study_hash)


def _criteria(analysis: Analysis, registration: Preregistration) -> Point:
    was = {one.label: (one.negative, one.counts_for_qc) for one in registration.criteria}
    now = {
        str(row.label): (bool(row.negative), bool(row.counts_for_qc))
        for row in analysis.run.criteria.itertuples()
    }
    return Point("criteria", _listed(was), _listed(now), was == now)


def _listed(criteria: dict[str, tuple[bool, bool]]) -> str:
    return ", ".join(
        f"{'-' if negative else ''}{label}{'*' if counts else ''}"
        for label, (negative, counts) in sorted(criteria.items())
    )


def _filter(analysis: Analysis, registration: Preregistration) -> Point:
    alpha, partial = analysis.sample.screening.alpha, analysis.run.partial
    found = f"α = {alpha:g}{', assignments that were not completed take part' if partial else ''}"
    return Point(
        "filter",
        f"α = {registration.filter.alpha:g}, completed assignments",
        found,
        alpha == registration.filter.alpha and not partial,
    )


def _target(analysis: Analysis, registration: Preregistration) -> list[Point]:
    target = registration.target
    if target is None:
        return [Point("target", "none", "nothing to meet", followed=None)]
    done = analysis.rates.assignments.total
    if target.assignments is not None:
        found = f"{whole(done)} assignments are analysed"
        return [Point("target", counted(target.assignments, "assignment"), found, done >= target.assignments)]
    if target.conversations_per_system is not None:
        fewest = _fewest_rated(analysis)
        return [
            Point(
                "target",
                f"{whole(target.conversations_per_system)} rated conversations of each system",
                f"the system with the fewest has {whole(fewest)}",
                fewest >= target.conversations_per_system,
            )
        ]
    said, state = f"no interval of a score as wide as {target.widest_interval:g}", analysis.run.state
    if state is not None and _stopped_for(state, target):
        return [Point("target", said, state.reason, followed=True)]
    found = "the server's intervals, which are wider than the report's, decide; `candor watch` prints them"
    return [Point("target", said, found, followed=None)]


def _fewest_rated(analysis: Analysis) -> int:
    """Return how many rated conversations the system with the fewest has, workers who failed included."""
    run = analysis.run
    counts = run.conversations["system"].value_counts()
    competing = run.systems.loc[run.competing, "system"]
    return int(min(counts.get(name, 0) for name in competing))


def _stopping(state: RunState | None, registration: Preregistration) -> Point:
    """Return the registered stopping rule and how the run ended; people compare a rule given in words."""
    target = registration.target
    said = registration.stopping or ("none" if target is None else "when the target is met")
    if state is None:
        return Point("stopping rule", said, "the data do not say why the run stopped", followed=None)
    if state.status != "closed":
        found = f"the run is {state.status}, so this is an analysis before its end"
        return Point("stopping rule", said, found, followed=False)
    found = _end(state)
    if registration.stopping or target is None:
        return Point("stopping rule", said, found, followed=None)
    return Point("stopping rule", said, found, _stopped_for(state, target))


def _end(state: RunState) -> str:
    if state.cause == "researcher":
        return f"the researchers closed it{f': {state.reason}' if state.reason else ', without a reason'}"
    return f"it stopped by itself: {state.reason}"


def _stopped_for(state: RunState, target: RegisteredTarget) -> bool:
    """Return whether the run closed because it met the registered target, not one that was set later."""
    stopped = (state.status, state.cause) == ("closed", "target")
    return stopped and dict(state.target) == target.model_dump(exclude_none=True)


def _exclusions(analysis: Analysis, registration: Preregistration) -> Point:
    reasons = [
        out.reason.removeprefix(_BY_HAND) for out in analysis.run.left_out if out.reason.startswith(_BY_HAND)
    ]
    allowed = {" ".join(text.casefold().split()) for text in registration.exclusions}
    others = sorted({reason for reason in reasons if " ".join(reason.casefold().split()) not in allowed})
    found = f"{whole(len(reasons))} excluded by hand"
    if others:
        found += f", for reasons that were not registered: {'; '.join(others)}"
    return Point("exclusions", "; ".join(registration.exclusions) or "none by hand", found, not others)


def _decisions(analysis: Analysis, registration: Preregistration) -> tuple[HypothesisDecision, ...]:
    pairs = [(one.higher, one.lower) for one in registration.hypotheses]
    names = pd.Index(analysis.scores.z["system"])
    overall = analysis.scores.z["overall"].to_numpy(np.float64)
    by_worker = compare_by_worker(analysis.sample, analysis.scores)
    tested = []
    for rows in (names.get_indexer(list(pair)) for pair in pairs):
        known = bool((rows >= 0).all())
        tested.append((overall[rows[0]] - overall[rows[1]], by_worker[tuple(rows)]) if known else _UNKNOWN)
    adjusted = holm(np.array([p for _, p in tested]))
    return tuple(
        HypothesisDecision(
            *pair,
            float(difference),
            float(p),
            float(corrected),
            bool(corrected < registration.familywise) if math.isfinite(corrected) else None,
        )
        for pair, (difference, p), corrected in zip(pairs, tested, adjusted, strict=True)
    )
