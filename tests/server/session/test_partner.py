"""Tests of two workers who chat: taking turns, and a partner who does not answer."""

import itertools

import pytest

from server.session.partner import (
    BotAnswers,
    ChatStanding,
    Next,
    PartnerEnd,
    PartnerRules,
    PartnerSay,
    TakeOver,
    Wait,
    heard,
    what_next,
)
from server.session.protocol.text import MAX_SAY

RULES = PartnerRules(wait=120, reply=60, when_left="take_over", minimum_inputs=4)
ENDING = PartnerRules(wait=120, reply=60, when_left="end", minimum_inputs=4)


def test_two_workers_take_turns_and_nothing_that_was_typed_is_lost() -> None:
    """Each says line 0, then a line as soon as they have heard one, as the session makes them."""
    first, second = {0: "f0"}, {0: "s0"}
    for _ in range(3):
        replies = heard(second, came_first=True, opening=second[0])
        mine = max(first)
        if mine + 1 in replies:
            first[mine + 2] = f"f{mine + 2} to {replies[mine + 1]}"
        replies = heard(first, came_first=False, opening=first[0])
        mine = max(second)
        if mine + 1 in replies:
            second[mine + 2] = f"s{mine + 2} to {replies[mine + 1]}"
    assert first[2] == "f2 to s0"
    assert second[2] == "s2 to f0 f2 to s0"  # what the first one said before is in front of it
    assert first[4] == f"f4 to {second[2]}"
    assert second[4] == f"s4 to {first[4]}"


def test_an_opening_that_would_make_a_line_too_long_is_left_out() -> None:
    long = "x" * (MAX_SAY - 1)
    assert heard({0: "Hi", 2: long}, came_first=False, opening="Hi")[1] == long
    assert heard({0: "Hi", 2: "Where?"}, came_first=False, opening="Hi")[1] == "Hi Where?"


MET = ChatStanding(has_come=True, lines={1: "Hello"})
GONE = ChatStanding(has_come=True, lines={}, is_gone=True)


@pytest.mark.parametrize(
    ("standing", "inputs", "waited", "rules", "expected"),
    [
        (MET, 1, 0, RULES, PartnerSay("Hello")),
        (ChatStanding(has_come=True, lines={1: "Hello"}, is_gone=True), 1, 0, RULES, PartnerSay("Hello")),
        (ChatStanding(), 1, 119, RULES, Wait()),
        (ChatStanding(), 1, 120, RULES, TakeOver("nobody_came")),
        (ChatStanding(), 1, 120, ENDING, TakeOver("nobody_came")),
        (ChatStanding(), 9, 120, RULES, TakeOver("nobody_came")),
        (ChatStanding(has_come=True, lines={}), 1, 59, RULES, Wait()),
        (ChatStanding(has_come=True, lines={}), 1, 60, RULES, TakeOver("silent")),
        (ChatStanding(has_come=True, lines={}), 4, 60, RULES, PartnerEnd("silent", in_order=True)),
        (GONE, 3, 0, RULES, TakeOver("left")),
        (GONE, 3, 0, ENDING, PartnerEnd("left", in_order=False)),
        (GONE, 4, 0, RULES, PartnerEnd("left", in_order=True)),
        (GONE, 4, 0, ENDING, PartnerEnd("left", in_order=True)),
        (ChatStanding(has_come=True, lines={1: "late"}, taken_over=True), 1, 0, RULES, BotAnswers()),
    ],
)
def test_what_becomes_of_a_line(
    standing: ChatStanding, inputs: int, waited: float, rules: PartnerRules, expected: Next
) -> None:
    assert what_next(standing, 1, inputs, waited, rules) == expected


def test_nobody_waits_longer_than_the_study_says() -> None:
    for has_come, inputs, gone in itertools.product([True, False], range(6), [True, False]):
        standing = ChatStanding(has_come=has_come, lines={}, is_gone=gone)
        assert what_next(standing, 1, inputs, 120, RULES) != Wait()
