"""Run a whole check: ask, measure, judge, report.

Only asking the bot has side effects. Everything else is computed from the answers.
"""

import asyncio
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from bots.conformance import measures
from bots.conformance.findings import Standard, findings, is_open
from bots.conformance.limits import MOST_MORE, TOLERATED
from bots.conformance.report import (
    Alone,
    AtOnce,
    CheckTranscript,
    ConformanceReport,
    Finding,
    Latency,
    Overruns,
    ReportLine,
    Scope,
    worst,
)
from bots.conformance.script import (
    LINES,
    CheckResponses,
    Script,
    ScriptAnswer,
    at_once_scripts,
    calls,
    draw_scripts,
    more_scripts,
    swapped,
)
from bots.core.ask import LONGEST_REPLY, ask
from bots.core.chat import Bot, Chat, Reply, TakesLayouts, Turn, opaque_id
from bots.core.failures import BotError
from bots.endpoints.moderation import Moderation

_IN_A_ROW, _IN_ALL = 3, 6


@dataclass(slots=True)
class _Asking:
    """A check under way."""

    bot: Bot
    patience: float
    progress: Callable[[int], None]
    rng: random.Random
    answers: list[ScriptAnswer] = field(default_factory=list)

    async def hold(self, script: Script, conversation: int) -> list[Chat]:
        """Hold one conversation, and return the chats that the bot was asked.

        Lines without a reply are removed from the history, so that all later lines are asked as in a
        successful conversation.
        """
        turns: tuple[Turn, ...] = ()
        chats = []
        # Ids and seeds look like those of workers' conversations, so that a bot cannot detect the check.
        seed = self.rng.getrandbits(63)
        name = opaque_id(self.rng.getrandbits(63), "check")
        for line in script.lines:
            chat = Chat(name, seed, script.persona, (*turns, Turn("worker", line)))
            chats.append(chat)
            answer = await self.ask(script, conversation, chat)
            if answer is not None and answer.spoke:
                turns = (*chat.turns, Turn("bot", answer.text))
        return chats

    async def ask(self, script: Script, conversation: int, chat: Chat) -> ScriptAnswer | None:
        """Ask once, unless the bot has failed too often."""
        if self.hopeless:
            return None
        line = chat.turns[-1].text
        started = time.perf_counter()
        reply, error = Reply(""), None
        try:
            reply = await ask(self.bot, chat, self.patience)
        except BotError as failure:
            error = failure
        answer = ScriptAnswer(
            part=script.part,
            conversation=conversation,
            persona=script.persona,
            line=line,
            direct=line in script.direct,
            seconds=time.perf_counter() - started,
            text=reply.text,
            error=error,
            output=reply.output or reply.text,
            changes=reply.changes,
            answers=script.answers.get(line, ()),
            earlier=tuple(turn.text for turn in chat.turns[:-1]),
        )
        self.answers.append(answer)
        self.progress(len(self.answers))
        return answer

    @property
    def hopeless(self) -> bool:
        """Whether the bot fails so often that more calls would be a waste of time."""
        failed = [answer.failed for answer in self.answers]
        too_many = sum(failed) >= _IN_ALL and TOLERATED.is_exceeded(sum(failed), len(failed))
        return too_many or (len(failed) >= _IN_A_ROW and all(failed[-_IN_A_ROW:]))


