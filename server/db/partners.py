"""Store chats with a person in a bot's place: another worker, or a researcher (wizard) at the desk.

They say who waits, who is paired with whom, which lines wait for a researcher, and where a bot took over. The
database decides, whichever processes the workers are connected to: pairing, answering and giving up lock the
run's row on PostgreSQL, and SQLite has one writer. A decision of a process that was paused meanwhile is
refused if the line that it is about exists already. Of researchers' answers to a line the first one counts,
and none once a bot has taken over.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, String, bindparam, text

from server.db.runs.runs import lock_run
from server.db.tables import WizardLineTable
from server.session.partner import ChatStanding, Reason, heard


@dataclass(frozen=True, slots=True)
class Found:
    """The state of a chat with a person, the worker's messages so far, and who answered, if known."""

    standing: ChatStanding
    inputs: int
    by: str | None = None


def lock_run_of(connection: Connection, conversation: str) -> int:
    """Lock the run of a conversation until the transaction ends, and return its id."""
    run = int(connection.execute(_RUN_OF, {"conversation": conversation}).scalar_one())
    lock_run(connection, run)
    return run


def begin_waiting(connection: Connection, run: int, conversation: str, at: datetime) -> bool:
    """Note that a conversation of a run waits for a person; return False if that was noted before."""
    row = {"conversation": conversation, "run": run, "at": at}
    return connection.execute(_ENTER, row).rowcount == 1


def enter(connection: Connection, conversation: str, at: datetime, latest: datetime) -> str | None:
    """Note that a worker waits for a person; pair them with one who waits since `latest` or later.

    Args:
        connection: A transaction of the writer's.
        conversation: The conversation in which the worker has written the first line. Entering it again does
            nothing.
        at: The time now.
        latest: Workers who have waited longer than this are given up already, or soon will be.

    Returns:
        The conversation of the worker who waited; None if there is nobody.
    """
    run = lock_run_of(connection, conversation)
    if not begin_waiting(connection, run, conversation, at):
        return None
    named = {"conversation": conversation, "run": run, "latest": latest}
    first = connection.execute(_WAITS, named).scalar_one_or_none()
    if first is None:
        return None
    both = ((conversation, first, False), (first, conversation, True))
    for own, other, came_first in both:
        row = {"conversation": own, "partner": other, "came_first": came_first, "at": at}
        connection.execute(_PAIR, row)
    return str(first)


def find_partners(connection: Connection, conversations: Iterable[str]) -> Mapping[str, Found]:
    """Return the state of these chats, of those that were entered."""
    rows = connection.execute(_FIND_PARTNERS, {"conversations": tuple(conversations)}).all()
    partners = [row.partner_id for row in rows if row.partner_id is not None]
    said: dict[str, dict[int, str]] = {}
    for line in connection.execute(_SAID_BY_PARTNERS, {"conversations": partners}):
        said.setdefault(line.conversation_id, {})[line.turn_index] = line.text
    found = {}
    for row in rows:
        own = said.get(row.partner_id, {})
        lines = heard(own, came_first=bool(row.came_first), opening=own.get(0, ""))
        standing = ChatStanding(
            has_come=row.partner_id is not None,
            lines=lines,
            is_gone=row.partner_id is not None and not row.partner_is_there,
            taken_over=row.taken_over_by is not None,
        )
        found[row.conversation_id] = Found(standing, row.inputs)
    return found


def give_up_partner(
    connection: Connection, conversation: str, index: int, why: Reason, bot: str, at: datetime
) -> bool:
    """Note that a bot takes over from line number `index` on; return whether it does.

    It does not if the line, or the awaited person, has come meanwhile.
    """
    lock_run_of(connection, conversation)
    here = find_partners(connection, [conversation])[conversation].standing
    if here.taken_over or (here.lines and index in here.lines) or (why == "nobody_came" and here.has_come):
        return False
    row = {"conversation": conversation, "index": index, "why": why, "bot": bot, "at": at}
    return connection.execute(_GIVE_UP, row).rowcount == 1


_RUN_OF = text("""
    SELECT assignment.run_id FROM conversation JOIN assignment ON assignment.id = conversation.assignment_id
    WHERE conversation.id = :conversation""")
