"""A hosted model: its interface, options and fingerprint; and the builtin bots as such models."""

import asyncio
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Literal, Protocol

from bots.builtin.catalogue import UnknownBotError, open_bot
from bots.core.chat import Bot, Chat, Provenance
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
            ModelError: there is no such bot, or it cannot use that corpus.
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
