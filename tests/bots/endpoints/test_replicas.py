"""Tests of choosing, resting and replacing replicas. They run in this process, on a fake clock."""

import asyncio
from dataclasses import dataclass, field, replace

import pytest

from bots import BotError, Chat, Provenance, Reply
from bots.core.failures import BotBusy, BotGone, BotTimeout, BudgetSpent, ChatRefused, EmptyReply
from bots.endpoints.replicas import FAILURES, FIRST_PAUSE, LONGEST_PAUSE, PAUSE, Replicas, ReplicaState
from tests.bots.support.servers import CHAT
from tests.support.waiting import PATIENCE


@dataclass
class Puppet:
    """A replica that does what it is told: answers, raises, or waits until it is let go."""

    url: str
    raises: BotError | None = None
    ill: BotError | None = None
    held: asyncio.Event | None = None
    says: str | None = None
    asked: int = 0
    closed: bool = False

    async def reply(self, chat: Chat) -> Reply:
        self.asked += 1
        if self.held is not None:
            await self.held.wait()
        if self.raises is not None:
            raise self.raises
        return Reply(self.url if self.says is None else self.says)

    async def probe(self) -> None:
        if self.ill is not None:
            raise self.ill

    async def close(self) -> None:
        self.closed = True


@dataclass
class Clock:
    now: float = 100.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Stage:
    """Replicas a, b, … over a clock."""

    count: int
    patience: float = PATIENCE
    clock: Clock = field(default_factory=Clock)
    asks: int = 0

    def __post_init__(self) -> None:
        self.puppets = [Puppet(chr(ord("a") + at)) for at in range(self.count)]
        self.bot = Replicas(self.puppets, self.patience, self.clock)

    async def ask(self, conversation: str | None = None) -> str:
        """Ask for a line of `conversation`, or else of a new one."""
        self.asks += 1
        chat = replace(CHAT, conversation_id=conversation or f"c{self.asks}")
        return (await self.bot.reply(chat)).text

    async def fail(self, times: int) -> None:
        for _ in range(times):
            with pytest.raises(BotError):
                await self.ask()


async def test_calls_are_spread() -> None:
    stage = Stage(3)
    assert sorted([await stage.ask() for _ in range(6)]) == list("aabbcc")


async def test_the_least_busy_is_asked() -> None:
    stage = Stage(2)
    a, _ = stage.puppets
    a.held = asyncio.Event()
    slow = asyncio.create_task(stage.ask())
    await asyncio.sleep(0)
    assert [await stage.ask() for _ in range(5)] == ["b"] * 5
    a.held.set()
    assert await slow == "a"
    # Nobody is busy now, and b has answered five times: a's turn.
    assert await stage.ask() == "a"


async def test_a_recorded_answer_is_reported_without_the_replicas_that_were_not_asked() -> None:
    stage = Stage(2)
    failed = BotError("a broken answer")
    failed.provenance = Provenance()
    stage.puppets[0].raises = failed
    with pytest.raises(BotError) as caught:
        await stage.ask()
    assert (str(caught.value), caught.value.retry) == ("a: a broken answer", True)
    assert stage.puppets[1].asked == 0


async def test_another_replica_steps_in_within_the_call() -> None:
    stage = Stage(3)
    stage.puppets[0].raises = BotError("on fire")
    assert [await stage.ask() for _ in range(20)].count("a") == 0
    assert stage.puppets[0].asked >= 1


async def test_a_hanging_replica_costs_its_patience_only() -> None:
    stage = Stage(2, patience=0.05)
    stage.puppets[0].held = asyncio.Event()
    assert await stage.ask() == "b"


async def test_a_retry_after_the_caller_gave_up_goes_elsewhere() -> None:
    stage = Stage(2)
    stage.puppets[0].held = asyncio.Event()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await stage.ask()
    assert [await stage.ask() for _ in range(3)] == ["b"] * 3
    assert stage.puppets[0].asked == 1


async def test_all_fail() -> None:
    stage = Stage(2)
    stage.puppets[0].raises = BotError("on fire")
    stage.puppets[1].raises = BotBusy("busy")
    with pytest.raises(BotError) as caught:
        await stage.ask()
    assert str(caught.value) == "a: on fire; b: busy"
    assert type(caught.value) is BotBusy  # the latest


async def test_no_replica_says_that_the_whole_bot_is_gone() -> None:
    stage = Stage(1)
    stage.puppets[0].raises = BotGone("withdrawn")
    with pytest.raises(BotError) as caught:
        await stage.ask()
    assert caught.value.retry  # others may come, or this one come back


