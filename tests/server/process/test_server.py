"""The limit of open files: raised at the start, and a line in the log when it comes near."""

import os
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from server.process.server import FileWatch, raise_file_limit


@pytest.fixture
def lowered() -> Iterator[int]:
    """A limit below what the system allows; returns that."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard - 1, hard))
    yield hard
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_the_limit_is_raised_to_what_the_system_allows(lowered: int) -> None:
    assert raise_file_limit() == lowered
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == lowered


def test_one_line_when_the_limit_is_near_and_one_more_after_it_was_far() -> None:
    # Above the highest number in use all are free: what is opened comes as near to the limit as it should.
    limit = 4 * (max(int(file.name) for file in Path("/dev/fd").iterdir()) + 10)
    watch = FileWatch(limit)
    watch.look(connections=0)
    with capture_logs() as lines:
        for _ in range(2):
            opened = [os.open(os.devnull, os.O_RDONLY)]
            while opened[-1] < 0.85 * limit:
                opened.append(os.open(os.devnull, os.O_RDONLY))
            watch.look(connections=7)
            watch.look(connections=7)
            for number in opened:
                os.close(number)
            watch.look(connections=0)
    assert [line["event"].partition(":")[0] for line in lines] == ["the limit of open files is near"] * 2
    assert lines[0]["connections"] == 7
