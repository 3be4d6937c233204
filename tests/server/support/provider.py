"""A provider of a model behind OpenAI's API: it streams, well or in halves, or answers something else."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from fastapi import FastAPI
from fastapi.responses import JSONResponse, Response

from tests.bots.support.app_server import running

SAID = "I went to the market."


@dataclass
class Provider:
    """What a provider does. `breaks`: each n-th stream breaks off; `refuses`: a status and a body for all.

    `answers`: the body of every answer, with its content type. `freed`: nothing is answered before it is set.
    """

    url: str = ""
    breaks: int = 0
    refuses: tuple[int, dict[str, object]] | None = None
    answers: tuple[str, str] | None = None
    asked: int = 0
    freed: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.freed.set()

    def endpoint(self) -> dict[str, object]:
        return {"kind": "openai", "urls": [self.url], "model": "m"}

    def answer(self) -> Response:
        self.asked += 1
        self.freed.wait()
        if self.refuses is not None:
            status, body = self.refuses
            return JSONResponse(body, status)
        if self.answers is not None:
            body, kind = self.answers
            return Response(body, media_type=kind)
        is_half = bool(self.breaks) and self.asked % self.breaks == 0
        deltas = [
            {"delta": {"content": piece}} for piece in ("I went", " to the market.")[: 1 if is_half else 2]
        ]
        choices = deltas if is_half else [*deltas, {"delta": {}, "finish_reason": "stop"}]
        events = [json.dumps({"choices": [choice]}) for choice in choices]
        stream = "".join(f"data: {event}\n\n" for event in [*events, "[DONE]"])
        return Response(stream, media_type="text/event-stream")


@contextmanager
def providing() -> Iterator[Provider]:
    """Serve a provider in a thread."""
    provider = Provider()
    app = FastAPI()
    app.get("/{path:path}")(lambda path: {"data": []})
    app.post("/{path:path}")(lambda path: provider.answer())
    with running(app) as url:
        provider.url = f"{url}/v1"
        yield provider
        provider.freed.set()
