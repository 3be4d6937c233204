"""Read votes of a public arena: JSON Lines, CSV or Parquet with a row for each vote between two systems.

The columns are those that LMArena (`model_a`, `model_b`, `winner` or `winner_model_a`, `winner_model_b` and
`winner_tie`, `judge`) and compar:IA (`model_a_name`, `model_b_name`, `chosen_model_name`, `both_equal`,
`visitor_id`) publish. Others are not read. Style is that of the replies in `conversation_a` and
`conversation_b`, or `messages_a` and `messages_b`, where they are.
"""

import csv
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from io import StringIO
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic_core import from_json

from qc.errors import DataError, EmptyRunError, Problem, SourceError, joined, quoted
from qc.formats.archive import PARQUET, require_bounded_parquet
from qc.loading.source import FIRST_SYSTEM, RunFile, Source
from qc.names import clean
from qc.statistics.formatting import formatting
from qc.table import counted

SECOND_SYSTEM = ("model_b", "model_b_name")
WINNER, CHOSEN, EQUAL = "winner", "chosen_model_name", "both_equal"
# In each row one of them is 1, and the others are 0.
ONE_HOT = {"winner_model_a": 1.0, "winner_model_b": -1.0, "winner_tie": 0.0}
YES, _NO = frozenset({"1", "1.0", "true"}), frozenset({"0", "0.0", "false", ""})
# Columns that tell voters apart, the surest first; a session is part of what a voter did.
VOTERS = ("judge", "visitor_id", "visitor_uuid", "evaluation_session_id", "session_hash")
IDS = ("id", "question_id", "uuid")
TEXTS = (("conversation_a", "conversation_b"), ("messages_a", "messages_b"))
_OUTCOMES = (WINNER, *ONE_HOT, CHOSEN, EQUAL)
_KNOWN = (*FIRST_SYSTEM, *SECOND_SYSTEM, *_OUTCOMES, *VOTERS, *IDS, *chain.from_iterable(TEXTS))
OUTCOMES = {"model_a": 1, "model_b": -1, "tie": 0, "tie (bothbad)": 0, "both_bad": 0, "bothbad": 0}
_REPAIR = "Repair the file, or leave the row out."
_PEEKED = 4096
# Names of both systems as texts in the first row; in other files a system of such a name may be a key.
_JSON_ROW = re.compile(rb'\A\s*\{(?=.*?"model_a(_name)?"\s*:\s*")(?=.*?"model_b(_name)?"\s*:\s*")', re.DOTALL)
STYLES = ("length", "markdown")


@dataclass(frozen=True)
class Votes:
    """Votes of an arena, V of them.

    Attributes:
        name: name of the file without its ending.
        source: where they were read from.
        systems: names, in order.
        first, second: (V,), numbers of the two systems.
        outcome: (V,), 1 if the first was preferred, −1 if the second was, 0 for a tie.
        voters: (V,), number of the voter.
        voted_by: the column that tells voters apart; None if there is none, and each vote is a voter's own.
        voter_names: names of the voters by number; empty without `voted_by`.
        style: (V, 2), STYLES: (a − b) / (a + b) of the characters, and of the signs of formatting, of both
            replies; None without texts.
        notes: sentences that a reader must see.
    """

    name: str
    source: str
    systems: tuple[str, ...]
    first: NDArray[np.intp]
    second: NDArray[np.intp]
    outcome: NDArray[np.int8]
    voters: NDArray[np.intp]
    voted_by: str | None
    voter_names: NDArray[np.object_]
    style: NDArray[np.float64] | None
    notes: tuple[str, ...]

    @property
    def frame(self) -> pd.DataFrame:
        """All votes as a table, for their signature."""
        style = () if self.style is None else zip(STYLES, self.style.T, strict=True)
        columns = {"first": self.first, "second": self.second, "outcome": self.outcome, "voter": self.voters}
        return pd.DataFrame(columns | dict(style))


def holds_votes(source: RunFile) -> bool:
    """Return whether a file holds votes of an arena."""
    return _reader(source.file.peek(_PEEKED)) is not None


def read_votes(source: Source) -> Votes | None:
    """Return the votes in a file; None if it holds something else.

    Raises:
        SourceError: the file is damaged.
        DataError: a winner is none of the known ones.
        EmptyRunError: no vote is left.
    """
    if not isinstance(source, RunFile):
        return None
    read = _reader(source.file.peek(_PEEKED))
    return None if read is None else votes_of(read(source), source.path.stem, str(source.path))


