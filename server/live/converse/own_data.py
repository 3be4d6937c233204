"""Let workers download or withdraw their own data, for as long as their study allows."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from limits import parse
from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from sqlalchemy import Connection, bindparam, select, text

from server.access.parts import Configured, Database, Limits, Secrets, part
from server.clock import ShownTime, utc_now
from server.db.audit import record
from server.db.removal import remove
from server.db.runs.runs import find_run
from server.db.tables import AssignmentTable, RemovalTable, RunTable, TurnTable
from server.errors import AssignmentNotFound, WithdrawalOver
from server.live.converse.sessions import LiveSessions
from server.session.protocol import MAX_TOKEN
from server.session.records import ReportReason, Writing
from server.study import parse_study


@dataclass(frozen=True, slots=True)
class _Worker:
    """The actor of a withdrawal in the audit log, without a name."""

    kind: str = "worker"
    name: str = "a worker"


class OwnToken(BaseModel):
    """The token that a worker's page was given."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    token: Annotated[str, StringConstraints(max_length=MAX_TOKEN)]


class OwnLine(BaseModel):
    """A line of a conversation, from `you` or the `partner`. `writing`: how you wrote the line.

    `rating`: your rating of the reply. `flagged`: what the moderation service found in your line: categories
    of possibly offensive content, an empty list if it found nothing, null if it was not asked.
    """

    who: str
    text: str
    at: ShownTime
    writing: Writing | None = None
    rating: int | None = None
    flagged: list[str] | None = None


class OwnReport(BaseModel):
    """A message that you have reported: its line from 0, the reason, and whether you left with the report."""

    line: int
    reason: ReportReason
    note: str | None
    left: bool


class OwnConversation(BaseModel):
    """A conversation or an item, in order. It does not name the chatbot or the item's author.

    `preferences`: for each pair of replies side by side, the better one. `improved`: your text. `quiz`: the
    number of the line that you chose. `reports`: your reports, without those that you took back.
    """

    topics: list[str]
    lines: list[OwnLine]
    ratings: dict[str, int]
    preferences: list[str]
    improved: str | None = None
    quiz: int | None = None
    reports: list[OwnReport]


class OwnData(BaseModel):
    """All that a worker has given in an assignment. `test_answers`: to the test questions, in order."""

    study: str
    began_at: ShownTime
    ended_at: ShownTime | None
    consent_version: str | None
    consent_ticked: list[str]
    feedback: str | None
    test_answers: list[int]
    answers: Annotated[list[dict[str, str | float | None]], Field(max_length=10_000)]
    conversations: list[OwnConversation]


async def _assignment(
    body: OwnToken, request: Request, auth: Secrets, limits: Limits, settings: Configured
) -> str:
    """Return the id of the assignment of a token. Whoever sends the token counts as the worker."""
    await limits.count_address(parse(settings.attempts_per_address), "attempts from this address", request)
    opens = auth.read_worker_token(body.token).opens  # even if expired: the study sets the time limit
    return opens if isinstance(opens, str) else opens.assignment


Assignment = Annotated[str, Depends(_assignment)]
router = APIRouter(prefix="/api/own-data", tags=["workers"])


@router.post("/download")
async def download(assignment: Assignment, store: Database) -> OwnData:
    """Return what the worker of a token has written, answered and rated."""
    return await store.read(lambda connection: _own_data(connection, assignment, utc_now()))


@router.post("/withdraw", status_code=204)
async def withdraw(
    assignment: Assignment, store: Database, live: Annotated[LiveSessions, part(LiveSessions)]
) -> Response:
    """Remove all data of the worker of a token. This cannot be undone."""
    await store.remove(lambda connection: _withdraw(connection, assignment, utc_now()))
    live.tell_changed(assignment)
    return Response(status_code=204)


def _withdraw(connection: Connection, assignment: str, at: datetime) -> None:
    found = _require_in_time(connection, assignment, at)
    remove(connection, [assignment], "all", "withdrawn", at)
    record(connection, _Worker(), "worker.withdraw", found.slug, assignment)


def _require_in_time(connection: Connection, assignment: str, at: datetime) -> Any:
    """Return the row of an assignment and its run. Raises AssignmentNotFound, WithdrawalOver."""
    query = (
        select(AssignmentTable.c.ended_at, AssignmentTable.c.created_at, RunTable.c.slug)
        .join(RunTable, RunTable.c.id == AssignmentTable.c.run_id)
        .where(AssignmentTable.c.id == assignment)
    )
    found = connection.execute(query).one_or_none()
    if found is None:
        raise AssignmentNotFound("This server has no data of yours")
    days = parse_study(find_run(connection, found.slug).yaml).withdrawal_days
    if days is None or (found.ended_at is not None and found.ended_at + timedelta(days=days) < at):
        raise WithdrawalOver("The time for downloading or withdrawing your data is over")
    gone = select(RemovalTable.c.extent).where(
        RemovalTable.c.assignment_id == assignment, RemovalTable.c.extent == "all"
    )
    if connection.execute(gone).first() is not None:
        raise AssignmentNotFound("This server has no data of yours any more")
    return found


def _own_data(connection: Connection, assignment: str, at: datetime) -> OwnData:
    found = _require_in_time(connection, assignment, at)
    row = connection.execute(select(AssignmentTable).where(AssignmentTable.c.id == assignment)).one()
    named = {"assignment": assignment}
    return OwnData(
        study=parse_study(find_run(connection, found.slug).yaml).title,
        began_at=row.created_at,
        ended_at=row.ended_at,
        consent_version=row.consent_version,
        consent_ticked=row.consent_ticked.split(",") if row.consent_ticked else [],
        feedback=row.feedback,
        test_answers=list(connection.execute(_TEST_ANSWERS, named).scalars()),
        answers=[dict(one._mapping) for one in connection.execute(_ANSWERS, named)],
        conversations=list(_own_conversations(connection, named, at).values()),
    )


