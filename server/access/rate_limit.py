"""Limit requests over moving windows, and the number of open sockets per address."""

from collections import Counter
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from ipaddress import IPv4Address, IPv6Network, ip_address
from time import monotonic

import structlog
from limits import RateLimitItem, parse
from limits.aio.storage import RedisStorage
from limits.aio.strategies import MovingWindowRateLimiter as SharedWindow
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from starlette.requests import HTTPConnection

from candor.common.network import redis_pool
from server.errors import TooMany

_FEW = 1_024
_SECONDS = 1.0  # time-out of Redis
_SELDOM = parse("1/minute")
_SECONDS_WITHOUT = 2.0  # before an unreachable Redis is tried again
log = structlog.get_logger()


class RateLimits:
    """Counts events of callers. Addresses in `exempt` have no limit.

    Events of an address are counted over all processes that share a Redis. Without Redis, or while it is
    unreachable, each process counts separately.
    """

    def __init__(self, exempt: Container[str], redis_url: str | None = None) -> None:
        self._limiter = new_limiter()
        self._exempt = exempt
        self._shared = SharedLimiter(redis_url) if redis_url is not None else None

    def count(self, limit: RateLimitItem, what: str, connection: HTTPConnection, caller: str) -> None:
        """Count one event, as `counter` does. Raises TooMany if the caller exceeds the limit."""
        self.counter(limit, what, connection, caller)()

    def counter(
        self, limit: RateLimitItem, what: str, connection: HTTPConnection, caller: str
    ) -> Callable[[], None]:
        """Return a function that counts one event in this process, and raises TooMany above the limit.

        Args:
            limit: the limit per caller.
            what: the kind of event, such as "messages in a short time"; also shown in the error.
            connection: the connection of the event.
            caller: the caller who is counted.
        """
        if address_of(connection) in self._exempt:
            return _count_nothing

        def count() -> None:
            if not self._limiter.hit(limit, what, caller):
                raise TooMany(f"Too many {what}")

        return count

    async def count_address(self, limit: RateLimitItem, what: str, connection: HTTPConnection) -> None:
        """Count one event of the connection's address. `what`: such as "arrivals from this address".

        Raises:
            TooMany: the address exceeds the limit.
        """
        address = address_of(connection)
        if address in self._exempt:
            return
        network = network_of(address)
        within = None if self._shared is None else await self._shared.hit(limit, what, network)
        if within is None:
            within = self._limiter.hit(limit, what, network)
        if not within:
            raise TooMany(f"Too many {what}")

    def may_log(self, *what: str) -> bool:
        """Return whether to log something that may happen often: in each process once a minute."""
        return self._limiter.hit(_SELDOM, "log", *what)

    async def close(self) -> None:
        """Close the connections to Redis, if there are any."""
        if self._shared is not None:
            await self._shared.close()


class SharedLimiter:
    """A limiter over Redis. After a failure it does not try Redis again for a while."""

    def __init__(self, url: str, seconds_without: float = _SECONDS_WITHOUT) -> None:
        """Count in the Redis at `url`. After a failure, try it again after `seconds_without`."""
        self._connections = redis_pool(
            url, socket_timeout=_SECONDS, socket_connect_timeout=_SECONDS, retry=Retry(NoBackoff(), 0)
        )
        storage = RedisStorage(
            f"async+{url}",
            implementation="redispy",
            key_prefix="candor:limits",
            connection_pool=self._connections,  # type: ignore[arg-type]  # an option of the client's
        )
        self._limiter = SharedWindow(storage)
        self._seconds_without = seconds_without
        self._lost_until = 0.0
        self._is_lost = False

    async def close(self) -> None:
        """Close the connections."""
        await self._connections.disconnect()

    async def hit(self, limit: RateLimitItem, what: str, caller: str) -> bool | None:
        """Count a hit; return whether it is within `limit`, or None if Redis does not answer."""
        if self._is_lost and monotonic() < self._lost_until:
            return None
        try:
            within = await self._limiter.hit(limit, what, caller)
        except (RedisError, OSError) as error:
            if not self._is_lost:
                log.warning("redis is lost", subject="limits", error=type(error).__name__)
            self._is_lost, self._lost_until = True, monotonic() + self._seconds_without
            return None
        if self._is_lost:
            log.info("redis is back", subject="limits")
            self._is_lost = False
        return within


def _count_nothing() -> None:
    """Do nothing, for exempt addresses."""


def address_of(connection: HTTPConnection) -> str:
    """Return the address of the caller."""
    return connection.client.host if connection.client is not None else "unknown"


def network_of(address: str) -> str:
    """Return the network of one household: an IPv4 address, or the /64 network of an IPv6 address."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, IPv4Address):
        return address
    return str(parsed.ipv4_mapped or IPv6Network((parsed, 64), strict=False))


def new_limiter() -> MovingWindowRateLimiter:
    """Return a limiter that forgets callers once their hits have expired."""
    return MovingWindowRateLimiter(Memory())


class Memory(MemoryStorage):
    """The library's storage, which deletes expired hits, extended to delete callers without hits, too.

    It does so whenever it has twice as many callers as after the last time, and at least `few`. So the
    amortised cost per hit is small.
    """

    def __init__(self, few: int = _FEW) -> None:
        super().__init__()
        self._few = few
        self._enough = few

    def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        """Count a hit of the caller `key`; return whether it is within `limit`."""
        if len(self.events) >= self._enough:
            self._forget()
        return super().acquire_entry(key, limit, expiry, amount)

    def _forget(self) -> None:
        # The library's own thread may empty lists meanwhile, but it neither adds callers nor fills lists.
        for key in [key for key, hits in self.events.items() if not hits]:
            self.clear(key)
        self._enough = max(self._few, 2 * len(self.events))


_CALM = 0.7  # share of the limit below which the next refusal is logged again


class OpenSockets:
    """Counts open sockets per address. `refused`: the number of sockets refused.

    A /64 network of IPv6 counts as one address.

    Args:
        most: the limit per address.
        exempt: addresses without a limit.
    """

    def __init__(self, most: int, exempt: Container[str]) -> None:
        self.refused = 0
        self._most = most
        self._exempt = exempt
        self._open = Counter[str]()
        self._warned: set[str] = set()

    def __len__(self) -> int:
        """Return the number of open sockets of all addresses."""
        return self._open.total()

    @contextmanager
    def counted(self, connection: HTTPConnection) -> Iterator[bool]:
        """Count a socket while it is open.

        Yields whether it is within the limit; if not, it does not count.
        """
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
