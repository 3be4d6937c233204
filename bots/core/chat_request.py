"""A chat as it is sent to another process: in the body of a request, or in a message of dial-in."""

from typing import Annotated

from pydantic import BaseModel, Field, model_validator

from bots.core.chat import Author, Chat, Turn

_MOST_TURNS, _MOST_TEXT = 2_000, 20_000


class RequestedTurn(BaseModel):
    """One line of the conversation."""

    author: Author
    text: Annotated[str, Field(max_length=_MOST_TEXT)]


class ChatRequest(BaseModel):
    """A conversation whose next line is asked for."""

    conversation_id: Annotated[str, Field(min_length=1, max_length=200)]
    seed: int
    persona: Annotated[list[Annotated[str, Field(max_length=_MOST_TEXT)]], Field(max_length=100)] = []
    turns: Annotated[list[RequestedTurn], Field(min_length=1, max_length=_MOST_TURNS)]

    @model_validator(mode="after")
    def _worker_spoke_last(self) -> "ChatRequest":
        if self.turns[-1].author != "worker":
            raise ValueError("the last turn has to be the worker's")
        return self

    def chat(self) -> Chat:
        """Return the conversation that was sent."""
        turns = tuple(Turn(turn.author, turn.text) for turn in self.turns)
        return Chat(self.conversation_id, self.seed, tuple(self.persona), turns)


def chat_request(chat: Chat) -> ChatRequest:
    """Return `chat` in the form in which it is sent. Raises ValueError where it is too long for that."""
    turns = [RequestedTurn(author=turn.author, text=turn.text) for turn in chat.turns]
    return ChatRequest(
        conversation_id=chat.conversation_id, seed=chat.seed, persona=list(chat.persona), turns=turns
    )
