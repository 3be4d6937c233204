"""Micro-batches: collect requests of different conversations and answer them together."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace

import structlog

from bots.core.chat import Chat, Reply
from bots.core.failures import BotError, EmptyReply
from bots.core.visible_text import checked_reply
from bots.host.model import Model, Output

WAIT_MS = 5.0
LARGEST = 32
log = structlog.get_logger()


@dataclass(frozen=True, slots=True, eq=False)
class _Request:
    """A pending chat, since `asked`; its batch starts at `due` at the latest.

    Both are times of the loop, in seconds.
    """

    chat: Chat
    answer: asyncio.Future[Output]
    asked: float
    due: float


class MicroBatch:
    """A bot that collects requests for a few milliseconds, then lets its model answer them in one batch.

    While one batch is computed, the next is collected. A request that is cancelled before its batch starts
    costs nothing; after that, its reply is discarded.
    """

    def __init__(self, model: Model, wait_ms: float = WAIT_MS, largest: int = LARGEST) -> None:
        """Wait up to `wait_ms` milliseconds for further requests; answer up to `largest` chats at once."""
        self._model = model
        self._wait = wait_ms / 1000
        self._largest = largest
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"model {model.name}")
        self._waiting: list[_Request] = []
        self._full = asyncio.Event()
        self._work: asyncio.Task[None] | None = None

    async def reply(self, chat: Chat) -> Reply:
        """Return the model's next line of `chat`.

        Raises:
            EmptyReply, ThoughtsOnly: the model's output is empty, or contains only thoughts.
            BotError: it failed on this chat.
        """
        loop = asyncio.get_running_loop()
        now = loop.time()
        request = _Request(chat, loop.create_future(), now, now + self._wait)
        self._waiting.append(request)
        if self._work is None or self._work.done():
            self._full = asyncio.Event()  # belongs to the running loop
            self._work = loop.create_task(self._answer_all())
        if len(self._waiting) >= self._largest:
            self._full.set()
        output = await request.answer
        try:
            return replace(self._checked(output), provenance=output.provenance)
        except BotError as error:
            error.provenance = output.provenance
            raise

    def _checked(self, output: Output) -> Reply:
        if not output.text.strip():
            raise EmptyReply(f"{self._model.name} found nothing to say")
        return checked_reply(
            output.text,
            opened=output.opened,
            at_limit=output.at_limit,
            tokens=output.tokens,
            labels=output.labels,
        )

    async def _answer_all(self) -> None:
        while self._waiting:
            await self._until_due(self._waiting[0].due)
            await self._answer(self._next_batch())

    async def _until_due(self, due: float) -> None:
        """Return when the oldest request is due, or when enough requests wait to fill a batch."""
        self._full.clear()
        if len(self._waiting) < self._largest:
            with suppress(TimeoutError):
                async with asyncio.timeout_at(due):
                    await self._full.wait()

    def _next_batch(self) -> list[_Request]:
        """Take the oldest requests, at most one of each conversation; drop those cancelled."""
        batch: dict[str, _Request] = {}
        left: list[_Request] = []
        for request in self._waiting:
            if request.answer.done():
                continue
            if len(batch) < self._largest and request.chat.conversation_id not in batch:
                batch[request.chat.conversation_id] = request
            else:
                left.append(request)
        self._waiting = left
        return list(batch.values())

    async def _answer(self, batch: Sequence[_Request]) -> None:
        if not batch:
            return
        loop = asyncio.get_running_loop()
        begun = loop.time()
        try:
            outputs = await self._compute(batch)
        except Exception as error:  # a model is foreign code
            if len(batch) > 1:
                log.warning("batch failed", model=self._model.name, size=len(batch), error=repr(error))
                for request in batch:
                    await self._answer([request] if not request.answer.done() else [])
            else:
                self._fail(batch[0], error)
        else:
            computed = _milliseconds(loop.time() - begun)
            for request, output in zip(batch, outputs, strict=True):
                if not request.answer.done():
                    queued = _milliseconds(begun - request.asked)
                    timed = replace(output.provenance, queued_ms=queued, computed_ms=computed)
                    request.answer.set_result(replace(output, provenance=timed))

    async def _compute(self, batch: Sequence[_Request]) -> Sequence[Output]:
        chats = [request.chat for request in batch]
        loop = asyncio.get_running_loop()
        outputs = await loop.run_in_executor(self._thread, self._model.replies, chats)
        if len(outputs) != len(chats):
            raise BotError(f"{self._model.name} gave {len(outputs)} replies to {len(chats)} chats")
        return outputs

    def _fail(self, request: _Request, error: Exception) -> None:
        log.error(
            "model failed",
            model=self._model.name,
            conversation=request.chat.conversation_id,
            exc_info=error,
        )
        if not request.answer.done():
            known = isinstance(error, BotError)
            request.answer.set_exception(error if known else BotError(f"{type(error).__name__}: {error}"))


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)
