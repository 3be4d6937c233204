"""Shared set-up of all tests.

Hypothesis runs without deadlines, because the machine may be busy. Async tests run on asyncio. Real servers
(databases and the like) are started once for each test process, when the first test needs them.
"""

import gc
import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.needs import need_published_words, need_services
from tests.support import postgres as postgres_server
from tests.support import redis_server
from tests.support.examples import USUAL, examples
from tests.support.postgres import Postgres
from tests.support.redis_server import RedisServer

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

settings.register_profile("candor", deadline=None, max_examples=examples(USUAL))
settings.load_profile("candor")

REPOSITORY = Path(__file__).parents[1]
SOAK = bool(os.environ.get("CANDOR_SOAK"))  # `make soak`
# What takes minutes is begun first, so that the many short modules fill the end: whole folders, and modules
# that would come last by their names.
_LONG = frozenset({"parlai", "crowd", "property", "lineup", "e2e"})
_LONG_MODULES = frozenset(
    {
        "test_api_fuzzed.py",
        "test_documented_commands.py",
        "test_installation.py",
        "test_socket_fuzzed.py",
        "test_tutorials.py",
    }
)

# Modules and tests are kept to the end. To look for circles among so many again and again while they are
# loaded takes a fifth of the time of loading them.
gc.disable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not SOAK:
        of_soak = [item for item in items if item.get_closest_marker("soak") is not None]
        config.hook.pytest_deselected(items=of_soak)
        items[:] = [item for item in items if item not in of_soak]
    items.sort(key=lambda item: not (item.path.parent.name in _LONG or item.path.name in _LONG_MODULES))


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    """From here on, look for circles among the objects that tests make, and only there."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Name one place for all tests that are skipped for want of the originals: pytest then says it once."""
    report = yield
    if report.skipped and "originals" in getattr(item, "fixturenames", ()):
        code = need_published_words.__code__
        report.longrepr = (code.co_filename, code.co_firstlineno, str(report.longrepr[2]))
    return report


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """The event loop that async tests run on: the server's."""
    return "asyncio"


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL; each test has databases of its own in it."""
    need_services()
    with postgres_server.serving() as server:
        yield server


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    """A Redis that only this test has."""
    need_services()
    with redis_server.serving() as server:
        yield server


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database that was migrated once, to be copied. Closed engines leave no log behind."""
    from server.db.engine import migrate  # most tests of bots and qc need no server

    path = tmp_path_factory.mktemp("migrated") / "candor.db"
    migrate(f"sqlite:///{path}")
    return path


@pytest.fixture
def spans() -> "Iterator[InMemorySpanExporter]":
    """Everything that is traced."""
    # Loaded by the tests that trace, as programs load it.
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    from candor.common.telemetry import trace_with

    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace_with(provider.get_tracer("test"))
    yield exporter
    trace_with(None)
    provider.shutdown()


@pytest.fixture(scope="session")
def published() -> Path:
    """The figures of published studies, with their golden numbers."""
    return REPOSITORY / "tests" / "data"


@pytest.fixture(scope="session")
def originals() -> Path:
    """The published data with their words, which are not in the repository."""
    return need_published_words()
