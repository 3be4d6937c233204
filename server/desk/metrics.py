"""What Prometheus may know: how fast every bot answers, how it fails, how busy it and the server are.

Every application has a registry of its own. Its page names the systems, so it is for researchers only.
"""

import asyncio
import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated, get_args

from fastapi import APIRouter, Depends, Header, Response
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from bots import Bot, BotError, Chat, ChatEnded, FailureKind, Reply
from server.access.actor import Allowed
from server.access.auth import Auth
from server.bots.lineup import OpenRun
from server.bots.opened_bots import OpenedBots
from server.db.store import Store
from server.live.sessions import LiveSessions

FAILURES: tuple[FailureKind, ...] = tuple(kind for kind in get_args(FailureKind) if kind != ChatEnded.kind)
# From a bot that looks a line up to one that is hardly worth waiting for: seconds.
BUCKETS = (0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 7.5, 10.0, 15.0, 20.0, 30.0, 45.0, 60.0)
_LABELS = ("run", "system", "bot")


class Metrics:
    """Measures the bots of runs and serves what was measured, at `/metrics`."""

    def __init__(self, auth: Auth) -> None:
        self._registry = CollectorRegistry()
        self._seconds = Histogram(
            "candor_bot_reply_seconds",
            "Time from asking a bot to its reply; calls without a reply are left out.",
            _LABELS,
            buckets=BUCKETS,
            registry=self._registry,
        )
        self._failures = Counter(
            "candor_bot_failures",
            "Calls of a bot that ended without a reply, by the failure's kind; those given up are a timeout.",
            (*_LABELS, "kind"),
            registry=self._registry,
        )
        self._in_flight = Gauge(
            "candor_bot_calls_in_flight", "Calls of a bot under way.", _LABELS, registry=self._registry
        )
        self.router = APIRouter(dependencies=[Depends(Allowed(auth, "see_metrics"))], include_in_schema=False)
        self.router.add_api_route("/metrics", self.page, methods=["GET"])

    def measured(self, run: OpenRun) -> OpenRun:
        """Return `run` with each of its bots measured, by its system's name."""
        specs = run.study.bots_of_systems
        bots = {
            system: self._measured(bot, run.slug, system, specs[system]) for system, bot in run.bots.items()
        }
        return replace(run, bots=bots)

    def watch(self, live: LiveSessions, store: Store, opened_bots: OpenedBots) -> None:
        """Tell of the server itself too: its live sessions, the store's commits, work for bots in Redis."""
        self._registry.register(_Server(live, store))
        self._registry.register(_Work(opened_bots))

    async def page(self, accept: Annotated[str, Header()] = "") -> Response:
        """All that was measured, in the format that the caller accepts."""
        encode, content_type = choose_encoder(accept)
        return Response(encode(self._registry), headers={"Content-Type": content_type})

    def _measured(self, bot: Bot, *labels: str) -> Bot:
        failures = {kind: self._failures.labels(*labels, kind) for kind in FAILURES}
        return MeasuredBot(bot, self._seconds.labels(*labels), failures, self._in_flight.labels(*labels))


class MeasuredBot:
    """A bot that is measured whenever it is asked. A chat that it ends in good order is no failure."""

    def __init__(
        self, bot: Bot, seconds: Histogram, failures: dict[FailureKind, Counter], in_flight: Gauge
    ) -> None:
        self._bot = bot
        self._seconds = seconds
        self._failures = failures
        self._in_flight = in_flight

    async def reply(self, chat: Chat) -> Reply:
        """Return the bot's next line of `chat`. Raises what the bot raises."""
        started = time.perf_counter()
        with self._in_flight.track_inprogress():
            try:
                reply = await self._bot.reply(chat)
            except ChatEnded:
                raise
            except BaseException as error:
                self._failures[kind_of(error)].inc()
                raise
        self._seconds.observe(time.perf_counter() - started)
        return reply


class _Server(Collector):
    """Reads the server's own numbers when they are asked for."""

    def __init__(self, live: LiveSessions, store: Store) -> None:
        self._live = live
        self._store = store

    def collect(self) -> Iterable[Metric]:
        yield GaugeMetricFamily("candor_live_sessions", "Sessions alive in this process.", len(self._live))
        yield CounterMetricFamily(
            "candor_store_commits", "Transactions that the store has committed.", self._store.commits
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
