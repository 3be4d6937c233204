"""Choose among the replicas of a bot: rest those that fail, and keep to the spending cap."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Container, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

import structlog

from bots.core.ask import ask
from bots.core.chat import Bot, Chat, Provenance, Reply, Turn
from bots.core.failures import BotBusy, BotError, BotGone

_REMEMBERED = 10_000  # lines that were asked for in vain


class PaidCalls:
    """Counts the calls for each line, and tells when there were enough."""

    def __init__(self, most: int) -> None:
        """Allow `most` calls for a line."""
        self._most = most
        self._made: OrderedDict[tuple[str, int], int] = OrderedDict()

    def count(self, chat: Chat, error: BotError) -> None:
        """Count a call that has failed; where it was the last that is allowed, `error` is not to be repeated.

        A call that found nobody, or for which there was no time, has cost nothing, and does not count.
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
        """Forget a line for which there is a reply."""
        self._made.pop((chat.conversation_id, len(chat.turns)), None)


FAILURES = 3
# The first rest is short, so that a bot that only fails now and then keeps nobody waiting for longer than
# slow replies do. Each trial that fails doubles it, up to PAUSE.
FIRST_PAUSE, PAUSE = 0.5, 5.0
PROBE_SECONDS = 10.0
LONGEST_PAUSE = 60.0  # seconds between two trials by heartbeats
_TRIAL_SECONDS = 0.25  # between two looks whether a trial is over
_TRIAL = Chat("trial", 0, (), (Turn("worker", "Hello!"),))
Tell = Callable[[str, BotError | None], None]
log = structlog.get_logger()


class Replica(Bot, Protocol):
    """One server that answers for a bot."""

    @property
    def url(self) -> str:
        """Its address, as researchers may see it. No two replicas of a bot have the same."""

    async def probe(self) -> None:
        """Check cheaply whether it can answer chats now. Raises BotError: it cannot."""

    async def close(self) -> None:
        """Close its connections."""


@dataclass(frozen=True, slots=True)
class ReplicaState:
    """Calls and failures of a replica, and whether it is used.

    `calls` and `failures` are counted since it was added, `last_error` is the latest failure's reason.
    `state` is "fine", or "failing" after a failure, or "resting" while nobody is sent there.
    """

    url: str
    state: Literal["fine", "failing", "resting"]
    in_flight: int
    calls: int
    failures: int
    last_error: str | None


