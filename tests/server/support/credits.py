"""A run whose students come from SONA: one has the credit, one was refused, one was not asked for yet."""

from server.bots.lineup import OpenRun
from server.clock import utc_now
from server.db.engine import open_engine
from server.db.recruiting.credits import due_credits, store_credit
from server.db.writer import append_records
from server.live.arrive.enrolment import ArrivingWorker, enrol
from server.recruiters.arrival import Arrival, IdCipher
from server.recruiters.recruiter import SONA
from server.session.records import Closed, FeedbackGiven
from tests.server.support.database import make_run
from tests.server.support.server import ID_KEY
from tests.server.support.sona import STUDY
from tests.server.support.study import AT, study_text


def make_course(url: str) -> OpenRun:
    """Open the run in the database at `url`; the workers are called after what became of their credit."""
    run, ids = make_run(url, study_text(recruiter=STUDY | {"credit": "server"})), IdCipher([ID_KEY])
    at = utc_now()
    engine = open_engine(url, begin="BEGIN IMMEDIATE")
    with engine.begin() as connection:
        for name in ("granted", "refused", "late"):
            who = ArrivingWorker(Arrival(SONA, ids.encrypted(name)), f"W-{name}", False, 1.0)
            sat = enrol(connection, run, who, at)
            append_records(
                connection, sat.assignment, 0, [FeedbackGiven("", at, "f"), Closed("completed", at)], at
            )
        granted, refused, _ = due_credits(connection, SONA, run.id)
        store_credit(connection, granted, "granted", "", AT)
        store_credit(connection, refused, "refused", "SONA says: [no]", AT)
    engine.dispose()
    return run
