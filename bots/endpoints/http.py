"""Candor's own contract over HTTP: what a bot host speaks, and whatever anybody builds in its place.

`POST {url}/reply` takes {"conversation_id", "seed", "persona": [...], "turns": [{"author", "text"}]} and
answers 200 {"text": ...}, in which an empty text says that the bot has no reply; 422 to a chat that it does
not take; or 503 while it is busy. `GET {url}/health`, where there is such a thing, answers 200
{"ready": true} as long as the server takes chats.

What of the text is shown is found here, whatever a model left in it, and "finish_reason": "length" says that
its limit has cut it off. With any other "finish_reason" than that and "stop", the line broke off and is asked
for again. A server of a model that thinks answers with what the model wrote as "output" beside
the line, as a bot host does, which names the "changes" too (`bots.core.chat.Reply`): thoughts that come in
the text alone fail a check. Any server may tell where the reply came from:
"provenance", with the fields of `bots.core.provenance.Provenance` that it knows.
"""

from contextlib import suppress
from dataclasses import replace
from typing import Annotated

from pydantic import BaseModel, Field, ValidationError

from bots.core.chat import Chat, Reply
from bots.core.chat_request import chat_json
from bots.core.failures import BotBusy, BotError, ChatRefused
from bots.core.provenance import Provenance
from bots.core.visible_text import LONGEST_OUTPUT, checked_line, rechecked
from bots.endpoints.provider_error import unknown_end
from bots.endpoints.remote import RemoteBot
from bots.shown import Change

_ENDS = frozenset({"stop", "length"})
_JSON = {"Content-Type": "application/json"}


class _Answer(BaseModel):
    text: str
    finish_reason: str | None = None
    output: Annotated[str, Field(max_length=LONGEST_OUTPUT)] | None = None
    changes: tuple[Change, ...] = ()
    provenance: Provenance | None = None


class _Health(BaseModel):
    ready: bool = True


class HttpBot(RemoteBot):
    """A server that answers chats as they are."""

    async def reply(self, chat: Chat) -> Reply:
        """Return what the server answers. Raises BotError."""
        try:
            content = chat_json(chat)
        except ValueError as error:
            raise ChatRefused("the conversation is too long to be sent to this server") from error
        answer = await self._remote.post("/reply", _Answer, content=content, headers=_JSON)
        try:
            if broken := unknown_end(answer.finish_reason, _ENDS, required=False):
                broken.output = (answer.output or answer.text)[:LONGEST_OUTPUT] or None
                raise broken
            if answer.output is not None:
                return rechecked(Reply(answer.text, answer.output, answer.changes, answer.provenance))
            reply = checked_line(answer.text, at_limit=answer.finish_reason == "length")
        except BotError as error:
            error.provenance = answer.provenance
            raise
        return replace(reply, provenance=answer.provenance)

    async def probe(self) -> None:
        """Read the server's health; a server without one passes. Raises BotError: it takes no chats."""
        response = await self._remote.get("/health")
        if response.status_code == 404:
            return
        if response.status_code != 200:
            raise self._remote.refusal(response)
        with suppress(ValidationError):  # 200 is enough, unless it says that it is not ready
            if not _Health.model_validate_json(response.content).ready:
                raise BotBusy("it is not ready: still loading, or shutting down")