_ENTER = text("""
    INSERT INTO human_conversation (conversation_id, run_id, waiting_since)
    VALUES (:conversation, :run, :at) ON CONFLICT DO NOTHING""")
# Of those who wait for the same system in an active conversation, and are another worker: the longest
# waiting.
_WAITS = text("""
    SELECT waiting.conversation_id
    FROM human_conversation AS waiting
    JOIN conversation AS theirs ON theirs.id = waiting.conversation_id AND theirs.status = 'active'
    JOIN assignment AS their_assignment
      ON their_assignment.id = theirs.assignment_id AND their_assignment.status = 'active'
    JOIN conversation AS own ON own.id = :conversation AND own.system_id = theirs.system_id
    JOIN assignment AS own_assignment
      ON own_assignment.id = own.assignment_id AND own_assignment.simulated = their_assignment.simulated
     AND own_assignment.worker_id <> their_assignment.worker_id
    WHERE waiting.run_id = :run AND waiting.partner_id IS NULL
      AND waiting.taken_over_by IS NULL AND waiting.waiting_since >= :latest
    ORDER BY waiting.waiting_since, waiting.conversation_id LIMIT 1""")
_PAIR = text("""
    UPDATE human_conversation SET partner_id = :partner, came_first = :came_first, met_at = :at
    WHERE conversation_id = :conversation""")
# The type is needed for an empty list, which PostgreSQL takes for a list of numbers.
_FIND_PARTNERS = text("""
    SELECT here.conversation_id, here.partner_id, here.came_first, here.taken_over_by,
           theirs.status = 'active' AND their_assignment.status = 'active' AND there.taken_over_by IS NULL
               AS partner_is_there,
           (SELECT count(*) FROM turn
            WHERE turn.conversation_id = here.conversation_id AND turn.author = 'worker') AS inputs
    FROM human_conversation AS here
    LEFT JOIN human_conversation AS there ON there.conversation_id = here.partner_id
    LEFT JOIN conversation AS theirs ON theirs.id = here.partner_id
    LEFT JOIN assignment AS their_assignment ON their_assignment.id = theirs.assignment_id
    WHERE here.conversation_id IN :conversations""").bindparams(
    bindparam("conversations", expanding=True, type_=String)
)
_SAID_BY_PARTNERS = text("""
    SELECT conversation_id, turn_index, text FROM turn
    WHERE author = 'worker' AND conversation_id IN :conversations""").bindparams(
    bindparam("conversations", expanding=True, type_=String)
)
_GIVE_UP = text("""
    UPDATE human_conversation
    SET taken_over_by = :bot, taken_over_from = :index, taken_over_because = :why, taken_over_at = :at
    WHERE conversation_id = :conversation AND taken_over_by IS NULL
      AND NOT EXISTS (SELECT 1 FROM turn WHERE turn.conversation_id = :conversation
                      AND turn.turn_index >= :index)""")


@dataclass(frozen=True, slots=True)
class WaitingLine:
    """A line that a worker waits for: line `index` of their conversation, since `asked_at`.

    `persona`: the sentences of the persona to answer as. `turns`: author and text of the lines so far.
    """

    conversation: str
    index: int
    system: str
    asked_at: datetime
    persona: tuple[str, ...]
    turns: tuple[tuple[str, str], ...]


def ask(connection: Connection, conversation: str, index: int, at: datetime) -> None:
    """Note that a worker waits for line `index`; asking again does nothing."""
    run = lock_run_of(connection, conversation)
    begin_waiting(connection, run, conversation, at)
    connection.execute(_ASK, {"conversation": conversation, "index": index, "at": at})


def find_wizard(connection: Connection, conversation: str, index: int) -> Found:
    """Return the state of the wait for line `index`."""
    row = connection.execute(_FIND_LINE, {"conversation": conversation, "index": index}).one()
    lines = {} if row.text is None else {index: str(row.text)}
    taken_over = row.taken_over_by is not None
    return Found(ChatStanding(has_come=True, lines=lines, taken_over=taken_over), row.inputs, row.answered_by)


