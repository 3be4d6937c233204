"""Prometheus metrics: speed, failures and load of bots and of the server.

Every application has a registry of its own. Its page names the systems, so it is for researchers only.
"""

import asyncio
import math
import time
from bisect import bisect_left
from collections.abc import Awaitable, Coroutine, Iterable, Mapping
from dataclasses import replace
from itertools import accumulate
from typing import Annotated, get_args

from fastapi import APIRouter, Depends, Header, Response
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

from bots import Bot, BotError, Chat, ChatEnded, FailureKind, PunctualBot, Reply
from server.access.actor import Allowed
from server.access.auth import Auth
from server.access.rate_limit import OpenSockets
from server.bots.lineup import OpenRun
from server.bots.opened_bots import OpenedBots
from server.db.store.store import Store
from server.live.converse.sessions import LiveSessions

FAILURES: tuple[FailureKind, ...] = tuple(kind for kind in get_args(FailureKind) if kind != ChatEnded.kind)
# From a bot that looks a line up to one that is hardly worth waiting for: seconds.
BUCKETS = (0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 7.5, 10.0, 15.0, 20.0, 30.0, 45.0, 60.0)
_LABELS = ("run", "system", "bot")


class Metrics:
    """Measures the bots of runs and serves what was measured, at `/metrics`."""

    def __init__(self, auth: Auth) -> None:
        self._registry = CollectorRegistry()
        self._bots: dict[tuple[str, str, str], BotMeter] = {}
        self._registry.register(_Bots(self._bots))
        self.router = APIRouter(dependencies=[Depends(Allowed(auth, "see_metrics"))], include_in_schema=False)
        self.router.add_api_route("/metrics", self.page, methods=["GET"])

    def measured(self, run: OpenRun) -> OpenRun:
        """Return `run` with each of its bots measured, by its system's name."""
        specs = run.study.bots_of_systems
        bots = {
            system: self._measured(bot, run.slug, system, specs[system]) for system, bot in run.bots.items()
        }
        return replace(run, bots=bots)

    def watch(
        self, live: LiveSessions, store: Store, open_sockets: OpenSockets, opened_bots: OpenedBots
    ) -> None:
        """Tell of the server itself too: sessions, sockets, commits, work for bots in Redis."""
        self._registry.register(_Server(live, store, open_sockets))
        self._registry.register(_Work(opened_bots))

    async def page(self, accept: Annotated[str, Header()] = "") -> Response:
        """All that was measured, in the format that the caller accepts."""
        encode, content_type = choose_encoder(accept)
        return Response(encode(self._registry), headers={"Content-Type": content_type})

    def _measured(self, bot: Bot, *labels: *tuple[str, str, str]) -> Bot:
        meter = self._bots.setdefault(labels, BotMeter())
        return MeasuredPunctualBot(bot, meter) if isinstance(bot, PunctualBot) else MeasuredBot(bot, meter)


class BotMeter:
    """What was measured of a bot: plain numbers, which only the event loop changes and reads.

    A histogram and a gauge of `prometheus_client`, which lock for every number, took as long as asking a bot.
    """

    def __init__(self) -> None:
        self.since = time.time()
        self.in_flight = 0
        self.seconds = 0.0  # of all replies together
        self.replies = [0] * (len(BUCKETS) + 1)  # that took longer than one bound, and not than the next
        self.failures = dict.fromkeys(FAILURES, 0)

    async def measured(self, answering: Awaitable[Reply]) -> Reply:
        """Return the reply that is awaited. Raises what that raises."""
        started = time.perf_counter()
        self.in_flight += 1
        try:
            reply = await answering
        except ChatEnded:
            raise
        except BaseException as error:
            self.failures[kind_of(error)] += 1
            raise
        finally:
            self.in_flight -= 1
        took = time.perf_counter() - started
        self.seconds += took
        self.replies[bisect_left(BUCKETS, took)] += 1
        return reply


class MeasuredBot:
    """A bot that is measured whenever it is asked. A chat that it ends in good order is no failure."""

    def __init__(self, bot: Bot, meter: BotMeter) -> None:
        self._bot = bot
        self._meter = meter

    async def reply(self, chat: Chat) -> Reply:
        """Return the bot's next line of `chat`. Raises what the bot raises."""

        async def answer() -> Reply:  # foreign code may raise before there is anything to be awaited
            return await self._bot.reply(chat)

        return await self._meter.measured(answer())