def _reader(first: bytes) -> Callable[[RunFile], pd.DataFrame] | None:
    """Return what reads a file of votes that begins with `first`; None if it holds something else."""
    if first.startswith(PARQUET):  # `open_source` lets only those of arenas pass
        return _parquet
    if _JSON_ROW.match(first):
        return _json_lines
    names = set(_header(first))
    return None if names.isdisjoint(FIRST_SYSTEM) or names.isdisjoint(SECOND_SYSTEM) else _csv


def _header(first: bytes) -> list[str]:
    """Return the headings of a CSV that begins with `first`."""
    text = StringIO(first.decode("utf-8-sig", "replace"), newline=None)
    return next(csv.reader([text.readline()]), [])


def _parquet(source: RunFile) -> pd.DataFrame:
    import pyarrow as pa  # noqa: PLC0415  # as above
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        require_bounded_parquet(str(source.path), source.path.stat().st_size, source.file)
        names = [name for name in pq.read_schema(source.file).names if name in _KNOWN]
        return pd.DataFrame(pq.read_table(source.file, columns=names).to_pandas())
    except (pa.ArrowException, OSError) as error:
        raise SourceError(f"{source.path}: this Parquet file is damaged ({error}). Get it again.") from None


def _csv(source: RunFile) -> pd.DataFrame:
    import pyarrow as pa  # noqa: PLC0415  # as above
    from pyarrow import csv as arrow_csv  # noqa: PLC0415

    text = pa.string()
    names = [name for name in _header(source.file.peek(_PEEKED)) if name in _KNOWN]
    try:
        table = arrow_csv.read_csv(
            source.file,
            parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(
                include_columns=names, column_types=dict.fromkeys(names, text), strings_can_be_null=True
            ),
        )
        return pd.DataFrame(table.to_pandas())
    except (pa.ArrowException, OSError) as error:
        raise SourceError(f"{source.path}: this CSV cannot be read ({error}). Save it again.") from None


def _json_lines(source: RunFile) -> pd.DataFrame:
    def rows() -> Iterator[dict[str, Any]]:
        for number, line in enumerate(source.file, start=1):
            if line.strip():
                try:
                    row = from_json(line)
                except ValueError as error:
                    where = f"{source.path}: line {number} is no JSON"
                    raise SourceError(f"{where} ({error}). Get the file again.") from None
                yield {key: row.get(key) for key in _KNOWN if key in row}

    return pd.DataFrame.from_records(list(rows()))


def votes_of(rows: pd.DataFrame, name: str, source: str) -> Votes:
    """Return the votes in rows with the columns of an arena.

    Raises:
        DataError: a winner is none of the known ones, or there is no column for it.
        EmptyRunError: no vote is left.
    """
    one, other = (_named(rows, names) for names in (FIRST_SYSTEM, SECOND_SYSTEM))
    outcome = _outcomes(rows, one, other, source)
    notes = []
    ids = next((each for each in IDS if each in rows), None)
    again = rows[ids].duplicated() & rows[ids].notna() if ids else pd.Series(False, rows.index)
    missing = (one.isna() | other.isna() | outcome.isna()) & ~again
    itself = (one == other) & ~missing & ~again
    for left, why in ((again, "given twice"), (missing, "without a choice"), (itself, "between one system")):
        if count := int(left.sum()):
            notes.append(f"Left out, {why}: {counted(count, 'vote')}.")
    kept = ~(again | missing | itself)
    if not kept.any():
        raise EmptyRunError(f"{source}: no row holds a vote between two systems.")
    systems = tuple(sorted(set(one[kept]) | set(other[kept])))
    known = pd.CategoricalDtype(list(systems))
    first, second = (
        np.asarray(each[kept].astype(known).cat.codes.to_numpy(), np.intp) for each in (one, other)
    )
    voted_by = next((each for each in VOTERS if each in rows and rows.loc[kept, each].notna().any()), None)
    codes, names = np.full(int(kept.sum()), -1), np.zeros(0, object)
    if voted_by is None:
        notes.append(
            "The file does not say who voted, so every vote counts as that of another voter. If some voted "
            "often, intervals are too narrow."
        )
    else:
        codes, found = pd.factorize(rows.loc[kept, voted_by].map(str, na_action="ignore"), sort=True)
        names = np.concatenate(
            [np.asarray(found, object), np.full(int((codes < 0).sum()), "unknown", object)]
        )
    style, chosen = _style(rows.loc[kept]), outcome[kept].to_numpy(np.int8)
    # An order that depends on the values only, so that the order of rows changes no sum.
    columns = (chosen, second, first, codes) if style is None else (*style.T, chosen, second, first, codes)
    order = np.lexsort(columns)
    codes = codes[order]
    unknown = codes < 0  # each of them may be another voter
    voters = np.where(unknown, codes.max() + np.cumsum(unknown), codes).astype(np.intp)
    return Votes(
        name=name,
        source=source,
        systems=systems,
        first=first[order],
        second=second[order],
        outcome=chosen[order],
        voters=voters,
        voted_by=voted_by,
        voter_names=names,
        style=None if style is None else style[order],
        notes=tuple(notes),
    )


