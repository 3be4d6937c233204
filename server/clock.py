"""The time, as the tables keep it and as researchers see it."""

from datetime import UTC, datetime


def utc_now() -> datetime:
    """Return the time as the tables keep it."""
    return datetime.now(UTC)


def shown_time(value: datetime | None) -> str | None:
    """Return a time as researchers see it: ISO 8601, to the second."""
    return value.isoformat(timespec="seconds") if value is not None else None
