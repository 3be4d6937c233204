"""Try and check the bots of a study that is being written, without a run. No conversation is stored."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from time import perf_counter

import structlog
from sqlalchemy import Connection

from bots import Bot, BotError, Chat, Reply, Turn, load_corpus
from bots.serving import (
    BudgetSpent,
    ConformanceReport,
    CorpusError,
    Endpoint,
    EndpointError,
    FailureKind,
    PlannedCalls,
    RecordedCall,
    ask,
    bot_specs,
    estimate,
    opaque_id,
    planned_calls,
    recorded,
    require_openable,
)
from server.bots import stored_bots
from server.bots.fitness import BackgroundCheck, FitnessCheck, own_check
from server.bots.lineup import SpendingCap, first_reached, session_rules
from server.bots.opened_bots import OpenedBots
from server.bots.planned_calls import Confirmation, of_check
from server.bots.registered_bots import ApiLimits
from server.clock import utc_now
from server.db.audit import Doer, record
from server.db.store import Store
from server.errors import BotNotFound, BotUnusable, CandorError, StudyInvalid
from server.session.plan import plan_conversation
from server.study import PEOPLE, Study, in_thread, study_of_bots

log = structlog.get_logger()
_IN_NO_SYSTEM = ""  # in place of a system's name


@dataclass(frozen=True, slots=True)
class Trial:
    """A message to a bot, and the conversation before it.

    `text`: the study, as it stands. `bot`: the bot, as studies name it. `system`: the system whose persona
    and prompt the bot gets; None: it gets none. `scenario`: the label of a scenario of the study. `seed`: the
    same for all messages of a conversation.
    """

    study: str
    text: str
    bot: str
    system: str | None
    scenario: str | None
    seed: int
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a bot did not answer: what happened, what to do, and the failure in technical words."""

    what: str
    remedy: str
    details: str


