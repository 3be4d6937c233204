"""Say whether a run may stop: a line for each system, and the verdict."""

from math import isfinite

from qc.estimators.confidence_sequence import FIRST_LOOK
from qc.number_format import decimal, whole
from qc.precision import Standing, Stopping
from qc.statistics.confidence import LEVEL

DIGITS = 2


def stopping_lines(stopping: Stopping) -> tuple[str, ...]:
    """Return the lines that are printed."""
    first = (
        f"{stopping.criterion}, by the {stopping.sequence} confidence sequence: {100 * LEVEL:.0f} % for each "
        "system, however often one looks."
    )
    return (first, *map(_line, stopping.standings), _verdict(stopping))


def _line(standing: Standing) -> str:
    counted = f"{whole(standing.n)} {standing.unit}"
    if standing.n < FIRST_LOOK:
        return f"{standing.system}: {counted}; there is an interval from {FIRST_LOOK} on."
    if not isfinite(standing.half_width):
        return f"{standing.system}: {counted}, all of one value; there is no interval yet."
    centre, reach = (decimal(value, DIGITS) for value in (standing.centre, standing.half_width))
    return f"{standing.system}: {centre} ± {reach} after {counted}."


def _verdict(stopping: Stopping) -> str:
    widest = stopping.widest
    if not isfinite(widest.half_width):
        return f"Not yet: {widest.system} has no interval, and ± {stopping.width:g} was asked for."
    said = f"the widest is ± {decimal(widest.half_width, DIGITS)} ({widest.system}), and"
    if stopping.reached:
        return f"Narrow enough: {said} ± {stopping.width:g} was asked for. The run may stop."
    return f"Not yet: {said} ± {stopping.width:g} was asked for."
