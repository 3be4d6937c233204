"""Servers of FastAPI and uvicorn such as anybody may write, each in a thread."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from fastapi import FastAPI, HTTPException, Request

from bots import Bot, BotError, Chat, Turn
from tests.support.waiting import wait_until


@contextmanager
def running(app: FastAPI) -> Iterator[str]:
    """Serve `app` in a thread of its own; yield its address."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        wait_until(lambda: server.started, "the server")
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


def hosting(bot: Bot) -> FastAPI:
    """Return a server that has `bot` answer, over Candor's own contract."""
    app = FastAPI()

    @app.post("/reply")
    async def reply(request: Request) -> dict[str, str]:
        body = await request.json()
        turns = tuple(Turn(**turn) for turn in body["turns"])
        chat = Chat(body["conversation_id"], body["seed"], tuple(body["persona"]), turns)
        try:
            return {"text": (await bot.reply(chat)).text}
        except BotError as error:
            raise HTTPException(500, str(error)) from error

    return app


def completing(bot: Bot) -> FastAPI:
    """Return a server that has `bot` answer, over OpenAI's chat completions."""
    app = FastAPI()

    @app.post("/v1/chat/completions")
    async def complete(request: Request) -> dict[str, Any]:
        messages = (await request.json())["messages"]
        said = [message for message in messages if message["role"] != "system"]
        turns = tuple(Turn("worker" if each["role"] == "user" else "bot", each["content"]) for each in said)
        reply = await bot.reply(Chat("1", 1, (), turns))
        message = {"role": "assistant", "content": reply.text}
        return {"choices": [{"message": message, "finish_reason": "stop"}]}

    return app
