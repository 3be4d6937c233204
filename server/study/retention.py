"""Retention of workers' texts and ids after a run was closed."""

from datetime import datetime, timedelta
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Days = Annotated[int, Field(ge=0, le=36_500, strict=True)]


class Retention(BaseModel):
    """Days from the end of a run until its workers' texts, and ids, are removed; without days they stay."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    words: Days | None = None
    ids: Days | None = None

    def words_end(self, closed_at: datetime | None) -> datetime | None:
        """Return when the texts of a run are removed; None if never, or if it is not known yet."""
        return _end(closed_at, self.words)

    def ids_end(self, closed_at: datetime | None) -> datetime | None:
        """Return when the ids of a run's workers are removed; None if never, or if it is not known yet."""
        return _end(closed_at, self.ids)

    def in_words(self, closed_at: datetime | None) -> str:
        """Return the retention in sentences: with dates for a closed run, and empty if all is kept."""
        kept = [("Words", self.words), ("Ids", self.ids)]
        said = [_said(what, days, closed_at) for what, days in kept if days is not None]
        return " ".join(said)


def _said(what: str, days: int, closed_at: datetime | None) -> str:
    end = _end(closed_at, days)
    if end is not None:
        return f"{what} of workers are removed on {end:%Y-%m-%d}."
    return f"{what} of workers are removed {days} day{'' if days == 1 else 's'} after the run was closed."


def _end(closed_at: datetime | None, days: int | None) -> datetime | None:
    return None if closed_at is None or days is None else closed_at + timedelta(days=days)
