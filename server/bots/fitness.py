"""Check whether bots are fit for workers, also in the background, and collect the results for the desk."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

import structlog
from sqlalchemy import Connection

from bots import Bot, load_corpus
from bots.serving import (
    AT_ONCE,
    MOST_AT_ONCE,
    ConformanceReport,
    Endpoint,
    Estimate,
    Finding,
    Moderation,
    Overruns,
    Verdict,
    check_bot,
    estimate_check,
    qc_findings,
    worst,
)
from candor.common.segmentation import base_language
from server.bots import stored_bots
from server.bots.lineup import OpenRun
from server.bots.stored_bots import Registration
from server.clock import utc_now
from server.db.store import Store
from server.errors import BotsUnfit, CandorError, NoModeration
from server.news import News
from server.session.plan import QC
from server.session.reply_time import ReplyTime
from server.study import Study, Timeouts, builtin_elsewhere

_DELAYS = 200  # quantiles that represent the natural reply times
# `check_bot` for one bot. It takes the bot and `progress`, which gets the number of finished calls and of all
# calls.
FitnessCheck = partial[Coroutine[Any, Any, ConformanceReport]]


@dataclass(frozen=True, slots=True)
class Fitness:
    """Whether a bot of a study is fit for workers, and why. `said`: its replies in the check."""

    bot: str
    verdict: Verdict
    findings: tuple[Finding, ...]
    said: tuple[str, ...] = ()


def fitness_check(
    name: str,
    endpoint: Endpoint,
    study: Study | None,
    at_once: int = AT_ONCE,
    overruns: Overruns | None = None,
    moderation: Moderation | None = None,
) -> FitnessCheck:
    """Return the check of a bot.

    Args:
        name: the bot's name, which it must not mention, nor that of its endpoint's model.
        endpoint: the bot's endpoint.
        study: sets language, length of conversations, personas, reply times and time-outs; None: their
            defaults.
        at_once: the number of parallel conversations.
        overruns: how often its replies to workers were late, if it had any workers.
        moderation: a service that moderates its replies; None: none.
    """
    reply_time, timeouts = (study.reply_time, study.timeouts) if study else (ReplyTime(), Timeouts())
    model = endpoint.model_dump().get("model")
    names = (name, model) if model else (name,)
    check = partial(
        check_bot,
        persona=_has_persona(name, study),
        names=names,
        at_once=at_once,
        delays=reply_time.quantiles(_DELAYS),
        overruns=overruns,
        patience=timeouts.bot_try,
        moderation=moderation,
    )
    if study is None:
        return check
    return partial(
        check, language=study.language, lines=study.minimum_inputs, markdown=study.display.markdown
    )


def calls_of(check: FitnessCheck) -> Estimate:
    """Return the estimated number of calls in a check, and of tokens that go in and come out."""
    asked = {name: check.keywords[name] for name in ("at_once", "lines") if name in check.keywords}
    return estimate_check(**asked)


def registered_check(
    connection: Connection,
    row: Registration,
    study: Study | None,
    at_once: int | None,
    moderation: Moderation | None,
) -> FitnessCheck:
    """Return the check of a registered bot for a study, including its overruns with workers.

    Args:
        connection: any transaction.
        row: the bot.
        study: the study to check for; None: the study of the newest run that uses the bot.
        at_once: the number of parallel conversations; None: as many as the study may have.
        moderation: a service that moderates its replies; None: none.
    """
    study = study or stored_bots.newest_study(connection, row.name)
    together = at_once or (_at_once(study) if study else AT_ONCE)
    overruns = stored_bots.overruns(connection, row.name)
    return fitness_check(row.name, row.endpoint, study, together, overruns, moderation)


def registered_fitness(connection: Connection, study: Study, names: Iterable[str]) -> list[Fitness]:
    """Return the latest check results of registered bots of a study. Raises BotNotFound."""
    return [_registered_fitness(connection, study, name) for name in names]


def _registered_fitness(connection: Connection, study: Study, name: str) -> Fitness:
    row = stored_bots.find(connection, name)
    if not row.enabled:
        return _unfit(name, "is it enabled?", f"it is disabled: run “candor bots enable {name}”")
    check = stored_bots.latest_check(connection, row)
    if check is None:
        return _unfit(name, "was it checked?", f"never: run “candor bots check {name}”")
    beyond = tuple(_beyond_scope(name, check.report, study))
    findings = (*check.report.findings, *beyond)
    return replace(_fitness(name, check.report), verdict=worst(findings), findings=findings)


def _beyond_scope(name: str, report: ConformanceReport, study: Study) -> Iterator[Finding]:
    """Yield findings about requirements of a study that the bot's check did not cover."""
    question = "Was it checked for this study?"
    remedy = f"run “candor bots check {name} --study FILE”"
    if report.scope is None:
        return
    if base_language(report.scope.language) != base_language(study.language):
        reason = f"In {report.scope.language}, and the study is in {study.language}: {remedy}"
        yield Finding(question=question, verdict="fail", reason=reason)
    if _has_persona(name, study) and not report.scope.persona:
        reason = f"Not as a bot with a persona, which it has in this study: {remedy}"
        yield Finding(question=question, verdict="warn", reason=reason)
    busy = report.latency.at_once
    if busy is not None and busy.conversations < min(MOST_AT_ONCE, study.assignments or 0):
        reason = (
            f"With {busy.conversations} conversations at once, and the study has {study.assignments} slots"
        )
        yield Finding(question=question, verdict="warn", reason=f"{reason}: {remedy}")


