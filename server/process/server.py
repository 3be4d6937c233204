"""Run uvicorn's server, and end it: finish what is under way, then close connections."""

import asyncio
import gc
import socket
import sys

import structlog
import uvicorn
from fastapi import FastAPI
from limits import parse
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from server.config import Settings
from server.process.connections import Counts, HttpConnection, WebSocketConnection
from server.process.file_limit import FileWatch, raise_file_limit
from server.process.lifecycle import Lifecycle
from server.process.traffic_shaping import Shaper, TrafficShaping

# How many objects more than before, until the youngest are looked through: a look takes a third of a
# microsecond for each, and everybody waits for it. It has to be more than turns that are under way have at
# once, or looks find what is about to go by itself: with 500 workers who never pause, 5,000 made a look at
# every 150th turn. What two looks have left is looked through once more. What outlives that is a session's
# for as long as it lives, and goes by itself, as connections do; a look at all of it takes seconds with
# thousands of sessions: it is taken after 20 million objects that have not gone.
_YOUNG, _ONCE_MORE = 25_000, 1
_ALL = 20_000_000 // (_YOUNG * (_ONCE_MORE + 1))


def spare_what_lasts() -> None:
    """Never look through what is there now, and seldom through what lasts: it goes by itself."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG, _ONCE_MORE, _ALL)


_MOST_BYTES = 65_536  # of a frame: twice what a message may have, so that one too long still gets an answer
# Seconds after which a thread that computes lets another one go on. The writer needs the interpreter for
# moments, a few times a commit: at Python's own 5 ms a commit beside a busy loop took 16 ms, and takes 4 so.
_SWITCH_SECONDS = 0.000_5
_LAST_SECONDS = 5  # for answers under way, once everything was drained
_TICKS = 10  # of a tenth of a second, from one look at the open files to the next
log = structlog.get_logger()


class Server(uvicorn.Server):
    """Serves `app`. Told to end, it takes no newcomers, drains what `lifecycle` names, then closes the rest.

    A WebSocket that is left then is closed with 1012, which tells a page to come back at once.

    Args:
        app: what is served.
        lifecycle: what is to be finished before the end.
        settings: whose `X-Forwarded-For` is believed, and how much an address may ask for.
    """

    def __init__(self, app: FastAPI, lifecycle: Lifecycle, settings: Settings) -> None:
        shaper = Shaper(parse(settings.requests_per_address), frozenset(settings.exempt_addresses))
        served = ProxyHeadersMiddleware(
            TrafficShaping(app, shaper),  # type: ignore[arg-type]  # uvicorn has types of its own for the same
            settings.trusted_proxies,
        )
        super().__init__(
            uvicorn.Config(
                served,
                http=HttpConnection,
                ws=WebSocketConnection,
                ws_max_size=_MOST_BYTES,
                ws_per_message_deflate=False,  # a compressor a page takes more memory than all else of it
                log_config=None,
                log_level="warning",
                access_log=False,
                server_header=False,
                proxy_headers=False,  # `served` has read them
                timeout_graceful_shutdown=_LAST_SECONDS,
            )
        )
        self.counts = Counts(shaper, served.trusted_hosts)
        self.server_state = self.counts
        self._lifecycle = lifecycle
        sys.setswitchinterval(_SWITCH_SECONDS)
        spare_what_lasts()
        self._files = FileWatch(raise_file_limit())

    def refuse_newcomers(self) -> None:
        """Take no new connections; whoever shares the listening socket takes them."""
        for server in self.servers:
            server.close()

    async def on_tick(self, counter: int) -> bool:
        """Look at the open files now and then; return whether to end."""
        if counter % _TICKS == 0:
            self._files.look(len(self.counts.connections))
            if self.counts.silent:
                log.warning("silent connections were closed", connections=self.counts.silent)
                self.counts.silent = 0
            if self.counts.shaper.refused:
                log.warning(
                    "an address asked for too much and was refused", requests=self.counts.shaper.refused
                )
                self.counts.shaper.refused = 0
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End, without losing what is under way. A second Ctrl+C does not wait for it."""
        self.refuse_newcomers()
        for connection in tuple(self.counts.connections):
            if isinstance(connection, HttpConnection):
                connection.shutdown()  # no more requests; the answer under way is finished
        draining = asyncio.get_running_loop().create_task(self._lifecycle.drain())
        while not draining.done() and not self.force_exit:
            await asyncio.wait({draining}, timeout=0.1)
        if not draining.done():
            draining.cancel()
        elif (error := draining.exception()) is not None:
            log.error("what was under way could not be finished", exc_info=error)
        await super().shutdown(sockets)
