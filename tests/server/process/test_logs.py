"""The log: each line of a request has its id, none has a secret."""

import json
import logging
import sys
from io import TextIOWrapper
from pathlib import Path

import pytest
import structlog
from fastapi import FastAPI, WebSocket
from fastapi.testclient import TestClient
from itsdangerous import URLSafeTimedSerializer

from server.process.logs import configure_logging
from server.process.middleware import RequestIds

pytestmark = pytest.mark.usefixtures("log_as_before")
log = structlog.get_logger()
app = FastAPI()
app.add_middleware(RequestIds)


@app.get("/")
async def logs() -> None:
    log.info("from here")
    logging.getLogger("somebody else").error("from %s", "there")


@app.websocket("/ws")
async def logs_too(socket: WebSocket) -> None:
    await socket.accept()
    await socket.receive_text()
    log.info("said")
    await socket.close()


def configured() -> TestClient:
    """Return a client of an application that logs as the server does.

    pytest's `capsys` has another standard error in a fixture than in a test, so that this is no fixture.
    """
    configure_logging(["the-researcher's-token"])
    return TestClient(app)


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, str]]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_a_log_that_takes_no_line_is_nobodys_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    with Path("/dev/full").open("wb", buffering=0) as full, monkeypatch.context() as of_a_full_disk:
        of_a_full_disk.setattr(sys, "stderr", TextIOWrapper(full, write_through=True))
        assert configured().get("/").status_code == 200


def test_every_line_of_a_request_has_its_id(capsys: pytest.CaptureFixture[str]) -> None:
    answer = configured().get("/", headers={"X-Request-ID": "abc-1.2_3"})
    assert answer.headers["X-Request-ID"] == "abc-1.2_3"
    assert [(line["event"], line["request_id"]) for line in lines(capsys)] == [
        ("from here", "abc-1.2_3"),
        ("from there", "abc-1.2_3"),
    ]


@pytest.mark.parametrize("given", [None, "", "a b", "x" * 65, 'a"b', "ä"])
def test_an_id_that_is_none_is_made_anew(capsys: pytest.CaptureFixture[str], given: str | None) -> None:
    headers = {} if given is None else {"X-Request-ID": given.encode()}
    client = configured()
    made = {client.get("/", headers=headers).headers["X-Request-ID"] for _ in range(2)}
    assert len(made) == 2
    assert given not in made
    assert {line["request_id"] for line in lines(capsys)} == made


def test_a_connection_has_an_id_as_long_as_it_lasts(capsys: pytest.CaptureFixture[str]) -> None:
    with configured().websocket_connect("/ws", headers={"X-Request-ID": "page-7"}) as page:
        page.send_text("hello")
    assert [line["request_id"] for line in lines(capsys)] == ["page-7"]


def test_no_line_has_a_secret(capsys: pytest.CaptureFixture[str]) -> None:
    configured()
    token = URLSafeTimedSerializer("a secret", salt="worker-session").dumps("0a1b2c3d4e5f")
    url = "postgresql+psycopg://candor:hunter2@host/name"
    log.warning("no", token=token, header="Bearer the-researcher's-token")
    try:
        raise ValueError(f"cannot connect to {url} with {token}")
    except ValueError:
        logging.getLogger("library").exception("no: %s", url)
    first, second = lines(capsys)
    assert first["token"] == "***"
    assert first["header"] == "Bearer ***"
    assert second["event"] == "no: postgresql+psycopg://***@host/name"
    assert second["exception"].endswith(
        "ValueError: cannot connect to postgresql+psycopg://***@host/name with ***"
    )
