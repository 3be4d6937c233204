"""Read a run from the server's database, through its versioned views and nothing else.

The views `v1_…` are the contract with the server: text ids, flags as 0/1 or booleans, times as naive
UTC. A query is a snapshot, so the report of a run in progress does not mix two moments of it.
"""

import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pandas as pd
import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from qc.errors import DataError, Problem, RunChoiceError, SourceError, quoted
from qc.load.draft import (
    ASSIGNMENT_COLUMNS,
    CONVERSATION_COLUMNS,
    REPAIR,
    SYSTEM_COLUMNS,
    Draft,
    finish,
    joined,
    report_order,
)
from qc.load.speech import Change, Exchange, Speech, Topic
from qc.run import SIMULATED_NOTE, LeftOut, Run, Words

VIEWS_VERSION = 1
SCALE_MAXIMUM = 100.0
CONNECT_SECONDS = 10
_MAGIC = b"SQLite format 3\x00"

RUN = ("run_id", "run")
CRITERION = ("position", "label", "negative", "counts_for_qc")
SYSTEM = ("system", "family", "is_qc")
ASSIGNMENT = ("assignment_id", "worker", "simulated", "status", "agreed_at", "ended_at", "feedback")
CONVERSATION = ("assignment_id", "conversation_id", "position", "system", "has_persona", "persona", "status")
RATING = ("conversation_id", "criterion", "value")
TURN = ("conversation_id", "turn_index", "author", "text")
MARK = ("conversation_id", "ordinal", "round", "topic", "how", "opinion", "bot_opinion")

WORKER, BOT = "worker", "bot"

SIMULATED = "simulated worker"
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
    "persona",
    "topic",
}
NULLABLE = {"agreed_at", "ended_at", "feedback", "persona", "topic", "how", "opinion", "bot_opinion"}

_ROUND = re.compile("[0-9]{1,9}")
_FLAGS = {"0": False, "1": True, "false": False, "true": True, "f": False, "t": True}


def read(
    url: str,
    run: str | None = None,
    include_partial: bool = False,
    words: bool = True,
    criteria: pd.DataFrame | None = None,
) -> Run:
    """Return one run of the database at `url`.

    Args:
        url: an SQLAlchemy URL, SQLite or PostgreSQL.
        run: slug or id of the run; may be left out if the database holds only one.
        include_partial: whether assignments that were not completed take part, with what was rated.
        words: whether what was said is wanted.
        criteria: what is analysed instead of what the study declares.

    Raises:
        SourceError: it cannot be opened, or has no views of the version that we read.
        RunChoiceError: there are several runs and none was named, or the named one is not there.
        DataError: a value cannot be used.
        EmptyRunError: the run holds no rated conversation that takes part.
    """
    return _read(*_engine(url), _Wanted(run, include_partial, words, criteria))


def read_file(
    path: Path,
    run: str | None = None,
    include_partial: bool = False,
    words: bool = True,
    criteria: pd.DataFrame | None = None,
) -> Run:
    """Return one run of the SQLite database in the file `path`; arguments and errors as for `read`."""
    return _read(
        str(path), _sqlite_engine(str(path), str(path)), _Wanted(run, include_partial, words, criteria)
    )


@dataclass(frozen=True)
class _Wanted:
    """What is asked of a database; attributes as the arguments of `read`."""

    run: str | None
    include_partial: bool
    words: bool
    criteria: pd.DataFrame | None


def _read(source: str, engine: sa.Engine, wanted: _Wanted) -> Run:
    try:
        with _snapshot(source, engine) as connection:
            views = _Views(source, connection)
            views.require_version()
            return _run(views, wanted)
    finally:
        engine.dispose()


def _engine(text: str) -> tuple[str, sa.Engine]:
    """Return the URL without its password, for messages, and an engine that only reads."""
    try:
        url = sa.make_url(text)
    except (SQLAlchemyError, ValueError):
        raise SourceError(
            "What was given as SOURCE is no database URL. Write it like sqlite:///candor.db."
        ) from None
    source = url.render_as_string(hide_password=True)
    backend = url.get_backend_name()
    if backend == "sqlite":
        return source, _sqlite_engine(source, url.database)
    if backend in ("postgresql", "postgres"):
        return source, _postgres_engine(source, url)
    raise SourceError(
        f"{source}: databases of the kind {backend!r} are not read. Give sqlite:/// or postgresql://."
    )


