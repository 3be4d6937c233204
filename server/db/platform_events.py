"""Which events of platforms were taken up, so that none is twice, whichever process it comes to."""

from datetime import datetime, timedelta

from sqlalchemy import Connection, bindparam, delete, text

from server.db.models import PlatformEvent, columns

_EVENT = columns(PlatformEvent)
_KEPT = timedelta(days=1)  # far longer than a signed event is accepted after it was sent
_TAKE = text("""
    INSERT INTO platform_event (id, signature, received_at) VALUES (:id, :signature, :at)
    ON CONFLICT DO NOTHING""").bindparams(bindparam("at", type_=_EVENT.received_at.type))


def take_event(connection: Connection, event: str, signature: str, at: datetime) -> bool:
    """Note that an event has arrived; return False where it, or its copy under another id, has before."""
    connection.execute(delete(PlatformEvent).where(_EVENT.received_at < at - _KEPT))
    values = {"id": event, "signature": signature, "at": at}
    return connection.execute(_TAKE, values).rowcount == 1
