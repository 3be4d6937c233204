"""A chat as it is sent to another process: in the body of a request, or in a message of dial-in."""

from json.encoder import encode_basestring_ascii
from typing import Annotated

from pydantic import BaseModel, Field, model_validator

from bots.core.chat import Author, Chat, Turn

_MOST_TURNS, _MOST_SENTENCES, _MOST_TEXT = 2_000, 100, 20_000


class RequestedTurn(BaseModel):
    """One line of the conversation."""

    author: Author
    text: Annotated[str, Field(max_length=_MOST_TEXT)]


class ChatRequest(BaseModel):
    """A conversation whose next line is requested."""

    conversation_id: Annotated[str, Field(min_length=1, max_length=200)]
    seed: int
    persona: Annotated[
        list[Annotated[str, Field(max_length=_MOST_TEXT)]], Field(max_length=_MOST_SENTENCES)
    ] = []
    prompt: Annotated[str, Field(max_length=_MOST_TEXT)] = ""
    turns: Annotated[list[RequestedTurn], Field(min_length=1, max_length=_MOST_TURNS)]

    @model_validator(mode="after")
    def _worker_spoke_last(self) -> "ChatRequest":
        if self.turns[-1].author != "worker":
            raise ValueError("the last turn has to be the worker's")
        return self

    def chat(self, known: tuple[Turn, ...] = ()) -> Chat:
        """Return the conversation. `known` are its first lines, which the sender left out."""
        turns = tuple([Turn(turn.author, turn.text) for turn in self.turns])
        return Chat(self.conversation_id, self.seed, tuple(self.persona), known + turns, self.prompt)


def chat_json(chat: Chat, known: int = 0) -> str:
    """Return `chat` without its first `known` lines as JSON for `ChatRequest`: ASCII, on one line.

    The JSON is written without the pydantic model, which takes several times as long for a conversation of 40
    lines.

    Raises:
        ValueError: the chat exceeds the limits of a request, or the last line is not the worker's.
    """
    if not chat.turns or chat.turns[-1].author != "worker":
        raise ValueError("the last turn has to be the worker's")
    if len(chat.turns) > _MOST_TURNS or len(chat.persona) > _MOST_SENTENCES:
        raise ValueError("the conversation has too many lines")
    lines = chat.turns[known:] if known else chat.turns
    turns = ",".join([f'{{"author":"{turn.author}","text":{_quoted(turn.text)}}}' for turn in lines])
    persona = ",".join([_quoted(sentence) for sentence in chat.persona])
    name = _quoted(chat.conversation_id)
    prompt = f'"prompt":{_quoted(chat.prompt)},' if chat.prompt else ""
    return f'{{"conversation_id":{name},"seed":{chat.seed},"persona":[{persona}],{prompt}"turns":[{turns}]}}'


def _quoted(text: str) -> str:
    if len(text) > _MOST_TEXT:
        raise ValueError(f"a line has {len(text)} characters, and {_MOST_TEXT} are the most")
    return encode_basestring_ascii(text)
