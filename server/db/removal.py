"""Remove workers' texts, data and ids from the database.

Systems, orders, times and statuses stay, because slots, balance and costs are counted by them. In an SQLite
database's file the removed data are overwritten; `Store.remove` also removes them from its log.
"""

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from sqlalchemy import Connection, TextClause, bindparam, delete, func, select, text, update

from server.db import counts, interventions
from server.db.recruiting.submissions import forget_visits
from server.db.secrets import FORGOTTEN
from server.db.tables import (
    REMOVED,
    AssignmentTable,
    ExcludedWorkerTable,
    ItemTable,
    RemovalTable,
    WorkerTable,
)
from server.session.item import ItemContent

Extent = Literal["words", "all"]
Cause = Literal["forgotten", "withdrawn", "retention"]
EXCLUDED_BECAUSE: Final = {
    "forgotten": "removed at the worker's wish",
    "withdrawn": "withdrawn by the worker",
    "retention": "removed after its time",
}
_AT_ONCE = 200  # assignments in one statement


@dataclass(frozen=True, slots=True)
class Holdings:
    """The database's data about one worker, as numbers of rows."""

    assignments: int
    under_way: int
    conversations: int
    lines: int
    ratings: int
    answers: int


NOTHING: Final = Holdings(0, 0, 0, 0, 0, 0)


def holdings(connection: Connection, worker_id: int) -> Holdings:
    """Count the database's data about a worker; `lines` are those that they have written."""
    return Holdings(*connection.execute(_HOLDINGS, {"worker": worker_id}).one())


def lists_with(connection: Connection, kept: str) -> int:
    """Return how many runs have an id, in its stored form, in their list of excluded workers."""
    query = (
        select(func.count()).select_from(ExcludedWorkerTable).where(ExcludedWorkerTable.c.external_id == kept)
    )
    return int(connection.execute(query).scalar_one())


def remove_from_lists(connection: Connection, kept: str) -> None:
    """Delete an id, in its stored form, from every run's list of excluded workers."""
    connection.execute(delete(ExcludedWorkerTable).where(ExcludedWorkerTable.c.external_id == kept))


def clear_list(connection: Connection, run_id: int) -> int:
    """Empty a run's list of excluded workers; return how many were on it."""
    return connection.execute(
        delete(ExcludedWorkerTable).where(ExcludedWorkerTable.c.run_id == run_id)
    ).rowcount


def assignments_of(connection: Connection, worker_id: int) -> list[str]:
    """Return the ids of a worker's assignments, in the order in which they began."""
    query = (
        select(AssignmentTable.c.id)
        .where(AssignmentTable.c.worker_id == worker_id)
        .order_by(AssignmentTable.c.created_at)
    )
    return list(connection.execute(query).scalars())


def remove(
    connection: Connection, assignments: Sequence[str], extent: Extent, cause: Cause, at: datetime
) -> None:
    """Remove the texts of assignments' workers, or all their data; active assignments end.

    Texts are those that workers wrote and how they wrote them, replies (which can quote them), and copies of
    both shown to others. With `all`, ratings, answers and choices are removed too, and the assignment is
    excluded from every analysis.

    Args:
        connection: A transaction of the writer's.
        assignments: The assignments' ids.
        extent: Which data to remove.
        cause: The reason.
        at: The time now.
    """
    for some in _parts(assignments):
        named = {"assignments": some}
        for assignment in connection.execute(_UNDER_WAY, named).scalars().all():
            interventions.expire(connection, assignment, at)
        for statement in _WORDS:
            connection.execute(statement, named)
        _blank_items(connection, some)
        if extent == "all":
            _remove_choices(connection, some)
            for statement in _GIVEN:
                connection.execute(statement, named)
            for assignment in some:
                interventions.exclude(connection, assignment, EXCLUDED_BECAUSE[cause], at)
        connection.execute(_FORGET_EARLIER, named | {"extent": extent})
        noted = [{"assignment": one, "extent": extent, "cause": cause, "at": at} for one in some]
        connection.execute(_NOTE, noted)


