"""Read our export as Parquet (`qc.formats.export`); only the needed columns are read."""

from collections.abc import Iterable, Iterator
from os import SEEK_END
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from qc.errors import DataError, Problem, SourceError, joined, quoted
from qc.formats.archive import require_bounded_parquet
from qc.formats.export import (
    HEADER_KEY,
    RATING_PREFIX,
    TEXT,
    GivenAnswer,
    Header,
    Quiz,
    TurnRating,
    Writing,
    asked_columns,
    parquet_schema,
)
from qc.loading import header
from qc.loading.header import EXPORT_AGAIN, AskedOf, add_asked
from qc.loading.load_options import LoadOptions
from qc.loading.raw_run import ASSIGNMENT_COLUMNS, CONVERSATION_COLUMNS, REPAIR, RawRun, build_run
from qc.loading.speech import Columns, as_words
from qc.loading.validation import validated
from qc.run import WORD_COLUMNS, Run, Words

HEADER = "the header"
ASSIGNMENT = ["assignment", "hit", "worker", "feedback", "seconds", "reward"]
# Columns of repeated texts, read as codes, which saves time and memory.
DICTIONARIES = ["assignment", "hit", "worker", "feedback", "system", "persona"]
# For each frame of `Words`: the value that is never missing, and the column that holds its rounds.
_CALLED = {
    "exchanges": ("an input", "rounds"),
    "topics": ("a topic", "topics"),
    "changes": ("a kind of change", "changes"),
}
Given = TypeVar("Given", GivenAnswer, TurnRating, Quiz, Writing)
_DAMAGE = (pa.ArrowException, OSError, ValueError, MemoryError)


def read(path: Path, file: BinaryIO, options: LoadOptions) -> Run:
    """Return the run in the open file `file`, which is at `path`.

    Only the wanted columns are read; without replies, `reply` is missing in every exchange.

    Raises:
        SourceError: it is not an export of Candor, has a newer version, or unpacks to an implausible size.
        DataError: it is damaged, a column is missing or of the wrong type, a value is missing, unknown or
            out of range, the rows of an assignment contradict each other, rows are missing.
        EmptyRunError: it holds no conversation.
    """
    source = str(path)
    try:
        require_bounded_parquet(source, file.seek(0, SEEK_END), file)
        described = pq.read_metadata(file)
        schema = described.schema.to_arrow_schema()
        declared = header.parse(source, HEADER, _header(source, schema))
        wanted = _wanted(source, schema, declared, options)
        content = pq.ParquetFile(
            file, metadata=described, read_dictionary=DICTIONARIES, page_checksum_verification=True
        )
        table = _table(source, _read(content, [field.name for field in wanted]), wanted)
    except _DAMAGE as error:
        raise DataError(source, [_damaged(error)]) from None
    problems: list[Problem] = []
    return build_run(_raw_run(source, declared, table, problems), problems, options.criteria)


def _damaged(error: BaseException) -> Problem:
    reason = str(error).strip().splitlines()[:1] or [type(error).__name__]
    return Problem("the file", f"is damaged ({reason[0]}).", EXPORT_AGAIN)


def _read(content: pq.ParquetFile, names: list[str]) -> pa.Table:
    """Read the columns `names`, one row group at a time: reading all at once takes more memory and time."""
    groups = [content.read_row_group(number, columns=names) for number in range(content.num_row_groups)]
    return pa.concat_tables(groups) if groups else content.read(columns=names)


def _header(source: str, schema: pa.Schema) -> bytes:
    found = (schema.metadata or {}).get(HEADER_KEY)
    if found is None:
        raise SourceError(
            f"{source}: this Parquet file has no header of Candor, so it is no export of a run. "
            "Check the path."
        )
    return bytes(found)


def _wanted(source: str, schema: pa.Schema, declared: Header, options: LoadOptions) -> list[pa.Field]:
    """Return the columns to read; each must exist exactly once."""
    labels = dict.fromkeys(criterion.label for criterion in declared.criteria)
    all_fields = parquet_schema(list(labels), options.words and declared.words, asked_columns(declared))
    wanted = [field for field in all_fields if options.replies or field.name != "replies"]
    _refuse(source, _absent(schema, wanted))
    return wanted


