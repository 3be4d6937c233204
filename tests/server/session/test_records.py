"""Tests of recording how a message was written: once, with the message, and only where the study says so."""

from typing import Any

import pytest
from pydantic import ValidationError

from server.session.records import WorkerSaid, Writing, WritingKept
from server.session.state import Phase
from tests.server.support.study import new_state
from tests.server.support.walk import SAMPLES, Walk, message
from tests.server.support.writing import WRITING


def chatting(**study: Any) -> Walk:
    return Walk(new_state(**study)).to(Phase.CHAT)


def test_it_is_kept_with_the_input() -> None:
    walk = chatting(records_writing=True)
    said, kept = walk.send("say", **SAMPLES["say"], writing=WRITING).records
    assert isinstance(said, WorkerSaid)
    assert kept == WritingKept(said.conversation, said.index, Writing(**WRITING))


def test_an_input_that_comes_again_is_counted_once() -> None:
    walk = chatting(records_writing=True)
    walk.send("say", "mine", **SAMPLES["say"], writing=WRITING)
    assert walk.send("say", "mine", **SAMPLES["say"], writing=WRITING).records == ()


def test_a_study_that_records_nothing_takes_the_words_and_nothing_else() -> None:
    (said,) = chatting().send("say", **SAMPLES["say"], writing=WRITING).records
    assert isinstance(said, WorkerSaid)


def test_a_page_that_tells_nothing_is_taken_at_its_word() -> None:
    (said,) = chatting(records_writing=True).send("say").records
    assert isinstance(said, WorkerSaid)


@pytest.mark.parametrize("name", WRITING)
@pytest.mark.parametrize("value", [-1, 1e300, 10**9, 2.5, "12", None, True, [1]])
def test_forged_numbers_are_refused(name: str, value: object) -> None:
    with pytest.raises(ValidationError):
        message("say", **SAMPLES["say"], writing=WRITING | {name: value})


def test_nothing_else_can_be_told_of_it() -> None:
    for writing in (WRITING | {"keys": "secret"}, {"typed": 1}, []):
        with pytest.raises(ValidationError):
            message("say", **SAMPLES["say"], writing=writing)


@pytest.mark.parametrize(
    ("sent", "by_hand", "pasted", "kept"),
    [
        (2, 2, 400, 0),  # pasted, deleted, and "hi" typed
        (320, 20, 400, 300),  # a part of it is sent, with something typed
        (400, 0, 400, 400),
        (410, 10, 400, 400),
        (100, 100, 100, 100),  # typed, deleted, and pasted
    ],
)
def test_what_is_pasted_and_taken_out_again_is_not_kept_as_pasted(
    sent: int, by_hand: int, pasted: int, kept: int
) -> None:
    told = WRITING | {"typed": by_hand, "composed": 0, "pasted": pasted}
    walk = chatting(records_writing=True)
    _said, written = walk.send("say", **SAMPLES["say"] | {"text": "x" * sent}, writing=told).records
    assert isinstance(written, WritingKept)
    assert written.writing == Writing(**told | {"pasted": kept})
