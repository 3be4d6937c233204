"""A host over HTTP: POST /NAME/reply, GET /NAME/health, GET /; its key, and its graceful end."""

import asyncio
import hmac
import time
from collections.abc import Coroutine, Iterable
from types import FrameType
from typing import TypeVar

import uvicorn
from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ValidationError
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from bots.core.ask import rechecked
from bots.core.chat import Bot, Chat, ChatRequest, Provenance, Reply
from bots.core.failures import BotBusy, BotError, ChatRefused, EmptyReply, ThoughtsOnly
from bots.endpoints.address import Key
from bots.shown import Change
from candor.common.files import mistakes
from candor.common.network import BodyLimit

T = TypeVar("T")
MOST_UNDER_WAY = 512
MOST_BYTES = 1_048_576  # of a request


class HungUp(Exception):
    """The caller has closed the connection."""


class ReplyBody(BaseModel):
    """A reply, with the fields of `bots.core.chat.Reply`; `text` is empty if there is nothing to show."""

    text: str
    output: str | None = None
    changes: tuple[Change, ...] = ()
    provenance: Provenance | None = None


class HostHealth(BaseModel):
    """Whether a model is ready, and the number of replies under way for all models of the host."""

    name: str
    ready: bool
    under_way: int


class Host:
    """Models by name, and the number of replies `under_way`."""

    def __init__(self, names: Iterable[str]) -> None:
        """Announce `names`; each one counts as loading until its bot is added with `put`."""
        self._bots: dict[str, Bot | None] = dict.fromkeys(names)
        self.under_way = 0
        self._draining = False

    @property
    def names(self) -> tuple[str, ...]:
        """The models' names, in the order in which they were announced."""
        return tuple(self._bots)

    def put(self, name: str, bot: Bot) -> None:
        """Let `bot` answer as `name` from now on."""
        self._bots[name] = bot

    def drain(self) -> None:
        """Accept no new chats; finish those under way."""
        self._draining = True

    def health(self, name: str) -> HostHealth:
        """Return the state of the model `name`."""
        ready = self._bots[name] is not None and not self._draining
        return HostHealth(name=name, ready=ready, under_way=self.under_way)

    async def reply(self, name: str, chat: Chat) -> Reply:
        """Return the reply of the model `name`.

        Raises:
            BotBusy: it is loading, shutting down, or overloaded.
            BotError: it could not answer.
        """
        bot = self._bots[name]
        if self._draining:
            raise BotBusy("shutting down")
        if bot is None:
            raise BotBusy("still loading")
        if self.under_way >= MOST_UNDER_WAY:
            raise BotBusy(f"busy: {self.under_way} replies are under way")
        self.under_way += 1
        try:
            return await bot.reply(chat)
        finally:
            self.under_way -= 1


def create_app(host: Host, key: Key | None = None) -> FastAPI:
    """Return the application that serves `host` to callers who send `key`; without a key, to everybody."""
    app = FastAPI(title="Candor bot host", openapi_url=None)
    app.add_middleware(
        BodyLimit, most=MOST_BYTES, refusal=lambda reason: JSONResponse({"detail": reason}, 413)
    )
    app.add_middleware(HttpGuard, key=key)  # runs before the limit: the middleware added last runs first

    def known(name: str) -> str:
        if name not in host.names:
            raise HTTPException(404, f'no model is called "{name}"; there are {", ".join(host.names)}')
        return name

    @app.get("/")
    async def list_models() -> dict[str, list[HostHealth]]:
        return {"models": [host.health(name) for name in host.names]}

    @app.get("/{name}/health")
    async def health(name: str) -> HostHealth:
        return host.health(known(name))

    @app.post("/{name}/reply", response_model_exclude_defaults=True)
    async def reply(name: str, request: Request) -> ReplyBody:
        chat = _chat(await request.body())
        try:
            answer = rechecked(await _while_connected(request, host.reply(known(name), chat)))
        except BotBusy as error:
            raise HTTPException(503, str(error)) from error
        except ChatRefused as error:
            raise HTTPException(422, str(error)) from error
        except EmptyReply as error:
            return ReplyBody(text="", provenance=error.provenance)
        except ThoughtsOnly as error:
            thoughts = error.output or ""
            return ReplyBody(text="", output=thoughts, changes=("thoughts",), provenance=error.provenance)
        except BotError as error:
            raise HTTPException(500, str(error)) from error
        except HungUp as error:
            raise HTTPException(499, "the request was given up") from error
        return ReplyBody(
            text=answer.text, output=answer.output, changes=answer.changes, provenance=answer.provenance
        )

    return app


def _chat(body: bytes) -> Chat:
    """Return the chat in a request. Raises HTTPException."""
    try:
        return ChatRequest.model_validate_json(body).chat()
    except ValidationError as error:
        # Not chained to `error`, whose text quotes the request.
        raise HTTPException(422, mistakes(error, "the body")) from None


async def _while_connected(request: Request, work: Coroutine[None, None, T]) -> T:
    """Return the result of `work`; cancel it as soon as the caller closes the connection.

    Raises:
        HungUp: the caller closed the connection first.
    """
    # The body has been read, so the next message is the end of the connection.
    working, hung_up = asyncio.ensure_future(work), asyncio.ensure_future(request.receive())
    try:
        await asyncio.wait({working, hung_up}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise HungUp
    finally:
        working.cancel()
        hung_up.cancel()


class HttpGuard:
    """ASGI middleware: answer 401 to callers without the key. If `key` is None, everybody is admitted."""

    def __init__(self, app: ASGIApp, key: Key | None = None) -> None:
        self._app = app
        self._key = key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "http" and not self._known(Headers(scope=scope).get("authorization", "")):
            await _NO_KEY(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _known(self, authorization: str) -> bool:
        if self._key is None:
            return True
        scheme, _, sent = authorization.partition(" ")
        same = hmac.compare_digest(sent.strip().encode(), self._key.value.encode())
        return scheme.lower() == "bearer" and same


_NO_KEY = JSONResponse(
    {"detail": "this bot host requires its key: send `Authorization: Bearer KEY`"},
    401,
    {"WWW-Authenticate": "Bearer"},
)


PATIENCE = 60.0


class DrainingServer(uvicorn.Server):
    """Serves a host. The first SIGTERM or SIGINT drains it, the second ends it at once.

    While it drains, new chats get 503. It ends when no reply is under way, or after PATIENCE seconds.
    """

    def __init__(self, config: uvicorn.Config, host: Host) -> None:
        super().__init__(config)
        self._host = host
        self._until: float | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Drain, or end at once if it is draining already."""
        if self._until is not None:
            self.force_exit = True
            self.should_exit = True
            return
        self._until = time.monotonic() + PATIENCE
        self._host.drain()

    async def on_tick(self, counter: int) -> bool:
        """Return whether to end now."""
        if self._until is not None and (not self._host.under_way or time.monotonic() >= self._until):
            self.should_exit = True
        return await super().on_tick(counter)
