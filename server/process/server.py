"""uvicorn's server with the end that this one needs: finish what is under way, then hang up."""

import asyncio
import socket
import sys

import structlog
import uvicorn
from fastapi import FastAPI
from limits import parse
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from server.config import Settings
from server.process.collector import spare_what_lasts
from server.process.connections import Counts, HttpConnection, WebSocketConnection
from server.process.file_limit import FileWatch, raise_file_limit
from server.process.lifecycle import Lifecycle
from server.process.traffic_shaping import Shaper, TrafficShaping

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
