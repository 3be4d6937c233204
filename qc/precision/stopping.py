"""May a run stop? Where a confidence sequence of each system stands, looked at as often as one likes.

A rule that stops once an interval is narrow looks at it again and again, so an interval for a fixed n will
not do. The sequences hold at every n at once (`qc.estimators.confidence_sequence`), so at the n at which the
rule stops, too: each system's interval then misses its mean with probability 1 − LEVEL at most, as far as the
sequence keeps its word. That needs judgments in the order in which they came: what was there at one look
comes first at the next.
"""

from dataclasses import dataclass
from math import inf, isfinite
from typing import Literal, get_args

import numpy as np

from qc.errors import OptionError, joined
from qc.estimators.confidence_sequence import FIRST_LOOK, asymptotic, bounded
from qc.judgments import Judged, Judgments
from qc.precision.estimates import EstimateOptions, require_within
from qc.precision.looks import TIGHTEST, stream
from qc.statistics.confidence import LEVEL

Sequence = Literal["exact", "asymptotic"]
SEQUENCES: tuple[Sequence, ...] = get_args(Sequence)
EXACT, ASYMPTOTIC = SEQUENCES
# What a rule is about if nobody says: the mean of the criteria, which judgments of a run have.
OVERALL = "overall"


@dataclass(frozen=True)
class Standing:
    """Where one system's sequence stands.

    Attributes:
        system: its name.
        unit: `judgments`, or `workers` where some judged it more than once.
        n: how many of them there are.
        centre, half_width: of the interval at n; NaN below FIRST_LOOK, and for the asymptotic one as long as
            all values are the same.
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
        criterion: what was judged.
        sequence: by which sequence.
        width: the half-width that was asked for.
        standings: of each system.
    """

    criterion: str
    sequence: Sequence
    width: float
    standings: tuple[Standing, ...]

    @property
    def widest(self) -> Standing:
        """The system with the widest interval, or the first that has none yet."""
        return max(self.standings, key=lambda each: each.half_width if isfinite(each.half_width) else inf)

    @property
    def reached(self) -> bool:
        """Whether every system has an interval of `width` or less on either side."""
        return self.widest.half_width <= self.width


def stopping(
    judgments: Judgments,
    width: float,
    criterion: str | None = None,
    sequence: Sequence | None = None,
    ends: tuple[float, float] | None = None,
) -> Stopping:
    """Return where the sequences of all systems stand, and whether they are narrow enough.

    Args:
        judgments: as far as they have come, in that order, of workers who have finished.
        width: half-width that is to be reached, in points of the scale.
        criterion: which one; None for OVERALL, or for the only one.
        sequence: None for EXACT where the ends of the scale are known, else ASYMPTOTIC.
        ends: of the scale; None for those that the source says.

    Raises:
        OptionError: a value makes no sense, or the source does not say what a sequence needs.
    """
    if not 0 < width < inf:
        raise OptionError(f"--until is {width:g}; give a half-width above 0, in points of the scale.")
    if not judgments.in_order:
        raise OptionError(
            f"{judgments.source}: the source does not say in which order the judgments came, so nothing can "
            "be stopped by them. Give the run's database, or a plain CSV with its rows in that order."
        )
    criterion = _criterion(judgments, criterion)
    require_within(judgments, EstimateOptions(criteria=(criterion,), ends=ends))
    known = ends or judgments.ends
    sequence = sequence or (ASYMPTOTIC if known is None else EXACT)
    if sequence == EXACT and known is None:
        raise OptionError("The exact sequence needs the ends of the scale. Say them with --scale LOW,HIGH.")
    return Stopping(
        criterion,
        sequence,
        width,
        tuple(
            _standing(judgments.of(criterion, system), system, known if sequence == EXACT else None)
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
            f"--until is about one criterion. Name it by --criterion: {joined(judgments.criteria)}."
        )
    return judgments.criteria[0]


def _standing(judged: Judged, system: str, ends: tuple[float, float] | None) -> Standing:
    """Return where a system's sequence stands: the exact one if there are `ends`, else the asymptotic one."""
    if judged.workers is None:
        raise OptionError(
            f"{system}: the workers are unknown, and a sequence needs to know who judged. Add a column "
            "`worker`."
        )
    several = len(np.unique(judged.workers)) < len(judged.values)
    values = stream(judged.values, judged.workers, several=several)
    unit = "workers" if several else "judgments"
    if len(values) < FIRST_LOOK:
        return Standing(system, unit, len(values), np.nan, np.nan)
    if ends is None:
        found = asymptotic(values, 1 - LEVEL, TIGHTEST)
    else:
        low, high = ends
        found = bounded((values - low) / (high - low), 1 - LEVEL).scaled(low, high)
    return Standing(system, unit, len(values), float(found.centre[-1]), float(found.half_width[-1]))