@dataclass(frozen=True, slots=True)
class TrialAnswer:
    """What a bot was sent and answered. `reply` is None, and `trouble` set, if nothing can be shown."""

    chat: Chat
    reply: Reply | None
    trouble: Trouble | None
    calls: tuple[RecordedCall, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class DraftCheck:
    """The check of one of a study's own bots, ready to begin."""

    bot: str
    endpoint: Endpoint
    ask: FitnessCheck


class DraftedBots:
    """Tries and checks bots of a study as its text stands, saved or not.

    Calls are not counted toward spending caps, because caps count what the workers of a run have cost.

    Args:
        store: the database, for registered bots and the audit log.
        opened_bots: the bots of this process.
        reach: limits keys and corpora.
    """

    def __init__(self, store: Store, opened_bots: OpenedBots, reach: ApiLimits) -> None:
        self._store = store
        self._opened_bots = opened_bots
        self._reach = reach

    async def ask(self, trial: Trial, actor: Doer, confirmation: Confirmation) -> TrialAnswer:
        """Ask a bot once for its next reply, as a live session would. A failure is part of the answer.

        Raises:
            StudyInvalid: the settings of the study's bots have mistakes, or its corpus may not be read.
            BotNotFound: there is no such bot.
            BotUnusable: people answer in its place, or this server cannot or may not open it.
            NeedsConfirmation: the call may cost money, and that is not confirmed.
        """
        study = await in_thread(lambda: study_of_bots(trial.text))
        self._reach.require_corpora(study)
        endpoint = self._endpoint(study, trial.bot)
        if endpoint is not None:
            self._reach.require_key(endpoint)
            confirmation.require(f"A conversation with “{trial.bot}”", _each_message(trial.bot, endpoint))
        opening, chat = await self._opening(study, trial.bot), await in_thread(lambda: _chat(study, trial))
        reached = await self._store.submit(lambda c: _admit(c, trial, endpoint, actor))
        reply: Reply | None = None
        trouble: Trouble | None = None
        started = perf_counter()
        with recorded() as calls:
            try:
                if reached is not None:
                    raise BudgetSpent(reached)
                async with opening as bot:
                    reply = await ask(bot, chat, study.timeouts.bot_try)
            except BotError as error:
                reply, trouble = _unshown(error), explained(error, calls, endpoint)
            except EndpointError as error:
                raise BotUnusable(str(error)) from error
        return TrialAnswer(chat, reply, trouble, tuple(calls), perf_counter() - started)

    async def prepare_check(
        self, study: str, text: str, bot: str, actor: Doer, confirmation: Confirmation
    ) -> DraftCheck:
        """Return the check of one of the study's own bots.

        Raises:
            StudyInvalid, BotUnusable, NeedsConfirmation: as `ask`.
            BotNotFound: the study has no bot of its own with this name.
        """
        read = await in_thread(lambda: study_of_bots(text))
        if bot not in read.bots:
            raise BotNotFound(f"The study has no bot of its own named “{bot}”", "Check the bot’s name.")
        endpoint, moderation = read.bots[bot], self._opened_bots.moderation
        self._reach.require_key(endpoint)
        try:
            await self._opened_bots.require_openable(endpoint)
        except EndpointError as error:
            raise BotUnusable(str(error)) from error
        check = own_check(read, bot, moderation)
        confirmation.require(f"The check of “{bot}”", of_check(bot, endpoint, check, moderation))
        await self._store.submit(lambda c: record(c, actor, "bot.check", bot, f"of the study {study}"))
        return DraftCheck(bot, endpoint, check)

    async def check(self, prepared: DraftCheck) -> AsyncIterator[BackgroundCheck | ConformanceReport]:
        """Carry out a check: yield its progress, then its report. It ends with its caller."""
        progress, changed = BackgroundCheck(utc_now()), asyncio.Event()

        def take(done: int, total: int) -> None:
            progress.done, progress.total = done, total
            changed.set()

        async def carry_out() -> ConformanceReport:
            async with self._opened_bots.briefly(prepared.endpoint) as bot:
                return await prepared.ask(bot, progress=take)

        task = asyncio.get_running_loop().create_task(carry_out())
        task.add_done_callback(lambda _task: changed.set())
        try:
            while not task.done():
                yield progress
                await changed.wait()
                changed.clear()
            yield await task
        except CandorError as error:
            progress.error = error.message
            yield progress
        except Exception as error:  # bots are foreign code: report any of their errors to the researcher
            log.exception("check failed", bot=prepared.bot)
            progress.error = f"the check broke off: {type(error).__name__}"
            yield progress
        finally:
            task.cancel()

    def _endpoint(self, study: Study, bot: str) -> Endpoint | None:
        """Return the endpoint of a bot; None if it is a builtin one. Raises BotNotFound, BotUnusable."""
        if bot in study.bots:
            return study.bots[bot]
        if bot in PEOPLE:
            raise BotUnusable(
                f"People answer as “{bot}”, so there is no bot to try",
                "Open a test run, and take part in it yourself.",
            )
        if bot in bot_specs():
            return None
        endpoint = self._opened_bots.endpoint(bot)
        if endpoint is None:
            raise BotNotFound(f"There is no bot “{bot}”", "Register it, or correct its name in the study.")
        return endpoint

    async def _opening(self, study: Study, bot: str) -> AbstractAsyncContextManager[Bot]:
        """Return a bot, to be opened as a context. Raises StudyInvalid, BotNotFound, BotUnusable."""
        if bot in study.bots:
            return self._opened_bots.briefly(study.bots[bot])
        if bot in bot_specs():
            name = study.qc.corpus if bot == study.qc.bot else study.corpus
            try:
                corpus = await in_thread(lambda: load_corpus(name, study.language))
                require_openable(bot, corpus)
            except CorpusError as error:
                raise StudyInvalid(f"“{bot}” cannot use its corpus: {error}", "Name another one.") from error
            return nullcontext(self._opened_bots.built_in(bot, corpus.name, None, study.language))
        try:
            registered = self._opened_bots.registered(bot)
        except EndpointError as error:
            raise BotUnusable(f"“{bot}” cannot be opened: {error}") from error
        if registered is None:
            raise BotNotFound(f"“{bot}” was deleted a moment ago", "Register it again.")
        return nullcontext(registered)


def explained(error: BotError, calls: Sequence[RecordedCall], endpoint: Endpoint | None) -> Trouble:
    """Return a failure in plain words, with what to do about it."""
    last = calls[-1] if calls else RecordedCall("")
    what, remedy = _of_answer(last, getattr(endpoint, "key", None)) or _of_failure(error)
    return Trouble(what, remedy, str(error))


def _of_answer(last: RecordedCall, key: str | None) -> tuple[str, str] | None:
    """Return what an endpoint's answer shows of a failure, and what to do; None if it shows nothing."""
    if last.status in (401, 403):
        if key is None:
            return "The endpoint wants a key.", "Name the server’s environment variable that holds the key."
        return (
            "The endpoint does not accept the key.",
            f"Check the value of the environment variable {key} on the server, and what the key allows.",
        )
    if last.received.lstrip()[:1] == "<":
        return (
            "The address answers with a web page, not with a model’s reply.",
            "Check the address: it leads to the API itself, and often ends in /v1.",
        )
    if last.status == 404:
        return (
            "The endpoint does not know this address or this model.",
            "Check the address and the model’s name.",
        )
    if last.status is not None and 300 <= last.status < 400:
        return "The endpoint redirects to another address.", "Enter the address that it leads to."
    return None


def _of_failure(error: BotError) -> tuple[str, str]:
    """Return what a failure means, and what to do about it."""
    if error.unreached:
        return (
            "The endpoint cannot be reached.",
            "Check the address, and that a server is running there that this server can connect to.",
        )
    return _BY_KIND[error.kind]


_BY_KIND: Mapping[FailureKind, tuple[str, str]] = {
    "error": (
        "The bot failed, or answered in a form that its kind does not have.",
        "Check its kind and its address. The answer is below, if there was one.",
    ),
    "timeout": (
        "The bot did not answer in time.",
        "Try again: a model that is still loading is slow at first. If it stays slow, choose a faster model, "
        "or raise the study’s time-out for one try.",
    ),
    "gone": ("The bot is disabled, or was deleted.", "Enable it, or choose another bot."),
    "busy": ("The bot is busy, or limits how often it may be asked.", "Wait a moment, then try again."),
    "refused": (
        "The endpoint does not take the request.",
        "Check the model’s name and the settings under Advanced: the endpoint says below what it refuses.",
    ),
    "declined": (
        "The model, or a filter of its provider, declined to answer.",
        "Change the prompt or the message, or show refusals to workers: see “When the model refuses”.",
    ),
    "budget": (
        "The budget is spent: a spending cap, or the account at the provider.",
        "Raise the cap, or add money to the account.",
    ),
    "broken": ("The answer broke off before it was complete.", "Try again."),
    "empty": ("The reply was empty.", "Change the prompt, or try another message."),
    "thoughts": (
        "The model used up its tokens for thinking, and said nothing.",
        "Raise the number of tokens, or turn thinking off.",
    ),
    "too_long": ("The reply is longer than workers may be shown.", "Ask for short replies in the prompt."),
    "ended": ("The person who answers has ended the chat.", "Start a new conversation."),
}


def _unshown(error: BotError) -> Reply | None:
    """Return the output that came with a failure, as a reply that shows nothing; None if there was none."""
    if error.output is None and error.provenance is None:
        return None
    return Reply("", error.output, (), error.provenance)


def _chat(study: Study, trial: Trial) -> Chat:
    """Return the conversation as a worker's would be given to the bot. Raises StudyInvalid."""
    name = opaque_id(trial.seed, "trial")
    prompt = study.prompt_of(trial.system or _IN_NO_SYSTEM, trial.scenario)
    if trial.system is None:
        return Chat(name, trial.seed, (), trial.turns, prompt)
    try:
        rules = session_rules(study, load_corpus(study.corpus, study.language))
    except CorpusError as error:
        raise StudyInvalid(f"The corpus cannot be opened: {error}", "Name another one.") from error
    plan = plan_conversation(rules.lineup, name, trial.seed, 1, 1, trial.system, trial.scenario)
    return Chat(name, plan.seed, plan.persona, trial.turns, prompt)


def _each_message(bot: str, endpoint: Endpoint) -> list[PlannedCalls]:
    calls = planned_calls(f"“{bot}”", endpoint, estimate(1, 1), "each message: ")
    return [] if calls is None else [calls]


def _admit(connection: Connection, trial: Trial, endpoint: Endpoint | None, actor: Doer) -> str | None:
    """Note the call in the audit log; return the spending cap that forbids it, in words, if one does.

    The cap of a registered bot is for all runs together. One of a study's own bot is for each run.
    """
    most = getattr(endpoint, "spending_cap", None)
    if most is not None and trial.bot in stored_bots.names(connection):
        reached = first_reached(connection, [SpendingCap(most, trial.bot, None)])
        if reached is not None:
            return reached
    record(connection, actor, "bot.try", trial.bot, f"in the study {trial.study}")
    return None
