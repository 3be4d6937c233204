"""Let a language model rate conversations, over any endpoint with OpenAI's chat completions.

Each conversation is rated with the criteria forwards and backwards, several times each, at temperature 1.
This shows the judge's own noise, and the effect of the order. Every answer is cached at once, so an
interrupted command continues where it stopped.

The prompt is `judge_prompt.txt`, the statements are `statements.toml`, both in this folder. The judge rates
the same criteria as workers, on their scale, and does not know the system.
"""

import asyncio
import math
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from ipaddress import ip_address
from itertools import product
from pathlib import Path
from string import Template
from typing import Any, TypedDict
from urllib.parse import urlsplit

import httpx2
import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, ValidationError
from pydantic_core import from_json
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from candor.common.files import read_file
from qc.errors import (
    JudgeError,
    JudgeRefused,
    JudgeUnreachable,
    JudgeUnreadable,
    OptionError,
    SourceError,
    joined,
)
from qc.metrics.cache import Cache, content_key
from qc.metrics.transcripts import Transcript

SCALE = 100.0
WHO = {"person": "Person", "system": "Chatbot"}
_OBJECT = re.compile(r"\{[^{}]*\}")


def statements(labels: Sequence[str], path: Path | None) -> dict[str, str]:
    """Return the statement of each criterion, in the order of `labels`.

    Args:
        labels: labels of the run's criteria.
        path: TOML file with a statement for each label; None for the seven statements of the instrument.

    Raises:
        SourceError: the file cannot be read.
        OptionError: a criterion has no statement.
    """
    known = _known(path)
    missing = [label for label in labels if not isinstance(known.get(label), str)]
    if missing:
        where = path or "the instrument, whose statements the judge is asked"
        raise OptionError(
            f"--judge: there is no statement for {joined(missing)} in {where}. Give a TOML file with "
            'lines such as `label = "The statement."` by --statements.'
        )
    return {label: str(known[label]) for label in labels}


def _known(path: Path | None) -> Mapping[str, object]:
    if path is None:
        return tomllib.loads(_text("statements.toml"))
    try:
        return tomllib.loads(read_file(path).decode("utf-8"))
    except (OSError, ValueError) as error:
        raise SourceError(f"{path}: the statements cannot be read ({error}). Give a TOML file.") from None


def prompt(spoken: Transcript, asked: Sequence[str]) -> str:
    """Return the prompt for a conversation, with the statements `asked` numbered from 1."""
    return Template(_text("judge_prompt.txt")).substitute(
        conversation="\n".join(f"{WHO[who]}: {' '.join(text.split())}" for who, text in spoken.said),
        statements="\n".join(f"{number}. {statement}" for number, statement in enumerate(asked, start=1)),
    )


def ratings_in(answer: str, count: int) -> list[float] | None:
    """Return the ratings of `count` statements, 0 to 100, in `answer`; None if it lacks any."""
    for found in reversed(_OBJECT.findall(answer)):
        try:
            given = from_json(found)
            ratings = [float(given[str(number)]) for number in range(1, count + 1)]
        except (ValueError, KeyError, TypeError, OverflowError):
            continue
        if len(given) == count and all(0 <= rating <= SCALE for rating in ratings):
            return ratings
    return None


def _text(name: str) -> str:
    return resources.files("qc.metrics").joinpath(name).read_text(encoding="utf-8")


ORDERS = ("forwards", "backwards")
AT_ONCE = 8
TRIES = 5
# If none of the first answers holds ratings, no more are asked for: others would cost as much.
FIRST_ANSWERS = 10
LONGEST_WAIT = 20.0  # seconds between two tries
PATIENCE = 120.0  # seconds of silence
CONNECT_SECONDS = 10.0
TEMPERATURE = 1.0
# Seven ratings are 60 tokens; models that reason first need more.
MOST_TOKENS = 2000
# For estimates: English has about four characters to a token (the providers' own rule of thumb).
CHARACTERS_OF_TOKEN, TOKENS_OF_RATING = 4, 9
SHOWN_ANSWER = 200  # characters
# Status codes to retry: too many requests, a server that is starting or was cut off.
_PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504})


class _Answer(TypedDict):
    """Cached part of an answer: the ratings in the order asked (None if it holds none), and its beginning.

    Tokens are those of all tries.
    """

    ratings: list[float] | None
    text: str
    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """Options of a judge.

    Attributes:
        url: URL of the endpoint, without `/chat/completions`.
        model: name of the model at the endpoint.
        key: sent as a bearer token; None if not needed.
        repeats: number of requests for each order.
    """

    url: str
    model: str
    key: str | None
    repeats: int

    @property
    def may_cost(self) -> bool:
        """Whether a call may cost money: the endpoint needs a key, or is not on this machine."""
        return self.key is not None or not _is_on_this_machine(urlsplit(self.url).hostname or "")


@dataclass(frozen=True, slots=True)
class PlannedJudging:
    """Number of planned calls, and estimated numbers of prompt and answer tokens."""

    calls: int
    tokens_in: int
    tokens_out: int


