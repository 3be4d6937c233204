"""Whether an analysis and its data followed a preregistration, point by point, and its hypotheses decided.

A hypothesis is about two systems' overall scores. Its test is of the difference of the two means of z, with
the error of whole workers: each worker's part in the difference, linearised, is one observation, and the
statistic is referred to Student's t with one degree of freedom less than there are such workers. Holm's
correction is over the registered hypotheses, so that the chance of supporting any false one is at most the
registered level.

Source of the linearisation: Cochran, *Sampling Techniques*, 3rd edition, 1977, chapter 6 (ratio estimates);
Holm, *A Simple Sequentially Rejective Multiple Test Procedure*, 1979.
"""

import math
from datetime import UTC, datetime

import numpy as np
import pandas as pd
from scipy.special import stdtr

from qc.analysis import Analysis
from qc.number_format import whole
from qc.registration import Decision, Followed, Point, Registration
from qc.robustness.intervals import worker_sums
from qc.statistics.multiplicity import holm

_BY_HAND = "excluded by the researchers: "
FEWEST_RATERS = 2


def follow(analysis: Analysis, registration: Registration) -> Followed:
    """Return how the analysis stands to what was registered."""
    points = (
        _before(analysis, registration),
        _run(analysis, registration),
        _criteria(analysis, registration),
        _filter(analysis, registration),
        *_target(analysis, registration),
        _stopping(registration),
        _exclusions(analysis, registration),
    )
    return Followed(
        registration.registered,
        registration.hash,
        registration.familywise,
        points,
        _decisions(analysis, registration),
    )


def _before(analysis: Analysis, registration: Registration) -> Point:
    first = _first_begun(analysis)
    said = f"on {registration.at:%Y-%m-%d %H:%M} UTC"
    if registration.begun_before:
        found = f"{whole(registration.begun_before)} assignments had begun by then"
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
    return None if pd.isna(first) else first.to_pydatetime().replace(tzinfo=UTC)


def _run(analysis: Analysis, registration: Registration) -> Point:
    name = analysis.run.name
    from_server = analysis.run.ended is not None
    same = name == registration.run
    return Point("run", registration.run, name, same if same or from_server else None)


def _criteria(analysis: Analysis, registration: Registration) -> Point:
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


def _filter(analysis: Analysis, registration: Registration) -> Point:
    alpha, partial = analysis.sample.screening.alpha, analysis.run.partial
    found = f"α = {alpha:g}{', assignments that were not completed take part' if partial else ''}"
    return Point(
        "filter",
        f"α = {registration.filter.alpha:g}, completed assignments",
        found,
        alpha == registration.filter.alpha and not partial,
    )


def _target(analysis: Analysis, registration: Registration) -> list[Point]:
    target = registration.target
    if target is None:
        return [Point("target", "none", "nothing to meet", followed=None)]
    done = analysis.rates.assignments.total
    if target.assignments is not None:
        found = f"{whole(done)} assignments are analysed"
        return [
            Point("target", f"{whole(target.assignments)} assignments", found, done >= target.assignments)
        ]
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
    said = f"no interval of a score as wide as {target.widest_interval:g}"
    found = "the server's intervals, which are wider than the report's, decided; `candor watch` prints them"
    return [Point("target", said, found, followed=None)]


def _fewest_rated(analysis: Analysis) -> int:
    """Return how many rated conversations the system with the fewest has, workers who failed included."""
    run = analysis.run
    counts = run.conversations["system"].value_counts()
    competing = run.systems.loc[~run.systems["is_qc"], "system"]
    return int(min(counts.get(name, 0) for name in competing))


def _stopping(registration: Registration) -> Point:
    said = registration.stopping or "when the target is met"
    return Point("stopping rule", said, "the data do not say why the run stopped", followed=None)


def _exclusions(analysis: Analysis, registration: Registration) -> Point:
    reasons = [
        out.reason.removeprefix(_BY_HAND) for out in analysis.run.left_out if out.reason.startswith(_BY_HAND)
    ]
    allowed = {" ".join(text.casefold().split()) for text in registration.exclusions}
    others = sorted({reason for reason in reasons if " ".join(reason.casefold().split()) not in allowed})
    found = f"{whole(len(reasons))} excluded by hand"
    if others:
        found += f", for reasons that were not registered: {'; '.join(others)}"
    return Point("exclusions", "; ".join(registration.exclusions) or "none by hand", found, not others)


def _decisions(analysis: Analysis, registration: Registration) -> tuple[Decision, ...]:
    pairs = [(one.higher, one.lower) for one in registration.hypotheses]
    tested = [_difference(analysis, *pair) for pair in pairs]
    p = np.array([each[1] for each in tested])
    adjusted, known = p.copy(), np.isfinite(p)
    adjusted[known] = holm(p[known])
    return tuple(
        Decision(
            *pair,
            difference,
            one,
            float(corrected),
            bool(corrected < registration.familywise) if math.isfinite(corrected) else None,
        )
        for pair, (difference, one), corrected in zip(pairs, tested, adjusted, strict=True)
    )


def _difference(analysis: Analysis, higher: str, lower: str) -> tuple[float, float]:
    """Return the difference of two systems' overall z, and the one-sided p that it is above 0."""
    names = analysis.scores.z["system"].to_list()
    if higher not in names or lower not in names:
        return math.nan, math.nan
    overall = analysis.sample.overall["z"][:, None]
    sums = worker_sums(analysis.sample, analysis.scores, overall)[
        :, [names.index(higher), names.index(lower)]
    ]
    counts, totals = sums[..., 0], sums[..., 1]
    held = counts.sum(axis=0)
    if not (held > 0).all():
        return math.nan, math.nan
    means = totals.sum(axis=0) / held
    part = (totals - counts * means) / held
    influence = (part[:, 0] - part[:, 1])[counts.any(axis=1)]
    difference = float(means[0] - means[1])
    workers = len(influence)
    spread = (
        float(np.sqrt((influence**2).sum() * workers / (workers - 1))) if workers >= FEWEST_RATERS else 0.0
    )
    if spread <= 0 or (np.count_nonzero(counts, axis=0) < FEWEST_RATERS).any():
        return difference, math.nan
    return difference, float(stdtr(workers - 1, -difference / spread))
