"""Format numbers for readers. Files for machines hold them in full precision."""

import math
from collections.abc import Sequence

MISSING = "–"


def decimal(value: float, digits: int = 3) -> str:
    """Return `value` with `digits` decimals and a true minus sign; a dash if it is unknown."""
    if not math.isfinite(value):
        return MISSING
    text = f"{value:,.{digits}f}"
    return f"−{text[1:]}" if text.startswith("-") and text.strip("-0.,") else text.removeprefix("-")


def probability(p: float) -> str:
    """Return a p-value with three decimals, `< 0.001` below that."""
    if not math.isfinite(p):
        return MISSING
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def relation(p: float) -> str:
    """Return p with its relation sign, to follow its name: `= 0.012` or `< 0.001`."""
    text = probability(p)
    return text if text.startswith("<") else f"= {text}"


def percent(share: float, digits: int = 1) -> str:
    """Return a share of 1 in per cent."""
    return f"{decimal(100 * share, digits)} %" if math.isfinite(share) else MISSING


def whole(number: float) -> str:
    """Return a count with a separator between thousands."""
    return decimal(number, 0)


def between(low: float, high: float, digits: int = 3) -> str:
    """Return an interval."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return MISSING
    return f"{decimal(low, digits)} to {decimal(high, digits)}"


def ranks(low: int, high: int) -> str:
    """Return a range of ranks; a dash for 0, which means no rank."""
    if high == 0:
        return MISSING
    return str(low) if low == high else f"{low}–{high}"


def listed(names: Sequence[str], limit: int = 5) -> str:
    """Return names as a phrase: `a, b and c`; beyond `limit`, only the number of the others."""
    if len(names) > limit:
        return f"{', '.join(names[: limit - 1])} and {len(names) - limit + 1} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
