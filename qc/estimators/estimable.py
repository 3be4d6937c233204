"""Estimates that the data may not allow: then there is a reason, and no number that could be mistaken."""

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class NotEstimable:
    """What stands in the place of a number that the data do not give; `why` is a clause."""

    why: str

    def __str__(self) -> str:
        return "not estimable"


Estimated: TypeAlias = float | NotEstimable


def number(estimated: Estimated) -> float:
    """Return the number, NaN where there is none."""
    return float("nan") if isinstance(estimated, NotEstimable) else estimated