def own_checks(study: Study, moderation: Moderation | None) -> dict[str, FitnessCheck]:
    """Return the checks of the study's own bots that its systems use, by name."""
    return {
        name: own_check(study, name, moderation)
        for name in study.bots_of_systems.values()
        if name in study.bots
    }


def own_check(study: Study, name: str, moderation: Moderation | None) -> FitnessCheck:
    """Return the check of one of the study's own bots."""
    return fitness_check(name, study.bots[name], study, _at_once(study), moderation=moderation)


def own_bots(run: OpenRun) -> dict[str, Bot]:
    """Return the bots in the study's own `bots` section that its systems use, by name."""
    specs = run.study.bots_of_systems
    return {bot: run.bots[system] for system, bot in specs.items() if bot in run.study.bots}


async def own_fitness(
    run: OpenRun,
    registered: Sequence[Fitness],
    progress: Callable[[str, int, int], None],
    moderation: Moderation | None,
) -> list[Fitness]:
    """Check the study's own bots one after the other, then its QC bot, and return the results.

    The form of the QC bot's replies is compared with the other bots' replies in their checks.

    Args:
        run: the study with its bots opened.
        registered: the results of its registered bots.
        progress: gets the bot's name, its number of finished calls, and its number of calls.
        moderation: a service that moderates their replies; None: none.
    """
    study, checks = run.study, own_checks(run.study, moderation)
    found = list(_builtin_fitness(study))
    for name, bot in own_bots(run).items():

        def of_this_bot(done: int, total: int, name: str = name) -> None:
            progress(name, done, total)

        found.append(_fitness(name, await checks[name](bot, progress=of_this_bot)))
    examined = await asyncio.to_thread(qc_fitness, study, [*registered, *found])
    return [*found, *examined]


def _replies(report: ConformanceReport) -> Iterable[str]:
    lines = (line for transcript in report.transcripts for line in transcript.lines)
    return (line.text for line in lines if line.author == "bot" and line.text)


def qc_fitness(study: Study, bots: Iterable[Fitness]) -> list[Fitness]:
    """Examine the published QC bot and compare it with the replies of `bots`; nothing if the study has none.

    It takes seconds for a large corpus: do not call it in an event loop.

    Raises:
        CorpusError: the bot cannot work with its corpus.
    """
    if study.bots_of_systems.get(QC) != "qc" or not study.qc_per_assignment:
        return []
    said = [reply for bot in bots for reply in bot.said]
    findings = qc_findings(load_corpus(study.qc.corpus, study.language), said)
    return [Fitness(QC, worst(findings), findings)]


def _builtin_fitness(study: Study) -> Iterator[Fitness]:
    """Yield warnings about builtin bots in a study that is not in English."""
    for bot in builtin_elsewhere(study):
        reason = f"Builtin bots speak English only, and the study is in “{study.language}”."
        finding = Finding(question="In the study's language?", verdict="warn", reason=reason)
        yield Fitness(bot, "warn", (finding,))