class MeasuredPunctualBot(PunctualBot):
    """The same for a bot that keeps to its time by itself."""

    def __init__(self, bot: PunctualBot, meter: BotMeter) -> None:
        self._bot = bot
        self._meter = meter

    def reply(self, chat: Chat) -> Coroutine[None, None, Reply]:
        """Return the bot's next line of `chat`, once awaited. Raises what the bot raises."""
        return self._meter.measured(self._bot.reply(chat))

    def reply_within(self, chat: Chat, patience: float) -> Coroutine[None, None, Reply]:
        """Return the bot's next line of `chat`, once awaited. Raises what the bot raises."""
        return self._meter.measured(self._bot.reply_within(chat, patience))


class _Bots(Collector):
    """Reads what was measured of bots when it is asked for."""

    def __init__(self, bots: Mapping[tuple[str, str, str], BotMeter]) -> None:
        self._bots = bots

    def collect(self) -> Iterable[Metric]:
        seconds = HistogramMetricFamily(
            "candor_bot_reply_seconds",
            "Time from asking a bot to its reply; calls without a reply are left out.",
            labels=_LABELS,
        )
        failures = CounterMetricFamily(
            "candor_bot_failures",
            "Calls of a bot that ended without a reply, by the failure's kind; those given up are a timeout.",
            labels=(*_LABELS, "kind"),
        )
        in_flight = GaugeMetricFamily(
            "candor_bot_calls_in_flight", "Calls of a bot under way.", labels=_LABELS
        )
        for labels, meter in self._bots.items():
            bounds = map(floatToGoString, (*BUCKETS, math.inf))
            buckets = list(zip(bounds, accumulate(meter.replies), strict=True))
            seconds.add_metric(labels, buckets, meter.seconds)
            named = dict(zip(_LABELS, labels, strict=True))
            seconds.add_sample(f"{seconds.name}_created", named, meter.since)
            for kind, count in meter.failures.items():
                failures.add_metric((*labels, kind), count, created=meter.since)
            in_flight.add_metric(labels, meter.in_flight)
        yield from (seconds, failures, in_flight)


class _Server(Collector):
    """Reads the server's own numbers when they are asked for."""

    def __init__(self, live: LiveSessions, store: Store, open_sockets: OpenSockets) -> None:
        self._live = live
        self._store = store
        self._open_sockets = open_sockets

    def collect(self) -> Iterable[Metric]:
        yield GaugeMetricFamily("candor_live_sessions", "Sessions alive in this process.", len(self._live))
        yield CounterMetricFamily(
            "candor_store_commits", "Transactions that the store has committed.", self._store.commits
        )
        yield GaugeMetricFamily(
            "candor_open_sockets", "Sockets of workers open in this process.", len(self._open_sockets)
        )
        yield CounterMetricFamily(
            "candor_refused_sockets",
            "Sockets of workers refused, as their address had too many open.",
            self._open_sockets.refused,
        )


class _Work(Collector):
    """Reads how much work there is in Redis, as of a few seconds ago, and how many hosts for it."""

    def __init__(self, opened_bots: OpenedBots) -> None:
        self._opened_bots = opened_bots

    def collect(self) -> Iterable[Metric]:
        waiting = GaugeMetricFamily(
            "candor_bot_work", "Asks in Redis that wait or are under way, of all processes.", labels=["bot"]
        )
        hosts = GaugeMetricFamily("candor_bot_work_hosts", "Hosts that take asks from Redis.", labels=["bot"])
        for name, count in self._opened_bots.work_counts().items():
            waiting.add_metric([name], count.waiting)
            hosts.add_metric([name], count.hosts)
        yield from (waiting, hosts)


def kind_of(error: BaseException) -> FailureKind:
    """Return how a call failed that ended with `error`: what a bot raised, or a cancellation."""
    if isinstance(error, asyncio.CancelledError):
        # A caller gives up a call when its time is over; a bot may give up its own work for any reason.
        task = asyncio.current_task()
        return "timeout" if task is not None and task.cancelling() else "error"
    if isinstance(error, BotError):
        return error.kind
    return "timeout" if isinstance(error, TimeoutError) else "error"