@dataclass(frozen=True)
class JudgeScore:
    """The judge's ratings of C conversations.

    Attributes:
        ratings: (C, orders, repeats, K), 0 to 100 as given, criteria always in the order of the run; NaN if
            an answer held no ratings.
        answers: number of answers; identical conversations share theirs.
        unreadable: number of answers without ratings after all tries.
        prompt_tokens, completion_tokens: tokens of all answers, as counted by the endpoint.
        asked: number of answers requested now; the others were cached.
        paid_prompt_tokens, paid_completion_tokens: tokens of the answers requested now.
    """

    ratings: NDArray[np.float64]
    answers: int
    unreadable: int
    prompt_tokens: int
    completion_tokens: int
    asked: int
    paid_prompt_tokens: int
    paid_completion_tokens: int


class _Message(BaseModel):
    content: str | None = None


class _Choice(BaseModel):
    message: _Message


class _Usage(BaseModel):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Completion(BaseModel):
    choices: list[_Choice] = Field(min_length=1)
    usage: _Usage | None = None


class _Passing(Exception):
    """A temporary failure; `told` is the error to raise if it persists."""

    def __init__(self, told: JudgeError) -> None:
        self.told = told


@dataclass(frozen=True, slots=True)
class _Ask:
    """One request, and the cache key of its answer."""

    body: dict[str, Any]
    key: str


def judge(
    spoken: Sequence[Transcript],
    asked: Sequence[str],
    options: JudgeOptions,
    cache: Cache,
    on_answer: Callable[[int, int], None],
) -> JudgeScore:
    """Return the judge's ratings of each of `spoken`.

    Args:
        spoken: the conversations.
        asked: the statements, in the order of the run's criteria.
        options: the judge's options.
        cache: cache of the answers.
        on_answer: called with the number of answers so far, and of all.

    Raises:
        JudgeUnreachable: the address does not answer.
        JudgeRefused: the endpoint refuses; the message quotes its reason.
        JudgeUnreadable: no answer held ratings, or none of the first FIRST_ANSWERS.
    """
    keys, asks = _asks(spoken, asked, options)
    answers = {key: cache.get(key) for key in asks}
    missing = [asks[key] for key, answer in answers.items() if answer is None]
    there = len(asks) - len(missing)

    def keep(ask: _Ask, answer: _Answer) -> None:
        nonlocal there
        if answer["ratings"] is not None:
            cache.put({ask.key: answer})
        answers[ask.key] = answer
        there += 1
        on_answer(there, len(asks))
        if there == FIRST_ANSWERS:
            _require_ratings([each for each in answers.values() if each is not None])

    on_answer(there, len(asks))
    if missing:
        asyncio.run(_ask_all(missing, options, len(asked), keep))
    _require_ratings(list(answers.values()))
    ratings = np.full((len(spoken), len(ORDERS), options.repeats, len(asked)), np.nan)
    for place, key in keys.items():
        given = answers[key]["ratings"]
        if given is not None:
            ratings[place] = given if ORDERS[place[1]] == "forwards" else given[::-1]
    return JudgeScore(
        ratings,
        len(answers),
        sum(answer["ratings"] is None for answer in answers.values()),
        *_tokens(list(answers.values())),
        len(missing),
        *_tokens([answers[ask.key] for ask in missing]),
    )


def planned_calls(
    spoken: Sequence[Transcript], asked: Sequence[str], options: JudgeOptions, cache: Cache
) -> PlannedJudging:
    """Return the calls that `judge` would make with the same arguments, without cached answers."""
    _, asks = _asks(spoken, asked, options)
    missing = [ask.body["messages"] for key, ask in asks.items() if cache.get(key) is None]
    read = sum(len(message["content"]) for messages in missing for message in messages)
    return PlannedJudging(
        len(missing), math.ceil(read / CHARACTERS_OF_TOKEN), len(missing) * len(asked) * TOKENS_OF_RATING
    )


def _asks(
    spoken: Sequence[Transcript], asked: Sequence[str], options: JudgeOptions
) -> tuple[dict[tuple[int, int, int], str], dict[str, _Ask]]:
    """Return the key of every conversation's request, by order and repeat, and the requests by their keys.

    Identical conversations share one request.
    """
    keys: dict[tuple[int, int, int], str] = {}
    asks: dict[str, _Ask] = {}
    for number, each in enumerate(spoken):
        for order, repeat in product(range(len(ORDERS)), range(options.repeats)):
            ask = _ask(options, order, repeat, each, asked)
            keys[number, order, repeat] = ask.key
            asks[ask.key] = ask
    return keys, asks


def _ask(options: JudgeOptions, order: int, repeat: int, spoken: Transcript, asked: Sequence[str]) -> _Ask:
    ordered = asked if ORDERS[order] == "forwards" else asked[::-1]
    body = {
        "model": options.model,
        "messages": [{"role": "user", "content": prompt(spoken, ordered)}],
        "temperature": TEMPERATURE,
        "max_tokens": MOST_TOKENS,
    }
    # The order is part of the key, because two orders of a single criterion have the same text.
    return _Ask(body, content_key("judge", options.url, body, order, repeat))


