"""Count the formatting marks of texts: list items, other Markdown, and emoji.

Source of the marks: Li, Angelopoulos and Chiang, *Does style matter? Disentangling style and substance in
Chatbot Arena*, LMSYS Org blog, 2024 (length, headings, bold and list items). Code, links, table rows and
emoji are ours.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

_LIST_ITEM = r"(?m)^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+\S"
_MARKDOWN = "|".join(
    (
        r"(?m)^#{1,6}[ \t]+\S",  # a heading
        r"^[ \t]*\|[^\n]*\|[ \t]*$",  # a row of a table
        r"\*\*[^*\n]+\*\*|__[^_\n]+__",  # bold
        r"```|`[^`\n]+`",  # a fence, or code within a line
        r"\[[^\]\n]+\]\([^)\n]+\)",  # a link
    )
)
_PICTURE = r"[\x{1F300}-\x{1F3FA}\x{1F400}-\x{1FAFF}\x{2600}-\x{27BF}\x{2B50}\x{2B55}]"
# A flag is two letters; a skin tone, a variant and a joined picture belong to the picture before them.
_EMOJI = (
    r"[\x{1F1E6}-\x{1F1FF}]{2}|"
    rf"{_PICTURE}(?:[\x{{FE0F}}\x{{1F3FB}}-\x{{1F3FF}}]|\x{{200D}}{_PICTURE})*"
)


class Formatting(NamedTuple):
    """Counts of N texts, each (N,): list items, other marks of Markdown, and emoji."""

    list_items: NDArray[np.int32]
    markdown: NDArray[np.int32]
    emoji: NDArray[np.int32]


def formatting(texts: pd.Series) -> Formatting:
    """Count the formatting marks of every text in a column of dtype `str`; a missing text has none."""
    given = pa.chunked_array(texts).cast(pa.large_string())
    return Formatting(*(_count(given, pattern) for pattern in (_LIST_ITEM, _MARKDOWN, _EMOJI)))


def _count(texts: pa.ChunkedArray, pattern: str) -> NDArray[np.int32]:
    counts = pc.fill_null(pc.count_substring_regex(texts, pattern), 0)
    return np.asarray(counts.to_numpy(), np.int32)
