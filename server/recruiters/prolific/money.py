"""Amounts in whole cents, and as decimals for Prolific's files of bonuses."""

from typing import Annotated

from pydantic import Field

# Prolific sends amounts as JSON numbers like 250.0, which pydantic takes; 250.5 it refuses.
Cents = Annotated[int, Field(ge=0)]


def decimal_amount(cents: int) -> str:
    """Return an amount in the format of Prolific's files of bonuses: 150 becomes `1.50`.

    In such a file, `150` would pay a hundred and fifty pounds.
    """
    return f"{cents // 100}.{cents % 100:02d}"


def shown_amount(cents: int, currency: str | None) -> str:
    """Return an amount for people, such as `1.50 GBP`; without a currency if that is unknown."""
    return decimal_amount(cents) if currency is None else f"{decimal_amount(cents)} {currency}"