def _sqlite_engine(source: str, database: str | None) -> sa.Engine:
    if not database or not Path(database).is_file():
        raise SourceError(
            f"{source}: there is no such database file. Check the path; a relative one has 3 slashes."
        )
    with Path(database).open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise SourceError(f"{source}: the file is not an SQLite database. Check the path.")
    # SQLAlchemy would create a missing file and open it for writing; the mode is ours to say.
    location = f"file:{quote(str(Path(database).resolve()))}?mode=ro"
    return sa.create_engine(
        "sqlite://", creator=lambda: sqlite3.connect(location, uri=True), poolclass=sa.pool.NullPool
    )


def _postgres_engine(source: str, url: sa.URL) -> sa.Engine:
    try:
        return sa.create_engine(
            url.set(drivername="postgresql+psycopg"),
            connect_args={"connect_timeout": CONNECT_SECONDS},
            isolation_level="REPEATABLE READ",
        )
    except ModuleNotFoundError:
        raise SourceError(
            f"{source}: the PostgreSQL driver is missing. Install it: pip install 'psycopg[binary]'"
        ) from None


@contextmanager
def _snapshot(source: str, engine: sa.Engine) -> Iterator[sa.Connection]:
    try:
        connection = engine.connect()
    except (SQLAlchemyError, OSError) as error:
        raise SourceError(
            f"{source}: no connection ({_reason(error)}). Check the URL and the server."
        ) from None
    with connection:
        if engine.dialect.name == "sqlite":
            # sqlite3 opens no transaction for a SELECT; without one each view is of another moment.
            connection.exec_driver_sql("BEGIN")
        yield connection


def _reason(error: Exception) -> str:
    cause = getattr(error, "orig", None) or error
    return str(cause).strip().splitlines()[0] if str(cause).strip() else type(cause).__name__


class _Views:
    """The views of one database, read as frames of objects."""

    def __init__(self, source: str, connection: sa.Connection) -> None:
        self.source = source
        self._connection = connection

    def require_version(self) -> None:
        """Raise SourceError unless the views are there and of the version that we read."""
        try:
            versions = self.rows("v1_version", ("version",))["version"].to_list()
        except SourceError:
            raise SourceError(
                f"{self.source}: this database has no view v1_version, so it is not Candor's or is older "
                "than this report. Check the URL, or start the server once to bring it up to date."
            ) from None
        if versions != [VIEWS_VERSION]:
            raise SourceError(
                f"{self.source}: the views are of version {joined([str(v) for v in versions]) or 'none'}, "
                f"this report reads version {VIEWS_VERSION}. Use a report and a server of the same release."
            )

    def rows(self, view: str, columns: Sequence[str], run_id: object = None) -> pd.DataFrame:
        """Return `columns` of `view`, of the run `run_id` if given.

        Raises:
            SourceError: the view or a column is not there, or the database cannot be read.
        """
        try:
            found = self._connection.execute(_query(view, columns, run_id)).all()
        except SQLAlchemyError as error:
            raise SourceError(
                f"{self.source}: the view {view} cannot be read ({_reason(error)}). "
                "Start the server once to bring the database up to date."
            ) from None
        frame = pd.DataFrame([tuple(row) for row in found], columns=list(columns), dtype=object)
        self._require_values(view, frame.drop(columns=list(NULLABLE), errors="ignore"))
        # SQLite keeps a value of any type in any column; names are compared and sorted as text.
        return frame.assign(**{name: _texts(frame[name]) for name in columns if name in TEXT})

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


def _texts(values: pd.Series) -> pd.Series:
    texts = values.map(str, na_action="ignore").astype(object)
    return texts.where(values.notna(), None)


