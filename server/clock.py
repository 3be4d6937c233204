"""The time, in the forms of the tables and of researchers."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import PlainSerializer


def utc_now() -> datetime:
    """Return the time in the form in which the tables store it."""
    return datetime.now(UTC)


def _shown(value: datetime) -> str:
    return value.isoformat(timespec="seconds")


# A time in the form for researchers: ISO 8601, to the second.
ShownTime = Annotated[datetime, PlainSerializer(_shown)]
