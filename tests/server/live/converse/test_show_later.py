"""Tests of showing a reply when the clock is set back while the reply waits."""

import asyncio
from datetime import datetime, timedelta
from typing import Any, cast

import pytest

from server.live.converse import bot_replies
from server.live.converse.bot_replies import ReplyTasks
from server.session.events import ShowReply
from server.session.state import State
from tests.server.support.study import new_state
from tests.server.support.walk import SLOW, Walk, shown

A_LITTLE = timedelta(milliseconds=50)


class FakeSession:
    """Notes when it shows a reply, by the clock."""

    def __init__(self, state: State, clock: "SetBack") -> None:
        self.state, self.clock = state, clock
        self.shown_at: list[datetime] = []

    def show(self, *_: object) -> None:
        self.shown_at.append(self.clock.now)


class SetBack:
    """A clock that stands at `now`, and moves on to `due` when it has been read `reads` times."""

    def __init__(self, now: datetime, due: datetime, reads: int) -> None:
        self.now, self.due, self.reads = now, due, reads

    def __call__(self) -> datetime:
        self.reads -= 1
        if self.reads < 0:
            self.now = self.due
        return self.now


async def test_a_reply_is_shown_only_when_it_may_be_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    walk = Walk(new_state(**SLOW)).slow_to_minimum()
    due = shown(walk.reply())
    conversation = walk.state.conversations[0]
    clock = SetBack(due - A_LITTLE, due, reads=2)  # read as the reply comes, and after its time has passed
    monkeypatch.setattr(bot_replies, "utc_now", clock)
    ended = asyncio.Event()
    session = FakeSession(walk.state, clock)
    effect = ShowReply(conversation.plan.conversation, len(conversation.turns) - 1, due)
    assert ReplyTasks(cast("Any", None), ended.set).show(cast("Any", session), effect) == []
    await ended.wait()
    assert session.shown_at == [due]
