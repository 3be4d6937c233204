"""Candor's own contract over HTTP: what a bot host speaks, and whatever anybody builds in its place.

`POST {url}/reply` takes {"conversation_id", "seed", "persona": [...], "turns": [{"author", "text"}]} and
answers 200 {"text": ...}, or 503 while it is busy.
"""

from dataclasses import asdict

from pydantic import BaseModel

from bots.chat import Chat, Reply
from bots.endpoints.remote import Remote
from bots.endpoints.spoken import spoken


class _Answer(BaseModel):
    text: str


class HttpBot:
    """A server that answers chats as they are."""

    def __init__(self, remote: Remote) -> None:
        """Ask `remote`."""
        self._remote = remote

    @property
    def url(self) -> str:
        """Where it is."""
        return self._remote.url

    async def reply(self, chat: Chat) -> Reply:
        """Return what the server answers. Raises BotError."""
        answer = await self._remote.post("/reply", _Answer, json=asdict(chat))
        return spoken(answer.text)

    async def close(self) -> None:
        """Close all connections."""
        await self._remote.close()
