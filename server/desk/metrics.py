"""Prometheus metrics: speed, failures and load of bots and of the server.

Every application has its own registry. The page contains the names of systems, so it is for researchers only.
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

from bots import Bot, BotError, Chat, Reply
from bots.serving import ChatEnded, FailureKind, PunctualBot
from server.access.actor import Allowed
from server.access.parts import part
from server.access.rate_limit import OpenSockets
from server.bots.lineup import OpenRun
from server.bots.opened_bots import OpenedBots
from server.db.store import Store
from server.live.converse.sessions import LiveSessions

FAILURES: tuple[FailureKind, ...] = tuple(kind for kind in get_args(FailureKind) if kind != ChatEnded.kind)
# Reply times in seconds, from a bot that looks replies up to the slowest acceptable bot.
BUCKETS = (0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 7.5, 10.0, 15.0, 20.0, 30.0, 45.0, 60.0)
_LABELS = ("run", "system", "bot")


class Metrics:
    """Measures the bots of runs, and collects the metrics of the server."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._bots: dict[tuple[str, str, str], BotMeter] = {}
        self._registry.register(_Bots(self._bots))

    def measured(self, run: OpenRun) -> OpenRun:
        """Return `run` with its bots wrapped for measurement, labelled with the names of their systems."""
        specs = run.study.bots_of_systems
        bots = {
            system: self._measured(bot, run.slug, system, specs[system]) for system, bot in run.bots.items()
        }
        return replace(run, bots=bots)

    def watch(
        self, live: LiveSessions, store: Store, open_sockets: OpenSockets, opened_bots: OpenedBots
    ) -> None:
        """Add metrics of the server: sessions, sockets, commits, and calls to bots that wait in Redis."""
        self._registry.register(_Server(live, store, open_sockets))
        self._registry.register(_Work(opened_bots))

    def page(self, accept: str) -> Response:
        """Return all metrics in a format that `accept`, the header, names."""
        encode, content_type = choose_encoder(accept)
        return Response(encode(self._registry), headers={"Content-Type": content_type})

    def _measured(self, bot: Bot, *labels: *tuple[str, str, str]) -> Bot:
        meter = self._bots.setdefault(labels, BotMeter())
        return MeasuredPunctualBot(bot, meter) if isinstance(bot, PunctualBot) else MeasuredBot(bot, meter)


router = APIRouter(dependencies=[Depends(Allowed("see_metrics"))], include_in_schema=False)


@router.get("/metrics")
async def show_metrics(
    metrics: Annotated[Metrics, part(Metrics)], accept: Annotated[str, Header()] = ""
) -> Response:
    """Return all metrics in the format that the caller accepts."""
    return metrics.page(accept)


class BotMeter:
    """Measurements of a bot as plain numbers, which only the event loop changes and reads.

    A histogram and a gauge of `prometheus_client`, which lock for every number, took as long as a call of a
    bot.
    """

    def __init__(self) -> None:
        self.since = time.time()
        self.in_flight = 0
        self.seconds = 0.0  # of all replies together
        self.replies = [0] * (len(BUCKETS) + 1)  # by bucket
        self.failures = dict.fromkeys(FAILURES, 0)

    async def measured(self, answering: Awaitable[Reply]) -> Reply:
        """Await a reply, measure it and return it. Its exceptions are passed on."""
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
    """A bot whose calls are measured. A chat that the bot ends deliberately does not count as a failure."""

    def __init__(self, bot: Bot, meter: BotMeter) -> None:
        self._bot = bot
        self._meter = meter

    async def reply(self, chat: Chat) -> Reply:
        """Return the bot's next reply in `chat`. The bot's exceptions are passed on."""

        async def answer() -> Reply:  # a bot's code may raise before it returns an awaitable
            return await self._bot.reply(chat)

        return await self._meter.measured(answer())


class MeasuredPunctualBot(PunctualBot):
    """A measured bot that enforces its time-out itself."""

    def __init__(self, bot: PunctualBot, meter: BotMeter) -> None:
        self._bot = bot
        self._meter = meter

    def reply(self, chat: Chat) -> Coroutine[None, None, Reply]:
        """Return a coroutine of the bot's next reply in `chat`. The bot's exceptions are passed on."""
        return self._meter.measured(self._bot.reply(chat))

    def reply_within(self, chat: Chat, patience: float) -> Coroutine[None, None, Reply]:
        """Return a coroutine of the bot's next reply, due in `patience` seconds. Exceptions are passed on."""
        return self._meter.measured(self._bot.reply_within(chat, patience))


class _Bots(Collector):
    """Collects the measurements of bots."""

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
            "Calls of a bot that ended without a reply, by kind of failure; a cancelled call is a timeout.",
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
    """Collects the metrics of the server itself."""

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
            "Sockets of workers refused because their address had too many open.",
            self._open_sockets.refused,
        )


class _Work(Collector):
    """Collects the number of calls to bots in Redis, as of a few seconds ago, and of their bot hosts."""

    def __init__(self, opened_bots: OpenedBots) -> None:
        self._opened_bots = opened_bots

    def collect(self) -> Iterable[Metric]:
        waiting = GaugeMetricFamily(
            "candor_bot_work", "Calls in Redis that wait or are active, of all processes.", labels=["bot"]
        )
        hosts = GaugeMetricFamily(
            "candor_bot_work_hosts", "Bot hosts that take calls from Redis.", labels=["bot"]
        )
        for name, count in self._opened_bots.work_counts().items():
            waiting.add_metric([name], count.waiting)
            hosts.add_metric([name], count.hosts)
        yield from (waiting, hosts)


def kind_of(error: BaseException) -> FailureKind:
    """Return the kind of failure of a call that ended with `error`: a bot's exception, or a cancellation."""
    if isinstance(error, asyncio.CancelledError):
        # The caller cancels a call at its time-out. Any other cancellation comes from the bot itself.
        task = asyncio.current_task()
        return "timeout" if task is not None and task.cancelling() else "error"
    if isinstance(error, BotError):
        return error.kind
    return "timeout" if isinstance(error, TimeoutError) else "error"
