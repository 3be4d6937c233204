"""The time, as the tables keep it and as researchers see it."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import PlainSerializer


def utc_now() -> datetime:
    """Return the time as the tables keep it."""
    return datetime.now(UTC)


def _shown(value: datetime) -> str:
    return value.isoformat(timespec="seconds")


# A time as researchers see it: ISO 8601, to the second.
ShownTime = Annotated[datetime, PlainSerializer(_shown)]
