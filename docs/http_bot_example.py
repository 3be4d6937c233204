"""A bot for Candor, whole. Start it with `python http_bot_example.py 8700`, and in a study it is

    bots:
      mine: {kind: http, urls: ["http://127.0.0.1:8700"]}

Each question brings the whole conversation, so nothing has to be kept between two of them.
"""

import sys

import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel

QUESTIONS = ("And what about you?", "How did that come about?", "What do you like best about it?")
app = FastAPI()


class Turn(BaseModel):
    """One line; `author` is "worker" or "bot"."""

    author: str
    text: str


class Chat(BaseModel):
    """The sentences the bot speaks as, and the conversation so far, the worker's latest line last."""

    persona: list[str]
    turns: list[Turn]


@app.post("/reply")
def reply(chat: Chat) -> dict[str, str]:
    """Say the sentence of the persona that is nearest to the latest line; ask when all have been said."""
    latest = set(chat.turns[-1].text.lower().split())
    unsaid = [line for line in chat.persona if line not in {turn.text for turn in chat.turns}]
    question = QUESTIONS[len(chat.turns) // 2 % len(QUESTIONS)]
    return {"text": max(unsaid, key=lambda line: len(latest & set(line.lower().split())), default=question)}


if __name__ == "__main__":
    uvicorn.run(app, port=int(sys.argv[1]))