def _table(source: str, read: pa.Table, wanted: list[pa.Field]) -> pa.Table:
    """Return the columns with their expected types, checked for missing values."""
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
    """Return `column` as the type of `field`; coded texts get one common set of codes."""
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
    """Return whether a cast keeps the meaning; a cast from numbers to texts, for example, does not."""
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
            for row in np.flatnonzero(table[field.name].is_null()):
                yield _problem(row, f"{field.name!r} is empty.")


def _problem(row: int | np.integer, why: str) -> Problem:
    """Return a problem of a row; the message counts rows from 1."""
    return Problem(f"row {row + 1}", why, REPAIR)


def _where(rows: NDArray[np.intp]) -> pd.Series:
    """Return the location of each of `rows`, worded as in `_problem`."""
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
    raw = header.raw_run(
        source,
        declared,
        _frame(table.select(ASSIGNMENT_COLUMNS[1:]).take(first), first),
        _frame(table.select(CONVERSATION_COLUMNS[1:]), np.arange(len(table))),
        _ratings(table, declared),
        _words(table, problems) if "inputs" in table.column_names else None,
    )
    scenarios = table["scenario"].to_pandas() if declared.scenarios else None
    return add_asked(raw, declared, list(_asked(table, first, problems)), scenarios)


def _asked(table: pa.Table, first: NDArray[np.intp], problems: list[Problem]) -> Iterator[AskedOf]:
    """Yield the data besides ratings of assignments, which begin at the rows `first`, and conversations."""
    names, conversations = table["assignment"], table["conversation"]
    of_all = _objects(table, "assignment_answers", GivenAnswer, first, problems)
    for row, given in of_all.items():
        yield AskedOf(names[row].as_py(), None, None, given)
    every = np.arange(len(table))
    answers = _objects(table, "answers", GivenAnswer, every, problems)
    rated = _objects(table, "turn_ratings", TurnRating, every, problems)
    quizzes = _object_of(table, "quiz", Quiz, problems)
    writing = _object_of(table, "writing", Writing, problems)
    for row in sorted(answers.keys() | rated.keys() | quizzes.keys() | writing.keys()):
        yield AskedOf(
            names[row].as_py(),
            conversations[row].as_py(),
            row,
            answers.get(row, []),
            rated.get(row, []),
            quizzes.get(row),
            writing.get(row),
        )


def _object_of(table: pa.Table, name: str, model: type[Given], problems: list[Problem]) -> dict[int, Given]:
    """Return row → object of a column; {} if the column does not exist."""
    if name not in table.column_names:
        return {}
    found = {
        row: validated(model, one, f"row {row + 1}, {name!r}", EXPORT_AGAIN, problems)
        for row, one in enumerate(table[name].to_pylist())
        if one is not None
    }
    return {row: one for row, one in found.items() if one is not None}


def _objects(
    table: pa.Table, name: str, model: type[Given], rows: NDArray[np.intp], problems: list[Problem]
) -> dict[int, list[Given]]:
    """Return row → objects in the list of a column; {} if the column does not exist."""
    if name not in table.column_names:
        return {}
    lists = zip(rows.tolist(), table[name].take(rows).to_pylist(), strict=True)
    found = {
        row: [validated(model, one, f"row {row + 1}, {name!r}", EXPORT_AGAIN, problems) for one in given]
        for row, given in lists
        if given
    }
    return {row: [one for one in given if one is not None] for row, given in found.items()}


def _contradictions(table: pa.Table, first: NDArray[np.intp], owner: NDArray[np.intp]) -> Iterator[Problem]:
    """Yield a problem for each row that contradicts the first row of its assignment."""
    for name in ASSIGNMENT[1:]:
        coded = pa.types.is_dictionary(table[name].type)
        values = _codes(table[name]) if coded else table[name].to_numpy()
        expected = values[first][owner]
        same = values == expected
        if not coded:
            same |= np.isnan(values) & np.isnan(expected)
        for row in np.flatnonzero(~same):
            yield _problem(row, f"{name!r} differs from row {first[owner[row]] + 1} of the same assignment.")


