"""Bots on HTTP servers of your own: Candor's contract, and ParlAI's `interactive_web`."""

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import BaseModel, Field, ValidationError

from bots.core.ask import LONGEST_OUTPUT, checked_line, checked_reply, rechecked
from bots.core.chat import Chat, Provenance, Reply, chat_json
from bots.core.failures import BotBusy, BotError, ChatRefused
from bots.endpoints.kind import EndpointAccess, EndpointSettings, Key, Urls, described
from bots.endpoints.remote import Remote, RemoteBot, unknown_end
from bots.endpoints.replicas import Replica
from bots.shown import Change

# `POST {url}/reply` takes {"conversation_id", "seed", "persona": [...], "turns": [{"author", "text"}]} and
# answers 200 {"text": ...} (an empty text means that the bot has no reply), 422 to a chat that it does not
# accept, or 503 while it is busy. `GET {url}/health`, which is optional, answers 200 {"ready": true} as long
# as the server accepts chats.
#
# The text is cleaned here before it is shown. "finish_reason": "length" means that a limit cut the text off.
# "stop" means that it is whole; with any other "finish_reason" it broke off, and is requested again. A server
# of a model that thinks should send the raw output as "output" beside the text, and may name the "changes"
# (`bots.core.chat.Reply`), as a bot host does; thoughts in the text alone fail a check. Any server may send
# "provenance", with the fields of `bots.core.chat.Provenance` that it knows.
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
    """A server of Candor's own HTTP contract, which answers whole chats."""

    async def reply(self, chat: Chat) -> Reply:
        """Return the server's answer. Raises BotError."""
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
        """Read the server's health; a server without it passes. Raises BotError: it accepts no chats."""
        response = await self._remote.get("/health")
        if response.status_code == 404:
            return
        if response.status_code != 200:
            raise self._remote.refusal(response)
        with suppress(ValidationError):  # 200 is enough, unless it says that it is not ready
            if not _Health.model_validate_json(response.content).ready:
                raise BotBusy("it is not ready: still loading, or shutting down")


class HttpEndpoint(EndpointSettings):
    """Equivalent servers of Candor's own contract (`bots.endpoints.http`)."""

    model_config = described(
        "Your own program, or a bot host",
        "Anything that answers Candor’s small JSON contract. A bot host does so for local models, for "
        "example at http://127.0.0.1:8601/mine:",
        "candor host hf:models/my-bot \\\n  --name mine",
    )
    kind: Literal["http"]
    urls: Urls
    key: Key = None

    def access(self) -> EndpointAccess:
        """Return the key of every request."""
        return EndpointAccess(self.key)

    def client(self, remote: Remote) -> Replica:
        """Return the server at `remote`."""
        return HttpBot(remote)


class _ParlaiAnswer(BaseModel):
    text: str | None = None


class ParlaiWebBot(RemoteBot):
    """An `interactive_web` process of ParlAI, asked for one conversation at a time.

    The process has a single conversation for all callers: `POST /interact` takes a bare line and answers
    {"text": ...}, and `POST /reset` forgets everything. Each reply is therefore made in a fresh conversation:
    reset, then send the whole history as one text, its lines joined as ParlAI itself joins them.
    """

    def __init__(self, remote: Remote) -> None:
        """Ask `remote`, which must have no other users."""
        super().__init__(remote)
        self._turn = asyncio.Lock()

    async def reply(self, chat: Chat) -> Reply:
        """Return the answer of the process to the history of `chat`. Raises BotError."""
        async with self._turn:
            # The process handles requests one after the other, so a call that was cancelled halfway is over
            # when this reset is done.
            await self._remote.post("/reset", _ParlaiAnswer)
            answer = await self._remote.post("/interact", _ParlaiAnswer, content=history(chat).encode())
        return checked_reply(answer.text or "", tokens=True)

    async def probe(self) -> None:
        """Fetch the page that the process serves, unless a reply is under way. Raises BotError."""
        if not self._turn.locked():
            await self._remote.get("/")


def history(chat: Chat) -> str:
    """Return `chat` as ParlAI's own tasks write it: persona first, one line each."""
    persona = (f"your persona: {sentence}" for sentence in chat.persona)
    return "\n".join([*persona, *(" ".join(turn.text.split()) for turn in chat.turns)])


class ParlaiWebEndpoint(EndpointSettings):
    """Equivalent processes of ParlAI's `interactive_web`, for the exclusive use of this server."""

    model_config = described(
        "ParlAI’s interactive_web",
        "It holds one conversation at a time, so use it for nothing else meanwhile. For example at "
        "http://127.0.0.1:8080:",
        "parlai interactive_web \\\n  -mf my/model --port 8080",
    )
    kind: Literal["parlai-web"]
    urls: Urls

    def client(self, remote: Remote) -> Replica:
        """Return the process at `remote`."""
        return ParlaiWebBot(remote)
