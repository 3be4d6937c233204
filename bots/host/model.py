"""A hosted model: its interface, options and fingerprint, the builtin bots as models, and micro-batches."""

import asyncio
import hashlib
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Literal, Protocol

import structlog

from bots.builtin import UnknownBotError, open_bot
from bots.core.ask import checked_reply
from bots.core.chat import Bot, Chat, Provenance, Reply
from bots.core.failures import BotError, EmptyReply
from bots.corpus import Corpus, CorpusError, load_corpus

DType = Literal["auto", "float64", "float32", "bfloat16", "float16"]
Layout = Literal["auto", "template", "plain", "eos"]


@dataclass(frozen=True, slots=True)
class HfOptions:
    """Options for running a language model.

    None means the model's own generation settings; without any, decoding is greedy. A temperature of 0 is
    greedy. `max_new_tokens` limits a reply, `thinking_tokens` the thoughts before it, if any. `thinking`:
    True and False turn thoughts on and off; None: off if the model's template has a switch. `layout`: the
    format of a conversation, for models other than encoder-decoders; "auto" is the chat template if there is
    one, else "plain". `chat_template` replaces the model's own. `prompt` None: the default instructions, for
    models that take some. `device` None: CUDA if there is one; "auto": over all GPUs. `dtype` "auto": as
    saved on CUDA, float32 on a CPU.
    """

    max_new_tokens: int = 64
    temperature: float | None = None
    top_p: float | None = None
    repetition_penalty: float | None = None
    prompt: str | None = None
    device: str | None = None
    dtype: DType = "auto"
    thinking: bool | None = None
    thinking_tokens: int = 1024
    layout: Layout = "auto"
    chat_template: str | None = None


_OF_A_MODEL = frozenset({".safetensors", ".bin", ".json", ".model", ".txt", ".jinja"})
_DIGITS = 16


def hash_of_files(files: Iterable[Path]) -> str:
    """Return a hash of 16 digits of the contents of `files`, whatever their names. Reads them whole."""
    whole = hashlib.sha256()
    for file in files:
        with file.open("rb") as opened:
            whole.update(hashlib.file_digest(opened, "sha256").digest())
    return whole.hexdigest()[:_DIGITS]


def hash_of_folder(folder: Path) -> str:
    """Return a hash of 16 digits of a model's weights, configuration and tokenizer, saved by transformers."""
    return hash_of_files(
        sorted(file for file in folder.iterdir() if file.suffix in _OF_A_MODEL and file.is_file())
    )


class HostModelError(Exception):
    """A model cannot be opened. The message says which, why, and what to do."""


def how_to_install(extra: str) -> str:
    """Say how to install an extra of Candor. Never by name: `candor` on the package index is not ours."""
    also = " and `pip install --no-deps parlai`" if extra == "parlai" else ""
    return f"in a checkout `make install-models`, elsewhere `pip install 'candor_eval-….whl[{extra}]'`{also}."


@dataclass(frozen=True, slots=True)
class Output:
    """A model's raw output, thoughts and marks included. The other fields are the arguments of `shown_text`.

    `provenance`: the output's origin, as far as the model alone can tell.
    """

    text: str
    opened: bool = False
    at_limit: bool = False
    tokens: bool = False
    labels: tuple[str, ...] = ()
    provenance: Provenance = field(default_factory=Provenance)


class Model(Protocol):
    """A model in memory. It is called from one thread only, so it need not be thread-safe."""

    name: str

    def replies(self, chats: Sequence[Chat]) -> Sequence[Output]:
        """Return the model's output for every chat, in order; the text is empty if it has nothing to say.

        The chats belong to different conversations. The rest of the batch must not change a reply.

        Raises:
            Exception: any; the chats are then tried one by one.
        """
        ...


# Bots with the same corpus object share what they have learned from it.
_corpus = lru_cache(maxsize=8)(load_corpus)


class BuiltinModel:
    """A bot that comes with Candor."""

    def __init__(self, name: str, corpus: str) -> None:
        """Open the builtin bot `name` with `corpus`: a builtin corpus or a path.

        Raises:
            HostModelError: there is no such bot, or it cannot use that corpus.
        """
        self.name = f"builtin:{name}"
        try:
            learned = _corpus(corpus)
            self._bot: Bot = open_bot(self.name, learned)
        except (UnknownBotError, CorpusError) as error:
            raise HostModelError(f"{self.name}: {error}") from error

        self._made = made_by(self.name, learned)

    def replies(self, chats: Sequence[Chat]) -> list[Output]:
        """Return the bot's next line of every chat."""
        return asyncio.run(self._answer(chats))

    async def _answer(self, chats: Sequence[Chat]) -> list[Output]:
        return [Output((await self._bot.reply(chat)).text, provenance=self._made) for chat in chats]


def made_by(spec: str, corpus: Corpus) -> Provenance:
    """Return the provenance of the builtin bot `spec`: its version, and the fingerprint of its corpus."""
    return Provenance(model=spec, revision=f"{version('candor-eval')}-{corpus.fingerprint()}")


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
