"""Read all rows of a run's views, with the types of their columns, in a fixed order.

This is the interface to `qc` and other readers, as described in docs/analyst.md. New views and columns do not
change VERSION; a removed or redefined one does.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from sqlalchemy import Connection, text

from server.db.runs.runs import RunEntry

FORMAT = "candor-views"
VERSION = 1
AT_ONCE = 1_000  # rows held in memory

Kind = Literal["text", "integer", "number", "flag", "time"]
Row = dict[str, Any]

# The columns that order the rows of each view. They are unique, except for notes of the same moment, which
# are equal or differ in their text.
ORDER: dict[str, tuple[str, ...]] = {
    "v1_version": ("version",),
    "v1_run": ("run_id",),
    "v1_run_state": ("run_id",),
    "v1_criterion": ("position",),
    "v1_system": ("system",),
    "v1_question": ("part", "position"),
    "v1_assignment": ("assignment_id",),
    "v1_exclusion": ("assignment_id",),
    "v1_removal": ("assignment_id",),
    "v1_submission_pay": ("ordinal",),
    "v1_tutorial_answer": ("assignment_id", "ordinal"),
    "v1_conversation": ("assignment_id", "position", "attempt", "conversation_id"),
    "v1_simulated_conversation": ("conversation_id",),
    "v1_human_conversation": ("conversation_id",),
    "v1_scenario": ("conversation_id",),
    "v1_turn": ("conversation_id", "turn_index"),
    "v1_writing": ("conversation_id", "turn_index"),
    "v1_message_report": ("conversation_id", "turn_index", "ordinal"),
    "v1_moderated_line": ("conversation_id", "turn_index"),
    "v1_reply_output": ("conversation_id", "turn_index"),
    "v1_bot_call": ("conversation_id", "created_at", "turn_index", "tries"),
    "v1_wizard_line": ("conversation_id", "turn_index"),
    "v1_topic_mark": ("conversation_id", "ordinal"),
    "v1_note": ("conversation_id", "created_at", "kind", "text"),
    "v2_note": ("conversation_id", "created_at", "kind", "text"),
    "v1_rating": ("conversation_id", "criterion"),
    "v1_turn_rating": ("conversation_id", "turn_index"),
    "v1_choice": ("left_conversation_id", "turn_index"),
    "v1_quiz": ("conversation_id",),
    "v1_quiz_line": ("conversation_id", "choice"),
    "v1_answer": ("assignment_id", "ordinal"),
    "v1_item_rating": ("assignment_id", "position", "criterion"),
    "v1_item_edit": ("assignment_id", "position"),
}
# Columns that are not text, in any view; OF_A_VIEW has the exceptions of single views.
_KINDS: dict[Kind, tuple[str, ...]] = {
    "integer": (
        "version",
        "run_id",
        "position",
        "attempt",
        "turn_index",
        "ordinal",
        "round",
        "points",
        "pair",
        "choice",
        "twin_of",
        "tries",
        "tokens_in",
        "tokens_out",
        "typed",
        "composed",
        "pasted",
        "pastes",
        "away",
        "taken_over_from",
        "target_assignments",
        "target_conversations_per_system",
    ),
    "number": ("value", "number", "cost", "score", "seconds", "edit_share", "target_widest_interval"),
    "flag": (
        "negative",
        "counts_for_qc",
        "is_qc",
        "left_is_qc",
        "right_is_qc",
        "simulated",
        "has_persona",
        "overran",
        "is_right",
        "left_with_it",
        "flagged",
    ),
}
KINDS: dict[str, Kind] = {name: kind for kind, names in _KINDS.items() for name in names}
OF_A_VIEW: dict[tuple[str, str], Kind] = {
    ("v1_quiz", "choices"): "integer",
    ("v1_tutorial_answer", "question"): "integer",
    ("v1_tutorial_answer", "answer"): "integer",
}


def kind_of(view: str, column: str) -> Kind:
    """Return the type of a column's values that are not null."""
    if column.endswith("_at") or column == "waiting_since":
        return "time"
    if column.endswith(("_ms", "_cents")):
        return "integer"
    return OF_A_VIEW.get((view, column)) or KINDS.get(column, "text")


@dataclass(frozen=True, slots=True)
class ViewToExport:
    """A view of a run: its columns with their types, and the number of its rows."""

    name: str
    columns: dict[str, Kind]
    rows: int


def views_of(connection: Connection, run: RunEntry) -> list[ViewToExport]:
    """Return the views in the order of ORDER."""
    return [_view(connection, run, name) for name in ORDER]


def rows_of(connection: Connection, run: RunEntry, view: ViewToExport) -> Iterator[Sequence[Row]]:
    """Yield the rows of a view in order, in lists of AT_ONCE. Times are in UTC."""
    ordered = f"SELECT * {_of_run(view.name)} ORDER BY {', '.join(ORDER[view.name])}"
    query = text(ordered).execution_options(yield_per=AT_ONCE)
    for part in connection.execute(query, _bound(view.name, run)).mappings().partitions(AT_ONCE):
        yield [{name: _value(row[name], kind) for name, kind in view.columns.items()} for row in part]


def _view(connection: Connection, run: RunEntry, name: str) -> ViewToExport:
    bound = _bound(name, run)
    columns = connection.execute(text(f"SELECT * {_of_run(name)} LIMIT 0"), bound).keys()
    counted = connection.execute(text(f"SELECT count(*) {_of_run(name)}"), bound).scalar_one()
    return ViewToExport(name, {column: kind_of(name, column) for column in columns}, int(counted))


def _of_run(name: str) -> str:
    return f"FROM {name}" if name == "v1_version" else f"FROM {name} WHERE run_id = :run"


def _bound(name: str, run: RunEntry) -> dict[str, int]:
    return {} if name == "v1_version" else {"run": run.id}


def _value(value: Any, kind: Kind) -> Any:
    if value is None:
        return None
    if kind == "flag":  # SQLite has none
        return bool(value)
    if kind == "time":
        at = datetime.fromisoformat(value) if isinstance(value, str) else value
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    return value
