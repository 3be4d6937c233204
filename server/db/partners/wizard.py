"""Store lines that wait for a researcher who answers in a chatbot's place, and the researchers' answers.

The first answer counts, whoever gives it, and none once a bot has taken over: both lock the run's row.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, String, bindparam, text

from server.db.partners import people
from server.db.partners.people import Found, begin_waiting, lock_run_of
from server.db.runs.runs import lock_run
from server.db.tables import WizardLineTable
from server.session.partner import ChatStanding, Reason


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


def find(connection: Connection, conversation: str, index: int) -> Found:
    """Return the state of the wait for line `index`."""
    row = connection.execute(_FIND, {"conversation": conversation, "index": index}).one()
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


def give_up(
    connection: Connection, conversation: str, index: int, why: Reason, bot: str, at: datetime
) -> bool:
    """Note that a bot takes over from line `index` on, if nobody has answered it; return whether it does."""
    lock_run_of(connection, conversation)
    if find(connection, conversation, index).standing.lines:
        return False
    return people.give_up(connection, conversation, index, why, bot, at)


def waiting(connection: Connection, run: int) -> list[WaitingLine]:
    """Return the lines of a run that wait for a researcher, the longest waiting first."""
    rows = connection.execute(_WAITING, {"run": run}).all()
    names = [row.conversation_id for row in rows]
    said: dict[str, list[tuple[str, str]]] = {name: [] for name in names}
    for turn in connection.execute(_SAID, {"conversations": names}):
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
_FIND = text("""
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
_SAID = text("""
    SELECT conversation_id, author, text FROM turn
    WHERE conversation_id IN :conversations ORDER BY conversation_id, turn_index""").bindparams(
    bindparam("conversations", expanding=True, type_=String)
)
