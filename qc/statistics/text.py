"""Count words and characters of texts."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

BLOCK = 1_000_000

_OTHER, _SPACE, _CONTINUATION, _LEAD = range(4)
_SPACES = [chr(code).encode() for code in range(0x3001) if chr(code).isspace()]
_WIDE = [space for space in _SPACES if len(space) > 1]
_WIDE_CODES = [int.from_bytes(space.ljust(3, b"\0")) for space in _WIDE]


def _kinds() -> bytes:
    kinds = np.full(256, _OTHER, np.uint8)
    kinds[[space[0] for space in _SPACES if len(space) == 1]] = _SPACE
    kinds[0x80:0xC0] = _CONTINUATION
    kinds[[space[0] for space in _WIDE]] = _LEAD
    return kinds.tobytes()


_KINDS = _kinds()


@dataclass(frozen=True, slots=True)
class TextLengths:
    """Lengths of N texts: `words` and `characters`, both (N,), int32."""

    words: NDArray[np.int32]
    characters: NDArray[np.int32]


def text_lengths(texts: pd.Series) -> TextLengths:
    """Count the words and the characters of every text in a column of dtype `str`; a missing text has 0.

    Words are separated by white space: there are `len(text.split())` of them. Characters are Unicode code
    points that are not white space (`str.isspace`).

    The function works on bytes: a million inputs take 0.4 s. `pyarrow.compute` takes 4.2 s for the same
    counts (`count_substring_regex`), and its definition of white space differs from Python's.
    """
    table = pa.table({"text": pa.chunked_array(texts).cast(pa.large_string())})
    blocks = [_block_lengths(batch.column(0)) for batch in table.to_batches(max_chunksize=BLOCK)]
    empty = np.empty(0, np.int32)
    return TextLengths(
        words=np.concatenate([empty, *(words for words, _ in blocks)]),
        characters=np.concatenate([empty, *(characters for _, characters in blocks)]),
    )


def _block_lengths(texts: pa.LargeStringArray) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    text = bytes(memoryview(data)[ends[0] : ends[-1]]) if ends[0] < ends[-1] else b""
    starts = ends[:-1] - ends[0]
    filled = np.diff(ends) > 0
    kinds = _kinds_of_bytes(text)
    ink = kinds != _SPACE
    begins = ink.copy()
    begins[1:] &= ~ink[:-1]
    begins[starts[filled]] = ink[starts[filled]]
    return (
        _sums(begins, starts, filled),
        _sums(ink & (kinds != _CONTINUATION), starts, filled),
    )


def _kinds_of_bytes(text: bytes) -> NDArray[np.uint8]:
    """Return, for each byte of UTF-8 text, whether it belongs to white space, continues a character, …"""
    kinds = np.frombuffer(bytearray(text).translate(_KINDS), np.uint8)
    values = np.frombuffer(text, np.uint8)
    leads = np.flatnonzero(kinds == _LEAD)
    long = values[leads] >= 0xE0
    third = np.where(long, values[np.minimum(leads + 2, len(values) - 1)], 0)
    codes = (values[leads].astype(np.int32) << 16) | (values[leads + 1].astype(np.int32) << 8) | third
    wide = np.isin(codes, _WIDE_CODES)
    kinds[leads[wide]] = _SPACE
    kinds[leads[wide] + 1] = _SPACE
    kinds[leads[wide & long] + 2] = _SPACE
    return kinds


def _sums(
    marks: NDArray[np.bool_], starts: NDArray[np.int64], filled: NDArray[np.bool_]
) -> NDArray[np.int32]:
    """Count the `marks` of each text; reduceat does not support empty texts, so these stay 0."""
    sums = np.zeros(len(starts), np.int32)
    if filled.any():
        sums[filled] = np.add.reduceat(marks, starts[filled], dtype=np.int32)
    return sums


# In Chinese, Japanese, Thai, Lao, Khmer and Burmese, ICU finds the words (Unicode Standard Annex 29, with
# ICU's dictionaries). In other languages words are separated by white space, as in the published method. The
# first of these scripts found in a text determines the language for ICU.
_SCRIPTS = {
    "ja": r"[\p{Hiragana}\p{Katakana}]",
    "zh": r"\p{Han}",
    "th": r"\p{Thai}",
    "lo": r"\p{Lao}",
    "km": r"\p{Khmer}",
    "my": r"\p{Myanmar}",
}


def written_lengths(texts: pd.Series) -> TextLengths:
    """Count the words and the characters of every text in a column of dtype `str`; a missing text has 0.

    Characters are counted as in `text_lengths`. In a text with any of the scripts above, a word is an ICU
    segment that contains a letter or a digit; punctuation marks do not count.
    """
    lengths = text_lengths(texts)
    rows = np.flatnonzero(~_are_ascii(texts))
    if not len(rows):
        return lengths
    words = lengths.words.copy()
    left = pa.array(texts.iloc[rows], pa.large_string())
    for language, script in _SCRIPTS.items():
        found = np.asarray(pc.match_substring_regex(left, script).fill_null(False))
        for row in rows[found]:
            words[row] = _segmented(str(texts.iloc[row]), language)
        rows, left = rows[~found], left.filter(pa.array(~found))
    return TextLengths(words, lengths.characters)


def _are_ascii(texts: pd.Series) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    found = pc.string_is_ascii(pa.chunked_array(texts).cast(pa.large_string()))
    return np.asarray(found.fill_null(True), dtype=bool)


def _segmented(text: str, language: str) -> int:
    # Imported only if needed, because its data are 30 MB.
    from icu4py.breakers import WordBreaker  # noqa: PLC0415

    return sum(any(mark.isalnum() for mark in segment) for segment in WordBreaker(text, language))
