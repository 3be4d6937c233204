"""Record handled platform events, so that each is handled once by all processes."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, bindparam, delete, func, not_, select, text

from server.db.tables.recruiting import PlatformEventTable

_KEPT = timedelta(days=1)  # far longer than a signed event is accepted after it was sent
_LOST = "lost "  # the prefix of a lost event's signature; no genuine signature begins with it
_IS_LOST = PlatformEventTable.c.signature.startswith(_LOST)
_TAKE = text("""
    INSERT INTO platform_event (id, signature, received_at) VALUES (:id, :signature, :at)
    ON CONFLICT DO NOTHING""").bindparams(bindparam("at", type_=PlatformEventTable.c.received_at.type))


@dataclass(frozen=True, slots=True)
class LostEvents:
    """The number of events that did not arrive but are still listed, and when the last was found."""

    number: int
    last: datetime | None


def take_event(connection: Connection, event: str, signature: str, at: datetime) -> bool:
    """Note that an event has arrived; return False if it, or its copy under another id, arrived before."""
    connection.execute(
        delete(PlatformEventTable).where(PlatformEventTable.c.received_at < at - _KEPT, not_(_IS_LOST))
    )
    return _take(connection, event, signature, at)


def new_lost(connection: Connection, listed: Collection[str]) -> set[str]:
    """Return those of the `listed` lost events that were not noted yet."""
    return set(listed) - _lost(connection)


def note_lost(connection: Connection, taken: Collection[str], listed: Collection[str], at: datetime) -> None:
    """Note lost events that were handled now.

    They stay noted as long as they are `listed`, because the platform may list one for ever.
    """
    for event in _lost(connection).difference(listed):
        connection.execute(delete(PlatformEventTable).where(PlatformEventTable.c.id == event))
    for event in sorted(taken):
        _take(connection, event, f"{_LOST}{event}", at)


def lost_events(connection: Connection) -> LostEvents:
    """Count the lost events."""
    query = select(func.count(), func.max(PlatformEventTable.c.received_at)).where(_IS_LOST)
    return LostEvents(*connection.execute(query).one())


def _lost(connection: Connection) -> set[str]:
    return set(connection.execute(select(PlatformEventTable.c.id).where(_IS_LOST)).scalars())


def _take(connection: Connection, event: str, signature: str, at: datetime) -> bool:
    return connection.execute(_TAKE, {"id": event, "signature": signature, "at": at}).rowcount == 1
