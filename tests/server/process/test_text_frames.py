"""Texts as frames: what is written and read here is what the library writes and reads."""

from collections.abc import Generator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Frame, Opcode
from websockets.streams import StreamReader

from server.process.connections import text_frame, whole_text

TEXTS = st.one_of(st.text(max_size=200), st.sampled_from([125, 126, 127, 65_535, 65_536]).map("x".__mul__))


def read(data: bytes, *, mask: bool) -> Frame:
    """Return the frame that the library finds in all of `data`."""
    reader = StreamReader()
    reader.feed_data(data)
    parsing: Generator[None, None, Frame] = Frame.parse(reader.read_exact, mask=mask)
    try:
        next(parsing)
    except StopIteration as done:
        assert not reader.buffer
        frame: Frame = done.value
        return frame
    raise AssertionError("the frame is not whole")


def sent(text: str, opcode: Opcode = Opcode.TEXT, *, fin: bool = True, mask: bool = True) -> bytes:
    return Frame(opcode, text.encode(), fin).serialize(mask=mask)


@given(TEXTS)
def test_a_text_is_written_as_one_frame(text: str) -> None:
    frame = read(text_frame(text.encode()), mask=False)
    assert (frame.opcode, frame.fin, bytes(frame.data).decode()) == (Opcode.TEXT, True, text)


@given(TEXTS)
def test_a_whole_text_of_a_client_is_read_unless_it_is_a_long_one(text: str) -> None:
    found = whole_text(sent(text))
    assert found == (text.encode() if len(text.encode()) < 65_536 else None)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(sent("Hello", fin=False), id="the beginning of a text"),
        pytest.param(sent("Hello", Opcode.BINARY), id="bytes"),
        pytest.param(sent("Hello", Opcode.PING), id="a ping"),
        pytest.param(sent("Hello", mask=False), id="not as a client sends"),
        pytest.param(sent("Hello") + sent("again"), id="two frames"),
        pytest.param(sent("Hello")[:-1], id="a part of a frame"),
        pytest.param(sent("x" * 200)[:3], id="a part of a length"),
        pytest.param(b"", id="nothing"),
    ],
)
def test_anything_else_is_left_to_the_parser(data: bytes) -> None:
    assert whole_text(data) is None
