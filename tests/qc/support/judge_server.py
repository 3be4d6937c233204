"""An endpoint of chat completions on a port of this machine, which judges as a test tells it."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]
# What is answered to a request: a status, and the text of the message or of the failure.
Answer = tuple[int, str]


@dataclass
class JudgeServer:
    """The server's address, and the requests it got: their bodies, and their headers."""

    url: str = ""
    bodies: list[Json] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)


def require_chat_request(path: str, body: Json) -> None:
    """Assert that a request has what chat completions demand, and nothing that other servers may refuse."""
    assert path == "/v1/chat/completions"
    assert body.keys() == {"model", "messages", "temperature", "max_tokens"}
    assert isinstance(body["model"], str)
    assert isinstance(body["max_tokens"], int)
    assert 0 <= body["temperature"] <= 2
    assert [message["role"] for message in body["messages"]] == ["user"]
    assert all(isinstance(message["content"], str) for message in body["messages"])


@contextmanager
def judging(answer: Callable[[Json], Answer]) -> Iterator[JudgeServer]:
    """Serve what `answer` makes of each request; each counts as 100 tokens of prompt and 10 of answer."""
    told = JudgeServer()
    wrong: list[AssertionError] = []
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                try:
                    require_chat_request(self.path, body)
                except AssertionError as error:
                    wrong.append(error)
                told.bodies.append(body)
                told.headers.append(dict(self.headers.items()))
                status, text = answer(body)
            content: Json = {"error": {"message": text}}
            if status == 200:
                content = {
                    "id": "x",
                    "object": "chat.completion",
                    "choices": [{"index": 0, "message": {"role": "assistant", "content": text}}],
                    "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
                }
            encoded = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(encoded)))
            self.end_headers()
            self.wfile.write(encoded)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class's name
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    told.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield told
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert not wrong, wrong


def statements_in(body: Json) -> list[str]:
    """Return the statements that a request asks about, in its order."""
    lines = body["messages"][0]["content"].splitlines()
    numbered = (line.partition(". ") for line in lines)
    return [statement for number, dot, statement in numbered if dot and number.isdecimal()]


def rated(*ratings: float) -> Answer:
    """Return an answer that holds `ratings`."""
    return 200, json.dumps({str(number): rating for number, rating in enumerate(ratings, start=1)})
