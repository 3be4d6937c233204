"""Convert an assignment that begins, and its planned conversations, to rows."""

from datetime import datetime
from typing import NamedTuple

from server.db.bulk import Bulk, Kind, Row, RowFor
from server.db.counts import COUNT_BEGUN, COUNT_PAIRED, COUNT_PLANNED
from server.db.tables import PERSONA_SEPARATOR
from server.session.records import ConversationPlanned, PlannedItem

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


def planned_rows(assignment_id: str, record: ConversationPlanned) -> list[RowFor]:
    """Return the rows of a planned conversation, and of its item, each with its statement."""
    conversation = PLANNED.row(
        id=record.conversation,
        assignment_id=assignment_id,
        position=record.position,
        attempt=record.attempt,
        system=record.system,
        seed=record.seed,
        persona=PERSONA_SEPARATOR.join(record.persona),
        icebreaker=record.icebreaker,
        scenario=record.scenario,
        side=record.side,
    )
    planned = [conversation, (COUNT_PLANNED, (record.conversation,))]
    if record.side == "right":
        planned.append((COUNT_PAIRED, (record.conversation,)))
    if record.item is not None:
        planned.append(_item_row(record.conversation, record.item))
    return planned


def _item_row(conversation: str, item: PlannedItem) -> RowFor:
    return ITEM.row(
        conversation_id=conversation,
        item=item.item,
        form="ordinary" if item.kind == "repeat" else item.kind,  # a repeat has the ordinary item's content
        kind=item.kind,
        twin_of=item.twin_of,
    )


class BegunAssignment(NamedTuple):
    """A new assignment, active from `at` on.

    `platform` and `external_id` are the worker's, as the database has them or stores them with `pseudonym`.
    `simulated_as` describes a simulated worker; None for people. `fence` is the owner's.
    """

    id: str
    run: int
    platform: str
    external_id: str
    pseudonym: str
    place: int
    simulated: bool
    reply_pace: float
    simulated_as: str | None
    at: datetime
    fence: int


# The same worker may arrive in another run at the same moment, in another process; hence ON CONFLICT.
NEW_WORKER = Bulk(
    """
    INSERT INTO worker (platform, external_id, pseudonym)
    SELECT given.platform, given.external_id, given.pseudonym FROM {rows} AS given WHERE true
    ON CONFLICT DO NOTHING""",
    platform=Kind.TEXT,
    external_id=Kind.TEXT,
    pseudonym=Kind.TEXT,
)
NEW_ASSIGNMENT = Bulk(
    """
    INSERT INTO assignment (id, run_id, worker_id, place, simulated, reply_pace, simulated_as, status,
                            created_at, active_at, fence)
    SELECT given.id, given.run, worker.id, given.place, given.simulated = 1, given.reply_pace,
           given.simulated_as, 'active', given.at, given.at, given.fence
    FROM {rows} AS given
    LEFT JOIN worker ON worker.platform = given.platform AND worker.external_id = given.external_id""",
    id=Kind.TEXT,
    run=Kind.NUMBER,
    platform=Kind.TEXT,
    external_id=Kind.TEXT,
    place=Kind.NUMBER,
    simulated=Kind.NUMBER,
    reply_pace=Kind.REAL,
    simulated_as=Kind.TEXT,
    at=Kind.TIME,
    fence=Kind.NUMBER,
)
BEGUN = (NEW_WORKER, NEW_ASSIGNMENT)  # in this order, because of the foreign key


def begun_rows(begun: BegunAssignment) -> dict[Bulk, list[Row]]:
    """Return the rows of a new assignment, by the statement that writes them."""
    simulated = int(begun.simulated)
    rows = [
        NEW_WORKER.row(platform=begun.platform, external_id=begun.external_id, pseudonym=begun.pseudonym),
        NEW_ASSIGNMENT.row(
            id=begun.id,
            run=begun.run,
            platform=begun.platform,
            external_id=begun.external_id,
            place=begun.place,
            simulated=simulated,
            reply_pace=begun.reply_pace,
            simulated_as=begun.simulated_as,
            at=begun.at,
            fence=begun.fence,
        ),
        (COUNT_BEGUN, (begun.run, simulated)),
    ]
    return {statement: [row] for statement, row in rows}
