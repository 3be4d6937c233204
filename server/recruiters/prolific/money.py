"""Amounts: whole cents here, decimals in the files of bonuses alone."""

from typing import Annotated

from pydantic import Field

# Prolific sends amounts as JSON numbers like 250.0, which pydantic takes; 250.5 it refuses.
Cents = Annotated[int, Field(ge=0)]


def decimal_amount(cents: int) -> str:
    """Return an amount as Prolific's files of bonuses have it: 150 is `1.50`.

    There an amount of `150` would pay a hundred and fifty pounds.
    """
    return f"{cents // 100}.{cents % 100:02d}"


def shown_amount(cents: int, currency: str | None) -> str:
    """Return an amount as people read it: `1.50 GBP`, without a currency where it is not known."""
    return decimal_amount(cents) if currency is None else f"{decimal_amount(cents)} {currency}"
