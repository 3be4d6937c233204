"""Write a simulated worker's messages.

In English, one of our bots or a language model takes the worker's side: `openai:MODEL`, `hf:PATH`, or
retrieval from the corpus. No corpus of the other languages is shipped, so their lines come from lists and fit
the conversation only loosely: a question is answered with a statement, and a statement with a question or
another statement.
"""

import math
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from pydantic import ValidationError
from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt

from bots.builtin import open_bot
from bots.conformance.script import check_language
from bots.core.ask import ask
from bots.core.chat import Bot, Chat, Turn
from bots.core.failures import BotError
from bots.core.persona_prompt import persona_prompt
from bots.corpus import Corpus
from bots.crowd.profile import Manner
from bots.endpoints import open_endpoint
from bots.endpoints.address import EndpointError
from bots.endpoints.hosted import Price
from bots.endpoints.openai import OpenAiEndpoint
from bots.endpoints.replicas import Replicas
from bots.host.model import HfOptions, HostModelError, MicroBatch, how_to_install
from candor.common.files import mistakes
from candor.common.network import backoff
from candor.common.segmentation import base_language, join_words, split_words

TRIES = 2  # for one line: each may cost money
_PATIENCE = 120.0  # seconds for one try

INSTRUCTIONS = """\
You take part in a study for which you chat with a stranger in a text box. Write your own next message and \
nothing else: no quotation marks, no name in front.

This is who you are:
{persona}"""
_MANNERS: dict[Manner, str] = {
    "plain": "Write as people type in a chat: one or two short sentences. Answer what the other one said, and"
    " sometimes ask something yourself.",
    "careless": "You are paid for this and want to be done. Write three words at most, with no capitals and"
    " no full stop.",
    "disguised": "Write two or three complete, well-formed sentences.",
}
_OPENING = "(The chat begins, and you write first.)"


@dataclass(frozen=True, slots=True)
class OwnChat:
    """A conversation from the view of the simulated worker, who writes the next line.

    `turns` is the history as the server knows it, with the worker's own lines by "worker". `is_new_topic`:
    nothing has been said about `topic` yet. `language`: the tag of the study's.
    """

    name: str
    seed: int
    persona: tuple[str, ...]
    topic: str
    is_new_topic: bool
    turns: tuple[Turn, ...]
    manner: Manner
    language: str = "en"


class Speaker(Protocol):
    """Writes the messages of a simulated worker."""

    async def say(self, chat: OwnChat) -> str:
        """Return the worker's next line. Raises BotError if there is none."""
        ...


class Prompted:
    """Speaks through a language model that gets a persona and a topic."""

    def __init__(self, bot: Bot) -> None:
        """Use `bot`, which accepts instructions with each conversation, and has none of its own."""
        self._bot = bot

    async def say(self, chat: OwnChat) -> str:
        """Return the model's line; the model is asked at most twice."""
        turns = other_side(chat.turns)
        if not turns or turns[0].author == "bot":  # models expect the other side to begin
            turns = (Turn("worker", _OPENING), *turns)
        return await _ask_with_retries(self._bot, Chat(chat.name, chat.seed, (), turns, instructions(chat)))


class Retrieved:
    """Speaks through a bot that answers from a corpus; new topics are introduced by a fixed question."""

    def __init__(self, bot: Bot) -> None:
        """Use `bot`."""
        self._bot = bot

    async def say(self, chat: OwnChat) -> str:
        """Return the bot's answer, or a question that introduces a new topic."""
        if chat.is_new_topic:
            return f"{'By the way, what' if chat.turns else 'Hi! What'} do you think about {chat.topic}?"
        said = await _ask_with_retries(
            self._bot, Chat(chat.name, chat.seed, chat.persona, other_side(chat.turns))
        )
        return " ".join(said.lower().split()[:3]).rstrip(".,;:!?") if chat.manner == "careless" else said


def instructions(chat: OwnChat) -> str:
    """Return the instructions for a model that speaks for the worker."""
    topic = (
        f"Bring up a new topic now: {chat.topic}" if chat.is_new_topic else f"You talk about: {chat.topic}"
    )
    tongue = "" if chat.language == "en" else f"\n\nWrite in the language with the tag {chat.language}."
    return persona_prompt(INSTRUCTIONS, chat.persona, f"{_MANNERS[chat.manner]}\n\n{topic}{tongue}")