@dataclass(slots=True, eq=False)
class _ReplicaRecord:
    """A replica with its circuit breaker: closed below FAILURES failures in a row, then open.

    A conversation at which it fails over and over does not open it, for the conversation may be the reason:
    `blamed` has those of the failures in a row, and there must be two, or nobody was reached. `away`: the
    latest heartbeat was bad.

    While open nobody is sent there until `rests_until`; then one call is, as a trial. Heartbeats make trials,
    each after a longer `pause`, so that no worker has to. `busy_until`: it has asked to be left alone until
    then, which says nothing against it.

    `out`: its provider refuses everybody, for want of money or a good key. `told`: other processes know that
    it answers nobody.
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
        """What `min` chooses by. A failure weighs like a call in flight, so that a retry goes elsewhere."""
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
        """Count the end of a call that says nothing against it."""
        self._end()
        self.recover()

    def recover(self) -> None:
        """Close the breaker."""
        self.in_a_row, self.on_trial, self.away, self.open = 0, False, False, False
        self.out, self.pause = None, FIRST_PAUSE
        self.blamed.clear()

    def go_out(self, error: BotError, now: float) -> None:
        """Open the breaker at once: its provider refuses whoever asks."""
        self._end()
        self.failures += 1
        self.in_a_row += 1
        self.rest(error, now)

    def rest(self, error: BotError, now: float) -> None:
        """Open the breaker for long."""
        self.last_error, self.out, self.open = str(error), error if error.out else None, True
        self.pause = max(self.pause, PAUSE)
        self.rests_until = now + self.pause
        self.pause = min(2 * self.pause, LONGEST_PAUSE)

    def fail(self, error: BotError, conversation: str | None, now: float, longest: float) -> None:
        """Count the end of a call that failed.

        `conversation`: what may be the reason, None if it cannot be. `longest`: seconds up to which this
        makes rests longer.
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
        """Take it up again if the heartbeat before was bad: one failure lets it rest again.

        Else a good heartbeat says nothing: whoever fails at chats may be well by its heartbeats.
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
    """A bot that asks the least busy of its replicas, and the next one when that fails.

    A replica that fails FAILURES times in a row, at more than one conversation, is left alone for
    FIRST_PAUSE to PAUSE seconds, then tried with one call. A call that its caller gave up counts as a
    failure: that is what a hanging replica looks like. One that asks to be left alone is, for as long as it
    says. Replicas may come and go while calls are under way.
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
            replicas: each as good as the other.
            patience: seconds that each has for a reply.
            clock: counts seconds.
            most_calls: so often one line is asked for, where a call is paid. One for which a server had
                nobody, or
                no time, was not paid.
        """
        self._calls = None if most_calls is None else PaidCalls(most_calls)
        self._records = {replica.url: _ReplicaRecord(replica) for replica in replicas}
        self._tell: Tell | None = None
        self._patience = patience
        self._clock = clock

    def add(self, replica: Replica) -> None:
        """Add `replica`. Raises ValueError: there is one at its url."""
        if replica.url in self._records:
            raise ValueError(f"{replica.url} is a replica already")
        self._records[replica.url] = _ReplicaRecord(replica)

    async def remove(self, url: str) -> None:
        """Send nobody to the replica at `url` any more; close it when the calls in flight are over.

        Those that take longer than `patience` seconds are cut off; other replicas step in for them.

        Raises:
            KeyError: there is none.
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
        """Whether it answers nobody as far as is known: there is no replica, or each one rests."""
        return all(record.open for record in tuple(self._records.values()))

    def tell_outages(self, tell: Tell) -> None:
        """Have `tell` called with the url and failure of each replica that answers nobody for long.

        It is called with None once the replica answers again.
        """
        self._tell = tell

    def take_outage(self, url: str, failure: BotError | None) -> None:
        """Take up what another process has found of the replica at `url`, as `tell_outages` told it."""
        record = self._records.get(url)
        if record is None or record.told == (failure is not None):
            return
        record.told = failure is not None
        if failure is None:
            record.recover()
        else:
            record.rest(failure, self._clock())

    async def probe(self) -> None:
        """Probe every replica. One that cannot answer is not asked until it can, and is then used at once.

        A good heartbeat does not show that one that has failed at chats, or whose provider has refused
        everybody, is mended: it is asked for a reply.
        """
        await asyncio.gather(*(self._probe(record) for record in self._records.values()))

    async def reply(self, chat: Chat) -> Reply:
        """Return the first reply that a replica gives.

        Raises:
            BotError: every replica failed or rests. The message says for each why; the class is that of the
                latest failure, save that a bot is never gone because a replica of it says so.
        """
        tried: dict[_ReplicaRecord, str] = {}
        latest = self._out()
        while (record := self._least_busy(tried)) is not None:
            try:
                return await self._ask(record, chat)
            except BotError as error:
                if self._calls is not None:
                    self._calls.count(chat, error)
                tried[record], latest = str(error), error
                if not isinstance(error, BotGone) and (error.provenance is not None or not error.retry):
                    break  # it was answered and is accounted for by itself, or is of no use elsewhere
        told = dict(tried)
        if not tried or latest.retry or isinstance(latest, BotGone):
            told |= {rec: self._resting(rec) for rec in self._records.values() if rec not in tried}
        reasons = [f"{record.replica.url}: {reason}" for record, reason in told.items()]
        message = "; ".join(reasons) or "no bot host is there that answers for it"
        if isinstance(latest, BotGone):
            raise BotError(message)
        failed = BotBusy(message) if not tried and self._held_back() else latest.like(message)
        failed.after = self._held_back() if failed.retry else None
        failed.unasked = not tried
        if failed.unasked and failed.retry and failed.after is None:
            failed.after = self._rest()
        raise failed

    async def close(self) -> None:
        """Close every connection."""
        for record in list(self._records.values()):
            await record.replica.close()

    def _least_busy(self, tried: Container[_ReplicaRecord]) -> _ReplicaRecord | None:
        now = self._clock()
        able = [record for record in self._records.values() if record not in tried and record.takes(now)]
        return min(able, key=lambda record: record.load, default=None)

    def _out(self) -> BotError:
        """Return the failure of a call that no replica takes: not to be repeated if each one is out."""
        outs = [record.out for record in self._records.values()]
        error = next((out for out in outs if out is not None), None)
        if error is None or None in outs:
            return BotError("")
        failed = type(error)("")
        failed.retry, failed.out = False, True
        return failed

    def _rest(self) -> float | None:
        """Return in how many seconds to ask again, where each replica rests or has a trial under way."""
        if not self._records:
            return None
        soonest = min(record.rests_until for record in self._records.values()) - self._clock()
        return max(soonest, 0.0) if soonest < float("inf") else _TRIAL_SECONDS

    def _held_back(self) -> float | None:
        """Return in how many seconds to ask again, where every replica has asked to be left alone."""
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
            # A server that does one thing at a time answers when it has answered the chats before.
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
    """Return where a reply came from, with the replica that gave it unless a host has named itself."""
    if provenance is None or provenance.replica is not None:
        return provenance
    return replace(provenance, replica=record.replica.url)
