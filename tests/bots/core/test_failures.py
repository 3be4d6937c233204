"""The class of a failure fixes how programs react to it."""

from typing import get_args

import pytest

from bots.core.chat import Provenance
from bots.core.failures import (
    BotBusy,
    BotError,
    BotGone,
    BotTimeout,
    BrokenOff,
    BudgetSpent,
    ChatEnded,
    ChatRefused,
    Declined,
    EmptyReply,
    FailureKind,
    ReplyTooLong,
    ThoughtsOnly,
    failure,
)


@pytest.mark.parametrize("kind", get_args(FailureKind))
def test_a_failure_that_another_process_told_of_is_of_the_same_class(kind: FailureKind) -> None:
    told = failure(kind, "out of order")
    assert (told.kind, str(told)) == (kind, "out of order")


def test_where_asking_again_is_of_no_use() -> None:
    lasting = {kind for kind in get_args(FailureKind) if not failure(kind, "").retry}
    assert lasting == {BotGone.kind, ChatEnded.kind, ChatRefused.kind, Declined.kind, BudgetSpent.kind}


def test_a_replica_that_works_is_not_blamed() -> None:
    blamed = {kind for kind in get_args(FailureKind) if failure(kind, "").counts_against_replica}
    assert blamed == {BotError.kind, BotTimeout.kind, BotGone.kind, BrokenOff.kind}
    works: set[type[BotError]] = {
        BotBusy,
        ChatRefused,
        ChatEnded,
        Declined,
        BudgetSpent,
        EmptyReply,
        ThoughtsOnly,
        ReplyTooLong,
    }
    assert {each.kind for each in works} == set(get_args(FailureKind)) - blamed


def test_a_failure_in_other_words_is_the_same_failure() -> None:
    first = ThoughtsOnly("it thought")
    first.output, first.provenance, first.retry = "<think>hm", Provenance(tokens_out=3), False
    again = first.like("a: it thought")
    assert (type(again), str(again)) == (ThoughtsOnly, "a: it thought")
    assert (again.output, again.provenance, again.retry) == (first.output, first.provenance, False)
