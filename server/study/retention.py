"""For how long what workers wrote, and who they are, is kept after a run was closed."""

from datetime import datetime, timedelta
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Days = Annotated[int, Field(ge=0, le=36_500, strict=True)]


class Retention(BaseModel):
    """Days after a run was closed until words, and ids, of its workers are removed; without any they stay."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    words: Days | None = None
    ids: Days | None = None

    def words_end(self, closed_at: datetime | None) -> datetime | None:
        """Return when the words of a run are removed; None where that is never, or not known yet."""
        return _end(closed_at, self.words)

    def ids_end(self, closed_at: datetime | None) -> datetime | None:
        """Return when the ids of a run's workers are removed; None where that is never, or not known yet."""
        return _end(closed_at, self.ids)

    def in_words(self, closed_at: datetime | None) -> str:
        """Return that for people: as dates for a run that is closed, and empty where all is kept."""
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