async def ask_script(
    bot: Bot,
    at_once: int,
    patience: float,
    progress: Callable[[int, int], None],
    rng: random.Random,
    is_open: Callable[[CheckResponses], bool],
    lines: int = LINES,
    language: str = "en",
) -> CheckResponses:
    """Ask `bot` the whole script: conversations one by one, some calls again, then many at once.

    While the verdict is open, more conversations follow.

    Args:
        bot: the bot.
        at_once: simultaneous conversations in the study; as many are held here, up to MOST_AT_ONCE.
        patience: seconds that a call may take.
        progress: called with the number of calls done, and of all calls.
        rng: draws the lines, and the conversations' names and seeds.
        is_open: says whether these responses leave the verdict open.
        lines: the least number of a worker's lines in a conversation of the study.
        language: the study's.
    """
    total = calls(at_once, lines)
    progress(0, total)
    asking = _Asking(bot, patience, lambda done: progress(done, total), rng)
    scripts = draw_scripts(rng, lines, language)
    held = [await asking.hold(script, i) for i, script in enumerate(scripts.alone)]
    again = Script("again", scripts.small_talk.lines)
    for at in (0, len(held[0]) - 1):
        await asking.ask(again, at, held[0][at])
    elsewhere = held[-2][-1].turns[:-1]  # the questions without a persona
    for at in swapped(scripts.small_talk):
        chat = held[0][at]
        await asking.ask(Script("swapped", ()), at, replace(chat, turns=(*elsewhere, chat.turns[-1])))
    many = at_once_scripts(at_once, rng, language)
    await asyncio.gather(*(asking.hold(script, i) for i, script in enumerate(many)))
    conversation = len(held)
    for _ in range(MOST_MORE):
        asked = CheckResponses(tuple(asking.answers), stopped=len(asking.answers) < total)
        if asked.stopped or not await asyncio.to_thread(is_open, asked):
            return asked
        more = more_scripts(rng, lines, language)
        total += sum(len(script.lines) for script in more)
        for script in more:
            await asking.hold(script, conversation)
            conversation += 1
    return CheckResponses(tuple(asking.answers), stopped=len(asking.answers) < total)


LAYOUT = "Does the model take the messages?"
MODERATED = "What does the moderation service say?"


async def check_bot(
    bot: Bot,
    *,
    names: Sequence[str],
    at_once: int,
    delays: Sequence[float],
    overruns: Overruns | None = None,
    patience: float = 60.0,
    progress: Callable[[int, int], None],
    rng: random.Random | None = None,
    lines: int = LINES,
    language: str = "en",
    persona: bool | None = None,
    markdown: bool = False,
    moderation: Moderation | None = None,
) -> ConformanceReport:
    """Return whether `bot` is fit for workers. Failures of the bot become findings, not exceptions.

    A bot is called some tens of times, and more often while its verdict is open (`Limit.is_open`). A bot that
    hangs mostly takes three times `patience`.

    Args:
        bot: the bot to check.
        names: names by which it must not call itself: its own name, the id of its model.
        at_once: conversations that the study holds at once.
        delays: the study's natural reply times in seconds, as samples or quantiles. Empty: time is not
            judged.
        overruns: the bot's late replies to workers so far, if any.
        patience: seconds that a call may take.
        progress: called at the start and after each call with the number of calls done, and of all calls.
        rng: draws the bot's questions; None: different ones every time.
        lines: the least number of a worker's lines in a conversation of the study.
        language: the study's, in which the bot is asked and should answer.
        persona: whether the bot has a persona in the study; None: unknown.
        markdown: whether the study renders Markdown; otherwise workers see its marks.
        moderation: a service that flags replies unfit for workers; None: no service is called.
    """
    standard = Standard(names, delays, overruns, patience, language, persona, markdown)
    asked = await ask_script(
        bot,
        at_once,
        patience,
        progress,
        rng or random.SystemRandom(),
        lambda asked: is_open(asked, standard),
        lines,
        language,
    )
    advice = None if any(answer.spoke for answer in asked.answers) else await _layout_advice(bot, asked)
    flagged: Sequence[str] = ()
    unjudged = None
    if moderation is not None:
        try:
            flagged = await moderation.flagged([answer.text for answer in asked.answers if answer.spoke])
        except BotError as error:
            unjudged = Finding(question=MODERATED, verdict="warn", reason=str(error))
    made = await asyncio.to_thread(report, asked, standard, flagged)  # this may load a model
    for more in (unjudged, advice):
        made = made if more is None else _with(made, more)
    return made


