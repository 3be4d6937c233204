"""List what in a run needs a researcher's attention, most urgent first. Pure functions."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from server.db.review import FlaggedLine
from server.desk.runs.responses import AssignmentRow, Attention, BotReplies, SystemProgress
from server.errors import StorageDamaged
from server.study import Study

DAMAGED = Attention(urgent=True, text=f"{StorageDamaged().message}. {StorageDamaged.hint}")
_IN_A_ROW = 3  # consecutive failed attempts after which a bot counts as down
_FAILED_SHARE = 0.1  # share of a system's conversations above which failures are reported
_MOST_SILENT = 0.5  # share of the idle time-out after which a closed page counts as left
_REPLIES = 20  # replies needed before a bot's pace is judged
_FEWEST_LEAVERS, _LEAVERS_SHARE = 5, 0.1  # leavers with a report, and their share of fully paid workers
_NAMED_APART = 2  # more slow bots than this are reported in one message


@dataclass(frozen=True, slots=True)
class Unread:
    """Messages that no researcher has marked as seen yet.

    `reported`: the assignments of unseen reports. `flagged`: unseen turns that the moderation service
    flagged. `unjudged`: turns wait for moderation, but there is no moderation service.
    """

    reported: Sequence[str]
    flagged: Sequence[FlaggedLine]
    unjudged: bool


def attention(
    workers: Iterable[AssignmentRow],
    systems: Sequence[SystemProgress],
    bots: Sequence[BotReplies],
    unread: Unread,
    study: Study,
    now: datetime,
    down: Collection[str] = (),
) -> list[Attention]:
    """Return what needs a researcher's attention now; nothing if there are no problems.

    `down`: systems whose bots do not answer.
    """
    workers = list(workers)
    rows = [row for row in workers if row.status == "active"]
    urgent = [*_down(rows, bots, down), *_reported(unread.reported)]
    found = [
        *urgent,
        *_failed(systems),
        *_left(rows, study, now),
        *_late(bots),
        *_unjudged(unread),
        *_flagged(unread.flagged),
        *_leavers(workers),
    ]
    return sorted(found, key=lambda item: not item.urgent)


def _down(
    rows: Sequence[AssignmentRow], bots: Iterable[BotReplies], down: Collection[str]
) -> Iterator[Attention]:
    for bot in bots:
        waiting = [row.assignment for row in rows if row.system == bot.system and row.failed_tries]
        is_down = bot.system in down
        if bot.failing < _IN_A_ROW and not waiting and not is_down:
            continue
        tries = "1 try" if bot.failing == 1 else f"{bot.failing} tries"
        facts = [f"{tries} failed in a row"] if bot.failing else []
        facts += [f"{_people(len(waiting))} waiting"] if waiting else []
        text = f"{bot.system} does not answer{': ' if facts else ''}{', '.join(facts)}."
        if is_down:
            text += " New workers who would meet it are asked to come back later."
        yield Attention(
            urgent=True,
            text=text,
            system=bot.system,
            workers="waiting",
            assignments=waiting,
        )


def _reported(assignments: Sequence[str]) -> Iterator[Attention]:
    if assignments:
        number = len(assignments)
        messages = "1 reported message" if number == 1 else f"{number} reported messages"
        text = f"{messages} that nobody has seen: read the conversation, and mark the report as seen."
        about = list(dict.fromkeys(assignments))
        yield Attention(urgent=True, text=text, workers="reported", assignments=about)


def _failed(systems: Iterable[SystemProgress]) -> Iterator[Attention]:
    for system in systems:
        held = system.rated + system.unrated + system.active + system.failed
        if system.failed >= 2 and system.failed >= _FAILED_SHARE * held:
            text = f"{system.failed} of {held} conversations with {system.system} failed and were replaced."
            yield Attention(urgent=False, text=text, system=system.system)


def _left(rows: Iterable[AssignmentRow], study: Study, now: datetime) -> Iterator[Attention]:
    silent = now - timedelta(seconds=_MOST_SILENT * study.timeouts.idle)
    left = [
        row.assignment
        for row in rows
        if row.away_since is not None and row.active_at is not None and row.active_at < silent
    ]
    if left:
        have = "has" if len(left) == 1 else "have"
        text = f"{_people(len(left))} {have} closed the page and been inactive for long: release their slots."
        yield Attention(urgent=False, text=text, workers="away", assignments=left)


def _late(bots: Iterable[BotReplies]) -> Iterator[Attention]:
    # Without a typing-time floor, the study does not hide the pace of bots.
    late = [
        bot
        for bot in bots
        if bot.p95_ms is not None and bot.replies >= _REPLIES and bot.p95_ms > bot.floor_ms > 0
    ]
    if len(late) > _NAMED_APART:
        names = ", ".join(bot.system for bot in late)
        text = (
            f"{len(late)} bots are slow ({names}): 1 reply in 20 takes longer than the typing-time floor of "
            f"{late[0].floor_ms / 1000:.1f} s, so their pace may tell them apart."
        )
        yield Attention(urgent=False, text=text)
        return
    for bot in late:
        slowest = (bot.p95_ms or 0) / 1000
        text = (
            f"{bot.system} is slow: 1 reply in 20 takes longer than {slowest:.1f} s, above the "
            f"typing-time floor of {bot.floor_ms / 1000:.1f} s, so its pace may tell it apart."
        )
        yield Attention(urgent=False, text=text, system=bot.system)


def _unjudged(unread: Unread) -> Iterator[Attention]:
    if unread.unjudged:
        text = (
            "The study promises moderation to workers, but there is no moderation service: set "
            "CANDOR_MODERATION_URL, and restart the server. Messages wait for moderation meanwhile."
        )
        yield Attention(urgent=False, text=text)


def _flagged(lines: Sequence[FlaggedLine]) -> Iterator[Attention]:
    if lines:
        inputs = sum(line.author == "worker" for line in lines)
        flagged = "1 line" if len(lines) == 1 else f"{len(lines)} lines"
        text = (
            f"{flagged} flagged by the moderation service ({len(lines) - inputs} of chatbots, {inputs} of "
            "workers) that nobody has seen: read the conversation, and mark the flag as seen."
        )
        about = list(dict.fromkeys(line.assignment for line in lines))
        yield Attention(urgent=False, text=text, workers="flagged", assignments=about)


def _leavers(workers: Iterable[AssignmentRow]) -> Iterator[Attention]:
    """Report that many workers leave with a report: a chatbot may be unbearable, or leaving too easy."""
    people = [row for row in workers if not row.simulated]
    left = [row for row in people if row.left_with_report]
    paid = [*left, *(row for row in people if row.status == "completed")]
    if len(left) < max(_FEWEST_LEAVERS, _LEAVERS_SHARE * len(paid)):
        return
    ((system, most),) = Counter(row.system for row in left).most_common(1)
    text = (
        f"{len(left)} of {len(paid)} workers who are paid in full have left with a report instead of "
        f"finishing, {most} of them from {system}: check whether the chatbot or the pay is the reason."
    )
    yield Attention(urgent=False, text=text, system=system)


def _people(number: int) -> str:
    return "1 worker" if number == 1 else f"{number} workers"
