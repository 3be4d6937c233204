"""Load and check the items for a transcript study, from a file or from a run's conversations."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sqlalchemy import Connection, text

from server.db.runs.items import NewItem
from server.db.runs.runs import RunEntry, find_run
from server.errors import StudyInvalid
from server.items.bad_twins import bad_twins
from server.items.text_file import read_items
from server.session.item import ItemContent, ItemLine, ItemTopic
from server.session.plan import derive_seed
from server.session.protocol import MAX_EDIT
from server.study import Study


def read_conversations(connection: Connection, run: RunEntry) -> list[NewItem]:
    """Return the finished conversations of a run, without those with its QC bot, as items.

    They come from completed assignments, rated or left unrated: those of people, or those of simulated
    workers if no person has completed one, as in an export.

    Raises:
        StudyInvalid: There are none.
    """
    found = connection.execute(_FINISHED, {"run": run.id}).all()
    people = [row for row in found if not row.simulated]
    lines: dict[str, list[ItemLine]] = {}
    for conversation, author, said in connection.execute(_TURNS, {"run": run.id}):
        lines.setdefault(conversation, []).append(ItemLine(author=author, text=said))
    topics: dict[str, list[ItemTopic]] = {}
    for conversation, round_, topic in connection.execute(_TOPICS, {"run": run.id}):
        # A round is a message and its reply: two lines.
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


_ROOM_TO_IMPROVE = MAX_EDIT // 2  # the most characters of a text that workers may have to improve


def items_of(study: Study, connection: Connection | None, folder: Path = Path()) -> list[NewItem]:
    """Return the items of `study`, with bad twins if it asks for some; none if workers chat.

    Args:
        study: The study.
        connection: A connection to the database of the run whose conversations are rated; None if there is no
            database yet.
        folder: The folder for a relative path to an items file.

    Raises:
        RunNotFound: There is no run of that name.
        StudyInvalid: The items cannot be read, or do not fit the study.
    """
    if study.items is None:
        return []
    if study.items.file is not None:
        items = read_items(folder / study.items.file)
    elif connection is not None and study.items.run is not None:
        items = read_conversations(connection, find_run(connection, study.items.run))
    else:
        raise StudyInvalid("there is no database yet, and so no run whose conversations could be rated")
    _require_fit(study, items)
    return _with_bad_twins(study, items) if study.per_assignment.bad else items


def _require_fit(study: Study, items: Sequence[NewItem]) -> None:
    parts = study.per_assignment
    if len(items) < parts.ordinary:
        raise StudyInvalid(
            f"an assignment has {parts.ordinary} ordinary items, and there are only {len(items)}",
            "Give more items, or ask for fewer in `composition`.",
        )
    without = [item.name for item in items if "reference" not in item.forms]
    if parts.reference and without:
        raise StudyInvalid(
            f"{len(without)} items have no reference; the first is `{without[0]}`",
            "Give every item a `reference`, or ask for `reference: 0`.",
        )
    if study.post_edit is not None:
        _require_texts(items)
    if study.simulate is not None:
        unjudged = sorted({item.system for item in items} - set(study.simulate.quality))
        if unjudged:
            raise StudyInvalid(f"simulate: there is no quality for the system `{unjudged[0]}`")


def _require_texts(items: Sequence[NewItem]) -> None:
    for item in items:
        for content in item.forms.values():
            if content.text is None:
                raise StudyInvalid(
                    f"only texts can be improved, and the item `{item.name}` is a conversation",
                    "Leave `post_edit` out, or give texts.",
                )
            if len(content.text) > _ROOM_TO_IMPROVE:
                raise StudyInvalid(
                    f"the item `{item.name}` has {len(content.text)} characters, and a text that is to be "
                    f"improved has at most {_ROOM_TO_IMPROVE}",
                    "Shorten it, or leave `post_edit` out.",
                )


def _with_bad_twins(study: Study, items: Sequence[NewItem]) -> list[NewItem]:
    contents = {item.name: item.forms["ordinary"] for item in items}
    twins = bad_twins(contents, study.degradation, derive_seed("bad twins", study.name), study.language)
    return [replace(item, forms={**item.forms, "bad": twins[item.name]}) for item in items]