def answer(
    connection: Connection, run: int, conversation: str, index: int, said: str, by: str, at: datetime
) -> bool:
    """Store a researcher's answer; return False if the line does not wait any more.

    The same answer sent again by the same researcher, who did not hear that it was stored, returns True and
    stores nothing.
    """
    lock_run(connection, run)
    given = connection.execute(_ANSWERED, {"run": run, "conversation": conversation, "index": index}).first()
    if given is not None and (given.text, given.answered_by) == (said, by):
        return True
    if not any((line.conversation, line.index) == (conversation, index) for line in waiting(connection, run)):
        return False
    row = {"conversation": conversation, "index": index, "said": said, "by": by, "at": at}
    connection.execute(_ANSWER, row)
    return True


def give_up_wizard(
    connection: Connection, conversation: str, index: int, why: Reason, bot: str, at: datetime
) -> bool:
    """Note that a bot takes over from line `index` on, if nobody has answered it; return whether it does."""
    lock_run_of(connection, conversation)
    if find_wizard(connection, conversation, index).standing.lines:
        return False
    return give_up_partner(connection, conversation, index, why, bot, at)


def waiting(connection: Connection, run: int) -> list[WaitingLine]:
    """Return the lines of a run that wait for a researcher, the longest waiting first."""
    rows = connection.execute(_WAITING, {"run": run}).all()
    names = [row.conversation_id for row in rows]
    said: dict[str, list[tuple[str, str]]] = {name: [] for name in names}
    for turn in connection.execute(_TURNS, {"conversations": names}):
        said[turn.conversation_id].append((turn.author, turn.text))
    return [
        WaitingLine(
            row.conversation_id,
            row.turn_index,
            row.system,
            row.asked_at,
            tuple(row.persona.splitlines()),
            tuple(said[row.conversation_id]),
        )
        for row in rows
    ]


_ASK = text("""
    INSERT INTO wizard_line (conversation_id, turn_index, asked_at)
    VALUES (:conversation, :index, :at) ON CONFLICT DO NOTHING""")
_FIND_LINE = text("""
    SELECT wizard_line.text, wizard_line.answered_by, human_conversation.taken_over_by,
           (SELECT count(*) FROM turn
            WHERE turn.conversation_id = wizard_line.conversation_id AND turn.author = 'worker') AS inputs
    FROM wizard_line JOIN human_conversation USING (conversation_id)
    WHERE conversation_id = :conversation AND turn_index = :index""")
# Lines without an answer, which no bot has taken over, and whose worker is still in the conversation.
_WAITING = text("""
    SELECT wizard_line.conversation_id, wizard_line.turn_index, wizard_line.asked_at, conversation.persona,
           system.name AS system
    FROM wizard_line
    JOIN human_conversation AS here ON here.conversation_id = wizard_line.conversation_id
    JOIN conversation ON conversation.id = wizard_line.conversation_id AND conversation.status = 'active'
    JOIN assignment ON assignment.id = conversation.assignment_id AND assignment.status = 'active'
    JOIN system ON system.id = conversation.system_id
    WHERE here.run_id = :run AND wizard_line.text IS NULL AND here.taken_over_by IS NULL
      AND NOT EXISTS (SELECT 1 FROM turn WHERE turn.conversation_id = wizard_line.conversation_id
                      AND turn.turn_index >= wizard_line.turn_index)
    ORDER BY wizard_line.asked_at, wizard_line.conversation_id""").columns(
    asked_at=WizardLineTable.c.asked_at.type
)
_ANSWERED = text("""
    SELECT wizard_line.text, wizard_line.answered_by
    FROM wizard_line JOIN human_conversation USING (conversation_id)
    WHERE run_id = :run AND conversation_id = :conversation AND turn_index = :index""")
_ANSWER = text("""
    UPDATE wizard_line SET text = :said, answered_by = :by, answered_at = :at
    WHERE conversation_id = :conversation AND turn_index = :index""")
_TURNS = text("""
    SELECT conversation_id, author, text FROM turn
    WHERE conversation_id IN :conversations ORDER BY conversation_id, turn_index""").bindparams(
    bindparam("conversations", expanding=True, type_=String)
)
