"""Traces: off by default; on, they join up, also across processes, and say nothing of what was said."""

import asyncio
import io
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from structlog.testing import capture_logs

from bots import Chat, Turn
from bots.host.child import BuiltinHost, LineWriter
from bots.serving import HostSession, KnownLines
from candor.common.telemetry import ENDPOINT, carrier, span, start_tracing
from tests.needs import need_telemetry
from tests.support.waiting import until

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

need_telemetry()

REPOSITORY = Path(__file__).parents[3]


def test_without_an_endpoint_nothing_is_traced_or_loaded() -> None:
    script = (
        "import sys; from candor.common.telemetry import carrier, span, start_tracing\n"
        "before = set(sys.modules)  # redis has some of it\n"
        "end = start_tracing()\n"
        "with span('store', records=2): assert carrier() == ''\n"
        "end(); more = set(sys.modules) - before\n"
        "assert not [name for name in more if name.startswith('opentelemetry')]"
    )
    subprocess.run([sys.executable, "-c", script], cwd=REPOSITORY, env={}, check=True)


def test_a_span_is_under_the_one_that_it_is_entered_in(spans: "InMemorySpanExporter") -> None:
    with span("message", type="say"), span("store", records=2):
        pass
    store, message = spans.get_finished_spans()
    assert (message.name, dict(message.attributes)) == ("message", {"type": "say"})
    assert (store.name, dict(store.attributes)) == ("store", {"records": 2})
    assert store.parent.span_id == message.context.span_id


def test_another_process_goes_on_where_one_began(spans: "InMemorySpanExporter") -> None:
    with span("ask"):
        carried = carrier()
    with span("reply", parent=carried):
        pass
    ask, reply = spans.get_finished_spans()
    assert reply.context.trace_id == ask.context.trace_id
    assert reply.parent.span_id == ask.context.span_id
    with span("reply", parent="no such thing"):
        pass
    assert spans.get_finished_spans()[-1].parent is None


def test_an_error_leaves_its_type_and_nothing_that_it_says(spans: "InMemorySpanExporter") -> None:
    with pytest.raises(ValueError, match="a worker's words"), span("step"):
        raise ValueError("a worker's words")
    (step,) = spans.get_finished_spans()
    assert dict(step.attributes) == {"error.type": "ValueError"}
    assert step.events == ()
    assert "words" not in step.to_json()


def test_spans_reach_a_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    received: list[tuple[str, bytes]] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Keep quiet."""

    with HTTPServer(("127.0.0.1", 0), Collector) as collector:
        thread = threading.Thread(target=collector.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        monkeypatch.setenv(ENDPOINT, f"http://127.0.0.1:{collector.server_port}")
        end = start_tracing()
        with span("a-step-of-ours"):
            pass
        end()
        collector.shutdown()
        thread.join()
    assert [path for path, _ in received] == ["/v1/traces"]
    assert b"a-step-of-ours" in received[0][1]
    assert b"candor" in received[0][1]


def test_an_endpoint_without_the_extra_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENDPOINT, "http://127.0.0.1:9")
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with capture_logs() as lines:
        start_tracing()()
    assert [line["hint"] for line in lines] == [
        "Install OpenTelemetry: pip install 'candor_eval-….whl[telemetry]'; in a checkout `make install`."
    ]


async def test_a_host_that_is_asked_goes_on_from_the_ask(spans: "InMemorySpanExporter") -> None:
    frames: list[str] = []
    session = HostSession(1, frames.append, KnownLines())
    written = io.BytesIO()
    host = BuiltinHost(LineWriter(written))
    answering = asyncio.create_task(host.answer_all())
    with span("ask"):
        asking = asyncio.create_task(session.ask("none", Chat("c", 1, (), (Turn("worker", "Hi"),))))
        await until(lambda: frames)
    host.receive(frames[0].encode())
    await until(written.getvalue)
    for task in (asking, answering):
        task.cancel()
    await asyncio.gather(asking, answering, return_exceptions=True)
    found = {each.name: each for each in spans.get_finished_spans()}
    assert found["reply"].parent.span_id == found["ask"].context.span_id
