"""Views of the server's database: the columns that we read, their version, and their values."""

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from qc.errors import DataError, Problem, SourceError, joined, quoted
from qc.loading.raw_run import row_problems
from qc.run import OF_AN_INPUT, RATING_PROBABILITY

VIEWS_VERSION = 1

RUN = ("run_id", "run")
CRITERION = ("position", "label", "negative", "counts_for_qc")
SYSTEM = ("system", "family", "is_qc")
ASSIGNMENT = ("assignment_id", "worker", "simulated", "status", "agreed_at", "ended_at", "feedback")
CONVERSATION = ("assignment_id", "conversation_id", "position", "system", "has_persona", "persona", "status")
# Columns of `v1_conversation` that nothing here needs; any other one is a fact, which is carried along.
# Facts that only conversations in place of an item have.
OF_ITEMS = (RATING_PROBABILITY,)
NOT_READ = ("run_id", "attempt", "family", "is_qc", "started_at", "ended_at", "rated_at")
RATING = ("conversation_id", "criterion", "value")
TURN = ("conversation_id", "turn_index", "author", "text")
SHOWN = ("conversation_id", "turn_index", "author", "created_at", "show_at")
QUESTION = ("part", "position", "label", "kind", "question", "choices", "points")
ANSWER = (
    "assignment_id",
    "conversation_id",
    "system",
    "part",
    "label",
    "ordinal",
    "text",
    "number",
)
MARK = ("conversation_id", "ordinal", "round", "topic", "how", "opinion", "bot_opinion")
ITEM_RATING = (
    "assignment_id",
    "position",
    "item_id",
    "source_conversation_id",
    "system",
    "family",
    "kind",
    "twin_of",
    "criterion",
    "value",
)
CHOICE = (
    "assignment_id",
    "worker",
    "pair",
    "left_system",
    "right_system",
    "turn_index",
    "preference",
    "left_conversation_id",
    "right_conversation_id",
    "chosen_at",
)
RUN_STATE = (
    "status",
    "cause",
    "reason",
    "target_assignments",
    "target_conversations_per_system",
    "target_widest_interval",
)
BOT_CALL = (
    "conversation_id",
    "system",
    "failure",
    "model",
    "revision",
    "prompt_hash",
    "sampling",
    "tokens_in",
    "tokens_out",
    "cost",
    "replica",
    "queued_ms",
    "computed_ms",
    "created_at",
)
EXCLUSION = ("assignment_id", "reason")
SCENARIO = ("conversation_id", "scenario")
TURN_RATING = ("conversation_id", "turn_index", "value")
QUIZ = ("conversation_id", "choices", "why_not", "is_right")
WRITING = ("conversation_id", *OF_AN_INPUT)
ITEM = ("item_id", "form", "system", "content")
ITEM_EDIT = ("assignment_id", "position", "edit_share")

TEXT = {
    "run",
    "label",
    "system",
    "family",
    "assignment_id",
    "worker",
    "status",
    "conversation_id",
    "criterion",
    "author",
    "text",
    "feedback",
    "kind",
    "failure",
    "persona",
    "topic",
    "task",
    "item_id",
    "form",
    "content",
    "source_conversation_id",
    "left_system",
    "right_system",
    "left_conversation_id",
    "right_conversation_id",
    "preference",
    "reason",
    "cause",
    "scenario",
    "why_not",
    "about",
}
NULLABLE = {
    "why_not",
    "is_right",
    "agreed_at",
    "ended_at",
    "feedback",
    "persona",
    "topic",
    "how",
    "opinion",
    "bot_opinion",
    "failure",
    "flagged",
    "source_conversation_id",
    "twin_of",
    "edit_share",
}


def reason(error: Exception) -> str:
    """Return the first line of a driver's error message."""
    cause = getattr(error, "orig", None) or error
    return str(cause).strip().splitlines()[0] if str(cause).strip() else type(cause).__name__


