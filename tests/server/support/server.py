"""A server in a thread, over one database."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
from websockets.sync.client import connect

from server.access.auth import Auth
from server.app import create_app
from server.bots.lineup import OpenRun
from server.bots.opened_bots import OpenedBots
from server.config import Settings
from server.process.readiness import Lifecycle
from server.process.server import Server
from tests.server.support.database import query
from tests.server.support.page import Page
from tests.support.waiting import PATIENCE, wait_until

ID_KEY = "of-workers-ids-in-tests-and-nowhere-else"


@dataclass
class House:
    """A server in a thread, over one database. `stop` and `start` again is a restart."""

    url: str
    runs: list[OpenRun]
    folder: Path
    settings: dict[str, Any] = field(default_factory=dict)
    auth: Auth = field(default_factory=lambda: Auth("a secret", "researcher-token", 3600, id_keys=(ID_KEY,)))
    opened_bots: OpenedBots = field(default_factory=lambda: OpenedBots(refuse_private=False))

    def start(self) -> None:
        pages = self.folder / "pages"
        (pages / "assets").mkdir(parents=True, exist_ok=True)
        for name in ("worker.html", "preview.html", "desk.html"):
            (pages / name).write_text(f"<!doctype html><title>{name}</title>")
        counted = ("joins", "attempts", "connections", "requests")
        limits = dict.fromkeys((*(f"{what}_per_address" for what in counted), "sign_ins"), "10000/minute")
        at_once = {"drain_seconds": 0.0, "running_analysis": False}
        settings = Settings(data=self.folder, database_url=self.url, **(limits | at_once | self.settings))
        runs = {run.id: run for run in self.runs}
        lifecycle = Lifecycle(settings.drain_seconds)
        app = create_app(settings, self.auth, runs, self.opened_bots, pages, lifecycle)
        self._server = Server(app, lifecycle, settings)
        listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = listener.getsockname()[1]
        self._thread = threading.Thread(target=self._server.run, args=([listener],), name="server")
        self._thread.start()
        wait_until(lambda: self._server.started, "the server")

    def begin_to_stop(self) -> None:
        """Tell it to end, as SIGTERM does, without waiting until it has."""
        self._server.should_exit = True

    def stop(self) -> None:
        """Stop; nothing happens where it is stopped already."""
        self.begin_to_stop()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive(), "the server does not stop"

    def http(self, method: str, path: str, **kwargs: Any) -> httpx2.Response:
        # Without TLS nothing is verified, and the certificates that each client reads cost it 30 ms.
        address = f"http://127.0.0.1:{self.port}{path}"
        return httpx2.request(method, address, timeout=PATIENCE, verify=False, **kwargs)

    def join(self, worker: str | None = None, **fields: Any) -> httpx2.Response:
        body = {"run": self.runs[0].slug, **({"worker": worker} if worker else {}), **fields}
        return self.http("POST", "/api/join", json=body)

    def desk(
        self, path: str, token: str | None = None, method: str = "GET", **kwargs: Any
    ) -> httpx2.Response:
        bearer = {"Authorization": f"Bearer {token or self.auth.researcher_token}"}
        return self.http(method, f"/api/desk{path}", headers=bearer, **kwargs)

    def token_in(self, study: str, scope: str) -> str:
        """Return the token of somebody who may do what `scope` says in one study, and nothing in others."""
        body = {"name": f"{scope}-{study}", "scope": scope, "study": study}
        return str(self.desk("/tokens", method="POST", json=body).json()["token"])

    def kept(self, worker: str) -> str:
        """Return the id of a worker as the database has it."""
        return self.auth.ids.encrypted(worker)

    def token(self, worker: str) -> str:
        """Join as `worker` and return the token."""
        answer = self.join(worker)
        assert answer.status_code == 200, answer.text
        return str(answer.json()["token"])

    def enrolled(self, worker: str) -> str:
        """Join as `worker` and agree; return the token."""
        token = self.token(worker)
        with self.open(token) as page:
            page.agree()
        return token

    @contextmanager
    def socket(self) -> Iterator["Page"]:
        """A connection on which nothing has been said."""
        with connect(f"ws://127.0.0.1:{self.port}/ws", max_size=None, open_timeout=PATIENCE) as connection:
            yield Page(connection)

    @contextmanager
    def page(self, worker: str = "ann") -> Iterator["Page"]:
        """The page of a worker who has joined, its snapshot received."""
        with self.open(self.token(worker)) as page:
            yield page

    @contextmanager
    def open(self, token: str) -> Iterator["Page"]:
        """A page that says hello with `token`; its first message is in `snapshot`."""
        with self.socket() as page:
            page.send("hello", token=token)
            page.snapshot = page.receive()
            yield page


def stored(house: House, sql: str, *values: object) -> list[tuple[Any, ...]]:
    return query(house.url, sql, *values)
