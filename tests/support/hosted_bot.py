"""A bot at an address, fit for workers: a host of its own with one of the builtin models."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.bots.support.host_process import running


@contextmanager
def hosted_bot() -> Iterator[str]:
    """Serve it; yield its address."""
    with running("--model=mine=builtin:retrieval") as (_, url):
        yield f"{url}/mine"
