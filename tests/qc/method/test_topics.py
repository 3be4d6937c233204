"""Topics and their changes: worked out by hand, and as published."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from qc.loading import load
from qc.method.sample import Sample, take_sample
from qc.method.topics import SHOWN_WORDS, OpinionShares, describe_topics, frequent_words
from qc.run import CHANGES, OPINIONS, Words

Hits = dict[str, Any]
Marks = list[tuple[int, int, str, str | None]]


def marked(sample: Sample, topics: Marks, changes: Marks) -> Sample:
    """Return `sample` with topics (conversation, round, topic, opinion) and changes (…, how, opinion)."""
    words = Words(
        pd.DataFrame({"conversation": np.empty(0, np.int32), "round": np.empty(0, np.int32)}),
        _frame(topics, "topic", "opinion").astype({"topic": str}),
        _frame(changes, "how", "bot_opinion").assign(
            how=pd.Categorical([how for *_, how, _ in changes], CHANGES)
        ),
    )
    return replace(sample, run=replace(sample.run, words=words))


def _frame(marks: Marks, what: str, opinion: str) -> pd.DataFrame:
    frame = pd.DataFrame(marks, columns=["conversation", "round", what, opinion])
    return frame.astype({"conversation": np.int32, "round": np.int32}).assign(
        **{opinion: pd.Categorical([given for *_, given in marks], OPINIONS)}
    )


@pytest.fixture
def sample(small_hits: Hits, hits_file: Callable[[object], Path]) -> Sample:
    """The small data set: conversations 0 to 3 are anna's, who passed; 4 to 14 of those who failed."""
    return take_sample(load(str(hits_file(small_hits))))


def test_opinions_and_changes_by_hand(sample: Sample) -> None:
    topics: Marks = [
        (0, 0, "Tea", "like"),
        (0, 4, "Green tea", "dislike"),
        (1, 0, "Cats", "like"),  # with the qc bot, which counts here
        (2, 0, "Rain", "ambivalent"),
        (3, 0, "Snow", "like"),
        (4, 0, "Tea", "dislike"),
    ]
    changes: Marks = [
        (0, 4, "bot change", "like"),
        (1, 2, "bot change", None),
        (2, 2, "no change", "like"),
        (4, 3, "user change next", "like"),
    ]
    found = describe_topics(marked(sample, topics, changes))
    assert found is not None
    # Opening topics of anna: 3 of 4 liked, 1 ambivalent; with "Green tea" 3, 1 and 1 of 5.
    assert found.opening["passed"] == OpinionShares(4, 75.0, 25.0, 0.0)
    assert found.opening["failed"] == OpinionShares(1, 0.0, 0.0, 100.0)
    assert found.opening["all"] == OpinionShares(5, 60.0, 20.0, 20.0)
    assert found.every["passed"] == OpinionShares(5, 60.0, 20.0, 20.0)
    assert found.every["all"].n == 6
    assert found.changes["passed"].n == 3
    assert found.changes["passed"].counts == dict(zip(CHANGES, [2, 0, 0, 0, 1], strict=True))
    assert found.changes["failed"].counts == dict(zip(CHANGES, [0, 0, 1, 0, 0], strict=True))
    assert list(found.changes["all"].counts) == list(CHANGES)
    # Those of workers who passed: "tea" twice, ben's is not among them; then by alphabet.
    assert found.words == (("tea", 2), ("cats", 1), ("green", 1), ("rain", 1), ("snow", 1))


def test_an_opinion_that_was_not_given_is_no_opinion(sample: Sample) -> None:
    found = describe_topics(marked(sample, [(0, 0, "Tea", "like"), (1, 0, "Tea", None)], []))
    assert found is not None
    assert found.opening["passed"] == OpinionShares(1, 100.0, 0.0, 0.0)


def test_without_any_topic(sample: Sample) -> None:
    found = describe_topics(marked(sample, [], []))
    assert found is not None
    for shares in (*found.opening.values(), *found.every.values()):
        assert shares.n == 0
        assert np.isnan([shares.like, shares.ambivalent, shares.dislike]).all()
    assert [changes.n for changes in found.changes.values()] == [0, 0, 0]
    assert found.words == ()


def test_without_words_there_are_no_topics(sample: Sample) -> None:
    assert describe_topics(replace(sample, run=replace(sample.run, words=None))) is None


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["The dogs, and my DOGS!"], [("dogs", 2)]),  # "the", "and", "my" are stop words
        (["b c 5 42"], [("42", 1)]),  # one character is no word
        (["I don't know", "I don’t know"], [("know", 2)]),  # "don't" is a stop word, however it is typed
        (["'quoted' rock'n'roll"], [("quoted", 1), ("rock'n'roll", 1)]),
        (["zebra apple", "mango"], [("apple", 1), ("mango", 1), ("zebra", 1)]),
        (["CAFÉ café", "हिन्दी"], [("café", 2), ("हिन्दी", 1)]),
        (["", "  ", "!?"], []),
    ],
)
def test_words_of_topics(texts: list[str], words: list[tuple[str, int]]) -> None:
    assert frequent_words(pd.Series(texts, dtype=str)) == tuple(words)


def test_only_the_most_frequent_words_are_shown() -> None:
    texts = [f"word{number:03}" for number in range(SHOWN_WORDS + 50)] + ["word249"]
    words = frequent_words(pd.Series(texts, dtype=str))
    assert len(words) == SHOWN_WORDS
    assert words[:2] == (("word249", 2), ("word000", 1))
    assert words[-1] == ("word198", 1)


# METHOD.md, section 5 (thesis, table 5.2): opinions of the opening topic, workers who passed.
@pytest.mark.published
@pytest.mark.parametrize("source", ["hits_data.json", "mturk_batch.csv"])
def test_published_opinions(published_sample: Callable[[str, str], Sample], source: str) -> None:
    found = describe_topics(published_sample("free_run1", source))
    assert found is not None
    shares = found.opening["passed"]
    assert [shares.like, shares.ambivalent, shares.dislike] == pytest.approx([83.86, 7.45, 8.69], abs=0.005)
    # Counted in hits_data.json: 1905 changes, of which 1712 of workers who passed; one kind never occurs.
    assert (found.changes["passed"].n, found.changes["all"].n) == (1712, 1905)
    assert found.changes["all"].counts["user wants bot change"] == 0
