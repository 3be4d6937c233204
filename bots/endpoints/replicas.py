"""Choose among the replicas of a bot, rest those that fail, and limit repeated paid calls."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Container, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

import structlog

from bots.core.ask import ask
from bots.core.chat import Bot, Chat, Provenance, Reply, TakesLayouts, Turn
from bots.core.failures import BotBusy, BotError, BotGone

_REMEMBERED = 10_000  # lines whose calls have failed so far


class PaidCalls:
    """Counts the failed paid calls for each line, and stops retries at a limit."""

    def __init__(self, most: int) -> None:
        """Allow `most` calls for a line."""
        self._most = most
        self._made: OrderedDict[tuple[str, int], int] = OrderedDict()

    def count(self, chat: Chat, error: BotError) -> None:
        """Count a failed call; if it was the last one allowed, mark `error` as not to be retried.

        A call that reached no server, or found it busy, has cost nothing, and does not count.
        """
        if error.unreached or isinstance(error, BotBusy):
            return
        line = (chat.conversation_id, len(chat.turns))
        made = self._made.pop(line, 0) + 1
        if made >= self._most:
            error.retry = False
            error.args = (f"{error}; asked {made} times, the most for a bot whose calls are paid",)
            return
        self._made[line] = made
        while len(self._made) > _REMEMBERED:
            self._made.popitem(last=False)

    def forget(self, chat: Chat) -> None:
        """Forget a line that has got its reply."""
        self._made.pop((chat.conversation_id, len(chat.turns)), None)


FAILURES = 3
# The first rest is short, so that a bot that fails only occasionally delays nobody more than a slow reply
# does. Each failed trial doubles the rest, up to PAUSE.
FIRST_PAUSE, PAUSE = 0.5, 5.0
PROBE_SECONDS = 10.0
LONGEST_PAUSE = 60.0  # seconds between two trials by heartbeats
_TRIAL_SECONDS = 0.25  # seconds after which to ask again while a trial is under way
_TRIAL = Chat("trial", 0, (), (Turn("worker", "Hello!"),))
Tell = Callable[[str, BotError | None], None]
log = structlog.get_logger()


class Replica(Bot, Protocol):
    """One server that answers for a bot."""

    @property
    def url(self) -> str:
        """Its address, as researchers may see it. It is unique among the replicas of a bot."""

    async def probe(self) -> None:
        """Check cheaply whether it can answer chats now. Raises BotError if it cannot."""

    async def close(self) -> None:
        """Close its connections."""


@dataclass(frozen=True, slots=True)
class ReplicaState:
    """Calls and failures of a replica, and whether it is used.

    `calls` and `failures` are counted since it was added. `last_error` is the reason of the latest failure.
    `state` is "fine", "failing" after a failure, or "resting" while it gets no calls.
    """

    url: str
    state: Literal["fine", "failing", "resting"]
    in_flight: int
    calls: int
    failures: int
    last_error: str | None


@dataclass(slots=True, eq=False)
class _ReplicaRecord:
    """A replica with its circuit breaker, which opens after FAILURES failures in a row.

    Repeated failures in one conversation do not open it, because the conversation may be the reason. `blamed`
    holds the conversations of the failures in a row: the breaker opens only if there are at least two, or
    none because the server could not be reached. `away`: the latest heartbeat failed.

    While it is open, the replica gets no calls until `rests_until`, and then a single call, as a trial.
    Heartbeats make trials, each after a longer `pause`, so that workers need not. `busy_until`: the replica
    has asked not to be called until then, which is no failure.

    `out`: its provider refuses everybody, because a payment or a valid key is missing. `told`: other
    processes know that it answers nobody.
    """

    replica: Replica
    in_flight: int = 0
    calls: int = 0
    failures: int = 0
    in_a_row: int = 0
    open: bool = False
    blamed: set[str] = field(default_factory=set)
    rests_until: float = 0.0
    busy_until: float = 0.0
    on_trial: bool = False
    away: bool = False
    last_error: str | None = None
    out: BotError | None = None
    told: bool = False
    pause: float = FIRST_PAUSE
    idle: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.idle.set()

    @property
    def load(self) -> tuple[int, int]:
        """The sort key of the choice. A failure weighs like a call in flight, so retries go elsewhere."""
        return self.in_flight + min(self.in_a_row, FAILURES), self.calls

    def takes(self, now: float) -> bool:
        return now >= self.busy_until and (not self.open or now >= self.rests_until)

    def start(self) -> None:
        self.in_flight += 1
        self.calls += 1
        self.idle.clear()
        if self.open:
            self.rests_until = float("inf")

    def finish(self) -> None:
        """Count the end of a call that is no failure of the replica."""
        self._end()
        self.recover()

    def recover(self) -> None:
        """Close the breaker."""
        self.in_a_row, self.on_trial, self.away, self.open = 0, False, False, False
        self.out, self.pause = None, FIRST_PAUSE
        self.blamed.clear()

    def go_out(self, error: BotError, now: float) -> None:
        """Open the breaker at once: its provider refuses every caller."""
        self._end()
        self.failures += 1
        self.in_a_row += 1
        self.rest(error, now)

    def rest(self, error: BotError, now: float) -> None:
        """Open the breaker for a long time."""
        self.last_error, self.out, self.open = str(error), error if error.out else None, True
        self.pause = max(self.pause, PAUSE)
        self.rests_until = now + self.pause
        self.pause = min(2 * self.pause, LONGEST_PAUSE)

    def fail(self, error: BotError, conversation: str | None, now: float, longest: float) -> None:
        """Count the end of a call that failed.

        `conversation`: the conversation that may be the reason, None if it cannot be. `longest`: the limit in
        seconds up to which rests grow.
        """
        self._end()
        self.failures += 1
        self.in_a_row += 1
        self.last_error = str(error)
        if conversation is not None:
            self.blamed.add(conversation)
        suspects = len(self.blamed) != 1
        self.open = self.open or self.on_trial or (self.in_a_row >= FAILURES and suspects)
        if self.open:
            self.rests_until = now + self.pause
            self.pause = max(self.pause, min(2 * self.pause, longest))

    def _end(self) -> None:
        self.in_flight -= 1
        if not self.in_flight:
            self.idle.set()

    def well(self) -> None:
        """Record a good heartbeat; if the one before was bad, close the breaker until the next failure.

        Otherwise a good heartbeat changes nothing: a server that fails at chats may still answer heartbeats.
        """
        if self.away and self.out is None:
            self.on_trial, self.in_a_row, self.open = True, 0, False
            self.blamed.clear()
        self.away = False

    def unwell(self, error: str, now: float) -> None:
        """Open the breaker after a bad heartbeat."""
        self.away = True
        self.open = True
        self.in_a_row = max(self.in_a_row, FAILURES)
        self.last_error = error
        self.rests_until = now + PAUSE

    def state(self) -> ReplicaState:
        state: Literal["fine", "failing", "resting"] = (
            "resting" if self.open else "failing" if self.in_a_row else "fine"
        )
        return ReplicaState(
            self.replica.url, state, self.in_flight, self.calls, self.failures, self.last_error
        )


class Replicas:
    """A bot that asks its least busy replica, and the next one when that fails.

    A replica that fails FAILURES times in a row, in more than one conversation, gets no calls for FIRST_PAUSE
    to PAUSE seconds, and then a single call as a trial. A call that its caller cancelled counts as a failure,
    because that is the sign of a hanging replica. A replica that asks not to be called gets no calls for as
    long as it says. Replicas may be added and removed while calls are under way.
    """

    def __init__(
        self,
        replicas: Sequence[Replica],
        patience: float,
        clock: Callable[[], float] = time.monotonic,
        most_calls: int | None = None,
    ) -> None:
        """Hold `replicas`.

        Args:
            replicas: equivalent servers.
            patience: seconds that each has for a reply.
            clock: counts seconds.
            most_calls: limit of paid calls for one line; None: no limit. A call that reached no server, or
                found it busy, was not paid and does not count.
        """
        self._calls = None if most_calls is None else PaidCalls(most_calls)
        self._records = {replica.url: _ReplicaRecord(replica) for replica in replicas}
        self._tell: Tell | None = None
        self._patience = patience
        self._clock = clock

    def add(self, replica: Replica) -> None:
        """Add `replica`. Raises ValueError if there is one at its url."""
        if replica.url in self._records:
            raise ValueError(f"{replica.url} is a replica already")
        self._records[replica.url] = _ReplicaRecord(replica)

    async def remove(self, url: str) -> None:
        """Stop calling the replica at `url`; close it when the calls in flight are over.

        Calls that take longer than `patience` seconds are cut off; other replicas take them over.

        Raises:
            KeyError: there is no such replica.
        """
        record = self._records.pop(url)
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._patience):
                    await record.idle.wait()
        finally:
            await record.replica.close()

    def urls(self) -> tuple[str, ...]:
        """Return the addresses of the replicas, in the order in which they were added."""
        return tuple(self._records)

    def states(self) -> tuple[ReplicaState, ...]:
        """Return the state of each replica, in the order in which they were added."""
        return tuple(record.state() for record in self._records.values())

    @property
    def is_down(self) -> bool:
        """Whether no replica is known to answer: there is none, or each one rests."""
        return all(record.open for record in tuple(self._records.values()))

    def tell_outages(self, tell: Tell) -> None:
        """Call `tell` with the url and the failure of each replica that will answer nobody for a long time.

        `tell` is called with None in place of the failure once the replica answers again.
        """
        self._tell = tell

    def take_outage(self, url: str, failure: BotError | None) -> None:
        """Apply the report of another process's `tell_outages` about the replica at `url`."""
        record = self._records.get(url)
        if record is None or record.told == (failure is not None):
            return
        record.told = failure is not None
        if failure is None:
            record.recover()
        else:
            record.rest(failure, self._clock())

    async def probe(self) -> None:
        """Probe every replica. One that fails gets no calls until it recovers, and is then used at once.

        A replica that has failed at chats, or whose provider has refused everybody, is tested with a chat: a
        good heartbeat does not show that it works again.
        """
        await asyncio.gather(*(self._probe(record) for record in self._records.values()))

    async def reply(self, chat: Chat) -> Reply:
        """Return the first reply that a replica gives.

        Raises:
            BotError: every replica failed or rests. The message gives the reason for each one. The class is
                that of the latest failure, except that BotGone becomes BotError: a bot is not gone because a
                replica says so.
        """
        tried: dict[_ReplicaRecord, str] = {}
        latest: BotError | None = None
        while (record := self._least_busy(tried)) is not None:
            try:
                return await self._ask(record, chat)
            except BotError as error:
                if self._calls is not None:
                    self._calls.count(chat, error)
                tried[record], latest = str(error), error
                if not isinstance(error, BotGone) and (error.provenance is not None or not error.retry):
                    break  # it was answered, and is recorded separately, or no other replica can help
        reasons = tried
        if record is None:  # every other replica rests
            others = [each for each in self._records.values() if each not in tried]
            reasons = tried | {each: self._resting(each) for each in others}
        message = "; ".join(f"{each.replica.url}: {reason}" for each, reason in reasons.items())
        if latest is None:
            raise self._unasked(message or "no bot host is connected for this bot")
        raise self._failed(latest, message)

    async def fitting_layout(self, chat: Chat) -> str | None:
        """Return the settings of another layout of messages in which a replica answers; None if none does."""
        for record in self._records.values():
            if isinstance(record.replica, TakesLayouts) and (
                found := await record.replica.fitting_layout(chat)
            ):
                return found
        return None

    async def close(self) -> None:
        """Close every connection."""
        for record in list(self._records.values()):
            await record.replica.close()

    def _least_busy(self, tried: Container[_ReplicaRecord]) -> _ReplicaRecord | None:
        now = self._clock()
        able = [record for record in self._records.values() if record not in tried and record.takes(now)]
        return min(able, key=lambda record: record.load, default=None)

    def _failed(self, latest: BotError, message: str) -> BotError:
        """Return the failure of a call after `latest`, the failure of the last replica that was asked."""
        if isinstance(latest, BotGone):
            return BotError(message)
        failed = latest.like(message)
        failed.after = self._held_back() if failed.retry else None
        return failed

    def _unasked(self, message: str) -> BotError:
        """Return the failure of a call for which there was no replica to ask."""
        held_back = self._held_back()
        failed = BotBusy(message) if held_back is not None else self._out(message)
        failed.unasked = True
        if failed.retry:
            failed.after = self._rest() if held_back is None else held_back
        return failed

    def _out(self, message: str) -> BotError:
        """Return the failure if every replica rests: not to be retried if each one is out."""
        outs = [record.out for record in self._records.values()]
        error = next((out for out in outs if out is not None), None)
        if error is None or None in outs:
            return BotError(message)
        failed = type(error)(message)
        failed.retry, failed.out = False, True
        return failed

    def _rest(self) -> float | None:
        """Return the seconds after which to ask again, if each replica rests or has a trial under way."""
        if not self._records:
            return None
        soonest = min(record.rests_until for record in self._records.values()) - self._clock()
        return max(soonest, 0.0) if soonest < float("inf") else _TRIAL_SECONDS

    def _held_back(self) -> float | None:
        """Return the seconds after which to ask again, if every replica has asked not to be called."""
        soonest = min((record.busy_until for record in self._records.values()), default=0.0) - self._clock()
        return soonest if soonest > 0 else None

    async def _ask(self, record: _ReplicaRecord, chat: Chat) -> Reply:
        failure: BotError | None = BotError("the call was given up")
        record.start()
        try:
            reply = await ask(record.replica, chat, self._patience)
            failure = None
        except BotError as error:
            failure = error
            if error.after is not None:
                record.busy_until = self._clock() + error.after
            error.provenance = _by(record, error.provenance)
            raise
        finally:
            self._finish(record, failure, chat)
        if self._calls is not None:
            self._calls.forget(chat)
        return replace(reply, provenance=_by(record, reply.provenance or Provenance()))

    def _finish(self, record: _ReplicaRecord, failure: BotError | None, chat: Chat) -> None:
        now = self._clock()
        if failure is not None and failure.out:
            record.go_out(failure, now)
        elif failure is None or not failure.counts_against_replica:
            record.finish()
            self._tell_others(record, None)
            return
        elif chat is _TRIAL:
            record.fail(failure, None, now, LONGEST_PAUSE)
        else:
            record.fail(failure, None if failure.unreached else chat.conversation_id, now, PAUSE)
        if record.pause > PAUSE:
            self._tell_others(record, failure)
        log.warning("replica failed", replica=record.replica.url, reason=str(failure))

    def _tell_others(self, record: _ReplicaRecord, failure: BotError | None) -> None:
        if record.told != (failure is not None):
            record.told = failure is not None
            if self._tell is not None:
                self._tell(record.replica.url, failure)

    async def _probe(self, record: _ReplicaRecord) -> None:
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                await record.replica.probe()
        except TimeoutError:
            # A server that handles one request at a time answers only after the chats before it.
            if not record.in_flight:
                record.unwell(f"no heartbeat within {PROBE_SECONDS:g} s", self._clock())
        except BotError as error:
            record.unwell(str(error), self._clock())
        else:
            record.well()
            if record.open and record.takes(self._clock()):
                with suppress(BotError):
                    await self._ask(record, _TRIAL)

    def _resting(self, record: _ReplicaRecord) -> str:
        busy = record.busy_until - self._clock()
        if busy > 0:
            return f"not asked, because it has asked to be left alone; asked again in {busy:.2g} s"
        left = record.rests_until - self._clock()
        when = f"in {max(left, 0):.2g} s" if left < float("inf") else "once a call under way has succeeded"
        return f"not asked, because it failed before ({record.last_error}); asked again {when}"


def _by(record: _ReplicaRecord, provenance: Provenance | None) -> Provenance | None:
    """Add the replica's url to a provenance, unless a host has named itself in it."""
    if provenance is None or provenance.replica is not None:
        return provenance
    return replace(provenance, replica=record.replica.url)