def remove_id(connection: Connection, worker_id: int) -> str:
    """Remove the id behind a worker's pseudonym, and return their new pseudonym.

    The old pseudonym can be computed from the id with the server's secrets; the new one leads to nobody. If
    the worker returns, they count as a new worker. Runs' lists of excluded workers are left as they are.
    """
    old = connection.execute(
        select(WorkerTable.c.pseudonym).where(WorkerTable.c.id == worker_id)
    ).scalar_one()
    pseudonym = "W" + secrets.token_hex(6).upper()
    values = {"external_id": f"{FORGOTTEN}{pseudonym}", "pseudonym": pseudonym}
    connection.execute(update(WorkerTable).where(WorkerTable.c.id == worker_id).values(values))
    connection.execute(_RENAMED, {"old": old, "new": pseudonym})
    forget_visits(connection, worker_id)
    return pseudonym


def _parts(assignments: Sequence[str]) -> Iterator[list[str]]:
    for start in range(0, len(assignments), _AT_ONCE):
        yield list(assignments[start : start + _AT_ONCE])


def _blank_items(connection: Connection, assignments: list[str]) -> None:
    """Blank the texts of these conversations in the items that other workers are given to rate."""
    for row in connection.execute(_ITEMS, {"assignments": assignments}).all():
        content = ItemContent.model_validate_json(row.content)
        lines = tuple(line.model_copy(update={"text": REMOVED}) for line in content.lines)
        topics = tuple(topic.model_copy(update={"topic": REMOVED}) for topic in content.topics)
        blank = content.model_copy(update={"lines": lines, "topics": topics})
        changed = update(ItemTable).where(ItemTable.c.id == row.id)
        connection.execute(changed.values(content=blank.model_dump_json(exclude_none=True)))


def _remove_choices(connection: Connection, assignments: list[str]) -> None:
    chosen = [tuple(row) for row in connection.execute(_CHOSEN, {"assignments": assignments})]
    if chosen:
        counts.COUNT_UNCHOSEN.execute(connection, chosen)


def _of(sql: str) -> TextClause:
    return text(sql).bindparams(bindparam("assignments", expanding=True))


_OWN = "(SELECT id FROM conversation WHERE assignment_id IN :assignments)"
# For a chat with another worker also the other's conversation, which has these lines as the partner's.
_HEARD = f"""(SELECT id FROM conversation WHERE assignment_id IN :assignments
              UNION SELECT conversation_id FROM human_conversation WHERE partner_id IN {_OWN})"""  # noqa: S608
# Conversations in which others rate these conversations as items.
_RATED = f"""(SELECT shown_item.conversation_id FROM shown_item JOIN item ON item.id = shown_item.item_id
              WHERE item.source_conversation_id IN {_HEARD})"""  # noqa: S608
