"""Write all rows of a run's views to a file: JSON Lines, or an archive of Parquet or CSV tables.

All formats begin with the same header, a JSON object with the format and its version, the run, and each
view's columns and number of rows. It is the first line of JSON Lines, and `header.json` in an archive. Files
contain no time of writing: the same run gives the same bytes.

This is the interface to `qc` and other readers, as docs/reference/data-formats.md describes it. New views and
columns do not change VERSION; a removed or redefined one does.
"""

import json
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from tempfile import TemporaryFile
from typing import IO, Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq
from sqlalchemy import Connection, text

from candor.common.spreadsheet import harmless
from server.db.runs.runs import RunEntry
from server.db.views import FACTS, Kind
from server.export.completed import shown_time, typed
from server.study import parse_study

FORMAT = "candor-views"
VERSION = 1
AT_ONCE = 1_000  # rows held in memory

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class DescribedView:
    """A view in exports: its rows in words, and the columns that order them.

    The columns are unique, except for notes of the same moment, which are equal or differ in their text.
    """

    about: str
    order: tuple[str, ...]


VIEWS: dict[str, DescribedView] = {
    "v1_version": DescribedView("The version of the views.", ("version",)),
    "v1_run": DescribedView(
        "The run: its study, status, task and kind (`study`, or `rehearsal`, in which all workers are "
        "simulated).",
        ("run_id",),
    ),
    "v1_run_state": DescribedView(
        "The run's status with its cause (`researcher`, `target` or `budget`) and reason, and its "
        "target, if it has one.",
        ("run_id",),
    ),
    "v1_criterion": DescribedView("The statements that workers rate.", ("position",)),
    "v1_system": DescribedView("The systems that are compared, and the QC bot (`is_qc`).", ("system",)),
    "v1_question": DescribedView(
        "The study's own questions. `choices` has one choice a line.",
        ("part", "position"),
    ),
    "v1_assignment": DescribedView(
        "Every worker who took a slot, with the version of the consent and the boxes that were ticked.",
        ("assignment_id",),
    ),
    "v1_exclusion": DescribedView(
        "Assignments that researchers exclude from every analysis, with the reason.",
        ("assignment_id",),
    ),
    "v1_removal": DescribedView(
        "Assignments whose texts, or all data, were removed, with the cause.",
        ("assignment_id",),
    ),
    "v1_submission_pay": DescribedView(
        "Pay of every submission on a platform, in cents. Amounts that are unknown are null.",
        ("ordinal",),
    ),
    "v1_tutorial_answer": DescribedView("Answers to the test questions.", ("assignment_id", "ordinal")),
    "v1_conversation": DescribedView(
        "Every conversation, pair or item of an assignment, also unfinished and unrated ones. "
        "`rating_probability` is null if all items are rated.",
        ("assignment_id", "position", "attempt", "conversation_id"),
    ),
    "v1_simulated_conversation": DescribedView(
        "Conversations of simulated workers. `simulated_as` describes the simulation.",
        ("conversation_id",),
    ),
    "v1_human_conversation": DescribedView(
        "Conversations with another worker. A bot has answered from line `taken_over_from` on, "
        "because `nobody_came`, or the person was `silent` or had `left`.",
        ("conversation_id",),
    ),
    "v1_scenario": DescribedView("The scenario of each conversation that has one.", ("conversation_id",)),
    "v1_turn": DescribedView(
        "Every message and reply, with the call of the bot that gave the reply. `overran`: the bot "
        "took longer than the delay drawn for the reply.",
        ("conversation_id", "turn_index"),
    ),
    "v1_writing": DescribedView(
        "Counts of how messages were written, in studies with `records_writing`.",
        ("conversation_id", "turn_index"),
    ),
    "v1_message_report": DescribedView(
        "Messages that workers have reported, including reports that were taken back.",
        ("conversation_id", "turn_index", "ordinal"),
    ),
    "v1_moderated_line": DescribedView(
        "Results of the moderation service. `flagged` is null if it would not judge the line.",
        ("conversation_id", "turn_index"),
    ),
    "v1_reply_output": DescribedView(
        "Outputs of models that differ from the reply shown, with the changes.",
        ("conversation_id", "turn_index"),
    ),
    "v1_bot_call": DescribedView(
        "Every call of a bot, also failed ones. `output` is what the model returned if it was no "
        "valid reply.",
        ("conversation_id", "created_at", "turn_index", "tries"),
    ),
    "v1_wizard_line": DescribedView(
        "Lines that a researcher was asked to answer in a chatbot's place. `answered_by` is a pseudonym.",
        ("conversation_id", "turn_index"),
    ),
    "v1_topic_mark": DescribedView(
        "The topics of each conversation, and when they changed.",
        ("conversation_id", "ordinal"),
    ),
    "v1_note": DescribedView(
        "Incidents in conversations, such as failures of bots.",
        ("conversation_id", "created_at", "kind", "text"),
    ),
    "v2_note": DescribedView(
        "The same as `v1_note`, with the kind of failure.",
        ("conversation_id", "created_at", "kind", "text"),
    ),
    "v1_rating": DescribedView(
        "Ratings of conversations, as workers gave them.",
        ("conversation_id", "criterion"),
    ),
    "v1_turn_rating": DescribedView(
        "The last rating of each rated reply, from 0 to 100. `points` is the number of points of the "
        "scale, 2 for thumbs.",
        ("conversation_id", "turn_index"),
    ),
    "v1_choice": DescribedView(
        "Choices between two systems. `turn_index` is null for a choice between whole conversations.",
        ("left_conversation_id", "turn_index"),
    ),
    "v1_quiz": DescribedView(
        "The quiz after each rated conversation. `choices` is 0 if nothing was asked, and `why_not` "
        "has the reason.",
        ("conversation_id",),
    ),
    "v1_quiz_line": DescribedView(
        "The lines or personas of each quiz. `is_right` marks the partner's.",
        ("conversation_id", "choice"),
    ),
    "v1_answer": DescribedView(
        "Answers to questions. Each of several choices is a row, and so is each mark in a text.",
        ("assignment_id", "ordinal"),
    ),
    "v1_item": DescribedView("The items that workers rate.", ("item_id", "form")),
    "v1_item_rating": DescribedView(
        "Ratings of items. `twin_of` is the position of the ordinary item that a bad twin, a repeat "
        "or a reference belongs to.",
        ("assignment_id", "position", "criterion"),
    ),
    "v1_item_edit": DescribedView(
        "Improved texts, with the share of the text that was edited.",
        ("assignment_id", "position"),
    ),
}
# Columns that are not text, in any view, except facts; OF_A_VIEW has the exceptions of single views.
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
        "typed",
        "composed",
        "pasted",
        "pastes",
        "away",
        "taken_over_from",
        "target_assignments",
        "target_conversations_per_system",
    ),
    "number": ("value", "number", "score", "seconds", "edit_share", "target_widest_interval"),
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
    facts = {fact.column: fact.kind for of_view in FACTS.values() for fact in of_view}
    return OF_A_VIEW.get((view, column)) or facts.get(column) or KINDS.get(column, "text")


