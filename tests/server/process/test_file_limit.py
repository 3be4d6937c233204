"""The limit of open files: raised at the start, and a line in the log when it comes near."""

import os
import resource
from collections.abc import Iterator

import pytest
from structlog.testing import capture_logs

from server.process.file_limit import FileWatch, raise_file_limit


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
    lowest = os.open(os.devnull, os.O_RDONLY)
    os.close(lowest)
    watch = FileWatch(limit=lowest + 60)
    watch.look(connections=0)
    with capture_logs() as lines:
        for _ in range(2):
            opened = [os.open(os.devnull, os.O_RDONLY) for _ in range(58)]
            watch.look(connections=7)
            watch.look(connections=7)
            for number in opened:
                os.close(number)
            FileWatch(limit=10_000).look(connections=0)
            watch.look(connections=0)
    assert [line["event"].partition(":")[0] for line in lines] == ["the limit of open files is near"] * len(
        lines
    )
    assert 1 <= len(lines) <= 2
    assert lines[0]["connections"] == 7
