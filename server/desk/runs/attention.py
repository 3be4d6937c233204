"""List what in a run needs its researcher, most urgent first. Pure."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from server.db.review.flagged_lines import FlaggedLine
from server.desk.runs.responses import AssignmentRow, Attention, BotReplies, SystemProgress
from server.errors import StorageDamaged
from server.study import Study

DAMAGED = Attention(urgent=True, text=f"{StorageDamaged().message}. {StorageDamaged.hint}")
_IN_A_ROW = 3  # failed tries, before a bot counts as down
_FAILED_SHARE = 0.1  # of a system's conversations, before they are pointed out
_MOST_SILENT = 0.5  # of the time-out of silence, before a page that is gone counts as left
_REPLIES = 20  # before anything is said of a bot's pace
_FEWEST_LEAVERS, _LEAVERS_SHARE = 5, 0.1  # with a report, of all who are paid in full
_NAMED_APART = 2  # slow bots; more of them are told in one line


@dataclass(frozen=True, slots=True)
class Unread:
    """What nobody has read yet.

    `reported`: of the messages that were reported and that nobody has seen, the assignments. `flagged`: lines
    that the moderation service flags, unseen alike. `unjudged`: lines wait for one, and there is none.
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
    """Return what a researcher should see now; nothing where all goes well.

    `down`: systems whose bots answer nobody.
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
            text += " Newcomers who would meet it are asked to come back later."
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
        text = f"{messages} that nobody has seen: read what was said, and mark it as seen."
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
        text = f"{_people(len(left))} {have} left the page, and been silent for long: release what they hold."
        yield Attention(urgent=False, text=text, workers="away", assignments=left)


def _late(bots: Iterable[BotReplies]) -> Iterator[Attention]:
    # Where a study asks for no delay, no pace is hidden, and there is nothing to say of it.
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
            "No moderation service judges what is said, though the study wants it, and workers are told: "
            "set CANDOR_MODERATION_URL, and start the server again. Lines wait meanwhile."
        )
        yield Attention(urgent=False, text=text)


def _flagged(lines: Sequence[FlaggedLine]) -> Iterator[Attention]:
    if lines:
        inputs = sum(line.author == "worker" for line in lines)
        flagged = "1 line" if len(lines) == 1 else f"{len(lines)} lines"
        text = (
            f"{flagged} flagged by the moderation service ({len(lines) - inputs} of chatbots, {inputs} of "
            "workers) that nobody has seen: read what was said, and mark it as seen."
        )
        about = list(dict.fromkeys(line.assignment for line in lines))
        yield Attention(urgent=False, text=text, workers="flagged", assignments=about)


def _leavers(workers: Iterable[AssignmentRow]) -> Iterator[Attention]:
    """Point out that many leave with a report: one chatbot may be unbearable, or the way out too easy."""
    people = [row for row in workers if not row.simulated]
    left = [row for row in people if row.left_with_report]
    paid = [*left, *(row for row in people if row.status == "completed")]
    if len(left) < max(_FEWEST_LEAVERS, _LEAVERS_SHARE * len(paid)):
        return
    ((system, most),) = Counter(row.system for row in left).most_common(1)
    text = (
        f"{len(left)} of {len(paid)} workers who are paid in full have left with a report instead of "
        f"finishing, {most} of them from {system}: look whether they left for that, or for the pay."
    )
    yield Attention(urgent=False, text=text, system=system)


def _people(number: int) -> str:
    return "1 worker" if number == 1 else f"{number} workers"
