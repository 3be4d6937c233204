"""Both ends of a connection agree on the lines that need not be sent again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bots.core.chat import Chat, Turn
from bots.core.host_protocol import KnownLines

LINES = tuple(Turn("bot" if at % 2 else "worker", f"line {at}") for at in range(9))


def chat(length: int, name: str = "c") -> Chat:
    return Chat(name, 1, (), LINES[:length])


def test_lines_are_known_once_they_were_kept() -> None:
    known = KnownLines()
    assert known.count(chat(3)) == 0
    known.keep(chat(3))
    assert known.count(chat(5)) == 3
    assert known.count(chat(5, "another")) == 0
    assert known.first("c", 2) == LINES[:2]


def test_the_line_that_is_asked_about_is_always_sent() -> None:
    known = KnownLines()
    known.keep(chat(3))
    assert known.count(chat(3)) == 2
    assert known.count(chat(1)) == 0


def test_a_conversation_that_went_differently_is_not_known() -> None:
    known = KnownLines()
    known.keep(chat(3))
    other = Chat("c", 1, (), (Turn("worker", "something else"), *LINES[1:5]))
    assert known.count(other) == 0


def test_what_was_forgotten_is_an_error() -> None:
    with pytest.raises(KeyError):
        KnownLines().first("c", 1)


@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 4), st.booleans()), max_size=40),
    st.integers(1, 4),
)
def test_both_ends_have_the_same_conversation(asks: list[tuple[str, int, bool]], most: int) -> None:
    sender, receiver = KnownLines(most), KnownLines(most)
    for name, half, otherwise in asks:
        turns = tuple(Turn(turn.author, turn.text + "!" * otherwise) for turn in LINES[: 2 * half + 1])
        sent = Chat(name, 1, (), turns)
        count = sender.count(sent)
        sender.keep(sent)
        received = Chat(name, 1, (), receiver.first(name, count) + sent.turns[count:])
        receiver.keep(received)
        assert received == sent
