"""The server's log of a run with many failures is complete and contains no secret."""

import json
import re
import sqlite3
from typing import Any

import httpx2
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tests.support.server_process import Server
from tests.support.waiting import ENOUGH, wait_until

WORKER = "external-id-of-ann"

pytestmark = pytest.mark.timeout(2 * ENOUGH)


def lines(server: Server) -> list[dict[str, Any]]:
    text = (server.data / "server.log").read_text()
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def break_text(server: Server) -> None:
    """Send a frame that is no text."""
    with connect(f"ws://127.0.0.1:{server.port}/ws", additional_headers={"X-Request-ID": "a-page"}) as page:
        page.protocol.send_text(b"\xff")
        page.socket.sendall(b"".join(page.protocol.data_to_send()))
        with pytest.raises(ConnectionClosed):
            page.recv(ENOUGH)


def test_every_line_is_json_names_its_request_and_has_no_secret(server: Server) -> None:
    server.start()
    joined = httpx2.post(f"{server.url}/api/join", json={"run": "demo", "worker": WORKER}).json()
    crowd = server.crowd("demo", "--workers", "2")
    output, _ = crowd.communicate(timeout=ENOUGH)
    assert crowd.returncode == 0, output
    break_text(server)
    with sqlite3.connect(server.data / "candor.db") as database:
        database.execute("ALTER TABLE run RENAME TO away")  # every request fails from now on
        database.execute("ALTER TABLE assignment RENAME TO away_too")
    refused = httpx2.post(
        f"{server.url}/api/join?worker={WORKER}",
        json={"run": "demo", "worker": WORKER, "token": joined["token"]},
        headers={"X-Request-ID": "a-join", "Authorization": f"Bearer {server.token}"},
    )
    assert refused.status_code >= 500
    assert refused.headers["X-Request-ID"] == "a-join"
    wait_until(lambda: any(line.get("request_id") == "a-join" for line in lines(server)), "its line")
    server.stop()
    text = (server.data / "server.log").read_text()
    secrets = json.loads((server.data / "secrets.json").read_text())
    for secret in (WORKER, joined["token"], secrets["secret"], secrets["researcher_token"]):
        assert secret not in text
    assert not re.findall(r"[\w-]+\.[\w-]{6}\.[\w-]{27}", text)
    logged = lines(server)
    assert all({"event", "level", "timestamp"} <= line.keys() for line in logged)
    assert [line["event"] for line in logged if line.get("request_id") == "a-page"] == [
        "connection closed: a message was not valid UTF-8"
    ]
