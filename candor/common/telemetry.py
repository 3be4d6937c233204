"""Optional traces (OpenTelemetry): the steps in handling a worker's message, and their durations.

Off, at almost no cost, unless `OTEL_EXPORTER_OTLP_ENDPOINT` is set and the extra `telemetry` is installed. No
span contains anybody's words or identity. The tracer provider is not the process's global one, so spans that
libraries make of themselves, which contain addresses with workers' ids, are not exported.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

import structlog

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
_SERVICE = "candor"
_NOTHING = nullcontext()
_HEADER = "traceparent"
log = structlog.get_logger()
_tracer: Tracer | None = None


def span(name: str, parent: str = "", **attributes: str | int) -> AbstractContextManager[None]:
    """Return a context whose duration becomes a span, as a child of the span that it is entered in.

    Args:
        name: the step, such as `store`.
        parent: the `carrier()` of another process, where the work began there.
        attributes: other facts about the step: never anybody's words or identity.
    """
    return _NOTHING if _tracer is None else _entered(_tracer, name, parent, attributes)


def carrier() -> str:
    """Return the current span for another process to continue; empty if there is none."""
    if _tracer is None:
        return ""
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator  # noqa: PLC0415

    found: dict[str, str] = {}
    TraceContextTextMapPropagator().inject(found)
    return found.get(_HEADER, "")


def start_tracing() -> Callable[[], None]:
    """Export spans as the environment says; return a function that sends the last ones and stops."""
    if not os.environ.get(ENDPOINT):
        return _do_nothing
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
    except ImportError:
        hint = (
            "Install OpenTelemetry: pip install 'candor_eval-….whl[telemetry]'; in a checkout `make install`."
        )
        log.warning(f"{ENDPOINT} is set, and nothing is traced", hint=hint)
        return _do_nothing
    name = os.environ.get("OTEL_SERVICE_NAME", _SERVICE)
    provider = TracerProvider(resource=Resource.create({"service.name": name}), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace_with(provider.get_tracer(_SERVICE))

    def end() -> None:
        trace_with(None)
        provider.shutdown()

    return end


def trace_with(tracer: Tracer | None) -> None:
    """Make spans with `tracer` from now on; with None, make none."""
    global _tracer  # noqa: PLW0603 - one for the process, as logging is
    _tracer = tracer


@contextmanager
def _entered(tracer: Tracer, name: str, parent: str, attributes: dict[str, str | int]) -> Iterator[None]:
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator  # noqa: PLC0415

    context = TraceContextTextMapPropagator().extract({_HEADER: parent}) if parent else None
    # Errors are not recorded: their messages may quote somebody's words.
    with tracer.start_as_current_span(
        name, context, attributes=attributes, record_exception=False, set_status_on_exception=False
    ) as entered:
        try:
            yield
        except Exception as error:
            entered.set_attribute("error.type", type(error).__name__)
            raise


def _do_nothing() -> None:
    """Do nothing: no export was started."""
