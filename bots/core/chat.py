"""The contract of every bot: the chat that it gets, and the reply that it returns.

A bot is stateless from the outside. Each call carries the whole conversation, so any call can be repeated, or
sent to another replica, with the same meaning.
"""

from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b, sha256
from json.encoder import encode_basestring_ascii
from typing import Annotated, Literal, Protocol, runtime_checkable

from pydantic import BaseModel, Field, model_validator

from bots.shown import Change

_CONVERSATIONS = 4_096  # opaque ids in the cache: each is needed at every turn


@lru_cache(maxsize=_CONVERSATIONS)
def opaque_id(seed: int, conversation: str) -> str:
    """Return a pseudonym of `conversation` for bots: always the same for the same `seed`, which is secret."""
    return blake2b(conversation.encode(), key=str(seed).encode(), digest_size=12).hexdigest()


@dataclass(frozen=True, slots=True)
class Provenance:
    """The origin of a reply, or of a failed attempt. None means unknown.

    `model`: the name that the server gives, which may differ from the one requested. `revision`: identifies
    the version of the model: a fingerprint, a commit, a hash of weights. `prompt_hash`: hash of the
    instructions, without the persona. `sampling`: JSON of the options of the request. `cost`: by the bot's
    prices. `finish_reason`: in the server's own word. `replica`: the server or host that answered.
    `queued_ms`, `computed_ms`: how long the chat waited for the model, and how long the model took.
    """

    model: str | None = None
    revision: str | None = None
    prompt_hash: str | None = None
    sampling: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    finish_reason: str | None = None
    replica: str | None = None
    queued_ms: int | None = None
    computed_ms: int | None = None


def prompt_hash(*parts: str) -> str:
    """Return a hash of instructions, of 16 hexadecimal digits."""
    return sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:16]


Author = Literal["worker", "bot"]


@dataclass(frozen=True, slots=True)
class Turn:
    """One line of a conversation."""

    author: Author
    text: str


@dataclass(frozen=True, slots=True)
class Chat:
    """A conversation as a bot sees it.

    `conversation_id` is stable over the conversation's life. `seed` is its source of randomness. `persona`
    holds the sentences of the bot's persona (empty: none). `turns` is the history, oldest first, ending with
    the worker's latest line. `prompt` holds extra instructions for this conversation (empty: none); bots that
    take no instructions ignore it.
    """

    conversation_id: str
    seed: int
    persona: tuple[str, ...]
    turns: tuple[Turn, ...]
    prompt: str = ""

    def replies_given(self) -> int:
        """Return how many replies the bot has given so far: the index of the one it is asked for."""
        return [turn.author for turn in self.turns].count("bot")


@dataclass(frozen=True, slots=True)
class Reply:
    """A bot's next line.

    `output`: the model's raw output, thoughts included, where it differs from the text shown; for analysts
    only. `changes`: the kinds of differences between the two. `provenance`: the reply's origin, as far as the
    bot tells.
    """

    text: str
    output: str | None = None
    changes: tuple[Change, ...] = ()
    provenance: Provenance | None = None


@runtime_checkable
class TakesLayouts(Protocol):
    """A bot that is asked in messages, whose layout is a setting."""

    async def fitting_layout(self, chat: "Chat") -> str | None:
        """Return the settings of another layout in which the model answers; None if there is none."""
        ...


class Bot(Protocol):
    """Anything that can answer a worker."""

    async def reply(self, chat: Chat) -> Reply:
        """Return the next line of `chat`.

        Raises:
            BotGone: the bot will not answer any more; do not try again.
            BotError: no reply could be made; the same call may be tried again.
        """
        ...


_MOST_TURNS, _MOST_SENTENCES, _MOST_TEXT = 2_000, 100, 20_000


class RequestedTurn(BaseModel):
    """One line of the conversation."""

    author: Author
    text: Annotated[str, Field(max_length=_MOST_TEXT)]


class ChatRequest(BaseModel):
    """A conversation whose next line is requested."""

    conversation_id: Annotated[str, Field(min_length=1, max_length=200)]
    seed: int
    persona: Annotated[
        list[Annotated[str, Field(max_length=_MOST_TEXT)]], Field(max_length=_MOST_SENTENCES)
    ] = []
    prompt: Annotated[str, Field(max_length=_MOST_TEXT)] = ""
    turns: Annotated[list[RequestedTurn], Field(min_length=1, max_length=_MOST_TURNS)]

    @model_validator(mode="after")
    def _worker_spoke_last(self) -> "ChatRequest":
        if self.turns[-1].author != "worker":
            raise ValueError("the last turn has to be the worker's")
        return self

    def chat(self, known: tuple[Turn, ...] = ()) -> Chat:
        """Return the conversation. `known` are its first lines, which the sender left out."""
        turns = tuple([Turn(turn.author, turn.text) for turn in self.turns])
        return Chat(self.conversation_id, self.seed, tuple(self.persona), known + turns, self.prompt)


def chat_json(chat: Chat, known: int = 0) -> str:
    """Return `chat` without its first `known` lines as JSON for `ChatRequest`: ASCII, on one line.

    The JSON is written without the pydantic model, which takes several times as long for a conversation of 40
    lines.

    Raises:
        ValueError: the chat exceeds the limits of a request, or the last line is not the worker's.
    """
    if not chat.turns or chat.turns[-1].author != "worker":
        raise ValueError("the last turn has to be the worker's")
    if len(chat.turns) > _MOST_TURNS or len(chat.persona) > _MOST_SENTENCES:
        raise ValueError("the conversation has too many lines")
    lines = chat.turns[known:] if known else chat.turns
    turns = ",".join([f'{{"author":"{turn.author}","text":{_quoted(turn.text)}}}' for turn in lines])
    persona = ",".join([_quoted(sentence) for sentence in chat.persona])
    name = _quoted(chat.conversation_id)
    prompt = f'"prompt":{_quoted(chat.prompt)},' if chat.prompt else ""
    return f'{{"conversation_id":{name},"seed":{chat.seed},"persona":[{persona}],{prompt}"turns":[{turns}]}}'


def _quoted(text: str) -> str:
    if len(text) > _MOST_TEXT:
        raise ValueError(f"a line has {len(text)} characters, and {_MOST_TEXT} are the most")
    return encode_basestring_ascii(text)
