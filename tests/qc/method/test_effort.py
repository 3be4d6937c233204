"""Tests of the lengths of workers' messages, worked out by hand and as published."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from qc.loading import load
from qc.method.sample import Sample, take_sample
from qc.method.topics import describe_topics
from qc.method.workload import Lengths, describe_effort
from qc.robustness.shuffles import describe_workers
from qc.run import CHANGES, OPINIONS, REMOVED, Words
from server.db import tables as models

Hits = dict[str, Any]


def spoken(inputs: list[tuple[int, int, str]]) -> Words:
    """Return what was said: (conversation, round, input)."""
    exchanges = pd.DataFrame(inputs, columns=["conversation", "round", "input"]).assign(reply="…")
    marks = pd.DataFrame({"conversation": np.empty(0, np.int32), "round": np.empty(0, np.int32)})
    return Words(
        exchanges.astype({"conversation": np.int32, "round": np.int32, "input": str}),
        marks.assign(topic="", opinion=pd.Categorical([], OPINIONS)),
        marks.assign(how=pd.Categorical([], CHANGES), bot_opinion=pd.Categorical([], OPINIONS)),
    )


@pytest.fixture
def sample(small_hits: Hits, hits_file: Callable[[object], Path]) -> Sample:
    """The small data set; conversations 0 to 3 are of anna, who passed: alpha, qc, beta, alpha_p."""
    return take_sample(load(str(hits_file(small_hits))))


def said(sample: Sample, inputs: list[tuple[int, int, str]]) -> Sample:
    return replace(sample, run=replace(sample.run, words=spoken(inputs)))


def test_lengths_by_hand(sample: Sample) -> None:
    effort = describe_effort(
        said(
            sample,
            [
                (0, 1, "Hello there!"),  # 2 words, 11 characters
                (0, 2, "I like tea."),  # 3 words, 9 characters
                (1, 1, "to the qc bot, which is left out"),
                (2, 1, "yes"),  # 1 word, 3 characters
                (4, 1, "no no"),  # ben, who failed: 2 words, 4 characters
            ],
        )
    )
    assert effort is not None
    # anna's conversations with systems: 5, 1 and 0 words in 2, 1 and 0 inputs; 20, 3 and 0 characters.
    assert effort.passed.inputs_per_conversation == Lengths(3, 1.0, 1.0)
    assert effort.passed.words_per_input == Lengths(3, 2.0, 2.0)
    assert effort.passed.words_per_conversation == Lengths(3, 2.0, 1.0)
    assert effort.passed.characters_per_input == Lengths(3, pytest.approx(23 / 3), 9.0)
    assert effort.passed.characters_per_conversation == Lengths(3, pytest.approx(23 / 3), 3.0)
    # ben, cleo and dan held 3 + 3 + 2 conversations with systems; eve met the qc bot only.
    assert effort.failed.words_per_input == Lengths(1, 2.0, 2.0)
    assert effort.failed.words_per_conversation == Lengths(8, 0.25, 0.0)
    assert effort.all.words_per_input == Lengths(4, 2.0, 2.0)
    assert effort.all.words_per_conversation == Lengths(11, pytest.approx(8 / 11), 0.0)
    assert "white space" in effort.counting


def test_without_inputs_means_are_unknown(sample: Sample) -> None:
    effort = describe_effort(said(sample, []))
    assert effort is not None
    assert effort.all.words_per_input.n == 0
    assert np.isnan([effort.all.words_per_input.mean, effort.all.words_per_input.median]).all()
    assert effort.all.words_per_conversation == Lengths(11, 0.0, 0.0)


def test_nobody_passed(small_hits: Hits, hits_file: Callable[[object], Path]) -> None:
    sample = take_sample(load(str(hits_file(small_hits))), alpha=0.001)
    effort = describe_effort(said(sample, [(0, 1, "hello")]))
    assert effort is not None
    assert effort.passed.words_per_conversation.n == 0
    assert np.isnan(effort.passed.words_per_conversation.median)
    assert effort.failed == effort.all


def test_without_words_there_is_no_effort(sample: Sample) -> None:
    assert describe_effort(replace(sample, run=replace(sample.run, words=None))) is None


# METHOD.md, section 5 (thesis, table A.9): medians in a conversation's inputs, without the qc bot.
@pytest.mark.published
@pytest.mark.parametrize("source", ["hits_data.json", "mturk_batch.csv"])
def test_published_medians(published_sample: Callable[[str, str], Sample], source: str) -> None:
    effort = describe_effort(published_sample("free_run1", source))
    assert effort is not None
    assert (effort.passed.words_per_conversation.median, effort.failed.words_per_conversation.median) == (
        63,
        48,
    )
    characters = (effort.passed.characters_per_conversation, effort.failed.characters_per_conversation)
    assert [lengths.median for lengths in characters] == [249, 188]
    assert [lengths.n for lengths in characters] == [1075, 445]


def test_removed_words_have_no_length(sample: Sample) -> None:
    """Where a worker had their words removed, `[removed]` is no word of theirs; that they spoke is known."""
    inputs = [(0, 1, REMOVED), (0, 2, REMOVED), (2, 1, "I like tea."), (4, 1, REMOVED)]
    removed = said(sample, inputs)
    effort = describe_effort(removed)
    assert effort is not None
    assert effort.passed.inputs_per_conversation == Lengths(3, 1.0, 1.0)
    assert effort.passed.words_per_input == Lengths(1, 3.0, 3.0)
    assert effort.passed.words_per_conversation == Lengths(2, 1.5, 1.5)  # of the one without inputs, 0
    assert effort.failed.words_per_input.n == 0
    workers = describe_workers(removed).set_index("worker")["words"]
    assert workers["anna"] == 3
    assert np.isnan(workers["ben"])
    topics = pd.DataFrame({"conversation": [0, 2], "round": [0, 0], "topic": [REMOVED, "tea"]})
    assert removed.run.words is not None
    words = replace(removed.run.words, topics=topics.assign(opinion=pd.Categorical(["like"] * 2, OPINIONS)))
    found = describe_topics(replace(removed, run=replace(removed.run, words=words)))
    assert found is not None
    assert found.words == (("tea", 1),)
    assert found.opening["passed"].n == 2


def test_what_stands_where_words_were_is_what_the_server_puts_there() -> None:
    assert models.REMOVED == REMOVED