# The fact that a line was flagged stays, as incidents do; the categories would tell about its content.
_JUDGED = f"categories = CASE WHEN categories = '' THEN '' ELSE '{REMOVED}' END, score = NULL"
_UNDER_WAY = _of("SELECT id FROM assignment WHERE status = 'active' AND id IN :assignments ORDER BY id")
_WORDS = [
    _of(sql)
    for sql in (
        f"UPDATE turn SET text = '{REMOVED}' WHERE conversation_id IN {_OWN}",  # noqa: S608
        f"UPDATE turn SET text = '{REMOVED}' WHERE author = 'bot' AND conversation_id IN {_HEARD}",  # noqa: S608
        f"DELETE FROM writing WHERE conversation_id IN {_OWN}",  # noqa: S608
        f"UPDATE moderated_line SET {_JUDGED} WHERE conversation_id IN {_OWN}",  # noqa: S608
        f"UPDATE moderated_line SET {_JUDGED} WHERE conversation_id IN {_HEARD} AND turn_index IN "  # noqa: S608
        "(SELECT turn_index FROM turn WHERE turn.conversation_id = moderated_line.conversation_id "
        "AND author = 'bot')",
        f"DELETE FROM reply_output WHERE conversation_id IN {_HEARD}",  # noqa: S608
        f"UPDATE bot_call SET output = NULL WHERE conversation_id IN {_HEARD}",  # noqa: S608
        f"UPDATE wizard_line SET text = '{REMOVED}' WHERE text IS NOT NULL AND conversation_id IN {_OWN}",  # noqa: S608
        f"UPDATE topic_mark SET topic = '{REMOVED}' WHERE conversation_id IN {_OWN}",  # noqa: S608
        f"UPDATE note SET text = '{REMOVED}' WHERE conversation_id IN {_HEARD}",  # noqa: S608
        f"UPDATE quiz_line SET text = '{REMOVED}' WHERE said_in_id IN {_HEARD}",  # noqa: S608
        f"UPDATE item_edit SET text = '{REMOVED}' WHERE conversation_id IN {_OWN}",  # noqa: S608
        f"UPDATE item_edit SET text = '{REMOVED}' WHERE conversation_id IN {_RATED}",  # noqa: S608
        f"""UPDATE message_report SET note = '{REMOVED}'
            WHERE note IS NOT NULL AND (conversation_id IN {_HEARD} OR conversation_id IN {_RATED})""",  # noqa: S608
        "DELETE FROM notice WHERE assignment_id IN :assignments",
        f"UPDATE assignment SET feedback = '{REMOVED}' WHERE feedback <> '' AND id IN :assignments",  # noqa: S608
        f"""UPDATE answer SET text = '{REMOVED}' WHERE text IS NOT NULL AND assignment_id IN :assignments
            AND label IN (SELECT question.label FROM question JOIN run ON run.study_id = question.study_id
                          JOIN assignment ON assignment.run_id = run.id
                          WHERE assignment.id = answer.assignment_id AND question.part = answer.part
                            AND question.kind = 'text')""",  # noqa: S608
    )
]
_GIVEN = [
    *(
        _of(f"DELETE FROM {table} WHERE conversation_id IN {_OWN}")  # noqa: S608
        for table in (
            "rating",
            "turn_rating",
            "choice",
            "quiz_line",
            "quiz",
            "topic_mark",
            "item_edit",
            "moderated_line",
            "turn",
        )
    ),
    # Workers who left with a report must still be paid, so that report stays, as all statuses do.
    _of(f"DELETE FROM message_report WHERE NOT leaves AND conversation_id IN {_OWN}"),  # noqa: S608
    *(
        _of(f"DELETE FROM {table} WHERE assignment_id IN :assignments")  # noqa: S608
        for table in ("answer", "questionnaire", "tutorial_answer")
    ),
]
_CHOSEN = _of(f"SELECT conversation_id, preference FROM choice WHERE conversation_id IN {_OWN}")  # noqa: S608
_ITEMS = _of(f"SELECT id, content FROM item WHERE source_conversation_id IN {_HEARD}")  # noqa: S608
_FORGET_EARLIER = _of(
    "DELETE FROM removal WHERE assignment_id IN :assignments AND (extent <> 'all' OR :extent = 'all')"
)
_NOTE = text(
    "INSERT INTO removal (assignment_id, extent, cause, at) VALUES (:assignment, :extent, :cause, :at) "
    "ON CONFLICT DO NOTHING"
).bindparams(bindparam("at", type_=RemovalTable.c.at.type))
# A stored analysis says of each worker whether they pass.
_RENAMED = text("UPDATE analysis SET content = replace(content, :old, :new)")
_HOLDINGS = text("""
    SELECT (SELECT count(*) FROM assignment WHERE worker_id = :worker),
           (SELECT count(*) FROM assignment WHERE worker_id = :worker AND status = 'active'),
           (SELECT count(*) FROM conversation JOIN assignment ON assignment.id = assignment_id
             WHERE worker_id = :worker AND started_at IS NOT NULL),
           (SELECT count(*) FROM turn JOIN conversation ON conversation.id = conversation_id
              JOIN assignment ON assignment.id = assignment_id
             WHERE worker_id = :worker AND author = 'worker'),
           (SELECT count(*) FROM rating JOIN conversation ON conversation.id = conversation_id
              JOIN assignment ON assignment.id = assignment_id WHERE worker_id = :worker),
           (SELECT count(*) FROM answer JOIN assignment ON assignment.id = assignment_id
             WHERE worker_id = :worker)""")
