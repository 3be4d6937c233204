"""Items from a run: the conversations that its workers have finished with its systems."""

from sqlalchemy import Connection, text

from server.db.runs.items import NewItem
from server.db.runs.runs import RunEntry
from server.errors import StudyInvalid
from server.session.item import ItemContent, ItemLine, ItemTopic


def read_conversations(connection: Connection, run: RunEntry) -> list[NewItem]:
    """Return the finished conversations of a run, without those of its qc bot, as items.

    They are those of completed assignments, rated or left unrated; of people, or of simulated workers where
    nobody else has completed one, as in an export.

    Raises:
        StudyInvalid: there are none.
    """
    found = connection.execute(_FINISHED, {"run": run.id}).all()
    people = [row for row in found if not row.simulated]
    lines: dict[str, list[ItemLine]] = {}
    for conversation, author, said in connection.execute(_TURNS, {"run": run.id}):
        lines.setdefault(conversation, []).append(ItemLine(author=author, text=said))
    topics: dict[str, list[ItemTopic]] = {}
    for conversation, round_, topic in connection.execute(_TOPICS, {"run": run.id}):
        # A round is an input and its reply: two lines.
        topics.setdefault(conversation, []).append(ItemTopic(line=2 * round_, topic=topic))
    items = [
        NewItem(
            name=row.id,
            system=row.system,
            family=row.family,
            forms={"ordinary": ItemContent(lines=lines[row.id], topics=topics.get(row.id, ()))},
            conversation=row.id,
            bot=row.bot,
        )
        for row in people or found
        if row.id in lines
    ]
    if not items:
        raise StudyInvalid(
            f"the run `{run.slug}` has no finished conversations to rate",
            "Let workers take part in it first; simulated ones will do (candor crowd).",
        )
    return items


_FINISHED = text("""
    SELECT conversation.id, system.name AS system, system.family, bot.spec AS bot, assignment.simulated
    FROM conversation
    JOIN assignment ON assignment.id = conversation.assignment_id
    JOIN system ON system.id = conversation.system_id
    JOIN bot ON bot.id = system.bot_id
    WHERE assignment.run_id = :run AND assignment.status = 'completed' AND NOT system.is_qc
      AND conversation.status IN ('rated', 'unrated')
    ORDER BY assignment.created_at, assignment.id, conversation.position""")
_TURNS = text("""
    SELECT turn.conversation_id, turn.author, turn.text
    FROM turn
    JOIN conversation ON conversation.id = turn.conversation_id
    JOIN assignment ON assignment.id = conversation.assignment_id
    WHERE assignment.run_id = :run AND assignment.status = 'completed'
    ORDER BY turn.conversation_id, turn.turn_index""")
_TOPICS = text("""
    SELECT topic_mark.conversation_id, topic_mark.round, topic_mark.topic
    FROM topic_mark
    JOIN conversation ON conversation.id = topic_mark.conversation_id
    JOIN assignment ON assignment.id = conversation.assignment_id
    WHERE assignment.run_id = :run AND assignment.status = 'completed'
    ORDER BY topic_mark.conversation_id, topic_mark.ordinal""")
