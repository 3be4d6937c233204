"""What a worker's message leads to, as one trace."""

from collections.abc import Iterator

import pytest

from server.telemetry import trace_with
from tests.server.support.server import House
from tests.support.waiting import wait_until

sdk = pytest.importorskip("opentelemetry.sdk.trace", reason="NO OPENTELEMETRY: pip install .[telemetry]")
memory = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")
export = pytest.importorskip("opentelemetry.sdk.trace.export")


@pytest.fixture
def spans() -> "Iterator[memory.InMemorySpanExporter]":
    """Everything that is traced."""
    exporter = memory.InMemorySpanExporter()
    provider = sdk.TracerProvider()
    provider.add_span_processor(export.SimpleSpanProcessor(exporter))
    trace_with(provider.get_tracer("test"))
    yield exporter
    trace_with(None)
    provider.shutdown()


def test_a_line_leads_through_step_and_store_to_the_bot_and_back(
    house: House, spans: "memory.InMemorySpanExporter"
) -> None:
    with house.page("ann-the-worker") as page:
        page.ask("agree")
        page.ask("topic", text="music", opinion="like")
        spans.clear()
        assert page.ask("say", text="What nobody else may read")["type"] == "accepted"
        wait_until(lambda: len(spans.get_finished_spans()) >= 6, "the reply to be stored")
    found = spans.get_finished_spans()
    message = next(each for each in found if each.name == "message")
    assert dict(message.attributes) == {"type": "say"}
    assert {each.context.trace_id for each in found} == {message.context.trace_id}
    under = [each.name for each in found if each.parent and each.parent.span_id == message.context.span_id]
    assert sorted(under) == ["ask", "step", "step", "store", "store"]  # the worker's line, and the reply
    told = "".join(each.to_json() for each in found)
    assert "nobody else" not in told
    assert "ann-the-worker" not in told
