"""Subscribe to Prolific's webhooks, and read the events that they send."""

import base64
import hashlib
import hmac
import re
from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from itertools import count
from typing import Any, Final

from pydantic import ValidationError

from server.recruiters.pay_platform import LostEvent, PlatformAnswer, PlatformSecret, PlatformUnreadable
from server.recruiters.prolific.connection import PlatformConnection
from server.recruiters.signatures import ArrivedEvent, NotGenuine

# Source: Prolific's documents on webhooks, "Verifying": the signature is base64 of HMAC-SHA256(secret,
# timestamp + raw body), and the timestamp is in seconds since 1970.
SIGNATURE, TIMESTAMP, EVENT = (
    "X-Prolific-Request-Signature",
    "X-Prolific-Request-Timestamp",
    "X-Event-ID",
)
_SECONDS = 300  # by which an event's time may differ from the current time
_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")


class _Payload(PlatformAnswer):
    event_type: str
    resource_id: str
    study_id: str | None = None


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """Return the signature of an event."""
    return base64.b64encode(
        hmac.new(secret.encode(), timestamp.encode() + body, hashlib.sha256).digest()
    ).decode()


def genuine(secret: str, headers: Mapping[str, str], body: bytes, at: datetime) -> ArrivedEvent:
    """Verify and parse an event that has arrived at the time `at`.

    Raises:
        NotGenuine: the signature is wrong, or the event is too old or malformed.
    """
    given, timestamp = headers.get(SIGNATURE, ""), headers.get(TIMESTAMP, "")
    # Compared as bytes: `compare_digest` refuses text beyond ASCII.
    if not hmac.compare_digest(given.encode(), signature(secret, timestamp, body).encode()):
        raise NotGenuine("its signature was not made with our secret")
    if not re.fullmatch(r"[0-9]{1,11}", timestamp):
        raise NotGenuine(f"{TIMESTAMP} is not a time in seconds")
    age = round(at.timestamp()) - int(timestamp)
    if abs(age) > _SECONDS:
        raise NotGenuine(
            f"it was sent {abs(age)} seconds {'ago' if age > 0 else 'from now'}; {_SECONDS} are allowed"
        )
    event = headers.get(EVENT, "")
    if not _ID.fullmatch(event):
        raise NotGenuine(f"{EVENT} is missing, or not an id")
    try:
        payload = _Payload.model_validate_json(body)
    except ValidationError as error:
        raise NotGenuine("it does not say what it is about") from error
    study, submission = _subject(payload.event_type, payload.resource_id)
    return ArrivedEvent(event, given, payload.study_id if study is None else study, submission)


def _subject(event_type: str, resource_id: str) -> tuple[str | None, str | None]:
    """Return the study or the submission that an event is about."""
    return (resource_id, None) if event_type.startswith("study.") else (None, resource_id)


FAILED: Final = "FAILED"  # of an event that could not be sent
_PAGE: Final = 100
STUDIES, SUBMISSIONS = "study.status.change", "submission.status.change"
_HOOKS = "/api/v1/hooks"


class Secret(PlatformSecret):
    """The secret that signs a workspace's events, with its id."""

    id: str
    workspace_id: str


class Subscription(PlatformAnswer):
    """A subscription to events of one type."""

    id: str
    event_type: str
    target_url: str
    workspace_id: str
    is_enabled: bool = False


class SentEvent(PlatformAnswer):
    """An event in Prolific's records, delivered or not, with its `payload`."""

    id: str
    event_type: str
    resource_id: str
    status: str
    payload: dict[str, Any] | None = None


class _Events(PlatformAnswer):
    results: tuple[SentEvent, ...] = ()


class _Subscriptions(PlatformAnswer):
    results: tuple[Subscription, ...] = ()


class Hooks:
    """The operations on webhooks. Each raises a RecruiterFailure."""

    def __init__(self, connection: PlatformConnection) -> None:
        self._connection = connection

    async def new_secret(self, workspace: str) -> Secret:
        """Create the secret that signs a workspace's events. It replaces the earlier one."""
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
        """Subscribe `target_url` to events of a type, and confirm the subscription."""
        operation, path = "subscribe", f"{_HOOKS}/subscriptions/"
        body = {"workspace_id": workspace, "event_type": event_type, "target_url": target_url}
        headers = await self._connection.tell(operation, "POST", path, body)
        secret = headers.get("X-Hook-Secret")
        if secret is None:
            raise PlatformUnreadable(operation, "the answer has no X-Hook-Secret with which to confirm")
        for found in await self.subscriptions(workspace):
            if (found.event_type, found.target_url) == (event_type, target_url):
                body = {"secret": secret}
                return await self._connection.change(
                    operation, "POST", f"{path}{found.id}/", Subscription, body
                )
        raise PlatformUnreadable(operation, "the subscription is not in the list of them")

    async def subscribe_to_missing(self, workspace: str, target: str) -> bool:
        """Create missing subscriptions that send events to `target`; return whether any was missing."""
        ours = [one for one in await self.subscriptions(workspace) if one.target_url == target]
        missing = False
        for event_type in (STUDIES, SUBMISSIONS):
            before = [one for one in ours if one.event_type == event_type]
            if any(one.is_enabled for one in before):
                continue
            for one in before:  # never confirmed: the confirmation token was in a lost response
                await self.unsubscribe(one.id)
            await self.subscribe(workspace, event_type, target)
            missing = True
        return missing

    async def lost_events(self, target: str) -> list[LostEvent]:
        """Return the events for `target` that Prolific could not deliver."""
        ours = [one for one in await self.subscriptions() if one.target_url == target]
        lost = [event for one in ours async for event in self.events(one.id, FAILED)]
        return [LostEvent(one.id, *_subject(one.event_type, one.resource_id)) for one in lost]

    async def unsubscribe(self, subscription: str) -> None:
        """Delete a subscription."""
        await self._connection.tell("unsubscribe", "DELETE", f"{_HOOKS}/subscriptions/{subscription}/")

    async def events(self, subscription: str, status: str | None = None) -> AsyncIterator[SentEvent]:
        """Yield the events of a subscription, optionally of one status, including undelivered ones."""
        path = f"{_HOOKS}/subscriptions/{subscription}/events/"
        chosen = {} if status is None else {"status": status}
        for offset in count(0, _PAGE):
            query = chosen | {"offset": str(offset), "limit": str(_PAGE)}
            page = await self._connection.get("read the events", path, _Events, query)
            for event in page.results:
                yield event
            if len(page.results) < _PAGE:
                return