async def _layout_advice(bot: Bot, asked: CheckResponses) -> Finding | None:
    """Return which layout of messages a model takes that answered nothing; None if none is known."""
    first = asked.answers[0]
    # Templates are refused, or fail; other failures have other causes, and trials may cost money or time.
    failed = first.error
    if failed is None or failed.kind not in ("refused", "error") or failed.unreached or failed.out:
        return None
    if not isinstance(bot, TakesLayouts):
        return None
    # Two lines in a row, as after a reply that failed.
    turns = (Turn("worker", first.line), Turn("worker", first.line))
    settings = await bot.fitting_layout(Chat("check-layout", 0, first.persona or ("I like tea.",), turns))
    if settings is None:
        return None
    reason = (
        f"Not in this layout of messages, but with these settings: {settings}. Set them, and check again."
    )
    return Finding(question=LAYOUT, verdict="fail", reason=reason)


def _with(made: ConformanceReport, more: Finding) -> ConformanceReport:
    """Return a report with one more finding."""
    found = (*made.findings, more)
    return made.model_copy(update={"findings": found, "verdict": worst(found)})


def report(asked: CheckResponses, standard: Standard, flagged: Sequence[str] = ()) -> ConformanceReport:
    """Return the report on a bot's answers. `flagged`: replies that a moderation service flags."""
    # The time of a failed call says nothing about replies, except for a call that used up its time limit.
    timed = [answer for answer in asked.answers if not answer.failed or answer.seconds >= standard.patience]
    latency = Latency(alone=_spread(_seconds(timed, busy=False)), at_once=_at_once(timed))
    late = _late(timed, standard.delays)
    found = findings(asked, latency, late, standard, flagged)
    return ConformanceReport(
        verdict=worst(found),
        findings=found,
        latency=latency,
        expected_overruns=late,
        calls=len(asked.answers),
        stopped=asked.stopped,
        transcripts=tuple(_transcripts(asked.answers)),
        scope=Scope(language=standard.language, persona=standard.persona),
    )


def _seconds(answers: Sequence[ScriptAnswer], *, busy: bool) -> list[float]:
    return [answer.seconds for answer in answers if (answer.part == "at once") == busy]


def _spread(seconds: Sequence[float]) -> Alone | None:
    if not seconds:
        return None
    p50, p95 = (measures.quantile(seconds, share) for share in (0.5, 0.95))
    return Alone(n=len(seconds), p50=p50, p95=p95)


def _at_once(answers: Sequence[ScriptAnswer]) -> AtOnce | None:
    spread = _spread(_seconds(answers, busy=True))
    if spread is None:
        return None
    held = {answer.conversation for answer in answers if answer.part == "at once"}
    return AtOnce(**spread.model_dump(), conversations=len(held))


def _late(answers: Sequence[ScriptAnswer], delays: Sequence[float]) -> float | None:
    """Return the expected share of overruns, from the calls made at once if there are any."""
    seconds = _seconds(answers, busy=True) or _seconds(answers, busy=False)
    return measures.expected_overruns(seconds, delays) if seconds and len(delays) else None


def _transcripts(answers: Sequence[ScriptAnswer]) -> Iterator[CheckTranscript]:
    for held in measures.conversations(answers):
        lines = [line for answer in held for line in _lines(answer)]
        yield CheckTranscript(name=held[0].part, persona=held[0].persona, lines=tuple(lines))


def _lines(answer: ScriptAnswer) -> tuple[ReportLine, ReportLine]:
    said = ReportLine(author="worker", text=answer.line)
    if answer.error is not None:
        return said, ReportLine(author="bot", text="", seconds=answer.seconds, error=_storable(answer.error))
    return said, ReportLine(author="bot", text=answer.text, seconds=answer.seconds)


def _storable(error: BotError) -> str:
    """Return the message of `error`, cleaned and shortened for storage."""
    return str(error)[:LONGEST_REPLY].encode("utf-8", "replace").decode()
