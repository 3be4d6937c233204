"""A clock that is set forward takes no place from workers who are in the middle of a conversation."""

import sys
from contextlib import ExitStack
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml
from websockets.sync.client import connect

from tests.needs import need_services
from tests.server.support.page import Page
from tests.support.server_process import Server
from tests.support.set_clock import SetClock
from tests.support.waiting import ENOUGH, wait_until

pytestmark = [pytest.mark.services, pytest.mark.timeout(2 * ENOUGH)]

PLACES = 2
BOTS = ("retrieval", "reflect")
STUDY: dict[str, Any] = {
    "name": "clock",
    "title": "Two chats",
    "payment": "Nothing is paid.",
    "assignments": PLACES,
    "systems_per_assignment": 2,
    "qc_per_assignment": 0,
    "minimum_inputs": 2,
    "criteria": [{"label": label, "statement": "It was."} for label in ("robotic", "fun", "fluent")],
    "personas": "corpus",
    "systems": [{"name": name, "family": name, "bot": f"builtin:{name}"} for name in BOTS],
    "reply_time": {"median": 0, "spread": 0, "longest": 0},
    "simulate": {"quality": dict.fromkeys(BOTS, 0.5)},
}


def join(server: Server, worker: str) -> httpx2.Response:
    return httpx2.post(f"{server.url}/api/join", json={"run": "clock", "worker": worker}, timeout=ENOUGH)


def shown(server: Server) -> datetime:
    """Return what the server's clock shows."""
    return parsedate_to_datetime(httpx2.get(f"{server.url}/healthz", timeout=ENOUGH).headers["date"])


def test_newcomers_take_no_place_of_who_is_active(tmp_path: Path) -> None:
    need_services()
    clock = SetClock(tmp_path)
    # A library is loaded as a process starts, so this one does not start warm.
    start = [sys.executable, "-m", "server"]
    server = Server(tmp_path, environment=clock.environment, interpreter=start)
    server.start()
    with ExitStack() as stack:
        stack.callback(server.stop)
        study = tmp_path / "clock.yaml"
        study.write_text(yaml.safe_dump(STUDY))
        server.open_run(study, "clock")
        wait_until(lambda: join(server, "w0").status_code == 200, "the run to be served")
        pages = []
        for number in range(PLACES):
            socket = stack.enter_context(connect(f"ws://127.0.0.1:{server.port}/ws", open_timeout=ENOUGH))
            page = Page(socket)
            page.send("hello", token=join(server, f"w{number}").json()["token"])
            page.receive()
            page.agree()
            page.open_topic()
            page.say("I like the sea.")
            pages.append(page)
        before = shown(server)
        clock.set(45 * 60)
        wait_until(lambda: shown(server) - before >= timedelta(minutes=45), "the new time")
        newcomers = [join(server, f"newcomer {number}") for number in range(3)]
        assert {each.json()["error"]["code"] for each in newcomers} == {"run_full"}
        for page in pages:
            page.say("And you?")
            page.send("end_conversation")
            page.until("rating_due")