def other_side(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """Return a conversation from the side of the bot that speaks for the worker, with authors exchanged."""
    return tuple(Turn("bot" if turn.author == "worker" else "worker", turn.text) for turn in turns)


async def _ask_with_retries(bot: Bot, chat: Chat) -> str:
    tries = AsyncRetrying(
        retry=retry_if_exception(lambda error: isinstance(error, BotError) and error.retry),
        stop=stop_after_attempt(TRIES),
        wait=backoff(0.5, longest=2.0, growth=2.0),
        reraise=True,
    )
    return (await tries(ask, bot, chat, _PATIENCE)).text


# 51.6 words of five characters a minute, with a standard deviation of 20.2 over people: Dhakal et al. (2018),
# Observations on typing from 136 million keystrokes, of 168,000 volunteers.
CHARACTERS_PER_SECOND = 51.6 * 5 / 60
SPREAD = math.sqrt(math.log(1 + (20.2 / 51.6) ** 2))  # of the logarithm
# Our own assumptions, not measured: pasting takes the same time for every line; careless workers do not
# think.
THINKING, PASTING = 2.0, 4.0  # seconds
SLIPS, LOOKS_AWAY = 0.04, 0.05  # shares of characters, and of lines
_TOLD = ("typed", "composed", "pasted", "pastes", "writing_ms", "longest_pause_ms", "away", "away_ms")


def seconds_to_write(text: str, manner: Manner, rng: random.Random) -> float:
    """Return the time until `text` is sent; it is about the same for all pasted lines."""
    if manner == "disguised":
        return PASTING * rng.uniform(0.95, 1.05)
    typing = len(text) / CHARACTERS_PER_SECOND * rng.lognormvariate(0.0, SPREAD)
    return typing if manner == "careless" else THINKING * rng.lognormvariate(0.0, SPREAD) + typing


def writing_of(text: str, seconds: float, manner: Manner, rng: random.Random) -> dict[str, int]:
    """Return a page's record of how `text` was written in so many seconds.

    Disguised workers paste their lines, and are on another page meanwhile. All others type, correct typing
    errors, and sometimes leave the page; the rates are our own assumptions, not measured.
    """
    took = round(1_000 * seconds)
    told = dict.fromkeys(_TOLD, 0)
    if manner == "disguised":
        return told | {"pasted": len(text), "pastes": 1, "away": 1, "away_ms": took}
    slips = sum(rng.random() < SLIPS for _ in text)
    pause = round(took * rng.uniform(0.1, 0.5))
    away = int(rng.random() < LOOKS_AWAY)
    return told | {
        "typed": len(text) + slips,
        "writing_ms": took,
        "longest_pause_ms": pause,
        "away": away,
        "away_ms": away * pause,
    }


_ASKS = ("?", "？")


@dataclass(frozen=True, slots=True)
class _Topics:
    """The topics in a language, and the line that introduces one."""

    names: tuple[str, ...]
    line: str


_TOPICS = {
    "en": _Topics(
        ("music", "cooking", "dogs", "the weather", "football", "books", "travelling", "work", "films"),
        "What do you think about {topic}?",
    ),
    "de": _Topics(
        ("Musik", "Kochen", "Hunde", "das Wetter", "Fußball", "Bücher", "Reisen", "Arbeit", "Filme"),
        "Was denkst du über das Thema „{topic}“?",
    ),
    "es": _Topics(
        ("música", "cocina", "perros", "el tiempo", "fútbol", "libros", "viajes", "trabajo", "cine"),
        "¿Qué piensas de este tema: {topic}?",
    ),
    "fr": _Topics(
        ("la musique", "la cuisine", "les chiens", "la météo", "le football", "les livres", "les voyages"),
        "Que penses-tu de ce sujet : {topic} ?",
    ),
    "ja": _Topics(
        ("音楽", "料理", "犬", "天気", "サッカー", "本", "旅行", "仕事", "映画"),
        "{topic}についてどう思いますか？",
    ),
    "zh": _Topics(
        ("音乐", "做饭", "狗", "天气", "足球", "书", "旅行", "工作", "电影"), "你觉得{topic}怎么样？"
    ),
}


def speaks(language: str) -> bool:
    """Return whether there are lines and topics in `language`, a tag such as `de` or `zh-TW`."""
    return base_language(language) in _TOPICS


def topics_in(language: str) -> tuple[str, ...]:
    """Return topics in `language`; in English if there are none in that language."""
    return _of(language).names


def topic_line(topic: str, language: str) -> str:
    """Return the line that introduces `topic`."""
    return _of(language).line.format(topic=topic)


def phrase(chat: OwnChat) -> str:
    """Return the next line of small talk in the language of `chat`, without repeats while others are left."""
    lines = check_language(chat.language)
    own = [turn.text for turn in chat.turns if turn.author == "worker"]
    rng = random.Random(f"phrase {chat.seed} {len(own)}")
    if chat.is_new_topic:
        before = () if chat.turns else (rng.choice(lines.openings),)
        return join_words((*before, topic_line(chat.topic, chat.language)), chat.language)
    statements = [line for row in lines.talk for line in row if not line.endswith(_ASKS)]
    questions = [line for row in lines.talk for line in row if line.endswith(_ASKS)]
    asked = chat.turns[-1].text.rstrip().endswith(_ASKS)
    said = _unsaid(statements if asked else [*statements, *questions, *lines.follow_ups], own, rng)
    if chat.manner == "careless":
        return join_words(split_words(said, chat.language)[:3], chat.language).rstrip(".,;:!?。，！？¡¿")
    return said


class InTheLanguage:
    """Speaks English through `english`, and other languages from their lists of lines."""

    def __init__(self, english: Speaker) -> None:
        self._english = english

    async def say(self, chat: OwnChat) -> str:
        """Return the worker's next line; it is English in a language without lines."""
        if base_language(chat.language) == "en" or not speaks(chat.language):
            return await self._english.say(chat)
        return phrase(chat)


def without_lines(language: str) -> str | None:
    """Return a warning about simulated workers in a study in `language`; None for English."""
    if base_language(language) == "en":
        return None
    if speaks(language):
        return f"The study is in {language}: the workers' lines in it hardly respond to the bot's lines."
    return f"The study is in {language}, for which there are no lines: the workers wrote English."


def _of(language: str) -> _Topics:
    return _TOPICS.get(base_language(language), _TOPICS["en"])


def _unsaid(lines: Sequence[str], said: Sequence[str], rng: random.Random) -> str:
    return rng.choice([line for line in lines if line not in said] or list(lines))


class TalkRefused(ValueError):
    """The speaker cannot be opened. The message says why, and what to write instead."""


@dataclass(frozen=True, slots=True)
class Talk:
    """The speaker that was chosen for a crowd. `spec` None: the corpus. `price`: of a million tokens."""

    spec: str | None = None
    url: str | None = None
    key: str | None = None
    price: Price | None = None

    @property
    def name(self) -> str:
        """Its name in the data."""
        return self.spec or "builtin:retrieval"

    @property
    def endpoint(self) -> OpenAiEndpoint | None:
        """The model that is called over HTTP, if any. Raises TalkRefused if its options are invalid."""
        kind, _, model = (self.spec or "").partition(":")
        if kind != "openai" or not model:
            return None
        if self.url is None:
            raise TalkRefused("openai:… needs --talk-url, as in --talk-url http://127.0.0.1:11434/v1")
        described = {"urls": [self.url], "model": model, "key": self.key, "price": self.price}
        try:
            return OpenAiEndpoint(kind="openai", prompt="", **described)
        except ValidationError as error:
            raise TalkRefused(mistakes(error)) from error


@asynccontextmanager
async def speaker(talk: Talk, corpus: Corpus) -> AsyncIterator[Speaker]:
    """Open the speaker of `talk`, and close it in the end.

    Raises:
        TalkRefused: there is no such speaker, or it cannot be opened.
    """
    kind, _, name = (talk.spec or "").partition(":")
    if talk.spec is None:
        yield InTheLanguage(Retrieved(open_bot("builtin:retrieval", corpus)))
    elif (endpoint := talk.endpoint) is not None:
        replicas = _opened(endpoint)
        try:
            yield Prompted(replicas)
        finally:
            await replicas.close()
    elif kind == "hf" and name:
        yield Prompted(_hosted(name))
    else:
        raise TalkRefused(f'"{talk.spec}" is not a valid speaker: write openai:MODEL or hf:FOLDER')


def _opened(endpoint: OpenAiEndpoint) -> Replicas:
    try:
        return open_endpoint(endpoint)
    except EndpointError as error:
        raise TalkRefused(str(error)) from error


def _hosted(path: str) -> Bot:
    try:
        from bots.host.hf import HfModel  # noqa: PLC0415 - heavy, and not installed everywhere

        return MicroBatch(HfModel(path, HfOptions(prompt="", temperature=0.8)))
    except ImportError as error:
        raise TalkRefused(
            f"hf:{path} needs torch and transformers ({error}). Install them: {how_to_install('hf')}"
        ) from error
    except HostModelError as error:
        raise TalkRefused(str(error)) from error