def _query(view: str, columns: Sequence[str], run_id: object) -> sa.Executable:
    of_run = sa.true() if run_id is None else sa.column("run_id") == run_id
    return sa.select(*(sa.column(name) for name in columns)).select_from(sa.table(view)).where(of_run)


def _run(views: _Views, wanted: _Wanted) -> Run:
    run_id, name = _choose(views, wanted.run)
    problems: list[Problem] = []
    assignments = _assignments(views.rows("v1_assignment", ASSIGNMENT, run_id), problems)
    conversations = views.rows("v1_conversation", CONVERSATION, run_id)
    conversations = conversations.assign(where=_where("conversation", conversations["conversation_id"]))
    rated = conversations[conversations["status"] == "rated"]
    kept, left_out, notes = _taking_part(assignments, rated, wanted.include_partial)
    rated = rated[rated["assignment_id"].isin(kept["assignment_id"])].reset_index(drop=True)
    rated = rated.assign(
        position=_numbers(rated["position"], rated["where"].to_list(), "the position", problems).fillna(1),
        persona=rated["persona"].replace("", None),
    )
    criteria = _criteria(views.rows("v1_criterion", CRITERION, run_id), problems)
    draft = Draft(
        name=name,
        source=views.source,
        criteria=criteria,
        systems=_systems(views.rows("v1_system", SYSTEM, run_id), conversations, problems),
        assignments=_renamed(_paid(kept), ASSIGNMENT_COLUMNS),
        conversations=_renamed(rated, CONVERSATION_COLUMNS),
        ratings=_ratings(views.rows("v1_rating", RATING, run_id), rated, criteria["label"], problems),
        words=_words(views, run_id, rated, problems) if wanted.words else None,
        left_out=left_out,
        notes=(*notes, *_failures(conversations, left_out)),
        partial=wanted.include_partial,
    )
    return finish(draft, problems, wanted.criteria)


def _paid(assignments: pd.DataFrame) -> pd.DataFrame:
    """Return the assignments with the columns that the database has not, or calls otherwise."""
    feedback = assignments["feedback"].replace("", None)
    return assignments.assign(hit=assignments["assignment_id"], reward=np.nan, feedback=feedback)


def _words(views: _Views, run_id: object, rated: pd.DataFrame, problems: list[Problem]) -> Words | None:
    speech = Speech(problems)
    turns = _by_conversation(views.rows("v1_turn", TURN, run_id), "turn_index", problems)
    marks = _by_conversation(views.rows("v1_topic_mark", MARK, run_id), "ordinal", problems)
    for row, (name, where) in enumerate(zip(rated["conversation_id"], rated["where"], strict=True)):
        said = _exchanges(turns.get(name, []), where, problems)
        topics, changes = _marks(marks.get(name, []), where, problems)
        speech.add(row, where, said, topics, changes)
    return speech.words()


def _by_conversation(rows: pd.DataFrame, order: str, problems: list[Problem]) -> dict[str, list[Any]]:
    """Return the rows of each conversation, in order."""
    where = _where("conversation", rows["conversation_id"])
    place = _numbers(rows[order], where, order, problems)
    grouped: dict[str, list[Any]] = {}
    for row in rows.iloc[np.argsort(place, kind="stable")].itertuples():
        grouped.setdefault(str(row.conversation_id), []).append(row)
    return grouped


def _exchanges(turns: list[Any], where: str, problems: list[Problem]) -> list[Exchange]:
    """Return the worker's inputs, each with the bot's answer to it."""
    found: list[Exchange] = []
    for turn in turns:
        if turn.author == WORKER:
            found.append((len(found) + 1, turn.text, None))
        elif turn.author == BOT and found and found[-1][2] is None:
            found[-1] = (*found[-1][:2], turn.text)
        else:
            why = f"turn {turn.turn_index} of {quoted(turn.author)} does not answer an input."
            problems.append(Problem(where, why, REPAIR))
    return found