@dataclass(frozen=True, slots=True)
class ViewToExport:
    """A view of a run: its columns with their types, and the number of its rows."""

    name: str
    columns: dict[str, Kind]
    rows: int


def views_of(connection: Connection, run: RunEntry) -> list[ViewToExport]:
    """Return the views in the order of VIEWS."""
    return [_view(connection, run, name) for name in VIEWS]


def rows_of(connection: Connection, run: RunEntry, view: ViewToExport) -> Iterator[Sequence[Row]]:
    """Yield the rows of a view in order, in lists of AT_ONCE. Times are in UTC."""
    ordered = f"SELECT * {_of_run(view.name)} ORDER BY {', '.join(VIEWS[view.name].order)}"
    query = text(ordered).execution_options(yield_per=AT_ONCE)
    for part in connection.execute(query, _bound(view.name, run)).mappings().partitions(AT_ONCE):
        yield [{name: typed(row[name], kind) for name, kind in view.columns.items()} for row in part]


def _view(connection: Connection, run: RunEntry, name: str) -> ViewToExport:
    bound = _bound(name, run)
    columns = connection.execute(text(f"SELECT * {_of_run(name)} LIMIT 0"), bound).keys()
    counted = connection.execute(text(f"SELECT count(*) {_of_run(name)}"), bound).scalar_one()
    return ViewToExport(name, {column: kind_of(name, column) for column in columns}, int(counted))


def _of_run(name: str) -> str:
    return f"FROM {name}" if name == "v1_version" else f"FROM {name} WHERE run_id = :run"


def _bound(name: str, run: RunEntry) -> dict[str, int]:
    return {} if name == "v1_version" else {"run": run.id}


