"""A server whose uvicorn or websockets is another than ours expect."""

import sys
from collections.abc import Callable, Generator
from importlib import import_module
from typing import Any

import pytest
from fastapi import FastAPI
from structlog.testing import capture_logs
from uvicorn.protocols.http import h11_impl
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol as Used
from websockets.streams import StreamReader

import server.process
from server.config import Settings
from server.process import server as process_server
from server.process.readiness import Lifecycle
from server.process.server import Server

at_eof = StreamReader.at_eof


def deeper(reader: StreamReader) -> Generator[None, None, bool]:
    return (yield from at_eof(reader))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda _: None, "None"),
        (lambda patch: patch.delattr(Used, "handle_ping"), "WebSocketsSansIOProtocol has no handle_ping"),
        (
            lambda patch: patch.setattr(Used, "__init__", lambda self: None),
            "WebSocketsSansIOProtocol has no conn, loop, queue, writable",
        ),
        (
            lambda patch: patch.setattr(StreamReader, "at_eof", deeper),
            "does not wait for a frame in StreamReader.at_eof",
        ),
        (
            lambda patch: patch.setattr(StreamReader, "at_eof", StreamReader.read_line),
            "parser refuses a handshake",
        ),
        (
            lambda patch: patch.setitem(sys.modules, "uvicorn.protocols.http.h11_impl", None),
            "uvicorn.protocols.http.h11_impl",
        ),
        (lambda patch: patch.delattr(StreamReader, "at_eof"), "has no attribute 'at_eof'"),
        (lambda patch: patch.setattr(h11_impl, "H11Protocol", len), "cannot create"),
    ],
    ids=[
        "nothing",
        "a method",
        "attributes",
        "a deeper parser",
        "another parser",
        "a module",
        "no parser",
        "no class",
    ],
)
def test_a_misfit_is_found_at_import(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[pytest.MonkeyPatch], Any], reason: str
) -> None:
    change(monkeypatch)
    for name in ("server", "connections"):
        monkeypatch.delitem(sys.modules, f"server.process.{name}")
        # The import sets it; after the test it is what it was.
        monkeypatch.setattr(server.process, name, getattr(server.process, name))
    checked = import_module("server.process.server")
    assert checked is not process_server
    assert reason in str(checked.misfit)


def test_a_misfit_is_one_line_in_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_server, "misfit", "a test says so")
    with capture_logs() as lines:
        Server(FastAPI(), Lifecycle(), Settings())
    assert [(line["log_level"], "a test says so" in line["reason"]) for line in lines] == [("warning", True)]