def _named(rows: pd.DataFrame, columns: tuple[str, ...]) -> pd.Series:
    """Return the clean names of systems in the first of `columns` that is there."""
    given = rows[next(each for each in columns if each in rows)]
    unique = given.dropna().unique()
    return given.map({each: clean(str(each)) for each in unique})


def _outcomes(rows: pd.DataFrame, one: pd.Series, other: pd.Series, source: str) -> pd.Series:
    """Return 1, 0 or −1 for each row; NaN if nothing was chosen."""
    if WINNER in rows:
        given = rows[WINNER].map(lambda value: str(value).strip().lower(), na_action="ignore")
        given = given.where(given != "")
        unknown = sorted(set(given.dropna()) - OUTCOMES.keys())
        if unknown:
            known = joined(list(OUTCOMES))
            raise DataError(
                source, [Problem(WINNER, f"{quoted(each)} is none of {known}.", _REPAIR) for each in unknown]
            )
        return given.map(OUTCOMES).astype("float64")
    if ONE_HOT.keys() <= set(rows.columns):
        return _one_hot(rows, source)
    if CHOSEN not in rows:
        raise DataError(source, [Problem("the columns", f"neither {WINNER} nor {CHOSEN} is there.", _REPAIR)])
    chosen = rows[CHOSEN].map(lambda value: clean(str(value)), na_action="ignore")
    equal = rows[EQUAL].map(lambda value: str(value).lower() == "true") if EQUAL in rows else False
    outcome = np.select([equal, chosen == one, chosen == other], [0.0, 1.0, -1.0], np.nan)
    return pd.Series(outcome, rows.index)


def _one_hot(rows: pd.DataFrame, source: str) -> pd.Series:
    """Return the same of columns that are 1 where their outcome was chosen."""
    given = rows[list(ONE_HOT)].map(lambda value: "" if pd.isna(value) else str(value).strip().lower())
    problems = [
        Problem(name, f"{quoted(value)} is neither 1 nor 0.", _REPAIR)
        for name in ONE_HOT
        for value in sorted(set(given[name]) - YES - _NO)
    ]
    chosen = given.isin(YES)
    if several := int((chosen.sum(axis=1) > 1).sum()):
        rows_of = counted(several, "row")
        problems.append(Problem(joined(list(ONE_HOT)), f"In {rows_of} more than one is 1.", _REPAIR))
    if problems:
        raise DataError(source, problems)
    return chosen.idxmax(axis=1).map(ONE_HOT).where(chosen.any(axis=1))


def _style(rows: pd.DataFrame) -> NDArray[np.float64] | None:
    texts = next((pair for pair in TEXTS if all(each in rows for each in pair)), None)
    if texts is None:
        return None
    counts = [_counts(rows[each]) for each in texts]
    total = counts[0] + counts[1]
    return np.asarray((counts[0] - counts[1]) / np.where(total > 0, total, 1))


def _counts(conversations: pd.Series) -> NDArray[np.float64]:
    """Return the numbers of characters, and of list items and other Markdown, of all replies, (V, 2)."""
    texts = pd.Series([replies(each) for each in conversations], dtype="str")
    marks = formatting(texts)
    return np.column_stack([texts.str.len(), marks.list_items + marks.markdown]).astype(np.float64)


def replies(conversation: Any) -> str:
    """Return what the system wrote: a conversation is a list of messages, the same as JSON, or a text."""
    if isinstance(conversation, str):
        try:
            conversation = from_json(conversation)
        except ValueError:
            return str(conversation)
    if not isinstance(conversation, Iterable) or isinstance(conversation, str | dict):
        return ""
    said = (one for one in conversation if isinstance(one, dict) and one.get("role") == "assistant")
    return "\n".join(_content(one.get("content")) for one in said)


def _content(content: Any) -> str:
    if isinstance(content, str):
        return content
    if content is None or not isinstance(content, Iterable):
        return ""
    return "\n".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
