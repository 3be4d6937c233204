"""Decide whether a run may stop, from a confidence sequence of each system.

A rule that stops once an interval is narrow checks it repeatedly, so an interval for a fixed n is not valid.
The sequences are valid at every n together (`qc.precision.confidence_sequence`), and so also at the n where
the rule stops: each system's interval then misses its mean with probability at most 1 − LEVEL (approximately
for the asymptotic sequence). Judgments must be in order of arrival: those of an earlier check come first in
later ones.
"""

from dataclasses import dataclass
from math import inf, isfinite
from typing import Literal, get_args

import numpy as np

from qc.errors import OptionError, joined
from qc.estimators.joint_metric import named_metrics
from qc.judgments import Judged, Judgments
from qc.precision.confidence_sequence import (
    FIRST_LOOK,
    TIGHTEST,
    asymptotic,
    bounded,
    stream,
    with_metrics,
)
from qc.precision.estimates import EstimateOptions, chosen_metrics, require_within
from qc.statistics.confidence import LEVEL
from qc.table import OVERALL

Sequence = Literal["exact", "asymptotic"]
SEQUENCES: tuple[Sequence, ...] = get_args(Sequence)
EXACT, ASYMPTOTIC = SEQUENCES
# Default criterion: the mean of the criteria, which judgments of a run have.


@dataclass(frozen=True)
class StoppingStanding:
    """Current interval of one system's sequence.

    Attributes:
        system: its name.
        unit: `judgments`, or `workers` if some workers judged it more than once.
        n: number of units.
        centre, half_width: of the interval at n; NaN below FIRST_LOOK, and for the asymptotic sequence while
            nearly all values are the same or a tail is long.
    """

    system: str
    unit: str
    n: int
    centre: float
    half_width: float


@dataclass(frozen=True)
class Stopping:
    """Whether the intervals are narrow enough.

    Attributes:
        criterion: the judged criterion.
        sequence: the kind of sequence.
        metric: the metric, or several, used as control variate; empty for none.
        width: the required half-width.
        standings: the interval of each system.
    """

    criterion: str
    sequence: Sequence
    metric: str
    width: float
    standings: tuple[StoppingStanding, ...]

    @property
    def widest(self) -> StoppingStanding:
        """The system with the widest interval, or the first without an interval."""
        return max(self.standings, key=lambda each: each.half_width if isfinite(each.half_width) else inf)

    @property
    def reached(self) -> bool:
        """Whether every system has an interval with a half-width of at most `width`."""
        return self.widest.half_width <= self.width


def stopping(
    judgments: Judgments,
    width: float,
    criterion: str | None = None,
    sequence: Sequence | None = None,
    ends: tuple[float, float] | None = None,
    metric: str = "",
) -> Stopping:
    """Compute the current intervals of all systems, and whether they are narrow enough.

    Args:
        judgments: all judgments so far, in order of arrival, of workers who have finished.
        width: required half-width, in points of the scale.
        criterion: the criterion; None for OVERALL, or for the only one.
        sequence: None for EXACT if the ends of the scale are known, else ASYMPTOTIC.
        ends: ends of the scale; None for those in the source.
        metric: metric used as control variate, or several (`named_metrics`); empty for none. The sequence is
            then the asymptotic one.

    Raises:
        OptionError: a value is invalid, or the source lacks data that a sequence needs.
    """
    if not 0 < width < inf:
        raise OptionError(f"--until is {width:g}; give a half-width above 0, in points of the scale.")
    if not judgments.in_order:
        raise OptionError(
            f"{judgments.source}: the source does not say in which order the judgments came, so nothing can "
            "be stopped by them. Give the run's database, or a plain CSV with its rows in that order."
        )
    if judgments.probabilities is not None:
        raise OptionError(
            f"{judgments.source}: outputs were drawn by probabilities, and no interval holds at every look "
            "then. Fix the number of judgments beforehand, and leave out --until."
        )
    criterion = _criterion(judgments, criterion)
    require_within(judgments, EstimateOptions(criteria=(criterion,), ends=ends))
    known = ends or judgments.ends
    if metric and sequence == EXACT:
        raise OptionError("The exact sequence uses human judgments only. Leave out --metric or --sequence.")
    names = named_metrics(metric, judgments.metrics) if metric else ()
    chosen_metrics(judgments, EstimateOptions(metrics=names))
    sequence = sequence or (ASYMPTOTIC if known is None or metric else EXACT)
    if sequence == EXACT and known is None:
        raise OptionError("The exact sequence needs the ends of the scale. Say them with --scale LOW,HIGH.")
    return Stopping(
        criterion,
        sequence,
        metric,
        width,
        tuple(
            _standing(judgments.of(criterion, system), system, known if sequence == EXACT else None, names)
            for system in judgments.systems
        ),
    )


def _criterion(judgments: Judgments, wanted: str | None) -> str:
    if wanted is not None:
        return wanted
    if OVERALL in judgments.criteria:
        return OVERALL
    if len(judgments.criteria) > 1:
        raise OptionError(
            f"--until checks one criterion. Name it with --criterion: {joined(judgments.criteria)}."
        )
    return judgments.criteria[0]


def _standing(
    judged: Judged, system: str, ends: tuple[float, float] | None, metrics: tuple[str, ...]
) -> StoppingStanding:
    """Return a system's current interval: of the exact sequence with `ends`, else of the asymptotic one."""
    judged = judged.with_metrics(*metrics)
    if judged.workers is None:
        raise OptionError(
            f"{system}: the workers are unknown, and a sequence needs to know who judged. Add a column "
            "`worker`."
        )
    several = len(np.unique(judged.workers)) < len(judged.values)
    values = stream(judged.values, judged.workers, several=several)
    unit = "workers" if several else "judgments"
    if len(values) < FIRST_LOOK:
        return StoppingStanding(system, unit, len(values), np.nan, np.nan)
    if metrics:
        found = with_metrics(judged, metrics, values)
    elif ends is None:
        found = asymptotic(values, 1 - LEVEL, TIGHTEST)
    else:
        low, high = ends
        found = bounded((values - low) / (high - low), 1 - LEVEL).scaled(low, high)
    return StoppingStanding(system, unit, len(values), float(found.centre[-1]), float(found.half_width[-1]))