def _own_conversations(
    connection: Connection, named: dict[str, str], now: datetime
) -> dict[str, OwnConversation]:
    found = {
        row.id: OwnConversation(
            topics=[],
            lines=[],
            ratings={},
            preferences=[],
            improved=row.improved,
            quiz=row.quiz,
            reports=[],
        )
        for row in connection.execute(_CONVERSATIONS, named)
    }
    for key, topic in connection.execute(_TOPICS, named):
        found[key].topics.append(topic)
    for key, line in _own_lines(connection, named, now):
        found[key].lines.append(line)
    for key, criterion, value in connection.execute(_RATINGS, named):
        found[key].ratings[criterion] = value
    for key, preference in connection.execute(_PREFERENCES, named):
        found[key].preferences.append(preference)
    for key, line, reason, note, left in connection.execute(_REPORTS, named):
        found[key].reports.append(OwnReport(line=line, reason=reason, note=note, left=left))
    return found


def _own_lines(connection: Connection, named: dict[str, str], now: datetime) -> Iterator[tuple[str, OwnLine]]:
    """Yield the lines of an assignment, each with its conversation and the time at which it was shown.

    The time at which a reply was made is left out: it would tell fast chatbots from slow ones. For the same
    reason the two replies of a pair side by side appear together, with the same time.
    """
    written = {
        (row.conversation_id, row.turn_index): Writing.model_validate(row, from_attributes=True)
        for row in connection.execute(_WRITINGS, named)
    }
    judged = {(key, index): found for key, index, found in connection.execute(_JUDGED, named)}
    thought = {(key, index): value for key, index, value in connection.execute(_TURN_RATINGS, named)}
    for key, index, author, words, shown_at in connection.execute(_LINES, named | {"now": now}):
        yield (
            key,
            OwnLine(
                who="you" if author == "worker" else "partner",
                text=words,
                at=shown_at,
                writing=written.get((key, index)),
                rating=thought.get((key, index)),
                flagged=_categories(judged.get((key, index))) if author == "worker" else None,
            ),
        )


def _categories(found: str | None) -> list[str] | None:
    return None if found is None else found.split(", ") if found else []


_OF = "JOIN conversation ON conversation.id = conversation_id WHERE assignment_id = :assignment"
_CONVERSATIONS = text("""
    SELECT conversation.id, item_edit.text AS improved, quiz.choice AS quiz
    FROM conversation
    LEFT JOIN item_edit ON item_edit.conversation_id = conversation.id
    LEFT JOIN quiz ON quiz.conversation_id = conversation.id
    WHERE assignment_id = :assignment AND started_at IS NOT NULL
    ORDER BY position, attempt""")
_TOPICS = text(f"SELECT conversation_id, topic FROM topic_mark {_OF} ORDER BY conversation_id, ordinal")  # noqa: S608
_SHOWN = TurnTable.c.show_at.type
_LINES = (
    text("""
        SELECT turn.conversation_id, turn.turn_index, turn.author, turn.text,
            CASE WHEN other.show_at > turn.show_at THEN other.show_at ELSE turn.show_at END AS show_at
        FROM turn JOIN conversation ON conversation.id = turn.conversation_id
        LEFT JOIN conversation AS beside
          ON beside.assignment_id = conversation.assignment_id AND beside.attempt = conversation.attempt
         AND beside.position = conversation.position + CASE conversation.side WHEN 'left' THEN 1 ELSE -1 END
         AND conversation.side IS NOT NULL
        LEFT JOIN turn AS other
          ON other.conversation_id = beside.id AND other.turn_index = turn.turn_index
        WHERE conversation.assignment_id = :assignment AND turn.show_at <= :now
          AND (beside.id IS NULL OR other.show_at <= :now)
        ORDER BY turn.conversation_id, turn.turn_index""")
    .bindparams(bindparam("now", type_=_SHOWN))
    .columns(show_at=_SHOWN)
)
_WRITINGS = text(f"SELECT writing.* FROM writing {_OF}")  # noqa: S608
_JUDGED = text(
    f"SELECT conversation_id, turn_index, categories FROM moderated_line {_OF} "  # noqa: S608
    "AND flagged IS NOT NULL"
)
_RATINGS = text(
    f"SELECT conversation_id, criterion, value FROM rating {_OF} "  # noqa: S608
    "ORDER BY conversation_id, criterion"
)
_TURN_RATINGS = text(
    f"SELECT conversation_id, turn_index, value FROM turn_rating {_OF} ORDER BY turn_rating.id"  # noqa: S608
)
_REPORTS = text(
    f"SELECT conversation_id, turn_index, reason, note, leaves FROM message_report {_OF} "  # noqa: S608
    "AND taken_back_at IS NULL ORDER BY conversation_id, turn_index"
)
_PREFERENCES = text(
    f"SELECT conversation_id, preference FROM choice {_OF} ORDER BY conversation_id, turn_index"  # noqa: S608
)
_TEST_ANSWERS = text("SELECT answer FROM tutorial_answer WHERE assignment_id = :assignment ORDER BY id")
_ANSWERS = text("SELECT label, text, number FROM answer WHERE assignment_id = :assignment ORDER BY id")
