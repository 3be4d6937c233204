"""Is a bot fit for workers? What it is checked against, and what is known of the bots of a study."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from sqlalchemy import Connection

from bots import (
    AT_ONCE,
    MOST_AT_ONCE,
    Bot,
    ConformanceReport,
    Endpoint,
    Estimate,
    Finding,
    Moderation,
    Overruns,
    Verdict,
    base_language,
    check_bot,
    estimate_check,
    load_corpus,
    qc_findings,
    worst,
)
from server.bots import stored_bots
from server.bots.lineup import OpenRun
from server.bots.stored_bots import Registration
from server.errors import BotsUnfit, NoModeration
from server.session.plan import QC
from server.session.reply_time import ReplyTime
from server.study import Study, Timeouts, builtin_elsewhere

_DELAYS = 200  # quantiles that stand for the natural reply times
# `check_bot` for one bot: takes the bot and `progress`, which gets the calls that are done, and all of them.
FitnessCheck = partial[Coroutine[Any, Any, ConformanceReport]]


@dataclass(frozen=True, slots=True)
class Fitness:
    """Whether a bot of a study is fit for workers, and why. `said`: its replies to those who checked it."""

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
        name: the bot's, which it must not call itself; nor its endpoint's model, where there is one.
        endpoint: where it is asked.
        study: whose language, length of conversations, use of personas, reply times and time-outs count;
            None: those of a study that leaves them as they are.
        at_once: conversations at the same time.
        overruns: how it kept to the natural reply times with workers, where there were some.
        moderation: a service that judges what it says; None: none is asked.
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
    """Return how often a check asks its bot, and about how much that reads and writes."""
    asked = {name: check.keywords[name] for name in ("at_once", "lines") if name in check.keywords}
    return estimate_check(**asked)


def registered_check(
    connection: Connection,
    row: Registration,
    study: Study | None,
    at_once: int | None,
    moderation: Moderation | None,
) -> FitnessCheck:
    """Return the check of a registered bot for a study, and by its overruns.

    Args:
        connection: what is known of the bot is read over it.
        row: the bot.
        study: what it is checked for; None: the study of the newest run that has it.
        at_once: conversations at the same time; None: as many as the study may hold.
        moderation: a service that judges what it says; None: none is asked.
    """
    study = study or stored_bots.newest_study(connection, row.name)
    together = at_once or (_at_once(study) if study else AT_ONCE)
    overruns = stored_bots.overruns(connection, row.name)
    return fitness_check(row.name, row.endpoint, study, together, overruns, moderation)


def registered_fitness(connection: Connection, study: Study, names: Iterable[str]) -> list[Fitness]:
    """Return how those registered bots of a study did when they were last checked. Raises BotNotFound."""
    return [_registered_fitness(connection, study, name) for name in names]


def _registered_fitness(connection: Connection, study: Study, name: str) -> Fitness:
    row = stored_bots.find(connection, name)
    if not row.enabled:
        return _unfit(name, "is it enabled?", f"it is disabled: run `candor bots enable {name}`")
    check = stored_bots.latest_check(connection, row)
    if check is None:
        return _unfit(name, "was it checked?", f"never: run `candor bots check {name}`")
    beyond = tuple(_beyond_scope(name, check.report, study))
    findings = (*check.report.findings, *beyond)
    return replace(_fitness(name, check.report), verdict=worst(findings), findings=findings)


def _beyond_scope(name: str, report: ConformanceReport, study: Study) -> Iterator[Finding]:
    """Yield what a study asks of a bot that its check has not looked at."""
    question = "Was it checked for this study?"
    remedy = f"run `candor bots check {name} --study FILE`"
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
        reason = f"With {busy.conversations} conversations at once, and it has {study.assignments} places"
        yield Finding(question=question, verdict="warn", reason=f"{reason}: {remedy}")


def own_checks(study: Study, moderation: Moderation | None) -> dict[str, FitnessCheck]:
    """Return the check of each of the study's own bots that one of its systems names, by the bot's name."""
    return {
        name: fitness_check(name, study.bots[name], study, _at_once(study), moderation=moderation)
        for name in study.bots_of_systems.values()
        if name in study.bots
    }


def own_bots(run: OpenRun) -> dict[str, Bot]:
    """Return the bots of the study's own `bots` that one of its systems names, by name."""
    specs = run.study.bots_of_systems
    return {bot: run.bots[system] for system, bot in specs.items() if bot in run.study.bots}


async def own_fitness(
    run: OpenRun,
    registered: Sequence[Fitness],
    progress: Callable[[str, int, int], None],
    moderation: Moderation | None,
) -> list[Fitness]:
    """Ask each of the study's own bots, one after the other, and return how they did; then its qc bot.

    What its bots said when they were checked is what the looks of the qc bot's lines are held against.

    Args:
        run: the study with its bots opened.
        registered: how its registered bots did.
        progress: gets the bot's name, how many of its calls are done, and how many there are.
        moderation: a service that judges what they say; None: none is asked.
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
    """Examine the published qc bot beside what `bots` have said; return nothing where the study has none.

    It takes seconds for a large corpus: call it outside of an event loop.

    Raises:
        CorpusError: the bot cannot work with its corpus.
    """
    if study.bots_of_systems.get(QC) != "qc" or not study.qc_per_assignment:
        return []
    said = [reply for bot in bots for reply in bot.said]
    findings = qc_findings(load_corpus(study.qc.corpus, study.language), said)
    return [Fitness(QC, worst(findings), findings)]


def _builtin_fitness(study: Study) -> Iterator[Fitness]:
    """Yield what is to be said of builtin bots where the study is not in English."""
    for bot in builtin_elsewhere(study):
        reason = f"Builtin bots speak English only, and the study is in `{study.language}`."
        finding = Finding(question="In the study's language?", verdict="warn", reason=reason)
        yield Fitness(bot, "warn", (finding,))


def require_fit(bots: Sequence[Fitness]) -> None:
    """Check that none of the bots failed. Raises BotsUnfit, with what each of them failed."""
    failing = [f"{each.bot} ({_failures(each)})" for each in bots if each.verdict == "fail"]
    if failing:
        raise BotsUnfit(f"not fit for workers: {'; '.join(failing)}")


def require_moderation(study: Study, moderation: Moderation | None) -> None:
    """Check that the service is there that the study has its lines sent to. Raises NoModeration."""
    if study.moderation == "classifier" and moderation is None:
        raise NoModeration(
            "the study says `moderation: classifier`, and this server has no moderation service"
        )


def _failures(of: Fitness) -> str:
    failed = [f"{each.question} {each.reason}" for each in of.findings if each.verdict == "fail"]
    return " ".join(failed)


def _at_once(study: Study) -> int:
    """Return how many conversations a study may hold at the same time, as far as that is known."""
    return AT_ONCE if study.assignments is None else min(MOST_AT_ONCE, study.assignments)


def _has_persona(bot: str, study: Study | None) -> bool | None:
    """Return whether a bot speaks as somebody in any of its study's systems; None: it has none there."""
    policies = [spec.persona for spec in study.systems if spec.bot == bot] if study else []
    return any(policy != "none" for policy in policies) if policies else None


def _unfit(bot: str, question: str, reason: str) -> Fitness:
    return Fitness(bot, "fail", (Finding(question=question, verdict="fail", reason=reason),))


def _fitness(bot: str, report: ConformanceReport) -> Fitness:
    return Fitness(bot, report.verdict, report.findings, tuple(_replies(report)))