@pytest.mark.parametrize(
    ("says", "reason"), [("  \n", "the reply was empty"), ("x" * 2_001, "the reply has 2001 characters")]
)
async def test_another_replica_steps_in_for_one_without_a_usable_reply(says: str, reason: str) -> None:
    stage = Stage(2)
    a, b = stage.puppets
    a.says = says
    # The least busy is asked, and of two idle ones the one that was asked less: each comes first in turn.
    assert [await stage.ask() for _ in range(4)] == ["b"] * 4
    assert a.asked > 0
    assert stage.bot.states()[0].failures == 0
    b.raises = BotError("on fire")
    with pytest.raises(BotError, match=f"a: {reason}"):
        await stage.ask()


async def test_all_hang() -> None:
    stage = Stage(2, patience=0.01)
    for puppet in stage.puppets:
        puppet.held = asyncio.Event()
    with pytest.raises(BotTimeout, match=r"^a: no reply within 0\.01 s; b: no reply within 0\.01 s$"):
        await stage.ask()


async def test_the_circuit_opens_and_is_tried_with_one_call() -> None:
    stage = Stage(1)
    (a,) = stage.puppets
    a.raises = BotError("on fire")
    await stage.fail(FAILURES)
    assert a.asked == FAILURES
    with pytest.raises(
        BotError, match=r"a: not asked, because it failed before \(on fire\); asked again in 0\.5 s"
    ) as resting:
        await stage.ask()
    assert (resting.value.unasked, resting.value.after) == (True, FIRST_PAUSE)
    stage.clock.now += FIRST_PAUSE - 0.01
    await stage.fail(5)
    assert a.asked == FAILURES

    stage.clock.now += 0.01
    a.held = asyncio.Event()
    trial = asyncio.create_task(stage.ask())
    await asyncio.sleep(0)
    assert a.asked == FAILURES + 1
    with pytest.raises(BotError, match="once a call under way has succeeded") as trying:
        await stage.ask()
    assert trying.value.unasked
    assert 0 < (trying.value.after or 0) < FIRST_PAUSE
    a.held.set()
    with pytest.raises(BotError, match="on fire"):
        await trial
    await stage.fail(5)
    assert a.asked == FAILURES + 1

    stage.clock.now += PAUSE
    a.raises = None
    assert await stage.ask() == "a"
    a.raises = BotError("on fire")
    await stage.fail(FAILURES + 1)
    assert a.asked == FAILURES + 2 + FAILURES


async def test_one_poisonous_conversation_leaves_the_others_alone() -> None:
    stage = Stage(1)
    (a,) = stage.puppets
    for _ in range(3 * FAILURES):
        a.raises = BotError("on fire")
        with pytest.raises(BotError, match=r"^a: on fire$"):
            await stage.ask("poison")
        assert not stage.bot.is_down
    a.raises = None
    assert await stage.ask("another") == "a"


async def test_a_server_that_nobody_reaches_rests_whatever_the_conversation() -> None:
    stage = Stage(1)
    (a,) = stage.puppets
    a.raises = BotError("no connection")
    a.raises.unreached = True
    for _ in range(FAILURES + 1):
        with pytest.raises(BotError):
            await stage.ask("the only one")
    assert a.asked == FAILURES


async def test_one_that_asks_to_be_left_alone_is_asked_when_that_is_over() -> None:
    stage = Stage(2)
    a, b = stage.puppets
    a.raises, b.raises = BotBusy("later"), BotBusy("later")
    a.raises.after, b.raises.after = 30.0, 10.0
    with pytest.raises(BotBusy) as caught:
        await stage.ask()
    assert caught.value.after == 10.0
    resting = "a: not asked, because it has asked to be left alone; asked again in 30 s"
    with pytest.raises(BotError, match=resting) as caught:
        await stage.ask()
    assert (a.asked, b.asked) == (1, 1)
    assert (caught.value.after, caught.value.retry) == (10.0, True)
    stage.clock.now += 10
    b.raises = None
    assert await stage.ask() == "b"
    assert a.asked == 1
    assert [state.failures for state in stage.bot.states()] == [0, 0]


async def test_a_failure_that_repeating_does_not_mend_is_not_taken_to_another_replica() -> None:
    stage = Stage(2)
    for puppet in stage.puppets:
        puppet.raises = ChatRefused("too long")
    with pytest.raises(ChatRefused, match=r"^[ab]: too long$"):
        await stage.ask()
    assert sorted(puppet.asked for puppet in stage.puppets) == [0, 1]


async def test_calls_given_up_open_the_circuit() -> None:
    stage = Stage(1, patience=0.01)
    stage.puppets[0].held = asyncio.Event()
    await stage.fail(FAILURES + 1)
    assert stage.puppets[0].asked == FAILURES


