"""Frames of a pipe: the same as those of the wire, with the same lines known at both ends."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bots.core.chat import Chat, Provenance, Reply, Turn
from bots.core.host_protocol import (
    MOST_BYTES,
    Ask,
    KnownLines,
    PipeAsk,
    Replied,
    ReplyWriter,
    WireError,
    ask_frame,
    from_host,
    from_server,
    read_ask,
    read_reply,
)

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
TURNS = st.lists(TEXT, min_size=1, max_size=4).map(
    lambda texts: tuple(
        Turn("bot" if at % 2 else "worker", text) for at, text in enumerate([*texts, *texts][:-1])
    )
)
CHATS = st.builds(Chat, TEXT.filter(bool), st.integers(), st.lists(TEXT, max_size=3).map(tuple), TURNS, TEXT)
MADE = Provenance(model="qc", revision='1"0', replica="here", sampling="{}")
CHAT = Chat(
    "c", 7, ("I sing.",), (Turn("worker", "Hi"), Turn("bot", "Ho"), Turn("worker", "Hm?")), "Be kind."
)


@given(CHATS, st.none() | TEXT, TEXT, st.integers(0, 6))
def test_an_ask_is_what_the_model_of_the_wire_reads(
    chat: Chat, own: str | None, trace: str, known: int
) -> None:
    known = min(known, len(chat.turns) - 1)
    lines = KnownLines()
    lines.keep(chat)
    sent = ask_frame(3, "bot1", chat, own, known, trace).encode()
    ask = from_server(sent)
    assert isinstance(ask, Ask)
    read = PipeAsk(ask.ask, ask.name, ask.chat.chat(chat.turns[:known]), ask.own, ask.trace)
    assert read_ask(sent, lines) == read == PipeAsk(3, "bot1", chat, own, trace)


@pytest.mark.parametrize("made", [MADE, Provenance()], ids=["known", "unknown"])
@pytest.mark.parametrize(
    "reply",
    [
        Reply('He said "no".\n…'),
        Reply("Hi", "<think>so</think>Hi", ("thoughts",)),
        Reply("Hi", None, ("looks",)),
    ],
    ids=["plain", "with output", "changed"],
)
def test_a_reply_is_what_the_model_of_the_wire_reads(reply: Reply, made: Provenance) -> None:
    sent = ReplyWriter(made).frame(3, reply, 12, 0).encode()
    replied = from_host(sent)
    assert isinstance(replied, Replied)
    assert read_reply(sent) == (replied.ask, replied.reply())
    assert replied.reply().text == reply.text
    assert replied.provenance == Provenance(
        made.model, made.revision, None, made.sampling, replica=made.replica, queued_ms=12, computed_ms=0
    )


def test_other_messages_are_left_to_the_models() -> None:
    assert read_ask(b'{"type":"cancel","ask":1}', KnownLines()) is None
    assert read_reply(b'{"type":"offer","name":"a"}') is None
    assert read_reply(b"nonsense") is None


WHOLE = json.loads(ask_frame(3, "bot1", CHAT))
BROKEN_ASKS = {
    "cut": ask_frame(3, "bot1", CHAT)[:-1],
    "no chat": json.dumps(WHOLE | {"chat": None}, separators=(",", ":")),
    "no turns": json.dumps(WHOLE | {"chat": {**WHOLE["chat"], "turns": 1}}, separators=(",", ":")),
    "no author": json.dumps(WHOLE | {"chat": {**WHOLE["chat"], "turns": [{}]}}, separators=(",", ":")),
    "unknown lines": ask_frame(3, "bot1", CHAT, known=1),
    "too long": '{"type":"ask",'
    + " " * MOST_BYTES
    + ask_frame(3, "bot1", CHAT).removeprefix('{"type":"ask",'),
}


@pytest.mark.parametrize("sent", BROKEN_ASKS.values(), ids=BROKEN_ASKS)
def test_a_broken_ask_is_an_error_that_repeats_nothing(sent: str) -> None:
    with pytest.raises(WireError) as caught:
        read_ask(sent.encode(), KnownLines())
    assert "sing" not in str(caught.value)


WRITTEN = ReplyWriter(MADE).frame(3, Reply("Hi"), 0, 0)
BROKEN_REPLIES = {
    "cut": WRITTEN[:-1],
    "no text": WRITTEN.replace('"text"', '"texts"'),
    "no number": WRITTEN.replace('"ask"', '"asks"'),
    "no provenance": WRITTEN[: WRITTEN.index('"provenance"')] + '"provenance":7}',
    "odd provenance": WRITTEN.replace('"model"', '"models"'),
    "too long": WRITTEN.replace('"Hi"', f'"{"x" * MOST_BYTES}"'),
}


@pytest.mark.parametrize("sent", BROKEN_REPLIES.values(), ids=BROKEN_REPLIES)
def test_a_broken_reply_is_an_error_that_repeats_nothing(sent: str) -> None:
    with pytest.raises(WireError) as caught:
        read_reply(sent.encode())
    assert "Hi" not in str(caught.value)


def test_a_reply_that_is_too_long_is_not_written() -> None:
    with pytest.raises(WireError, match="at most"):
        ReplyWriter(MADE).frame(3, Reply("x" * MOST_BYTES), 0, 0)


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