class Views:
    """The views of one database, read as data frames of objects."""

    def __init__(self, source: str, connection: sa.Connection) -> None:
        self.source = source
        self._connection = connection

    def require_version(self) -> None:
        """Raise SourceError unless the views exist and have the supported version."""
        try:
            versions = self.rows("v1_version", ("version",))["version"].to_list()
        except SourceError:
            raise SourceError(
                f"{self.source}: this database has no view v1_version, so it is not Candor's or is older "
                "than this report. Check the URL, or start the server once to bring it up to date."
            ) from None
        if versions != [VIEWS_VERSION]:
            raise SourceError(
                f"{self.source}: the views have version {joined([str(v) for v in versions]) or 'none'}, "
                f"this report reads version {VIEWS_VERSION}. Use a report and a server of the same release."
            )

    def has(self, view: str) -> bool:
        """Return whether the database has `view`."""
        return view in sa.inspect(self._connection).get_view_names()

    def columns(self, view: str) -> frozenset[str]:
        """Return the names of the columns of `view`, which must exist."""
        return frozenset(column["name"] for column in sa.inspect(self._connection).get_columns(view))

    def counts(self, view: str, columns: Sequence[str], run_id: object) -> pd.DataFrame:
        """Return each combination of `columns` in `view` for the run `run_id`, with its number of rows `n`.

        Raises:
            SourceError: as `rows`.
        """
        query = _query(view, columns, run_id).add_columns(sa.func.count().label("n"))
        return self._frame(view, query.group_by(*map(sa.column, columns)))

    def rows(
        self, view: str, columns: Sequence[str], run_id: object = None, optional: Sequence[str] = ()
    ) -> pd.DataFrame:
        """Return `columns` of `view`, for the run `run_id` if given; `optional` columns may be empty.

        Raises:
            SourceError: the view or a column does not exist, or the database cannot be read.
        """
        return self._frame(view, _query(view, columns, run_id), optional)

    def of_conversations(
        self, view: str, columns: Sequence[str], run_id: object, rated: pd.DataFrame
    ) -> pd.DataFrame | None:
        """Return `columns` of `view` for the conversations of `rated`.

        The column `conversation` is added: the row number in `rated`. Return None if the run has no rows in
        the view, or the database is older than the view. Raises SourceError.
        """
        if not self.has(view):
            return None
        found = self.rows(view, columns, run_id)
        if found.empty:
            return None
        row = pd.Index(rated["conversation_id"]).get_indexer(found["conversation_id"])
        theirs: pd.DataFrame = found.assign(conversation=row)[row >= 0].reset_index(drop=True)
        return theirs

    def _frame(self, view: str, query: sa.Executable, optional: Sequence[str] = ()) -> pd.DataFrame:
        try:
            found = self._connection.execute(query)
            frame = pd.DataFrame(map(tuple, found), columns=list(found.keys()), dtype=object)
        except SQLAlchemyError as error:
            raise SourceError(
                f"{self.source}: the view {view} cannot be read ({reason(error)}). "
                "Start the server once to bring the database up to date."
            ) from None
        self._require_values(view, frame.drop(columns=[*NULLABLE, *optional], errors="ignore"))
        # SQLite can store any type in any column; names are compared and sorted as text.
        return frame.assign(**{name: _texts(frame[name]) for name in frame if name in TEXT})

    def _require_values(self, view: str, frame: pd.DataFrame) -> None:
        empty = frame.isna().sum()
        problems = [
            Problem(
                f"view {view}", f"the column {column!r} is empty in {count} rows.", "Repair the database."
            )
            for column, count in empty[empty > 0].items()
        ]
        if problems:
            raise DataError(self.source, problems)


Task = Literal["chat", "transcripts", "side_by_side"]
_TASKS: tuple[Task, ...] = get_args(Task)


def task_of(views: Views, run_id: object) -> Task:
    """Return the task of a run's workers; in older databases, which do not say, they chat.

    Raises:
        SourceError: the view cannot be read, or this program does not know the task.
    """
    if "task" not in views.columns("v1_run"):
        return "chat"
    named = views.rows("v1_run", ("task",), run_id)["task"].to_list()
    known = [task for task in _TASKS if named == [task]]
    if not known:
        raise SourceError(
            f"{views.source}: this program does not know the task {joined(named)} of the run. "
            "Install a newer release of Candor."
        )
    return known[0]


def _texts(values: pd.Series) -> pd.Series:
    texts = values.map(str, na_action="ignore").astype(object)
    return texts.where(values.notna(), None)


def _query(view: str, columns: Sequence[str], run_id: object) -> "sa.Select[*tuple[Any, ...]]":
    chosen: list[sa.ColumnElement[object]] = [sa.column(name) for name in columns]
    of_run = sa.true() if run_id is None else sa.column("run_id") == run_id
    return sa.select(*chosen).select_from(sa.table(view)).where(of_run)


_FLAGS = {"0": False, "1": True, "false": False, "true": True, "f": False, "t": True}


def located(kind: str, names: pd.Series) -> pd.Series:
    """Return the location of each of `names`, worded for a problem."""
    return f"{kind} " + names


def flags(values: pd.Series, where: pd.Series, problems: list[Problem]) -> pd.Series:
    """Return `values` as booleans; False for an invalid value."""
    given = values.map(lambda value: _FLAGS.get(str(value).lower()))
    problems += row_problems(
        given.isna(), where, lambda row: f"{values.name} is {quoted(values.iloc[row])}, not 0 or 1."
    )
    return given.eq(True)


def numbers(
    values: pd.Series, where: pd.Series, what: Sequence[str] | str, problems: list[Problem]
) -> pd.Series:
    """Return `values` as floats, NaN for an invalid value; `what` names them in messages."""
    found = pd.to_numeric(values, errors="coerce").astype(np.float64)

    def why(row: int) -> str:
        name = what if isinstance(what, str) else what[row]
        return f"{name} is {quoted(values.iloc[row])}, which is not a number."

    problems += row_problems(found.isna(), where, why)
    return found


def times(values: pd.Series, where: pd.Series, problems: list[Problem]) -> pd.Series:
    """Return `values` as times in UTC; NaT for a missing or invalid value."""
    found = pd.to_datetime(values.map(str, na_action="ignore"), utc=True, format="ISO8601", errors="coerce")
    problems += row_problems(
        found.isna() & values.notna(),
        where,
        lambda row: f"{values.name} is {quoted(values.iloc[row])}, not a time.",
    )
    return found