def _marks(marks: list[Any], where: str, problems: list[Problem]) -> tuple[list[Topic], list[Change]]:
    """Return the topics and the changes of topic; the first mark of a conversation is no change."""
    topics: list[Topic] = []
    changes: list[Change] = []
    for mark in marks:
        if not _ROUND.fullmatch(str(mark.round)):
            why = f"the round of a topic is {quoted(mark.round)}, which is no whole number from 0."
            problems.append(Problem(where, why, REPAIR))
            continue
        if mark.topic is not None:
            topics.append((int(mark.round), str(mark.topic), mark.opinion))
        if mark.how is not None:
            changes.append((int(mark.round), str(mark.how), mark.bot_opinion))
    return topics, changes


def _choose(views: _Views, wanted: str | None) -> tuple[object, str]:
    """Return the id, as the database has it, and the slug of the run that is `wanted`."""
    rows = views.rows("v1_run", RUN)
    runs = rows.assign(id_text=rows["run_id"].map(str)).sort_values(["run", "id_text"])
    names = joined(runs["run"].to_list())
    if runs.empty:
        raise RunChoiceError(f"{views.source}: the database holds no run yet. Start one first.")
    if wanted is None and len(runs) > 1:
        raise RunChoiceError(
            f"{views.source}: the database holds {len(runs)} runs. Choose one with --run: {names}."
        )
    chosen = runs if wanted is None else runs[(runs["run"] == wanted) | (runs["id_text"] == wanted)]
    if chosen.empty:
        raise RunChoiceError(f"{views.source}: there is no run {wanted!r}. The database holds: {names}.")
    if len(chosen) > 1:
        ids = joined(chosen["id_text"].to_list())
        raise RunChoiceError(
            f"{views.source}: several runs are called {wanted!r}. Name one by its id: {ids}."
        )
    return chosen["run_id"].iloc[0], chosen["run"].iloc[0]


def _where(kind: str, names: pd.Series) -> list[str]:
    return [f"{kind} {name}" for name in names]


