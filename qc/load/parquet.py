"""Read our export in its Parquet form (`qc.formats.export`), and of it only the columns that are needed."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from qc.errors import DataError, Problem, SourceError, joined, quoted
from qc.formats.export import HEADER_KEY, RATING_PREFIX, TEXT, Header, parquet_schema
from qc.load import header
from qc.load.header import EXPORT_AGAIN
from qc.load.raw_run import ASSIGNMENT_COLUMNS, CONVERSATION_COLUMNS, REPAIR, RawRun, build_run
from qc.load.speech import Columns, as_words
from qc.run import CHANGE, OPINION, Run, Words

HEADER = "the header"
ASSIGNMENT = ["assignment", "hit", "worker", "feedback", "seconds", "reward"]
# Repeated texts come as codes, which costs neither time nor memory.
DICTIONARIES = ["assignment", "hit", "worker", "feedback", "system", "persona"]
_DAMAGE = (pa.ArrowException, OSError, ValueError, MemoryError)


def read(
    path: Path,
    file: BinaryIO,
    words: bool = True,
    replies: bool = True,
    criteria: pd.DataFrame | None = None,
) -> Run:
    """Return the run in the open file `file`, which is at `path`.

    Args:
        path: where the file is, for messages.
        file: its content; of it, only the columns that are wanted are read.
        words: whether the words are wanted; without them, `Run.words` is None and they are not read.
        replies: whether what the bots said is wanted; without it, `reply` is missing in every exchange.
        criteria: what the analyst declares instead of the file; see `raw_run.build_run`.

    Raises:
        SourceError: it is no export of ours, or of a newer version.
        DataError: it is damaged, a column is missing or of the wrong type, a value is missing, unknown or
            out of range, the rows of an assignment contradict each other, rows are missing.
        EmptyRunError: it holds no conversation.
    """
    source = str(path)
    try:
        described = pq.read_metadata(file)
        schema = described.schema.to_arrow_schema()
        declared = header.parse(source, HEADER, _header(source, schema))
        wanted = _wanted(source, schema, declared, words and declared.words, replies)
        content = pq.ParquetFile(
            file, metadata=described, read_dictionary=DICTIONARIES, page_checksum_verification=True
        )
        table = _table(source, content.read(columns=[field.name for field in wanted]), wanted)
    except _DAMAGE as error:
        raise DataError(source, [_damaged(error)]) from None
    problems: list[Problem] = []
    return build_run(_raw_run(source, declared, table, problems), problems, criteria)


def _damaged(error: BaseException) -> Problem:
    reason = str(error).strip().splitlines()[:1] or [type(error).__name__]
    return Problem("the file", f"is damaged ({reason[0]}).", EXPORT_AGAIN)


def _header(source: str, schema: pa.Schema) -> bytes:
    found = (schema.metadata or {}).get(HEADER_KEY)
    if found is None:
        raise SourceError(
            f"{source}: this Parquet file has no header of Candor, so it is no export of a run. "
            "Check the path."
        )
    return bytes(found)


def _wanted(source: str, schema: pa.Schema, declared: Header, words: bool, replies: bool) -> list[pa.Field]:
    """Return the columns that are to be read, each of which is there once."""
    labels = dict.fromkeys(criterion.label for criterion in declared.criteria)
    wanted = [field for field in parquet_schema(list(labels), words) if replies or field.name != "replies"]
    _refuse(source, _absent(schema, wanted))
    return wanted


def _table(source: str, read: pa.Table, wanted: list[pa.Field]) -> pa.Table:
    """Return the columns, each of the type that belongs there and without a gap where none may be."""
    problems: list[Problem] = []
    columns = [_typed(read[field.name], field, problems) for field in wanted]
    _refuse(source, problems)
    fields = [field.with_type(column.type) for field, column in zip(wanted, columns, strict=True)]
    table = pa.table(columns, schema=pa.schema(fields))
    _refuse(source, _gaps(table))
    return table


def _refuse(source: str, problems: Iterable[Problem]) -> None:
    found = list(problems)
    if found:
        raise DataError(source, found)


def _absent(found: pa.Schema, wanted: list[pa.Field]) -> Iterator[Problem]:
    for field in wanted:
        there = len(found.get_all_field_indices(field.name))
        if there != 1:
            why = "is missing." if there == 0 else f"is there {there} times."
            yield Problem(f"column {field.name!r}", why, EXPORT_AGAIN)


def _typed(column: pa.ChunkedArray, field: pa.Field, problems: list[Problem]) -> pa.ChunkedArray:
    """Return `column` as the type of `field`, texts that were read as codes with one set of codes for all."""
    coded = pa.types.is_dictionary(column.type)
    try:
        column.validate(full=True)
        if coded and column.type.value_type == field.type:
            return column.unify_dictionaries()
        if _may_become(column.type, field.type):
            typed = column.cast(field.type)
            return typed.dictionary_encode() if field.name in DICTIONARIES else typed
        why = f"is of type {column.type}, not {field.type}."
    except _DAMAGE as error:
        why = f"does not hold values of type {field.type} ({error})."
    problems.append(Problem(f"column {field.name!r}", why, EXPORT_AGAIN))
    return column


def _may_become(given: pa.DataType, wanted: pa.DataType) -> bool:
    """Return whether a cast keeps the meaning; one from numbers to texts, for example, does not."""
    if pa.types.is_dictionary(given):
        given = given.value_type
    if pa.types.is_floating(wanted):
        return bool(pa.types.is_floating(given) or pa.types.is_integer(given))
    if pa.types.is_integer(wanted):
        return bool(pa.types.is_integer(given))
    if pa.types.is_nested(wanted):
        return bool(pa.types.is_nested(given))
    return bool(pa.types.is_string(given) or pa.types.is_large_string(given))


def _gaps(table: pa.Table) -> Iterator[Problem]:
    for field in table.schema:
        if not field.nullable and table[field.name].null_count:
            for row in np.flatnonzero(table[field.name].is_null()).tolist():
                yield Problem(_row(row), f"{field.name!r} is empty.", REPAIR)


def _row(row: int) -> str:
    """Return where a row is; rows are counted from 1."""
    return f"row {row + 1}"


def _where(rows: NDArray[np.intp]) -> pd.Series:
    """Return where each of `rows` is, as `_row` says it."""
    numbers = pa.array(rows + 1).cast(TEXT)
    return _texts(pc.binary_join_element_wise(pa.scalar("row", TEXT), numbers, pa.scalar(" ", TEXT)))


def _codes(column: pa.ChunkedArray) -> NDArray[np.int32]:
    """Return the codes of a column of coded texts, −1 for what is missing."""
    parts = [pc.fill_null(chunk.indices, -1).to_numpy() for chunk in column.chunks]
    return np.concatenate(parts) if parts else np.empty(0, np.int32)


def _texts(column: pa.Array | pa.ChunkedArray) -> pd.Series:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return pd.Series(pd.array(column, dtype="str"))


def _raw_run(source: str, declared: Header, table: pa.Table, problems: list[Problem]) -> RawRun:
    _, first, owner = np.unique(_codes(table["assignment"]), return_index=True, return_inverse=True)
    problems += [
        *header.count_problems(declared, HEADER, len(first), len(table)),
        *_contradictions(table, first, owner),
    ]
    return RawRun(
        name=declared.name,
        source=source,
        criteria=declared.criteria_frame(),
        systems=declared.systems_frame(),
        assignments=_assignments(table.select(ASSIGNMENT).take(first), first),
        conversations=_conversations(table),
        ratings=_ratings(table, declared),
        words=_words(table, problems) if "inputs" in table.column_names else None,
        incidents=declared.incidents_frame(),
        left_out=declared.all_left_out(),
        notes=declared.all_notes(),
        partial=declared.partial,
    )


def _contradictions(table: pa.Table, first: NDArray[np.intp], owner: NDArray[np.intp]) -> Iterator[Problem]:
    """Yield the rows that say something else of their assignment than the first row of it does."""
    for name in ASSIGNMENT[1:]:
        coded = pa.types.is_dictionary(table[name].type)
        values = _codes(table[name]) if coded else table[name].to_numpy()
        expected = values[first][owner]
        same = values == expected
        if not coded:
            same |= np.isnan(values) & np.isnan(expected)
        for row in np.flatnonzero(~same).tolist():
            why = f"{name!r} is not what row {first[owner[row]] + 1} of the same assignment says."
            yield Problem(_row(row), why, REPAIR)


def _assignments(table: pa.Table, first: NDArray[np.intp]) -> pd.DataFrame:
    """Return the assignments from their first rows, which `table` holds."""
    texts = {name: _texts(table[name]) for name in ("assignment", "hit", "worker", "feedback")}
    numbers = {name: table[name].to_numpy() for name in ("seconds", "reward")}
    return pd.DataFrame({"where": _where(first), **texts, **numbers}, columns=ASSIGNMENT_COLUMNS)


def _conversations(table: pa.Table) -> pd.DataFrame:
    texts = {name: _texts(table[name]) for name in ("conversation", "assignment", "system", "persona")}
    where = _where(np.arange(len(table)))
    return pd.DataFrame(
        {"where": where, "position": table["position"].to_numpy(), **texts}, columns=CONVERSATION_COLUMNS
    )


def _ratings(table: pa.Table, declared: Header) -> pd.DataFrame:
    labels = dict.fromkeys(criterion.label for criterion in declared.criteria)
    return pd.DataFrame({label: table[RATING_PREFIX + label].to_numpy() for label in labels})


def _words(table: pa.Table, problems: list[Problem]) -> Words | None:
    """Return the words; None, and more `problems`, if the lists of a conversation do not fit each other."""
    said = [name for name in ("inputs", "rounds", "replies") if name in table.column_names]
    lengths = [pc.list_value_length(table[name]).to_numpy() for name in said]
    uneven = np.flatnonzero(np.logical_or.reduce([length != lengths[0] for length in lengths])).tolist()
    if uneven:
        problems += [
            Problem(_row(row), f"{joined(said)} are not of the same length.", REPAIR) for row in uneven
        ]
        return None
    return as_words(
        _exchanges(table, problems),
        _topics(table["topics"], problems),
        _changes(table["changes"], problems),
    )


def _owners(lists: pa.ChunkedArray) -> NDArray[np.int32]:
    """Return for each value of the lists which row it is of."""
    lengths = pc.list_value_length(lists).to_numpy()
    return np.repeat(np.arange(len(lists), dtype=np.int32), lengths)


def _exchanges(table: pa.Table, problems: list[Problem]) -> Columns:
    owners, inputs = _owners(table["inputs"]), pc.list_flatten(table["inputs"])
    _require(inputs, owners, "an input", problems)
    told = "replies" in table.column_names
    replies = pc.list_flatten(table["replies"]) if told else pa.nulls(len(inputs), TEXT)
    return {
        "conversation": owners,
        "round": _rounds(pc.list_flatten(table["rounds"]), owners, "rounds", problems),
        "input": _texts(inputs),
        "reply": _texts(replies),
    }


def _rounds(
    given: pa.ChunkedArray, owners: NDArray[np.int32], name: str, problems: list[Problem]
) -> NDArray[np.int32]:
    rounds: NDArray[np.int32] = pc.fill_null(given, -1).to_numpy()
    for at in np.flatnonzero(rounds < 0).tolist():
        why = f"a round of {name!r} is below 0 or missing."
        problems.append(Problem(_row(owners[at]), why, REPAIR))
    return rounds


def _topics(lists: pa.ChunkedArray, problems: list[Problem]) -> Columns:
    owners, marks = _owners(lists), pc.list_flatten(lists)
    topics = pc.struct_field(marks, "topic")
    _require(topics, owners, "a topic", problems)
    return {
        "conversation": owners,
        "round": _rounds(pc.struct_field(marks, "round"), owners, "topics", problems),
        "topic": _texts(topics),
        "opinion": _category(pc.struct_field(marks, "opinion"), OPINION, owners, problems),
    }


def _changes(lists: pa.ChunkedArray, problems: list[Problem]) -> Columns:
    owners, marks = _owners(lists), pc.list_flatten(lists)
    kinds = pc.struct_field(marks, "how")
    _require(kinds, owners, "a kind of change", problems)
    return {
        "conversation": owners,
        "round": _rounds(pc.struct_field(marks, "round"), owners, "changes", problems),
        "how": _category(kinds, CHANGE, owners, problems),
        "bot_opinion": _category(pc.struct_field(marks, "bot_opinion"), OPINION, owners, problems),
    }


def _require(texts: pa.ChunkedArray, owners: NDArray[np.int32], what: str, problems: list[Problem]) -> None:
    if texts.null_count:
        missing = np.flatnonzero(texts.is_null()).tolist()
        problems += [Problem(_row(owners[at]), f"{what} is missing.", REPAIR) for at in missing]


def _category(
    texts: pa.ChunkedArray,
    kind: "pd.CategoricalDtype[Any]",
    owners: NDArray[np.int32],
    problems: list[Problem],
) -> "pd.Categorical[Any]":
    words = kind.categories.to_list()
    found = pc.index_in(texts, pa.array(words, texts.type))
    codes = pc.fill_null(found, -1).to_numpy()
    for at in np.flatnonzero((codes < 0) & texts.is_valid().to_numpy()).tolist():
        why = f"{quoted(texts[at].as_py())} is none of {', '.join(words)}."
        problems.append(Problem(_row(owners[at]), why, REPAIR))
    return pd.Categorical.from_codes(codes, dtype=kind)
