"""Topics of conversations, workers' opinions about them, and changes of topic.

Source: Ji et al., ACL 2022; thesis, table 5.2 (opinions of the opening topic) and the word cloud of topics.
As there, conversations with the quality-control bot count.
"""

from dataclasses import dataclass
from importlib import resources

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from qc.method.sample import Sample
from qc.run import CHANGES, OPINIONS, REMOVED, codes

SHOWN_WORDS = 200


@dataclass(frozen=True, slots=True)
class OpinionShares:
    """Opinions about `n` topics, in per cent; NaN if there are none."""

    n: int
    like: float
    ambivalent: float
    dislike: float


@dataclass(frozen=True, slots=True)
class ChangeCounts:
    """Changes of topic: `n` records, and `counts` by kind in the order of CHANGES."""

    n: int
    counts: dict[str, int]


@dataclass(frozen=True, slots=True)
class Topics:
    """Topics of a run. The keys "passed", "failed" and "all" are groups of workers.

    Attributes:
        opening: opinions about the opening topics of conversations.
        every: opinions about all topics, including the opening ones.
        changes: changes of topic.
        words: words in the topics of workers who passed, with their counts; the most frequent first, then
            alphabetical; at most SHOWN_WORDS, without stop words.
    """

    opening: dict[str, OpinionShares]
    every: dict[str, OpinionShares]
    changes: dict[str, ChangeCounts]
    words: tuple[tuple[str, int], ...]


def describe_topics(sample: Sample) -> Topics | None:
    """Return the topics of the run; None if the source does not hold them."""
    words = sample.run.words
    if words is None:
        return None
    topics, changes = words.topics, words.changes
    return Topics(
        opening={name: _shares(rows) for name, rows in _groups(topics[topics["round"] == 0], sample).items()},
        every={name: _shares(rows) for name, rows in _groups(topics, sample).items()},
        changes={name: _changes(rows) for name, rows in _groups(changes, sample).items()},
        words=frequent_words(_groups(topics[topics["topic"] != REMOVED], sample)["passed"]["topic"]),
    )


def frequent_words(texts: pd.Series) -> tuple[tuple[str, int], ...]:
    """Return the words of `texts` in lower case with their counts, as in `Topics.words`.

    A word is a sequence of at least two letters, digits or apostrophes. Stop words are those of the package
    `wordcloud` 1.9.6 (MIT licence), in `stop_words.txt`.
    """
    stop_words = resources.files("qc.method").joinpath("stop_words.txt").read_text(encoding="utf-8").split()
    lowered = pc.utf8_lower(pc.replace_substring(pa.chunked_array(texts).cast(pa.large_string()), "’", "'"))
    spaced = pc.replace_substring_regex(lowered, r"[^\p{L}\p{M}\p{N}']+", " ")
    words = pc.utf8_trim(pc.list_flatten(pc.utf8_split_whitespace(spaced)), "'")
    counts = words.filter(pc.greater(pc.utf8_length(words), 1)).to_pandas().value_counts()
    counts = counts[~counts.index.isin(stop_words)].rename_axis("word").reset_index(name="count")
    shown = counts.sort_values(["count", "word"], ascending=[False, True]).head(SHOWN_WORDS)
    return tuple(zip(shown["word"].to_list(), shown["count"].to_list(), strict=True))


def _groups(rows: pd.DataFrame, sample: Sample) -> dict[str, pd.DataFrame]:
    passed = sample.kept[rows["conversation"].to_numpy()]
    return {"passed": rows[passed], "failed": rows[~passed], "all": rows}


def _shares(topics: pd.DataFrame) -> OpinionShares:
    counts = _counts(topics["opinion"], len(OPINIONS))
    total = int(counts.sum())
    return OpinionShares(total, *(counts / (total or np.nan) * 100).tolist())


def _changes(changes: pd.DataFrame) -> ChangeCounts:
    counts = _counts(changes["how"], len(CHANGES)).tolist()
    return ChangeCounts(sum(counts), dict(zip(CHANGES, counts, strict=True)))


def _counts(column: pd.Series, count: int) -> NDArray[np.intp]:
    """Return how often each category occurs, (count,)."""
    given = codes(column)
    return np.bincount(given[given >= 0], minlength=count)
