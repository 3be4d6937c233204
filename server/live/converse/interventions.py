"""Deliver researchers' actions to workers' sessions, in whichever process they are.

The process that owns a session changes it. If that is another process, it is asked over the news and
answers. If no process answers, this one takes the session over first.
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
from server.db import interventions
from server.db.audit import Doer, record
from server.db.interventions import AssignmentState, StoredNotice
from server.db.runs.runs import find_run
from server.db.store import Store
from server.errors import AssignmentOver, CandorError, NothingToRate
from server.live.converse.live_session import LiveSession
from server.live.converse.sessions import LiveSessions
from server.news import News, Payload
from server.session.events import EndedByResearcher

ASKED, ANSWERED = "intervention", "intervened"  # topics of news
_SECONDS = 3.0  # to wait for an answer before this process takes the session over
log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class _Named:
    """The account that asked for an intervention, as the news carries it."""

    kind: str
    name: str


class Interventions:
    """Act on workers' assignments. Each action and its row in the audit log are one transaction."""

    def __init__(self, live: LiveSessions, store: Store, news: News) -> None:
        self._live = live
        self._store = store
        self._news = news
        self._asked: dict[str, asyncio.Future[str | None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        news.subscribe(ASKED, self._on_asked)
        news.subscribe(ANSWERED, self._on_answered)

    async def release(self, assignment: str, actor: Doer) -> None:
        """End an active assignment, so that its slot is free; its page says so.

        Raises:
            AssignmentNotFound: There is no assignment of this id.
            AssignmentOver: It has ended already.
            StorageFailed: Nothing was done.
        """

        def work(connection: Connection) -> AssignmentState:
            record(connection, actor, "assignment.release", assignment)
            return interventions.release(connection, assignment, utc_now())

        await self._changed(work)
        self._live.tell_changed(assignment)

    async def exclude(self, assignment: str, reason: str, actor: Doer) -> None:
        """Exclude an assignment from every analysis. Raises AssignmentNotFound, StorageFailed."""

        def work(connection: Connection) -> AssignmentState:
            record(connection, actor, "assignment.exclude", assignment, reason)
            return interventions.exclude(connection, assignment, reason, utc_now())

        await self._changed(work)

    async def include(self, assignment: str, actor: Doer) -> None:
        """Include an assignment in analyses again. Raises AssignmentNotFound, StorageFailed."""

        def work(connection: Connection) -> AssignmentState:
            found = interventions.find_assignment(connection, assignment)
            if interventions.include(connection, assignment):
                record(connection, actor, "assignment.include", assignment)
            return found

        await self._changed(work)

    async def tell_worker(self, assignment: str, text: str, actor: Doer) -> None:
        """Show a notice to the worker of an assignment.

        Raises:
            AssignmentNotFound: There is no assignment of this id.
            AssignmentOver: It has ended.
            StorageFailed: Nothing was done.
        """

        def work(connection: Connection) -> StoredNotice:
            found = interventions.find_assignment(connection, assignment)
            if found.status != "active":
                raise AssignmentOver(f"Assignment “{assignment}” is {found.status} already")
            record(connection, actor, "assignment.message", assignment, text)
            return interventions.add_notice(connection, found.run, assignment, text, utc_now())

        self._live.tell_notice(await self._store.submit(work))

    async def tell_all(self, run: str, text: str, actor: Doer) -> None:
        """Show a notice to every active worker of a run. Raises RunNotFound, StorageFailed."""

        def work(connection: Connection) -> StoredNotice:
            record(connection, actor, "run.message", run, text)
            return interventions.add_notice(connection, find_run(connection, run).id, None, text, utc_now())

        self._live.tell_notice(await self._store.submit(work))

    async def end_conversation(self, assignment: str, why: str, actor: Doer) -> None:
        """End a worker's current conversation; they are told why, and go on to rate it.

        Raises:
            AssignmentNotFound: There is no assignment of this id.
            NothingToRate: No conversation is active, or its chatbot has not replied yet.
            StorageFailed: Nothing was done.
        """
        is_done = False
        while not is_done:  # nothing is stored if another process took the session over meanwhile
            if self._live.held(assignment) is None and await self._ask_elsewhere(assignment, why, actor):
                return
            session = await self._live.open(assignment)
            is_done = await self._end(session, assignment, why, actor)

    async def _changed(self, work: Callable[[Connection], AssignmentState]) -> None:
        found = await self._store.submit(work)
        self._live.run_news.tell(found.run)

    async def _end(self, session: LiveSession, assignment: str, why: str, actor: Doer) -> bool:
        """End the conversation; return whether it was done here. Release the session if it is idle."""
        notices: list[StoredNotice] = []

        def also(connection: Connection) -> None:
            record(connection, actor, "assignment.end_conversation", assignment, why)
            notices.append(interventions.add_notice(connection, session.run_id, assignment, why, utc_now()))

        try:
            is_done = await session.intervene(EndedByResearcher(why, utc_now()), also)
        finally:
            self._live.release(assignment)
        if is_done and notices:
            self._live.tell_notice(notices[-1])
        return is_done

    async def _ask_elsewhere(self, assignment: str, why: str, actor: Doer) -> bool:
        """Ask the process that shows the session to end the conversation; return whether one did.

        Raises NothingToRate if that process refused.
        """
        if self._live.presence.away.get(assignment, "unknown") is not None:
            return False  # no page is open anywhere, so a take-over disturbs nobody
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

    def _on_asked(self, payload: Payload) -> None:
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
            is_done = await self._end(
                session, payload["assignment"], payload["why"], _Named(*payload["actor"])
            )
        except NothingToRate as error:
            answer["refusal"] = error.message
        except CandorError as error:
            log.warning("intervention for another process failed", error=error.message)
            return
        except Exception:  # nobody awaits this task, so the error would be lost
            log.exception("intervention for another process failed", assignment=payload["assignment"])
            return
        if is_done:
            self._news.publish(ANSWERED, answer)

    def _on_answered(self, payload: Payload) -> None:
        asked = self._asked.get(payload["name"])
        if asked is not None:
            with suppress(asyncio.InvalidStateError):
                asked.set_result(payload["refusal"])
