"""Planned conversations as rows of the database, with what they show and what is counted of them."""

from server.db.bulk import Bulk, Kind, Row
from server.db.models import PERSONA_SEPARATOR
from server.db.pair_counts import COUNT_PAIRED
from server.db.plan_counts import COUNT_PLANNED
from server.session.records import ConversationPlanned

PLANNED = Bulk(
    """
    INSERT INTO conversation (id, assignment_id, position, attempt, seed, persona, icebreaker, scenario,
                              side, system_id, status)
    SELECT given.id, given.assignment_id, given.position, given.attempt, given.seed, given.persona,
           given.icebreaker, given.scenario, given.side, system.id, 'planned'
    FROM {rows} AS given
    LEFT JOIN assignment ON assignment.id = given.assignment_id
    LEFT JOIN run ON run.id = assignment.run_id
    LEFT JOIN system ON system.study_id = run.study_id AND system.name = given.system""",
    id=Kind.TEXT,
    assignment_id=Kind.TEXT,
    position=Kind.NUMBER,
    attempt=Kind.NUMBER,
    system=Kind.TEXT,
    seed=Kind.NUMBER,
    persona=Kind.TEXT,
    icebreaker=Kind.TEXT,
    scenario=Kind.TEXT,
    side=Kind.TEXT,
)
ITEM = Bulk(
    """
    INSERT INTO shown_item (conversation_id, item_id, kind, twin_of)
    SELECT given.conversation_id, item.id, given.kind, given.twin_of
    FROM {rows} AS given
    LEFT JOIN conversation ON conversation.id = given.conversation_id
    LEFT JOIN assignment ON assignment.id = conversation.assignment_id
    LEFT JOIN item
           ON item.run_id = assignment.run_id AND item.name = given.item AND item.form = given.form""",
    conversation_id=Kind.TEXT,
    item=Kind.TEXT,
    form=Kind.TEXT,
    kind=Kind.TEXT,
    twin_of=Kind.NUMBER,
)


def planned_rows(assignment_id: str, record: ConversationPlanned) -> list[tuple[Bulk, Row]]:
    """Return the rows of a conversation that is planned, each with its statement; what it shows, too."""
    planned = [(PLANNED, _planned_row(assignment_id, record)), (COUNT_PLANNED, (record.conversation,))]
    if record.side == "right":
        planned.append((COUNT_PAIRED, (record.conversation,)))
    item = record.item
    if item is None:
        return planned
    form = "ordinary" if item.kind == "repeat" else item.kind  # shown once more, as it was
    return [*planned, (ITEM, (record.conversation, item.item, form, item.kind, item.twin_of))]


def _planned_row(assignment_id: str, record: ConversationPlanned) -> Row:
    return (
        record.conversation,
        assignment_id,
        record.position,
        record.attempt,
        record.system,
        record.seed,
        PERSONA_SEPARATOR.join(record.persona),
        record.icebreaker,
        record.scenario,
        record.side,
    )
