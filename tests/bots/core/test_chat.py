"""A chat as it is sent to another process."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bots.core.chat import Chat, ChatRequest, Turn, chat_json

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
TURNS = st.lists(st.builds(Turn, st.sampled_from(["worker", "bot"]), TEXT), max_size=6)


@given(TEXT.filter(bool), st.integers(), st.lists(TEXT, max_size=3), TURNS, TEXT, TEXT, st.data())
def test_what_is_sent_is_what_is_read(
    name: str, seed: int, persona: list[str], turns: list[Turn], last: str, prompt: str, data: st.DataObject
) -> None:
    chat = Chat(name, seed, tuple(persona), (*turns, Turn("worker", last)), prompt)
    text = chat_json(chat)
    assert text.isascii()
    assert "\n" not in text
    assert ChatRequest.model_validate_json(text).chat() == chat
    known = data.draw(st.integers(0, len(turns)))
    assert ChatRequest.model_validate_json(chat_json(chat, known)).chat(chat.turns[:known]) == chat


@pytest.mark.parametrize(
    "chat",
    [
        Chat("c", 1, (), ()),
        Chat("c", 1, (), (Turn("bot", "Hello."),)),
        Chat("c", 1, (), (Turn("worker", "x" * 20_001),)),
        Chat("c", 1, ("x" * 20_001,), (Turn("worker", "Hi."),)),
        Chat("c", 1, ("I am.",) * 101, (Turn("worker", "Hi."),)),
        Chat("c", 1, (), (Turn("worker", "Hi."),) * 2_001),
        Chat("c", 1, (), (Turn("worker", "Hi."),), "x" * 20_001),
    ],
)
def test_what_no_request_can_be_is_not_sent(chat: Chat) -> None:
    with pytest.raises(ValueError, match=r"worker's|characters|too many"):
        chat_json(chat)
