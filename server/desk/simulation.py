"""What simulated workers may look up: how good they find the systems of their own assignment."""

from sqlalchemy import Connection, select

from server.db.models import Assignment, Conversation, Run, System, columns
from server.db.runs import find_run
from server.desk.responses import CriterionSigns, SimulatedBeliefs, SystemQuality
from server.errors import AssignmentNotFound, NotSimulated
from server.session.plan import QC
from server.study import parse_study

ASSIGNMENT = columns(Assignment)
CONVERSATION = columns(Conversation)
RUN = columns(Run)
SYSTEM = columns(System)


def beliefs(connection: Connection, assignment_id: str) -> SimulatedBeliefs:
    """Return how good a simulated worker finds each of its conversations, and what it should rate.

    Raises:
        AssignmentNotFound: there is no such assignment.
        NotSimulated: it is a person's, or the study has no `simulate` section.
    """
    joined = select(ASSIGNMENT.simulated, RUN.slug).join(Run, RUN.id == ASSIGNMENT.run_id)
    found = connection.execute(joined.where(ASSIGNMENT.id == assignment_id)).one_or_none()
    if found is None:
        raise AssignmentNotFound(f"there is no assignment `{assignment_id}`")
    study = parse_study(find_run(connection, found.slug).yaml)
    if not found.simulated or study.simulate is None:
        raise NotSimulated("this assignment is not a simulated one of a study with a `simulate` section")
    quality = dict(study.simulate.quality) | {QC: 0.0}
    query = (
        select(CONVERSATION.position, CONVERSATION.attempt, SYSTEM.name)
        .join(System, SYSTEM.id == CONVERSATION.system_id)
        .where(CONVERSATION.assignment_id == assignment_id)
        .order_by(CONVERSATION.position, CONVERSATION.attempt)
    )
    return SimulatedBeliefs(
        conversations=[
            SystemQuality(conversation=row.position, attempt=row.attempt, quality=quality[row.name])
            for row in connection.execute(query)
        ],
        criteria=[CriterionSigns(label=c.label, negative=c.negative, qc=c.qc) for c in study.criteria],
    )
