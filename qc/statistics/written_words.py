"""Count words of texts, including scripts without spaces between them.

In Chinese, Japanese, Thai, Lao, Khmer and Burmese ICU finds the words (Unicode Standard Annex 29, with ICU's
dictionaries); everywhere else they are what stands between white space, as in the published method.
"""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from qc.statistics.text import TextLengths, text_lengths

# The first script that is found in a text names the language whose words ICU looks for.
_SCRIPTS = {
    "ja": r"[\p{Hiragana}\p{Katakana}]",
    "zh": r"\p{Han}",
    "th": r"\p{Thai}",
    "lo": r"\p{Lao}",
    "km": r"\p{Khmer}",
    "my": r"\p{Myanmar}",
}


def written_lengths(texts: pd.Series) -> TextLengths:
    """Count the words and the characters of every text in a column of dtype `str`; a missing one has none.

    Characters are as `text_lengths` has them. In a text with any of the scripts above, a word is a segment of
    ICU's with a letter or a digit in it, marks left out.
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
    # Loaded where it is needed: its data are 30 MB.
    from icu4py.breakers import WordBreaker  # noqa: PLC0415

    return sum(any(mark.isalnum() for mark in segment) for segment in WordBreaker(text, language))
