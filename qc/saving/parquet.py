"""Write our export as Parquet: one row per conversation; a report reads only the columns it needs."""

from typing import BinaryIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from qc.formats.export import (
    ASKED_COLUMNS,
    HEADER_KEY,
    RATING_PREFIX,
    TEXT,
    Header,
    asked_columns,
    parquet_schema,
)
from qc.run import Run, Words, codes
from qc.saving.asked import asked
from qc.saving.nested import Loss, offsets

ASSIGNMENT = ("assignment", "hit", "worker", "seconds", "reward", "feedback")
CONVERSATION = ("conversation", "position", "system", "persona")
ROW_GROUP = 16_384  # conversations; some 20 MB of words
# Page checksums detect damage.
OPTIONS = {"compression": "zstd", "write_page_checksum": True}


def losses(_: Run) -> list[Loss]:
    """Return nothing, because the export holds all ratings of a run."""
    return []


def write(run: Run, file: BinaryIO) -> None:
    """Write `run` into `file`."""
    pq.write_table(table(run), file, row_group_size=ROW_GROUP, **OPTIONS)


def table(run: Run) -> pa.Table:
    """Return `run` as the table to write, with the header in the metadata of the schema."""
    header = Header.of(run)
    schema = parquet_schema(run.criteria["label"].to_list(), run.words is not None, asked_columns(header))
    columns = {
        **_of_assignments(run),
        **{name: run.conversations[name] for name in CONVERSATION},
        **{RATING_PREFIX + label: run.ratings[label] for label in run.criteria["label"]},
        **(_said(run.words, len(run.conversations)) if run.words is not None else {}),
        **_asked(run),
    }
    arrays = [_array(columns[field.name], field.type) for field in schema]
    described = {HEADER_KEY: header.model_dump_json().encode()}
    return pa.Table.from_arrays(arrays, schema=schema.with_metadata(described))


def _array(column: pd.Series | pa.Array, kind: pa.DataType) -> pa.Array | pa.ChunkedArray:
    if isinstance(column, pa.Array):
        return column.cast(kind)
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(str)
    return pa.array(column, type=kind, from_pandas=True)


def _of_assignments(run: Run) -> dict[str, pd.Series]:
    """Return the columns of the assignments, repeated for each conversation."""
    rows = codes(run.conversations["assignment"])
    return {name: run.assignments[name].iloc[rows] for name in ASSIGNMENT}


def _asked(run: Run) -> dict[str, pa.Array]:
    """Return the columns of data besides ratings; those of assignments are repeated for each conversation."""
    found, owners = asked(run), codes(run.conversations["assignment"])
    of_all = found.assignment_answers
    columns = {
        "scenario": found.scenarios,
        "turn_ratings": found.turn_ratings,
        "quiz": found.quizzes,
        "writing": found.writing,
        "answers": found.answers,
        "assignment_answers": None if of_all is None else [of_all[row] for row in owners],
    }
    return {
        name: pa.array(values, ASKED_COLUMNS[name]) for name, values in columns.items() if values is not None
    }


def _said(words: Words, count: int) -> dict[str, pa.Array]:
    exchanges, topics, changes = words.exchanges, words.topics, words.changes
    bounds = offsets(exchanges["conversation"].to_numpy(), count)
    return {
        "inputs": _lists(bounds, _values(exchanges["input"], TEXT)),
        "replies": _lists(bounds, _values(exchanges["reply"], TEXT)),
        "rounds": _lists(bounds, _values(exchanges["round"], pa.int32())),
        "topics": _marks(topics, ["topic", "opinion"], count),
        "changes": _marks(changes, ["how", "bot_opinion"], count),
    }


def _marks(frame: pd.DataFrame, texts: list[str], count: int) -> pa.Array:
    values = [_values(frame["round"], pa.int32()), *(_values(frame[name], TEXT) for name in texts)]
    bounds = offsets(frame["conversation"].to_numpy(), count)
    return _lists(bounds, pa.StructArray.from_arrays(values, ["round", *texts]))


def _values(column: pd.Series, kind: pa.DataType) -> pa.Array:
    found = _array(column, kind)
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found


def _lists(bounds: NDArray[np.int64], values: pa.Array) -> pa.Array:
    return pa.LargeListArray.from_arrays(pa.array(bounds), values)