async def test_declining_does_not_open_the_circuit() -> None:
    stage = Stage(1)
    stage.puppets[0].raises = EmptyReply("the reply was empty")
    await stage.fail(FAILURES * 3)
    assert stage.puppets[0].asked == FAILURES * 3


async def test_a_fault_of_ours_is_a_failure_too() -> None:
    stage = Stage(1)

    async def broken(chat: Chat) -> Reply:
        raise ZeroDivisionError("out of order")

    stage.puppets[0].reply = broken  # type: ignore[method-assign]
    for _ in range(FAILURES):
        with pytest.raises(BotError, match="a: ZeroDivisionError: out of order"):
            await stage.ask()
    with pytest.raises(BotError, match="not asked, because it failed before"):
        await stage.ask()


async def test_closing_closes_all() -> None:
    stage = Stage(2)
    await stage.bot.close()
    assert [puppet.closed for puppet in stage.puppets] == [True, True]


async def test_one_that_comes_is_asked_at_once() -> None:
    stage = Stage(0)
    with pytest.raises(BotError, match="no bot host is connected for this bot"):
        await stage.ask()
    stage.bot.add(Puppet("late"))
    assert await stage.ask() == "late"
    with pytest.raises(ValueError, match="late is a replica already"):
        stage.bot.add(Puppet("late"))
    assert stage.bot.urls() == ("late",)


async def test_one_that_leaves_finishes_its_calls_first() -> None:
    stage = Stage(2)
    a, _ = stage.puppets
    a.held = asyncio.Event()
    slow = asyncio.create_task(stage.ask())
    await asyncio.sleep(0)
    leaving = asyncio.create_task(stage.bot.remove("a"))
    await asyncio.sleep(0)
    assert stage.bot.urls() == ("b",)
    assert [await stage.ask() for _ in range(3)] == ["b"] * 3
    assert not a.closed
    a.held.set()
    assert await slow == "a"
    await leaving
    assert a.closed
    with pytest.raises(KeyError, match="a"):
        await stage.bot.remove("a")


async def test_one_that_leaves_is_not_waited_for_longer_than_its_patience() -> None:
    stage = Stage(2, patience=0.05)
    stage.puppets[0].held = asyncio.Event()
    slow = asyncio.create_task(stage.ask())
    await asyncio.sleep(0)
    await stage.bot.remove("a")
    assert stage.puppets[0].closed
    assert await slow == "b"


async def test_a_replica_that_is_back_is_asked_at_once_and_one_failure_lets_it_rest_again() -> None:
    stage = Stage(1)
    (a,) = stage.puppets
    a.raises, a.ill = BotError("on fire"), BotError("no connection")
    await stage.bot.probe()
    await stage.fail(1)
    assert (a.asked, stage.bot.states()[0].state) == (0, "resting")
    a.ill = None
    await stage.bot.probe()
    await stage.fail(2)
    assert a.asked == 1
    a.ill = BotError("no connection")
    await stage.bot.probe()
    a.ill = a.raises = None
    await stage.bot.probe()
    assert await stage.ask() == "a"
    assert stage.bot.states()[0].state == "fine"


async def test_good_heartbeats_do_not_excuse_failing_calls() -> None:
    stage = Stage(2)
    a, b = stage.puppets
    a.raises = BotError("on fire")
    for _ in range(30):
        assert await stage.ask() == "b"
        await stage.bot.probe()
    assert a.asked <= FAILURES
    assert b.asked == 30


async def test_a_bad_heartbeat_lets_a_replica_rest_until_a_good_one() -> None:
    stage = Stage(2)
    a, _ = stage.puppets
    a.ill = BotError("no connection")
    await stage.bot.probe()
    assert [await stage.ask() for _ in range(4)] == ["b"] * 4
    a.ill = None
    await stage.bot.probe()
    assert a.asked == 0
    assert "a" in [await stage.ask() for _ in range(4)]