def require_fit(bots: Sequence[Fitness]) -> None:
    """Check that no bot failed. Raises BotsUnfit with the failures of each bot."""
    failing = [f"{each.bot} ({_failures(each)})" for each in bots if each.verdict == "fail"]
    if failing:
        raise BotsUnfit(f"Not fit for workers: {'; '.join(failing)}")


def require_moderation(study: Study, moderation: Moderation | None) -> None:
    """Check that there is a moderation service if the study needs one. Raises NoModeration."""
    if study.moderation == "classifier" and moderation is None:
        raise NoModeration("The study uses a moderation service, and this server has none")


def _failures(of: Fitness) -> str:
    failed = [f"{each.question} {each.reason}" for each in of.findings if each.verdict == "fail"]
    return " ".join(failed)


def _at_once(study: Study) -> int:
    """Return the number of conversations that a study may have in parallel; a default if it is unknown."""
    return AT_ONCE if study.assignments is None else min(MOST_AT_ONCE, study.assignments)


def _has_persona(bot: str, study: Study | None) -> bool | None:
    """Return whether a bot has a persona in any system of the study; None if no system uses it."""
    policies = [spec.persona for spec in study.systems if spec.bot == bot] if study else []
    return any(policy != "none" for policy in policies) if policies else None


def _unfit(bot: str, question: str, reason: str) -> Fitness:
    return Fitness(bot, "fail", (Finding(question=question, verdict="fail", reason=reason),))


def _fitness(bot: str, report: ConformanceReport) -> Fitness:
    return Fitness(bot, report.verdict, report.findings, tuple(_replies(report)))


log = structlog.get_logger()
TOPIC = "checks"  # of news: a check has made progress, or has ended


@dataclass(slots=True)
class BackgroundCheck:
    """A check that began at `at`, with `done` of `total` calls. `error`: why it broke off."""

    at: datetime
    done: int = 0
    total: int = 0
    error: str | None = None


class BackgroundChecks:
    """Checks by bot name, at most one per bot. A finished check is removed once it is stored."""

    def __init__(self, store: Store, news: News) -> None:
        """Store reports in `store`, and announce progress over `news`."""
        self._store = store
        self._news = news
        self._checks: dict[str, BackgroundCheck] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def start(self, bot: Bot, row: Registration, ask: FitnessCheck) -> BackgroundCheck:
        """Start a check of a bot, or return its running check.

        Args:
            bot: the bot.
            row: its registration; the report is stored only if it is the same bot at the end.
            ask: carries out the check.
        """
        if self.is_under_way(row.name):
            return self._checks[row.name]
        check = self._checks[row.name] = BackgroundCheck(utc_now())
        work = self._carry_out(check, bot, row, ask)
        self._tasks[row.name] = asyncio.get_running_loop().create_task(work)
        return check

    def is_under_way(self, name: str) -> bool:
        """Return whether a bot is being checked."""
        task = self._tasks.get(name)
        return task is not None and not task.done()

    def find(self, name: str) -> BackgroundCheck | None:
        """Return the running or broken-off check of a bot; None if there is none."""
        return self._checks.get(name)

    async def cancel(self, name: str) -> None:
        """Cancel the check of a bot, if there is one, and wait for its end."""
        task = self._tasks.pop(name, None)
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        self._checks.pop(name, None)

    async def close(self) -> None:
        """Cancel all checks."""
        for name in tuple(self._tasks):
            await self.cancel(name)

    async def _carry_out(
        self, check: BackgroundCheck, bot: Bot, row: Registration, ask: FitnessCheck
    ) -> None:
        try:
            report = await ask(bot, progress=partial(self._take, check, row.name))
            at = utc_now()
            await self._store.submit(lambda c: stored_bots.store_check(c, row, report, at))
            del self._checks[row.name]
        except CandorError as error:
            check.error = error.message
        except Exception as error:  # bots are foreign code: report any of their errors to the researcher
            log.exception("check failed", bot=row.name)
            check.error = f"the check broke off: {type(error).__name__}"
        self._tell(row.name)

    def _take(self, check: BackgroundCheck, name: str, done: int, total: int) -> None:
        check.done, check.total = done, total
        self._tell(name)

    def _tell(self, name: str) -> None:
        self._news.publish(TOPIC, {"name": name})
