"""A server process for the tests of a module."""

from collections.abc import Iterator

import pytest

from tests.support.server_process import Server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("candor"))
    yield running
    running.stop()