@pytest.mark.parametrize("busy", [False, True])
async def test_a_heartbeat_that_does_not_come_is_held_against_the_idle_only(
    busy: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that does one thing at a time answers it after the chats that came before."""
    monkeypatch.setattr("bots.endpoints.replicas.PROBE_SECONDS", 0.01)

    stage = Stage(1)
    (a,) = stage.puppets
    a.held = asyncio.Event()

    async def silent() -> None:
        await asyncio.Event().wait()

    a.probe = silent  # type: ignore[method-assign]
    call = asyncio.create_task(stage.ask()) if busy else None
    await asyncio.sleep(0)
    await stage.bot.probe()
    assert stage.bot.states()[0].state == ("fine" if busy else "resting")
    a.held.set()
    if call is not None:
        assert await call == "a"


async def test_how_a_replica_does_can_be_read() -> None:
    stage = Stage(1)
    (a,) = stage.puppets
    assert stage.bot.states() == (ReplicaState("a", "fine", 0, 0, 0, None),)
    a.raises = BotError("on fire")
    await stage.fail(1)
    assert stage.bot.states() == (ReplicaState("a", "failing", 0, 1, 1, "on fire"),)
    a.raises, a.held = None, asyncio.Event()
    call = asyncio.create_task(stage.ask())
    await asyncio.sleep(0)
    assert stage.bot.states() == (ReplicaState("a", "failing", 1, 2, 1, "on fire"),)
    a.held.set()
    await call
    assert stage.bot.states() == (ReplicaState("a", "fine", 0, 2, 1, "on fire"),)


async def test_a_bot_is_down_while_every_replica_of_it_is_away() -> None:
    stage = Stage(2)
    a, b = stage.puppets
    a.ill = BotError("refused")
    await stage.bot.probe()
    assert not stage.bot.is_down
    b.ill = BotError("refused")
    await stage.bot.probe()
    stage.clock.now += 10 * LONGEST_PAUSE
    assert stage.bot.is_down
    b.ill = None
    await stage.bot.probe()
    assert not stage.bot.is_down
    assert Stage(0).bot.is_down  # a bot whose hosts have not dialled in


async def test_a_bot_that_fails_at_chats_is_down_until_a_trial_of_ours_succeeds() -> None:
    stage = Stage(1)
    (a,) = stage.puppets
    a.raises = BotError("no")
    await stage.fail(FAILURES - 1)
    assert not stage.bot.is_down
    await stage.fail(1)
    assert stage.bot.is_down
    asked = []
    for _ in range(100):  # good heartbeats, 5 s apart, which say nothing of chats: so it is asked
        stage.clock.now += 5
        await stage.bot.probe()
        assert stage.bot.is_down
        asked.append(a.asked)
    # Rests of 0.5, 1, 2 and 4 s are over at the next heartbeat; those of 8, 16 and 32 s at the second, fourth
    # and seventh, of 60 s at the twelfth. 3 calls of workers; trials at heartbeats 1, 2, 3, 4, 6, 10, 17, 29.
    assert [asked.index(3 + trials) + 1 for trials in range(1, 9)] == [1, 2, 3, 4, 6, 10, 17, 29]
    a.raises = None
    stage.clock.now += LONGEST_PAUSE
    await stage.bot.probe()
    assert not stage.bot.is_down


async def test_who_rests_for_long_is_told_once_and_so_is_who_is_back() -> None:
    here, there = Stage(1), Stage(1)
    told: list[tuple[str, str | None]] = []

    def tell(url: str, failure: BotError | None) -> None:
        told.append((url, failure and str(failure)))
        there.bot.take_outage(url, failure)
        here.bot.take_outage(url, failure)  # news comes back to who tells it

    here.bot.tell_outages(tell)
    (a,) = here.puppets
    a.raises = BotError("on fire")
    await here.fail(FAILURES)
    for _ in range(2):  # rests of 1 and 2 s: it may just fail now and then
        here.clock.now += 5
        await here.bot.probe()
    assert (told, there.bot.is_down) == ([], False)
    for _ in range(10):
        here.clock.now += LONGEST_PAUSE
        await here.bot.probe()
    assert (told, there.bot.is_down) == ([("a", "on fire")], True)
    there.bot.take_outage("gone", BotError("a replica that was removed here"))
    a.raises = None
    here.clock.now += LONGEST_PAUSE
    await here.bot.probe()
    assert told == [("a", "on fire"), ("a", None)]
    assert (await there.ask(), there.bot.is_down) == ("a", False)


async def test_one_whose_provider_is_out_is_down_until_a_trial_of_ours_succeeds() -> None:
    stage = Stage(1)
    (a,) = stage.puppets
    a.raises = BudgetSpent("no money")
    await stage.fail(1)
    assert stage.bot.is_down
    for _ in range(3):
        with pytest.raises(BudgetSpent, match="no money") as refused:
            await stage.ask()
        assert not refused.value.retry  # a worker who waits is given another bot at once
    await stage.bot.probe()
    assert a.asked == 1
    stage.clock.now += PAUSE
    await stage.bot.probe()  # good, which says nothing of money: so it is asked
    await stage.bot.probe()
    assert (a.asked, stage.bot.is_down) == (2, True)
    a.ill = BotError("no heartbeat")
    await stage.bot.probe()
    a.ill = None
    stage.clock.now += 10 * LONGEST_PAUSE
    a.raises = ChatRefused("not such a chat")  # it refuses one request, and is not out
    await stage.bot.probe()
    assert not stage.bot.is_down