def _is_on_this_machine(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _require_ratings(answers: Sequence[_Answer]) -> None:
    if answers and all(answer["ratings"] is None for answer in answers):
        raise JudgeUnreadable(
            f"--judge: none of {len(answers)} answers holds a rating of 0 to 100 for each statement. One "
            f"began: {answers[0]['text']!r}. Name a --judge-model that follows instructions."
        )


def _tokens(answers: Sequence[_Answer]) -> tuple[int, int]:
    return sum(each["prompt_tokens"] for each in answers), sum(each["completion_tokens"] for each in answers)


async def _ask_all(
    asks: Sequence[_Ask], options: JudgeOptions, count: int, keep: Callable[[_Ask, _Answer], None]
) -> None:
    """Make AT_ONCE requests at a time. After a failure, start no new one, but wait for those in progress."""
    headers = {"Authorization": f"Bearer {options.key}"} if options.key else {}
    waiting = iter(asks)
    failures: list[JudgeError] = []
    timeout = httpx2.Timeout(PATIENCE, connect=CONNECT_SECONDS)
    async with httpx2.AsyncClient(headers=headers, timeout=timeout) as client:

        async def work() -> None:
            for ask in waiting:
                try:
                    keep(ask, await _answer(client, options, ask, count))
                except JudgeError as failure:
                    failures.append(failure)
                if failures:
                    return

        await asyncio.gather(*(work() for _ in range(AT_ONCE)))
    if failures:
        raise failures[0]


async def _answer(client: httpx2.AsyncClient, options: JudgeOptions, ask: _Ask, count: int) -> _Answer:
    """Return the ratings of an answer, its beginning, and the tokens of all tries.

    The ratings are None if TRIES answers held none.
    """
    tokens = np.zeros(2, np.int64)
    text = ""
    for _ in range(TRIES):
        completion = await _completion(client, options, ask)
        usage = completion.usage or _Usage()
        tokens += (usage.prompt_tokens, usage.completion_tokens)
        text = completion.choices[0].message.content or ""
        ratings = ratings_in(text, count)
        if ratings is not None:
            break
    return {
        "ratings": ratings,
        "text": text[:SHOWN_ANSWER],
        "prompt_tokens": int(tokens[0]),
        "completion_tokens": int(tokens[1]),
    }


async def _completion(client: httpx2.AsyncClient, options: JudgeOptions, ask: _Ask) -> _Completion:
    """Return the endpoint's answer; temporary failures are retried TRIES times, with growing waits."""
    retrying = AsyncRetrying(
        retry=retry_if_exception_type(_Passing),
        stop=stop_after_attempt(TRIES),
        wait=wait_random_exponential(multiplier=0.5, max=LONGEST_WAIT),
        reraise=True,
    )
    try:
        async for attempt in retrying:
            with attempt:
                return await _asked_once(client, options, ask)
    except _Passing as failure:
        raise failure.told from None
    raise AssertionError("the retries end with an answer or an error")


async def _asked_once(client: httpx2.AsyncClient, options: JudgeOptions, ask: _Ask) -> _Completion:
    try:
        response = await client.post(f"{options.url}/chat/completions", json=ask.body)
    except httpx2.HTTPError as error:
        raise _Passing(
            JudgeUnreachable(
                f"--judge {options.url}: no answer ({error or type(error).__name__}). Start the server, or "
                "correct the address; what was answered so far is kept."
            )
        ) from None
    except httpx2.InvalidURL as error:
        raise JudgeUnreachable(f"--judge {options.url}: this is not a valid address ({error}).") from None
    if response.status_code != 200:
        refused = JudgeRefused(
            f"--judge {options.url}: {_meaning(response.status_code, options)} (status "
            f"{response.status_code}: {_shown(response.text, options)}). What was answered so far is kept."
        )
        raise _Passing(refused) if response.status_code in _PASSING else refused
    try:
        return _Completion.model_validate_json(response.content)
    except ValidationError:
        shown = _shown(response.text, options)
        raise JudgeUnreadable(
            f"--judge {options.url}: the answer is not a chat completion ({shown}). "
            "Give the address without /chat/completions."
        ) from None


def _meaning(status: int, options: JudgeOptions) -> str:
    if status in (401, 403):
        return (
            "it does not accept the key"
            if options.key
            else "it wants a key: name its variable by --judge-key"
        )
    return {
        404: f"there is nothing there, or no model {options.model!r}",
        429: "it is asked too often, or a quota is used up",
    }.get(status, "it did not answer the question")


def _shown(text: str, options: JudgeOptions) -> str:
    shown = " ".join(text.split())[:SHOWN_ANSWER]
    return repr(shown.replace(options.key, "[key]") if options.key else shown)