def _frame(table: pa.Table, rows: NDArray[np.intp]) -> pd.DataFrame:
    """Return the columns of `table`, and the locations of its `rows`."""
    columns = {
        name: column.to_numpy() if pa.types.is_primitive(column.type) else _texts(column)
        for name, column in zip(table.column_names, table.columns, strict=True)
    }
    return pd.DataFrame({"where": _where(rows), **columns})


def _ratings(table: pa.Table, declared: Header) -> pd.DataFrame:
    labels = dict.fromkeys(criterion.label for criterion in declared.criteria)
    return pd.DataFrame({label: table[RATING_PREFIX + label].to_numpy() for label in labels})


def _words(table: pa.Table, problems: list[Problem]) -> Words | None:
    """Return the texts; if the lists of a conversation have different lengths, add problems, return None."""
    said = [name for name in ("inputs", "rounds", "replies") if name in table.column_names]
    lengths = [pc.list_value_length(table[name]).to_numpy() for name in said]
    uneven = np.logical_or.reduce([length != lengths[0] for length in lengths])
    if uneven.any():
        why = f"{joined(said)} are not of the same length."
        problems += [_problem(row, why) for row in np.flatnonzero(uneven)]
        return None
    inputs, rounds = pc.list_flatten(table["inputs"]), pc.list_flatten(table["rounds"])
    given = "replies" in table.column_names
    replies = pc.list_flatten(table["replies"]) if given else pa.nulls(len(inputs), TEXT)
    exchanges = {"round": rounds, "input": inputs, "reply": replies}
    return as_words(
        _columns("exchanges", table["inputs"], exchanges, problems),
        _columns("topics", table["topics"], _fields(table["topics"]), problems),
        _columns("changes", table["changes"], _fields(table["changes"]), problems),
    )


def _fields(lists: pa.ChunkedArray) -> dict[str, pa.ChunkedArray]:
    """Return the fields of the objects in `lists`, concatenated over all rows."""
    flat = pc.list_flatten(lists)
    return {field.name: pc.struct_field(flat, field.name) for field in flat.type}


def _columns(
    kind: str, lists: pa.ChunkedArray, values: dict[str, pa.ChunkedArray], problems: list[Problem]
) -> Columns:
    """Return the columns of one of the frames of `Words`.

    Args:
        kind: name of the frame; the first of its WORD_COLUMNS is never missing.
        lists: the data of the conversations, a list for each row.
        values: `round` and the WORD_COLUMNS, concatenated over all rows.
        problems: receives the invalid values.
    """
    rows = np.repeat(np.arange(len(lists), dtype=np.int32), pc.list_value_length(lists).to_numpy())
    first, *_ = WORD_COLUMNS[kind]
    what, rounds_of = _CALLED[kind]
    rounds = pc.fill_null(values["round"], -1).to_numpy()
    problems += [
        *(_problem(row, f"{what} is missing.") for row in rows[values[first].is_null()]),
        *(_problem(row, f"a round of {rounds_of!r} is below 0 or missing.") for row in rows[rounds < 0]),
    ]
    columns = {
        name: _texts(values[name]) if of is str else _category(values[name], of, rows, problems)
        for name, of in WORD_COLUMNS[kind].items()
    }
    return {"conversation": rows, "round": rounds, **columns}


def _category(
    texts: pa.ChunkedArray,
    kind: "pd.CategoricalDtype[Any]",
    rows: NDArray[np.int32],
    problems: list[Problem],
) -> "pd.Categorical[Any]":
    known = kind.categories.to_list()
    codes = pc.fill_null(pc.index_in(texts, pa.array(known, texts.type)), -1).to_numpy()
    problems += [
        _problem(rows[at], f"{quoted(texts[at].as_py())} is none of {', '.join(known)}.")
        for at in np.flatnonzero((codes < 0) & texts.is_valid().to_numpy()).tolist()
    ]
    return pd.Categorical.from_codes(codes, dtype=kind)
