"""Webhooks of Prolific: how they are subscribed to."""

from collections.abc import AsyncIterator
from itertools import count
from typing import Any, Final

from server.recruiters.prolific.connection import Answer, Connection
from server.recruiters.prolific.failures import Unreadable

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
