"""Subscribe to Prolific's webhooks, and read the events that they send."""

import base64
import hashlib
import hmac
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from typing import Any, Final

from pydantic import ValidationError

from server.recruiters.prolific.connection import Answer, Connection
from server.recruiters.prolific.failures import Unreadable

# Source: Prolific's documents on webhooks, "Verifying": the signature is base64 of HMAC-SHA256(secret,
# timestamp + body as it was sent), and the timestamp is in seconds since 1970.
SIGNATURE, TIMESTAMP, EVENT = (
    "X-Prolific-Request-Signature",
    "X-Prolific-Request-Timestamp",
    "X-Event-ID",
)
_SECONDS = 300  # by which an event's time may differ from ours
_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")


class NotGenuine(Exception):
    """An event is forged, altered, too old, or none at all; the message says which, and names nobody."""


@dataclass(frozen=True, slots=True)
class ArrivedEvent:
    """An event that Prolific has sent. `study` or `submission`: what it is about, where it says so."""

    id: str
    signature: str
    study: str | None
    submission: str | None


class _Payload(Answer):
    event_type: str
    resource_id: str
    study_id: str | None = None


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """Return what an event is signed with."""
    return base64.b64encode(
        hmac.new(secret.encode(), timestamp.encode() + body, hashlib.sha256).digest()
    ).decode()


def genuine(secret: str, headers: Mapping[str, str], body: bytes, at: datetime) -> ArrivedEvent:
    """Return the event that has arrived with `headers` and `body` at the time `at`.

    Raises:
        NotGenuine: the secret has not signed it, it is too old, or it is no event.
    """
    given, timestamp = headers.get(SIGNATURE, ""), headers.get(TIMESTAMP, "")
    # Compared as bytes: `compare_digest` refuses text beyond ASCII.
    if not hmac.compare_digest(given.encode(), signature(secret, timestamp, body).encode()):
        raise NotGenuine("its signature is not that of our secret")
    if not re.fullmatch(r"[0-9]{1,11}", timestamp):
        raise NotGenuine(f"{TIMESTAMP} is no time in seconds")
    age = round(at.timestamp()) - int(timestamp)
    if abs(age) > _SECONDS:
        raise NotGenuine(
            f"it was sent {abs(age)} seconds {'ago' if age > 0 else 'from now'}; {_SECONDS} are allowed"
        )
    event = headers.get(EVENT, "")
    if not _ID.fullmatch(event):
        raise NotGenuine(f"{EVENT} is missing, or no id")
    try:
        payload = _Payload.model_validate_json(body)
    except ValidationError as error:
        raise NotGenuine("it does not say what it is about") from error
    if payload.event_type.startswith("study."):
        return ArrivedEvent(event, given, payload.resource_id, None)
    return ArrivedEvent(event, given, payload.study_id, payload.resource_id)


FAILED: Final = "FAILED"  # of an event that could not be sent
_PAGE: Final = 100
STUDIES, SUBMISSIONS = "study.status.change", "submission.status.change"
_HOOKS = "/api/v1/hooks"


class Secret(Answer):
    """What events of a workspace are signed with; a new one takes the place of the old."""

    id: str
    value: str
    workspace_id: str


class Subscription(Answer):
    """Where events of one type go."""

    id: str
    event_type: str
    target_url: str
    workspace_id: str
    is_enabled: bool = False


class SentEvent(Answer):
    """An event that was sent, or could not be. `payload` is what was to arrive."""

    id: str
    event_type: str
    resource_id: str
    status: str
    payload: dict[str, Any] | None = None


class _Events(Answer):
    results: tuple[SentEvent, ...] = ()


class _Subscriptions(Answer):
    results: tuple[Subscription, ...] = ()


class Hooks:
    """The operations on webhooks. Each raises a ProlificFailure."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def new_secret(self, workspace: str) -> Secret:
        """Make the secret that events of a workspace are signed with; the one before is void."""
        body = {"workspace_id": workspace}
        return await self._connection.change("make a secret", "POST", f"{_HOOKS}/secrets/", Secret, body)

    async def subscriptions(self, workspace: str | None = None) -> list[Subscription]:
        """Return the subscriptions of a workspace, or of all that the token is for."""
        query = None if workspace is None else {"workspace_id": workspace}
        found = await self._connection.get(
            "list the subscriptions", f"{_HOOKS}/subscriptions/", _Subscriptions, query
        )
        return list(found.results)

    async def subscribe(self, workspace: str, event_type: str, target_url: str) -> Subscription:
        """Have events of a type sent to `target_url`, and confirm that this is wanted."""
        operation, path = "subscribe", f"{_HOOKS}/subscriptions/"
        body = {"workspace_id": workspace, "event_type": event_type, "target_url": target_url}
        headers = await self._connection.tell(operation, "POST", path, body)
        secret = headers.get("X-Hook-Secret")
        if secret is None:
            raise Unreadable(operation, "the answer has no X-Hook-Secret with which to confirm")
        for found in await self.subscriptions(workspace):
            if (found.event_type, found.target_url) == (event_type, target_url):
                body = {"secret": secret}
                return await self._connection.change(
                    operation, "POST", f"{path}{found.id}/", Subscription, body
                )
        raise Unreadable(operation, "the subscription is not in the list of them")

    async def unsubscribe(self, subscription: str) -> None:
        """Have no more events sent."""
        await self._connection.tell("unsubscribe", "DELETE", f"{_HOOKS}/subscriptions/{subscription}/")

    async def events(self, subscription: str, status: str | None = None) -> AsyncIterator[SentEvent]:
        """Yield the events of a subscription, or those of a status: also such as did not arrive."""
        path = f"{_HOOKS}/subscriptions/{subscription}/events/"
        chosen = {} if status is None else {"status": status}
        for offset in count(0, _PAGE):
            query = chosen | {"offset": str(offset), "limit": str(_PAGE)}
            page = await self._connection.get("read the events", path, _Events, query)
            for event in page.results:
                yield event
            if len(page.results) < _PAGE:
                return
