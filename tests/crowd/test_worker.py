"""A simulated worker beside the server that it speaks with."""

from bots.crowd import worker
from server.session import protocol


def test_the_crowd_speaks_the_version_of_the_server() -> None:
    assert worker.PROTOCOL_VERSION == protocol.PROTOCOL_VERSION
