"""A bot that runs elsewhere: a real HTTP server of Candor's contract, in a thread, that behaves as told."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from pydantic import TypeAdapter

from bots.serving import Endpoint


class Talker:
    """Answers chats with `text`, then with `others` in turn, once it is `freed`; says if it is `ready`.

    With another `status` than 200 it refuses chats, at once.
    """

    def __init__(self, text: str, *others: str) -> None:
        self.text = text
        self._others = others
        self.ready = True
        self.status = 200
        self.asked = 0
        self.freed = threading.Event()
        self.freed.set()
        self.port, self.path = 0, ""

    def line(self) -> str:
        """Return what is said next."""
        said = (self.text, *self._others)
        return said[self.asked % len(said)]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}{self.path}"

    @property
    def endpoint(self) -> dict[str, Any]:
        """Return what a researcher writes of it."""
        return {"kind": "http", "urls": [self.url]}


def endpoint(content: dict[str, Any]) -> Endpoint:
    adapter: TypeAdapter[Endpoint] = TypeAdapter(Endpoint)
    return adapter.validate_python(content)


@contextmanager
def talking(text: str, *others: str) -> Iterator[Talker]:
    """Serve a Talker."""
    talker = Talker(text, *others)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(200, {"ready": talker.ready})

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            talker.asked += 1
            if talker.status == 200:
                talker.freed.wait()
                self._answer(200, {"text": talker.line()})
            else:
                self._answer(talker.status, {"detail": "no"})

        def _answer(self, status: int, content: dict[str, Any]) -> None:
            body = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def handle_one_request(self) -> None:
            try:
                super().handle_one_request()
            except ConnectionError:
                self.close_connection = True  # the caller has given up

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Keep quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    talker.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield talker
    finally:
        talker.freed.set()
        server.shutdown()
        thread.join()
        server.server_close()