def _renamed(frame: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    return frame.rename(columns={"assignment_id": "assignment", "conversation_id": "conversation"})[columns]


def _flags(values: pd.Series, where: Sequence[str], problems: list[Problem]) -> pd.Series:
    flags = values.map(lambda value: _FLAGS.get(str(value).lower()))
    for row in np.flatnonzero(flags.isna()).tolist():
        problems.append(
            Problem(where[row], f"{values.name} is {quoted(values.iloc[row])}, not 0 or 1.", REPAIR)
        )
    return flags.eq(True)


def _numbers(
    values: pd.Series, where: Sequence[str], what: Sequence[str] | str, problems: list[Problem]
) -> pd.Series:
    numbers = pd.to_numeric(values, errors="coerce").astype(np.float64)
    for row in np.flatnonzero(numbers.isna()).tolist():
        name = what if isinstance(what, str) else what[row]
        problems.append(
            Problem(where[row], f"{name} is {quoted(values.iloc[row])}, which is not a number.", REPAIR)
        )
    return numbers


def _times(values: pd.Series, where: Sequence[str], problems: list[Problem]) -> pd.Series:
    times = pd.to_datetime(values.map(str, na_action="ignore"), utc=True, format="ISO8601", errors="coerce")
    for row in np.flatnonzero(times.isna() & values.notna()).tolist():
        problems.append(
            Problem(where[row], f"{values.name} is {quoted(values.iloc[row])}, not a time.", REPAIR)
        )
    return times


def _assignments(rows: pd.DataFrame, problems: list[Problem]) -> pd.DataFrame:
    where = _where("assignment", rows["assignment_id"])
    worked = _times(rows["ended_at"], where, problems) - _times(rows["agreed_at"], where, problems)
    return rows.assign(
        where=where,
        simulated=_flags(rows["simulated"], where, problems),
        seconds=worked.dt.total_seconds(),
    )


def _criteria(rows: pd.DataFrame, problems: list[Problem]) -> pd.DataFrame:
    position = _numbers(rows["position"], _where("criterion", rows["label"]), "the position", problems)
    rows = rows.assign(position=position).sort_values("position", kind="stable", ignore_index=True)
    where = _where("criterion", rows["label"])
    return report_order(
        pd.DataFrame(
            {
                "label": rows["label"],
                "negative": _flags(rows["negative"], where, problems),
                "counts_for_qc": _flags(rows["counts_for_qc"], where, problems),
                "maximum": SCALE_MAXIMUM,
            }
        )
    )


def _systems(rows: pd.DataFrame, conversations: pd.DataFrame, problems: list[Problem]) -> pd.DataFrame:
    rows = rows.sort_values("system", ignore_index=True)
    is_qc = _flags(rows["is_qc"], _where("system", rows["system"]), problems)
    spoke = _flags(conversations["has_persona"], conversations["where"].to_list(), problems)
    # Every conversation has a persona to pick an ice-breaker from; has_persona says whether the bot knew it.
    with_persona = rows["system"].isin(conversations.loc[spoke, "system"]) & ~is_qc
    return rows.assign(is_qc=is_qc, has_persona=with_persona)[SYSTEM_COLUMNS]


def _taking_part(
    assignments: pd.DataFrame, rated: pd.DataFrame, include_partial: bool
) -> tuple[pd.DataFrame, tuple[LeftOut, ...], list[str]]:
    """Return the assignments that take part, those that do not, and what a reader must know of it."""
    reason = pd.Series("", index=assignments.index, dtype=object)
    reason[~assignments["assignment_id"].isin(rated["assignment_id"])] = "no rated conversation"
    if not include_partial:
        incomplete = assignments["status"] != "completed"
        reason[incomplete] = "not completed: " + assignments["status"]
    simulated = assignments["simulated"]
    # Somebody who only looked at the first page does not make it a run of real workers.
    real = bool((~simulated & (reason == "")).any())
    if real:
        reason[simulated] = SIMULATED
    out = assignments.assign(reason=reason)[reason != ""]
    left_out = tuple(
        LeftOut(str(row.assignment_id), str(row.worker), str(row.reason)) for row in out.itertuples()
    )
    return (
        assignments[reason == ""].reset_index(drop=True),
        left_out,
        _simulation_notes(int(simulated.sum()), real),
    )


def _simulation_notes(simulated: int, real: bool) -> list[str]:
    if not simulated:
        return []
    if real:
        return [f"{simulated} assignments of simulated workers are left out; the rest are of real ones."]
    return [SIMULATED_NOTE]


def _failures(conversations: pd.DataFrame, left_out: Sequence[LeftOut]) -> list[str]:
    simulated = {out.assignment for out in left_out if out.reason == SIMULATED}
    counted = (conversations["status"] == "failed") & ~conversations["assignment_id"].isin(simulated)
    failed = conversations.loc[counted, "system"].value_counts().sort_index()
    if failed.empty:
        return []
    counts = ", ".join(f"{system} {count}" for system, count in failed.items())
    return [f"Conversations that a system could not carry on, not in its scores: {counts}."]


def _ratings(
    rows: pd.DataFrame, rated: pd.DataFrame, labels: pd.Series, problems: list[Problem]
) -> pd.DataFrame:
    """Return the ratings as one row per conversation of `rated`, one column per criterion met."""
    rows = rows[rows["conversation_id"].isin(rated["conversation_id"])].reset_index(drop=True)
    where = _where("conversation", rows["conversation_id"])
    what = [f"the rating of {label!r}" for label in rows["criterion"]]
    values = _numbers(rows["value"], where, what, problems)
    again = rows.duplicated(["conversation_id", "criterion"])
    for row in np.flatnonzero(again).tolist():
        problems.append(Problem(where[row], f"{rows['criterion'].iloc[row]!r} is rated twice.", REPAIR))
    columns = labels.to_list() + sorted(set(rows["criterion"]) - set(labels))
    return _wide(rows[~again], values[~again], rated["conversation_id"], columns)


def _wide(
    rows: pd.DataFrame, values: pd.Series, conversations: pd.Series, columns: list[str]
) -> pd.DataFrame:
    table = np.full((len(conversations), len(columns)), np.nan)
    row = pd.Index(conversations).get_indexer(pd.Index(rows["conversation_id"]))
    table[row, pd.Index(columns).get_indexer(pd.Index(rows["criterion"]))] = values
    return pd.DataFrame(table, columns=columns)
