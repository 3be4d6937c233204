"""Store interim analyses of runs: which runs are due, and the results."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, func, select, text

from server.db.tables import AnalysisPointTable, AnalysisTable, AssignmentTable, ConversationTable, RunTable

_STORE = text("""
    INSERT INTO analysis (run_id, at, basis, content) VALUES (:run, :at, :basis, :content)
    ON CONFLICT (run_id) DO UPDATE SET at = :at, basis = :basis, content = :content""").bindparams(
    bindparam("at", type_=AnalysisTable.c["at"].type)
)

_STORE_POINT = text("""
    INSERT INTO analysis_point (run_id, ratings, scores) VALUES (:run, :ratings, :scores)
    ON CONFLICT (run_id, ratings) DO UPDATE SET scores = :scores""")


def find_analysis(connection: Connection, run_id: int) -> Mapping[str, Any] | None:
    """Return the newest analysis of a run, as `qc.precision.watch` printed it; None if there is none."""
    content = connection.execute(
        select(AnalysisTable.c.content).where(AnalysisTable.c.run_id == run_id)
    ).scalar_one_or_none()
    if content is None:
        return None
    found: Mapping[str, Any] = json.loads(content)
    return found


def store_analysis(connection: Connection, run_id: int, at: datetime, basis: str, content: str) -> None:
    """Store an analysis in place of the one before.

    Args:
        connection: A transaction.
        run_id: The run's id.
        at: When the analysis was made.
        basis: The run's basis before the analysis, as `outdated` returned it.
        content: The analysis, as JSON.
    """
    values = {"run": run_id, "at": at, "basis": basis, "content": content}
    connection.execute(_STORE, values)
    found = json.loads(content)
    point = {"run": run_id, "ratings": found["ratings"], "scores": json.dumps(found["scores"])}
    connection.execute(_STORE_POINT, point)


def find_points(connection: Connection, run_id: int, most: int) -> list[tuple[int, list[Mapping[str, Any]]]]:
    """Return the history of a run's scores: the number of ratings at each analysis, and the scores then.

    Args:
        connection: Any transaction.
        run_id: The run's id.
        most: The most points to return; of more points, some at about equal distances, including the last.
    """
    of_run = AnalysisPointTable.c.run_id == run_id
    looks = connection.execute(
        select(AnalysisPointTable.c.ratings).where(of_run).order_by(AnalysisPointTable.c.ratings.desc())
    )
    last_first = list(looks.scalars())
    kept = last_first[:: max(-(-len(last_first) // most), 1)]
    query = (
        select(AnalysisPointTable.c.ratings, AnalysisPointTable.c.scores)
        .where(of_run, AnalysisPointTable.c.ratings.in_(kept))
        .order_by(AnalysisPointTable.c.ratings)
    )
    return [(row.ratings, json.loads(row.scores)) for row in connection.execute(query)]


def last_heard(connection: Connection) -> dict[int, datetime]:
    """Return the time of the last activity of workers in each run that has any, by the run's id."""
    query = select(AssignmentTable.c.run_id, func.max(AssignmentTable.c.active_at).label("at")).group_by(
        AssignmentTable.c.run_id
    )
    return {row.run_id: row.at for row in connection.execute(query)}


def outdated(connection: Connection, run_id: int) -> tuple[str, str] | None:
    """Return a run's name and the basis for an analysis; None if it was analysed on that basis.

    Conversations side by side do not count: a choice between two is no rating, and is not analysed here.
    """
    rated = (
        select(func.count())
        .select_from(ConversationTable)
        .join(AssignmentTable, AssignmentTable.c.id == ConversationTable.c.assignment_id)
        .where(
            AssignmentTable.c.run_id == run_id,
            ConversationTable.c.status == "rated",
            ConversationTable.c.side.is_(None),
        )
    )
    standing = (
        select(AssignmentTable.c.status, func.count())
        .where(AssignmentTable.c.run_id == run_id)
        .group_by(AssignmentTable.c.status)
        .order_by(AssignmentTable.c.status)
    )
    counts = " ".join(f"{status}={count}" for status, count in connection.execute(standing))
    basis = f"rated={connection.execute(rated).scalar_one()} {counts}"
    of_run = select(RunTable.c.slug, AnalysisTable.c.basis).outerjoin(
        AnalysisTable, AnalysisTable.c.run_id == RunTable.c.id
    )
    slug, known = connection.execute(of_run.where(RunTable.c.id == run_id)).one()
    return None if known == basis or basis.startswith("rated=0 ") else (slug, basis)
