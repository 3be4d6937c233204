"""How often a caller may do what: moving windows, counted in this process."""

from collections.abc import Container
from ipaddress import IPv4Address, IPv6Network, ip_address

from limits import RateLimitItem
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from starlette.requests import HTTPConnection

from server.errors import TooMany

_FEW = 1_024


class RateLimits:
    """Counts what callers do. Who calls from an address in `exempt` has no limit."""

    def __init__(self, exempt: Container[str]) -> None:
        self._limiter = new_limiter()
        self._exempt = exempt

    def count(
        self, limit: RateLimitItem, what: str, connection: HTTPConnection, caller: str | None = None
    ) -> None:
        """Count one of `what`, like "arrivals from this address".

        Args:
            limit: how many each caller may have of it.
            what: what is counted; what the error says.
            connection: over which it comes.
            caller: whose it is; None: whoever has the connection's address.

        Raises:
            TooMany: the caller is over the limit.
        """
        address = connection.client.host if connection.client is not None else "unknown"
        if address not in self._exempt and not self._limiter.hit(limit, what, caller or _network(address)):
            raise TooMany(f"too many {what}")


def _network(address: str) -> str:
    """Return what one household has: an IPv4 address, or the /64 network of an IPv6 address."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, IPv4Address):
        return address
    return str(parsed.ipv4_mapped or IPv6Network((parsed, 64), strict=False))


def new_limiter() -> MovingWindowRateLimiter:
    """Return a limiter that remembers nobody for longer than it has to."""
    return MovingWindowRateLimiter(Memory())


class Memory(MemoryStorage):
    """The library's storage, which forgets hits after their window, but never whose they were.

    This one forgets callers without hits too, whenever it holds twice as many callers as the last time
    that it did so, and at least `few`: over many hits that costs next to nothing for each.
    """

    def __init__(self, few: int = _FEW) -> None:
        super().__init__()
        self._few = few
        self._enough = few

    def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        """Count a hit of the caller `key`; return whether that was within `limit`."""
        if len(self.events) >= self._enough:
            self._forget()
        return super().acquire_entry(key, limit, expiry, amount)

    def _forget(self) -> None:
        # The library's own thread empties lists meanwhile, but neither adds callers nor fills lists.
        for key in [key for key, hits in self.events.items() if not hits]:
            self.clear(key)
        self._enough = max(self._few, 2 * len(self.events))
