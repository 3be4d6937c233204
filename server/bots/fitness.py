"""May a study start? The conformance of its bots, as far as they are not the server's own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Connection

from bots import Bot, ConformanceReport, Endpoint, Finding, Overruns, check_bot
from server.bots import registration
from server.bots.lineup import OpenRun
from server.errors import BotsUnfit
from server.session.plan import QC
from server.session.reply_time import ReplyTime
from server.study import Study, Timeouts

Verdict = Literal["pass", "warn", "fail"]
AT_ONCE = 8  # conversations that a check holds at the same time
_DELAYS = 200  # quantiles that stand for the natural reply times


@dataclass(frozen=True, slots=True)
class FitnessCheck:
    """What a bot is examined against.

    `names`: what it must not call itself; `at_once`: conversations at the same time; `delays`: seconds, the
    natural reply times; `patience`: seconds that a reply may take; `overruns`: of its conversations so far.
    """

    names: tuple[str, ...]
    at_once: int
    delays: tuple[float, ...]
    patience: float
    overruns: Overruns | None = None

    async def of(self, bot: Bot, progress: Callable[[int, int], None]) -> ConformanceReport:
        """Return how `bot` does; `progress` is told how much of it is done, and of how much."""
        return await check_bot(
            bot,
            names=self.names,
            at_once=self.at_once,
            delays=self.delays,
            overruns=self.overruns,
            patience=self.patience,
            progress=progress,
        )


@dataclass(frozen=True, slots=True)
class Fitness:
    """Whether a bot of a study is fit for workers, and why."""

    bot: str
    verdict: Verdict
    findings: tuple[Finding, ...]


def exam(
    name: str,
    endpoint: Endpoint,
    study: Study | None,
    at_once: int = AT_ONCE,
    overruns: Overruns | None = None,
) -> FitnessCheck:
    """Return the exam of the bot `name` for `study`, or for one that leaves all settings as they are."""
    reply_time, timeouts = (study.reply_time, study.timeouts) if study else (ReplyTime(), Timeouts())
    model = endpoint.model_dump().get("model")
    names = (name, model) if model else (name,)
    delays = reply_time.quantiles(_DELAYS)
    return FitnessCheck(names, at_once, delays, timeouts.bot_try, overruns)


def judge_registered(connection: Connection, study: Study) -> list[Fitness]:
    """Return how the registered bots of a study did when they were last checked. Raises BotNotFound."""
    return [_judge_registered(connection, name) for name in study.registered_bots]


def _judge_registered(connection: Connection, name: str) -> Fitness:
    row = registration.find(connection, name)
    if not row.enabled:
        return _failed(name, "is it enabled?", f"it is disabled: run `candor bots enable {name}`")
    check = registration.latest_check(connection, row)
    if check is None:
        return _failed(name, "was it checked?", f"never: run `candor bots check {name}`")
    return _judgement(name, check.report)


def own_bots(lineup: OpenRun) -> dict[str, Bot]:
    """Return the bots of the study's own `bots` that one of its systems names, by name."""
    specs = {QC: lineup.study.qc.bot} | {spec.name: spec.bot for spec in lineup.study.systems}
    return {bot: lineup.bots[system] for system, bot in specs.items() if bot in lineup.study.bots}


async def judge_own(lineup: OpenRun, progress: Callable[[str, int, int], None]) -> list[Fitness]:
    """Ask each of the study's own bots, and return how it did.

    `progress` is told the bot, how much of its check is done, and of how much.
    """
    study, judgements = lineup.study, []
    for name, bot in own_bots(lineup).items():

        def tell(done: int, total: int, name: str = name) -> None:
            progress(name, done, total)

        report = await exam(name, study.bots[name], study, _at_once(study)).of(bot, tell)
        judgements.append(_judgement(name, report))
    return judgements


def require_fit(judgements: Sequence[Fitness]) -> None:
    """Check that none of the bots failed. Raises BotsUnfit."""
    failing = [judgement.bot for judgement in judgements if judgement.verdict == "fail"]
    if failing:
        raise BotsUnfit(f"not fit for workers: {', '.join(failing)}")


def _at_once(study: Study) -> int:
    return AT_ONCE if study.assignments is None else min(AT_ONCE, study.assignments)


def _failed(bot: str, question: str, reason: str) -> Fitness:
    return Fitness(bot, "fail", (Finding(question=question, verdict="fail", reason=reason),))


def _judgement(bot: str, report: ConformanceReport) -> Fitness:
    return Fitness(bot, report.verdict, report.findings)
