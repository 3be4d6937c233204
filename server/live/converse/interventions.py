"""Deliver researchers' actions to workers' sessions, in whichever process they are.

What changes a session is done by the process that owns it: this one, or another that is asked over the news
and answers. Where nobody answers, this one takes the session over first.
"""

import asyncio
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import structlog
from sqlalchemy import Connection

from server.clock import utc_now
from server.db.audit import Doer, record
from server.db.review import interventions
from server.db.review.interventions import AssignmentState, StoredNotice
from server.db.runs.runs import find_run
from server.db.store.store import Store
from server.errors import AssignmentOver, CandorError, NothingToRate
from server.live.converse.runtime import LiveSession
from server.live.converse.sessions import LiveSessions
from server.news import News, Payload
from server.session.events import EndedByResearcher

ASKED, ANSWERED = "intervention", "intervened"  # of news
_SECONDS = 3.0  # until nobody counts as having the session
log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class _Named:
    """Who has asked, as the news tells it."""

    kind: str
    name: str


class Interventions:
    """Acts on workers. Everything is written with its row in the audit log, in one transaction."""

    def __init__(self, live: LiveSessions, store: Store, news: News) -> None:
        self._live = live
        self._store = store
        self._news = news
        self._asked: dict[str, asyncio.Future[str | None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        news.subscribe(ASKED, self._hear)
        news.subscribe(ANSWERED, self._take_answer)

    async def release(self, assignment: str, actor: Doer) -> None:
        """End an assignment that is under way, so that its place is free; its page says so.

        Raises:
            AssignmentNotFound: there is none of this id.
            AssignmentOver: it has ended before.
            StorageFailed: nothing was done.
        """

        def work(connection: Connection) -> AssignmentState:
            record(connection, actor, "assignment.release", assignment)
            return interventions.release(connection, assignment, utc_now())

        await self._changed(work)
        self._live.tell_changed(assignment)

    async def exclude(self, assignment: str, reason: str, actor: Doer) -> None:
        """Leave an assignment out of every analysis. Raises AssignmentNotFound, StorageFailed."""

        def work(connection: Connection) -> AssignmentState:
            record(connection, actor, "assignment.exclude", assignment, reason)
            return interventions.exclude(connection, assignment, reason, utc_now())

        await self._changed(work)

    async def include(self, assignment: str, actor: Doer) -> None:
        """Take an assignment into analyses again. Raises AssignmentNotFound, StorageFailed."""

        def work(connection: Connection) -> AssignmentState:
            found = interventions.find_assignment(connection, assignment)
            if interventions.include(connection, assignment):
                record(connection, actor, "assignment.include", assignment)
            return found

        await self._changed(work)

    async def tell_worker(self, assignment: str, text: str, actor: Doer) -> None:
        """Show words to the worker of an assignment.

        Raises:
            AssignmentNotFound: there is none of this id.
            AssignmentOver: it has ended.
            StorageFailed: nothing was done.
        """

        def work(connection: Connection) -> StoredNotice:
            found = interventions.find_assignment(connection, assignment)
            if found.status != "active":
                raise AssignmentOver(f"assignment `{assignment}` is {found.status} already")
            record(connection, actor, "assignment.message", assignment, text)
            return interventions.add_notice(connection, found.run, assignment, text, utc_now())

        self._live.tell_notice(await self._store.submit(work))

    async def tell_all(self, run: str, text: str, actor: Doer) -> None:
        """Show words to every worker of a run who is under way. Raises RunNotFound, StorageFailed."""

        def work(connection: Connection) -> StoredNotice:
            record(connection, actor, "run.message", run, text)
            return interventions.add_notice(connection, find_run(connection, run).id, None, text, utc_now())

        self._live.tell_notice(await self._store.submit(work))

    async def end_conversation(self, assignment: str, why: str, actor: Doer) -> None:
        """End the conversation that a worker is in; they are told why, and go on to rate it.

        Raises:
            AssignmentNotFound: there is none of this id.
            NothingToRate: no conversation is under way in which the chatbot has replied.
            StorageFailed: nothing was done.
        """
        if self._live.held(assignment) is None and await self._ask_elsewhere(assignment, why, actor):
            return
        session = await self._live.open(assignment)
        try:
            await self._end(session, assignment, why, actor)
        finally:
            self._live.release(assignment)

    async def _changed(self, work: Callable[[Connection], AssignmentState]) -> None:
        found = await self._store.submit(work)
        self._live.run_news.tell(found.run)

    async def _end(self, session: LiveSession, assignment: str, why: str, actor: Doer) -> None:
        notices: list[StoredNotice] = []

        def also(connection: Connection) -> None:
            record(connection, actor, "assignment.end_conversation", assignment, why)
            notices.append(interventions.add_notice(connection, session.run_id, assignment, why, utc_now()))

        done = await session.intervene(EndedByResearcher(why, utc_now()), also)
        if done and notices:
            self._live.tell_notice(notices[-1])

    async def _ask_elsewhere(self, assignment: str, why: str, actor: Doer) -> bool:
        """Have the process that shows the session do it; return whether one has. Raises what it raised."""
        if self._live.presence.away.get(assignment, "unknown") is not None:
            return False  # no page is open anywhere: nobody is disturbed by a take-over
        name = secrets.token_hex(8)
        answer: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        self._asked[name] = answer
        asked = {"name": name, "assignment": assignment, "why": why, "actor": [actor.kind, actor.name]}
        self._news.publish(ASKED, asked)
        try:
            async with asyncio.timeout(_SECONDS):
                refusal = await answer
        except TimeoutError:
            return False
        finally:
            del self._asked[name]
        if refusal is not None:
            raise NothingToRate(refusal)
        return True

    def _hear(self, payload: Payload) -> None:
        if self._live.held(payload["assignment"]) is not None and payload["name"] not in self._asked:
            task = asyncio.get_running_loop().create_task(self._do(payload))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _do(self, payload: Payload) -> None:
        session = self._live.held(payload["assignment"])
        if session is None:
            return
        answer: dict[str, Any] = {"name": payload["name"], "refusal": None}
        try:
            await self._end(session, payload["assignment"], payload["why"], _Named(*payload["actor"]))
        except NothingToRate as error:
            answer["refusal"] = error.message
        except CandorError as error:
            log.warning("what another process asked for failed", error=error.message)
            return
        except Exception:  # nobody waits for this task, and so nobody would hear of it
            log.exception("what another process asked for failed", assignment=payload["assignment"])
            return
        if not session.is_lost:
            self._news.publish(ANSWERED, answer)

    def _take_answer(self, payload: Payload) -> None:
        asked = self._asked.get(payload["name"])
        if asked is not None:
            with suppress(asyncio.InvalidStateError):
                asked.set_result(payload["refusal"])