HEADER = "header.json"
ROW_GROUP = 10_000  # rows in a row group of Parquet, which are held in memory
_NO_TIME = (1980, 1, 1, 0, 0, 0)  # the earliest time in ZIP, instead of the time of writing
_PIECE = 1024**2
_TYPES: dict[Kind, pa.DataType] = {
    "text": pa.string(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "flag": pa.bool_(),
    "time": pa.timestamp("us", tz="UTC"),
}
OnRows = Callable[[str, int, int], None]  # the step, the number of rows written, and the total


class RunViews:
    """The views of a run in one transaction. `on_rows` is called with the progress."""

    def __init__(self, connection: Connection, run: RunEntry, on_rows: OnRows) -> None:
        """Count the rows."""
        self._connection, self._run, self._on_rows = connection, run, on_rows
        self._done = 0
        self.views = views_of(connection, run)

    def header(self) -> bytes:
        """Return the header as a line of JSON."""
        content = {
            "format": FORMAT,
            "version": VERSION,
            "run": self._run.slug,
            "study": parse_study(self._run.yaml).name,
            "views": {view.name: {"rows": view.rows, "columns": view.columns} for view in self.views},
        }
        return json.dumps(content, ensure_ascii=False).encode() + b"\n"

    def rows(self, view: ViewToExport) -> Iterator[Sequence[Row]]:
        """Yield the rows of a view in lists."""
        total = sum(each.rows for each in self.views)
        for some in rows_of(self._connection, self._run, view):
            yield some
            self._done += len(some)
            self._on_rows(f"Writing {view.name}", self._done, total)


def write_jsonl(run: RunViews, file: BinaryIO) -> None:
    """Write the header, then one line per row with the name of its view."""
    file.write(run.header())
    for view in run.views:
        for some in run.rows(view):
            for row in some:
                line = json.dumps({"view": view.name, **row}, ensure_ascii=False, default=shown_time)
                file.write(line.encode() + b"\n")


def write_csv(run: RunViews, file: BinaryIO) -> None:
    """Write an archive with `VIEW.csv` for each view.

    Texts are quoted, even empty ones; unknown values are empty without quotes. Texts that a spreadsheet would
    compute get an apostrophe in front (`spreadsheet.harmless`).
    """
    with _archive(file, run, zipfile.ZIP_DEFLATED) as archive:
        for view in run.views:
            with _member(archive, f"{view.name}.csv") as member:
                member.write((",".join(f'"{name}"' for name in view.columns) + "\n").encode())
                for some in run.rows(view):
                    lines = (",".join(map(_cell, row.values())) for row in some)
                    member.write("".join(f"{line}\n" for line in lines).encode())


def write_parquet(run: RunViews, file: BinaryIO) -> None:
    """Write an archive with `VIEW.parquet` for each view."""
    with _archive(file, run, zipfile.ZIP_STORED) as archive:
        for view in run.views:
            with TemporaryFile() as table:  # Parquet's writer needs `tell`, which archive members lack
                _write_table(run, view, table)
                table.seek(0)
                with _member(archive, f"{view.name}.parquet") as member:
                    while piece := table.read(_PIECE):
                        member.write(piece)


def _write_table(run: RunViews, view: ViewToExport, file: IO[bytes]) -> None:
    schema = pa.schema([(name, _TYPES[kind]) for name, kind in view.columns.items()])
    with pq.ParquetWriter(file, schema, compression="zstd", write_page_checksum=True) as writer:
        held: list[Row] = []
        for some in run.rows(view):
            held.extend(some)
            if len(held) >= ROW_GROUP:
                writer.write_table(pa.Table.from_pylist(held, schema))
                held.clear()
        writer.write_table(pa.Table.from_pylist(held, schema))


def _archive(file: BinaryIO, run: RunViews, compression: int) -> zipfile.ZipFile:
    archive = zipfile.ZipFile(file, "w", compression)
    with _member(archive, HEADER) as member:
        member.write(run.header())
    return archive


def _member(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    member = zipfile.ZipInfo(name, _NO_TIME)
    member.compress_type = archive.compression
    member.create_system = 3
    member.external_attr = 0o100644 << 16
    return archive.open(member, "w", force_zip64=True)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        doubled = harmless(value).replace('"', '""')
        return f'"{doubled}"'
    if isinstance(value, bool):
        return "true" if value else "false"
    return shown_time(value) if isinstance(value, datetime) else repr(value)
