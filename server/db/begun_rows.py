"""An assignment that begins as rows of the database: its worker, itself, and that it is counted."""

from datetime import datetime
from typing import NamedTuple

from server.db.bulk import Bulk, Kind, Row
from server.db.run_counts import COUNT_BEGUN


class BegunAssignment(NamedTuple):
    """An assignment as it begins, under way at `at`.

    `platform` and `external_id`: the worker, as the database has them, or gets them with `pseudonym`.
    `simulated_as` is what the data say of who simulates; None where nobody does. `fence`: of its owner.
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


# In another run the same worker may arrive at the same moment, in another process.
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
BEGUN = (NEW_WORKER, NEW_ASSIGNMENT)  # as rows belong to each other


def begun_rows(begun: BegunAssignment) -> dict[Bulk, list[Row]]:
    """Return the rows of an assignment that begins, by the statement that writes them."""
    who, simulated = (begun.platform, begun.external_id), int(begun.simulated)
    row = (
        begun.id,
        begun.run,
        *who,
        begun.place,
        simulated,
        begun.reply_pace,
        begun.simulated_as,
        begun.at,
        begun.fence,
    )
    return {
        NEW_WORKER: [(*who, begun.pseudonym)],
        NEW_ASSIGNMENT: [row],
        COUNT_BEGUN: [(begun.run, simulated)],
    }
