"""Bots that are checked from here, without a server: builtin ones, and those of a study file."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from bots.builtin.catalogue import UnknownBotError, open_bot
from bots.conformance.check import check_bot
from bots.conformance.pace import LONGEST, MEDIAN, SPREAD, typing_times
from bots.conformance.report import ConformanceReport
from bots.core.chat import Bot
from bots.corpus import CorpusError, load_corpus
from bots.endpoints.endpoint import DialInEndpoint, Endpoint, open_endpoint
from bots.endpoints.key import EndpointError
from bots.endpoints.replicas import Replicas

BOT_TRY = 20.0  # seconds; what a study has unless its `timeouts` say otherwise
_CORPUS = "builtin:smalltalk"
_ENDPOINT: TypeAdapter[Endpoint] = TypeAdapter(Endpoint)


class CannotCheck(ValueError):
    """There is no such bot here, or it cannot be opened: says why."""


class _ReplyTime(BaseModel):
    median: Annotated[float, Field(ge=0)] = MEDIAN
    spread: Annotated[float, Field(ge=0)] = SPREAD
    longest: Annotated[float, Field(ge=0)] = LONGEST


class _Timeouts(BaseModel):
    bot_try: Annotated[float, Field(gt=0)] = BOT_TRY


class _Study(BaseModel):
    """What a check needs of a study file. `python -m server check FILE` is for the rest."""

    bots: dict[str, Any] = {}
    reply_time: _ReplyTime = _ReplyTime()
    timeouts: _Timeouts = _Timeouts()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A bot to be checked, with what `check_bot` wants to know."""

    bot: Bot
    names: tuple[str, ...]
    delays: tuple[float, ...]
    patience: float


def builtin(spec: str) -> Candidate:
    """Return the bot "builtin:NAME", or "qc", for a study that leaves everything as it is.

    Raises:
        CannotCheck: there is no such bot.
    """
    try:
        bot = open_bot(spec, load_corpus(_CORPUS))
    except (UnknownBotError, CorpusError) as error:
        raise CannotCheck(str(error)) from error
    return Candidate(bot, (spec.removeprefix("builtin:"),), typing_times(), BOT_TRY)


def of_study(path: Path, name: str) -> Candidate:
    """Return the bot `name` of the `bots` of a study file, held against that study's times.

    Raises:
        CannotCheck: the file cannot be read, or has no such bot, or it cannot be asked from here.
    """
    study = _study(path)
    if name not in study.bots:
        known = ", ".join(study.bots) or "none"
        raise CannotCheck(f"{path}: there is no `{name}` in its `bots`; there is {known}")
    endpoint = _endpoint(f"{path}: bots.{name}", study.bots[name])
    if isinstance(endpoint, DialInEndpoint):
        raise CannotCheck(f"{path}: bots.{name}: its hosts dial in to a server, which alone can ask them")
    times, patience = study.reply_time, study.timeouts.bot_try
    model = endpoint.model_dump().get("model")
    return Candidate(
        _opened(name, endpoint, patience),
        (name, model) if model else (name,),
        typing_times(times.median, times.spread, times.longest),
        patience,
    )


async def check_here(
    candidate: Candidate, at_once: int, progress: Callable[[int, int], None]
) -> ConformanceReport:
    """Check a bot from this process, and let go of it."""
    try:
        return await check_bot(
            candidate.bot,
            names=candidate.names,
            at_once=at_once,
            delays=candidate.delays,
            patience=candidate.patience,
            progress=progress,
        )
    finally:
        if isinstance(candidate.bot, Replicas):
            await candidate.bot.close()


def _study(path: Path) -> _Study:
    try:
        return _Study.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError) as error:
        raise CannotCheck(f"{path}: cannot be read: {error}") from error
    except yaml.YAMLError as error:
        raise CannotCheck(f"{path}: not valid YAML; see `python -m server check {path}`") from error
    except ValidationError as error:
        raise CannotCheck(f"{path}: {problems(error)}; see `python -m server check {path}`") from error


def _endpoint(where: str, content: object) -> Endpoint:
    try:
        return _ENDPOINT.validate_python(content)
    except ValidationError as error:
        raise CannotCheck(f"{where}: {problems(error)}") from error


def problems(error: ValidationError) -> str:
    """Return what is wrong, where, and nothing of what was given: a key may be in it."""
    return "; ".join(
        ": ".join(part for part in (".".join(map(str, each["loc"])), each["msg"]) if part)
        for each in error.errors(include_input=False)
    )


def _opened(name: str, endpoint: Endpoint, patience: float) -> Replicas:
    try:
        return open_endpoint(endpoint, patience=patience)
    except EndpointError as error:
        raise CannotCheck(f"`{name}` cannot be opened: {error}") from error
