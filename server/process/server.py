"""Run uvicorn's server, watch its open files, and end it gracefully: finish open work, then close."""

import asyncio
import gc
import os
import resource
import socket
import sys

import structlog
import uvicorn
from fastapi import FastAPI
from limits import parse
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from server.config import Settings
from server.process.readiness import Lifecycle
from server.process.traffic_shaping import Shaper, TrafficShaping

# Why this server uses uvicorn's own connections instead of ours, or None if ours fit the installed uvicorn.
misfit: str | None = None
try:
    from server.process.connections import ConnectionCounts, HttpConnection, WebSocketConnection
except (AttributeError, ImportError, TypeError) as error:  # a name is missing, or is something else by now
    misfit = str(error)

# Thresholds of the garbage collector. The first is the number of new objects that starts a collection of the
# youngest generation. A collection takes a third of a microsecond per object, and all requests wait for it.
# The threshold must exceed the objects of all active turns, or collections examine objects that are about to
# be freed anyway: with 500 workers who never pause, 5,000 caused a collection at every 150th turn. Objects
# that survive two collections are examined once more. Older objects belong to sessions and connections, and
# are freed with them without the collector. A full collection takes seconds with thousands of sessions, so it
# runs only after 20 million surviving objects.
_YOUNG, _ONCE_MORE = 25_000, 1
_ALL = 20_000_000 // (_YOUNG * (_ONCE_MORE + 1))


def spare_what_lasts() -> None:
    """Exclude existing objects from garbage collection, and collect long-lived ones rarely."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG, _ONCE_MORE, _ALL)


_MOST_BYTES = 65_536  # of a frame: twice the limit of a message, so that longer ones get an error
# Interval of switches between threads in seconds. The database writer needs the interpreter briefly, a few
# times per commit: with Python's default of 5 ms a commit beside a busy loop took 16 ms; with this value it
# takes 4 ms.
_SWITCH_SECONDS = 0.000_5
_LAST_SECONDS = 5  # for open responses, once everything was drained
_NEAR, _CALM = 0.8, 0.7  # shares of the limit: above the first, warn; below the second, allow another warning
_TICKS = 10  # ticks of 0.1 seconds between checks of the open files
log = structlog.get_logger()


class Server(uvicorn.Server):
    """Serves `app`. At the end it accepts no new connections, drains `lifecycle`, then closes the rest.

    Remaining WebSockets are closed with 1012, which tells a page to reconnect at once.

    Args:
        app: the application.
        lifecycle: has the work to finish before the end.
        settings: set the trusted proxies and the limits per address.
    """

    def __init__(self, app: FastAPI, lifecycle: Lifecycle, settings: Settings) -> None:
        shaper = Shaper(parse(settings.requests_per_address), frozenset(settings.exempt_addresses))
        served = ProxyHeadersMiddleware(
            TrafficShaping(app, shaper),  # type: ignore[arg-type]  # uvicorn has types of its own for the same
            settings.trusted_proxies,
        )
        self._uses_our_connections = misfit is None
        if misfit is not None:
            log.warning(
                "serving without limits for silent connections and pings, and more slowly",
                reason=f"our connections do not fit the installed uvicorn or websockets: {misfit}",
                hint="Install the versions in constraints.txt.",
            )
        super().__init__(
            uvicorn.Config(
                served,
                http=HttpConnection if self._uses_our_connections else "auto",
                ws=WebSocketConnection if self._uses_our_connections else "auto",
                ws_max_size=_MOST_BYTES,
                ws_per_message_deflate=False,  # a compressor takes more memory than the rest of a page
                log_config=None,
                log_level="warning",
                access_log=False,
                server_header=False,
                proxy_headers=False,  # `served` has read them
                timeout_graceful_shutdown=_LAST_SECONDS,
            )
        )
        self._shaper = shaper
        if self._uses_our_connections:
            self.server_state = ConnectionCounts(shaper, served.trusted_hosts)
        self._lifecycle = lifecycle
        sys.setswitchinterval(_SWITCH_SECONDS)
        spare_what_lasts()
        self._files = FileWatch(raise_file_limit())

    def refuse_newcomers(self) -> None:
        """Accept no new connections; other processes on the listening socket accept them."""
        for server in self.servers:
            server.close()

    async def on_tick(self, counter: int) -> bool:
        """Check the number of open files periodically; return whether to end."""
        if counter % _TICKS == 0:
            self._files.look(len(self.server_state.connections))
            if self._uses_our_connections and isinstance(self.server_state, ConnectionCounts):
                silent, self.server_state.silent = self.server_state.silent, 0
                if silent:
                    log.warning("silent connections were closed", connections=silent)
            if self._shaper.refused:
                log.warning("an address asked for too much and was refused", requests=self._shaper.refused)
                self._shaper.refused = 0
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End after finishing open work. A second Ctrl+C does not wait for it."""
        self.refuse_newcomers()
        for connection in tuple(self.server_state.connections):
            if self._uses_our_connections and isinstance(connection, HttpConnection):
                connection.shutdown()  # no more requests; an open response is finished
        draining = asyncio.get_running_loop().create_task(self._lifecycle.drain())
        while not draining.done() and not self.force_exit:
            await asyncio.wait({draining}, timeout=0.1)
        if not draining.done():
            draining.cancel()
        elif (error := draining.exception()) is not None:
            log.error("what was under way could not be finished", exc_info=error)
        await super().shutdown(sockets)


def raise_file_limit() -> int:
    """Raise the limit of open files to the system's maximum for this process, and return it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (ValueError, OSError):  # some systems report a limit that they do not grant
        return soft
    return hard


class FileWatch:
    """Logs a warning when the number of open files gets near the limit, once until it has fallen again.

    Args:
        limit: the highest number of open files.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._warned = False

    def look(self, connections: int) -> None:
        """Log a warning if the limit is near or reached.

        Args:
            connections: the number of open connections, for the log.
        """
        used = _files_in_use(self._limit)
        if used >= _NEAR * self._limit and not self._warned:
            self._warned = True
            log.error(
                "the limit of open files is reached: newcomers are turned away"
                if used >= self._limit
                else "the limit of open files is near: beyond it newcomers are turned away",
                limit=self._limit,
                connections=connections,
                hint="Raise it (`ulimit -n`, LimitNOFILE=), or add processes; see "
                "docs/how-to/server/watch-the-server.md.",
            )
        elif used < _CALM * self._limit:
            self._warned = False


def _files_in_use(limit: int) -> int:
    """Return the approximate number of open files: the lowest free descriptor, which is cheap to get."""
    try:
        number = os.open(os.devnull, os.O_RDONLY)
    except OSError:
        return limit
    os.close(number)
    return number
