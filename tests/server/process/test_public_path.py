"""A server whose uvicorn or websockets is another than ours expect."""

import subprocess
import sys

import pytest
from fastapi import FastAPI
from structlog.testing import capture_logs

from server.config import Settings
from server.process import server as process_server
from server.process.readiness import Lifecycle
from server.process.server import Server

USED = """\
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol as Used
from websockets.streams import StreamReader
at_eof = StreamReader.at_eof
"""


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ("pass", "None"),
        ("del Used.handle_ping", "WebSocketsSansIOProtocol has no handle_ping"),
        ("Used.__init__ = lambda self: None", "WebSocketsSansIOProtocol has no conn, loop, queue, writable"),
        (
            "StreamReader.at_eof = lambda self: (yield from at_eof(self))",
            "does not wait for a frame in StreamReader.at_eof",
        ),
        ("StreamReader.at_eof = StreamReader.read_line", "parser refuses a handshake"),
        (
            "import sys; sys.modules['uvicorn.protocols.http.h11_impl'] = None",
            "uvicorn.protocols.http.h11_impl",
        ),
        ("del StreamReader.at_eof", "has no attribute 'at_eof'"),
        ("from uvicorn.protocols.http import h11_impl; h11_impl.H11Protocol = len", "cannot create"),
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
def test_a_misfit_is_found_at_import(changed: str, reason: str) -> None:
    script = f"{USED}{changed}\nimport server.process.server as checked\nprint(checked.misfit)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert reason in done.stdout


def test_a_misfit_is_one_line_in_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_server, "misfit", "a test says so")
    with capture_logs() as lines:
        Server(FastAPI(), Lifecycle(), Settings())
    assert [(line["log_level"], "a test says so" in line["reason"]) for line in lines] == [("warning", True)]
