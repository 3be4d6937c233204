"""Count the open sockets of each address in this process."""

from collections import Counter
from collections.abc import Container, Iterator
from contextlib import contextmanager

import structlog
from starlette.requests import HTTPConnection

from server.access.rate_limit import address_of, network_of

_CALM = 0.7  # share of the most at which the next refusal is worth a line of the log again
log = structlog.get_logger()


class OpenSockets:
    """Counts the sockets that are open. `refused` is how many were more than their address may have.

    Addresses of one household, a /64 network of IPv6, are one.

    Args:
        most: how many one address may have open.
        exempt: addresses that may have any number.
    """

    def __init__(self, most: int, exempt: Container[str]) -> None:
        self.refused = 0
        self._most = most
        self._exempt = exempt
        self._open = Counter[str]()
        self._warned: set[str] = set()

    def __len__(self) -> int:
        """Return how many are open, of whatever address."""
        return self._open.total()

    @contextmanager
    def counted(self, connection: HTTPConnection) -> Iterator[bool]:
        """Count a socket as open; what this gives is whether it may be. One that may not does not count."""
        address = address_of(connection)
        network = network_of(address)
        if self._open[network] >= self._most and address not in self._exempt:
            self._refuse(network)
            yield False
            return
        self._open[network] += 1
        try:
            yield True
        finally:
            self._close(network)

    def _refuse(self, network: str) -> None:
        self.refused += 1
        if network not in self._warned:
            self._warned.add(network)
            log.warning("an address has too many sockets open: more are refused", most=self._most)

    def _close(self, network: str) -> None:
        self._open[network] -= 1
        if self._open[network] < _CALM * self._most:
            self._warned.discard(network)
        if not self._open[network]:
            del self._open[network]
