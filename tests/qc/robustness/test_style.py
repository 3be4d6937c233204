"""Scores with style held constant: exact effects by hand, another way to the coefficients, and refusals."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from qc.method.sample import Sample
from qc.method.scores import score
from qc.robustness.style import FEATURES, StyleControl, control_style
from qc.run import REMOVED, Words
from tests.qc.support.samples import sample_of_arrays

WORKERS, SYSTEMS = 20, 3
WHO = np.repeat(np.arange(WORKERS), SYSTEMS)
WHAT = np.tile(np.arange(SYSTEMS), WORKERS)


def said(words: NDArray[np.intp], z: NDArray[np.float64], workers: NDArray[np.intp] = WHO) -> Sample:
    """Return a sample whose conversations have one reply of so many words each."""
    sample = sample_of_arrays(workers, WHAT[: len(z)], z[:, None])
    replies = pd.Series(["word " * int(count) for count in words], dtype="str")
    rows = np.arange(len(z), dtype=np.int32)
    nothing = pd.DataFrame({"conversation": [], "round": []})
    exchanges = pd.DataFrame({"conversation": rows, "round": 1, "input": "hello", "reply": replies})
    place = pd.DataFrame(
        {"position": np.random.default_rng(0).permuted(np.tile([1, 2, 3], WORKERS))[: len(z)]}
    )
    run = replace(sample.run, conversations=place, words=Words(exchanges, nothing, nothing))
    return replace(sample, run=run)


def controlled(sample: Sample) -> StyleControl:
    found = control_style(sample, score(sample))
    assert found is not None
    return found


def test_a_lead_that_is_length_alone_is_gone() -> None:
    # z is 0.3 for the system s2, and half the logarithm of words + 1; s0 writes about four times as much.
    # So the controlled scores of s0 and s1 are equal, and that of s2 is 0.3 higher, however long it writes.
    rng = np.random.default_rng(1)
    words = rng.integers(10, 30, len(WHO)) * np.where(WHAT == 0, 4, 1)
    logs = np.log1p(words)
    found = controlled(said(words, 0.5 * logs + 0.3 * (WHAT == 2)))
    table = found.systems.set_index("system")
    assert table.loc["s0", "rank"] == 1
    assert table.loc["s2", "controlled_rank"] == 1
    assert table.loc["s0", "controlled"] == pytest.approx(table.loc["s1", "controlled"])
    assert table.loc["s2", "controlled"] - table.loc["s1", "controlled"] == pytest.approx(0.3)
    length = found.features.set_index("feature").loc["words"]
    assert length["estimate"] == pytest.approx(0.5 * logs.std())
    assert table.loc["s0", "words"] == pytest.approx(words[WHAT == 0].mean())
    assert "s2 is first instead of s0" in found.sentence
    np.testing.assert_allclose(found.places["estimate"], 0, atol=1e-9)


def test_coefficients_are_those_of_least_squares() -> None:
    rng = np.random.default_rng(2)
    words, z = rng.integers(5, 60, len(WHO)), rng.normal(size=len(WHO))
    sample = said(words, z)
    found = controlled(sample)
    logs = np.log1p(words)
    place = sample.run.conversations["position"].to_numpy()
    columns = [each == WHAT for each in range(SYSTEMS)] + [(logs - logs.mean()) / logs.std()]
    columns += [place == each for each in (2, 3)]
    design = np.column_stack(columns).astype(float)
    beta = np.linalg.lstsq(design, z, rcond=None)[0]
    assert found.features.loc[0, "estimate"] == pytest.approx(beta[3])
    np.testing.assert_allclose(found.places["estimate"], beta[4:])
    by_system = found.systems.set_index("system").loc[["s0", "s1", "s2"]]
    np.testing.assert_allclose(by_system["controlled"], beta[:3] + design[:, 4:].mean(axis=0) @ beta[4:])
    np.testing.assert_allclose(by_system["change"], by_system["controlled"] - by_system["plain"])


def test_the_length_of_each_system_alone_cannot_be_told_from_it() -> None:
    words = np.array([10, 20, 40])[WHAT]
    found = controlled(said(words, np.random.default_rng(3).normal(size=len(WHO))))
    assert found.why_not == "No feature can be told from the systems."
    assert found.systems.empty
    reasons = dict(zip(found.features["feature"], found.features["left_out"], strict=True))
    assert reasons["words"] == "each system has nearly the same in all its conversations"
    assert reasons["emoji"] == "fewer than 10 workers met any"
    assert reasons["wait"] == "unknown"


def test_too_few_workers_or_conversations_are_refused() -> None:
    rng = np.random.default_rng(4)
    few = controlled(said(rng.integers(5, 60, 27), rng.normal(size=27), WHO[:27]))
    assert few.why_not == "It needs replies to at least 10 workers who passed."
    # Three systems, two places and one feature are six coefficients.
    short = controlled(said(rng.integers(5, 60, 29), rng.normal(size=29), np.arange(29) % 12))
    assert short.why_not == "6 coefficients need at least 30 conversations, and there are 29."


def test_removed_replies_take_no_part_and_without_replies_there_is_nothing() -> None:
    rng = np.random.default_rng(5)
    sample = said(rng.integers(5, 60, len(WHO)), rng.normal(size=len(WHO)))
    assert sample.run.words is not None
    exchanges = sample.run.words.exchanges
    some = exchanges.assign(reply=exchanges["reply"].where(exchanges.index > 5, REMOVED))
    none = exchanges.assign(reply=pd.Series([None] * len(exchanges), dtype="str"))
    without = [
        replace(sample, run=replace(sample.run, words=replace(sample.run.words, exchanges=each)))
        for each in (some, none)
    ]
    assert controlled(without[0]).n == len(WHO) - 6
    assert control_style(without[1], score(sample)) is None


def test_a_wait_counts_where_it_is_known() -> None:
    rng = np.random.default_rng(6)
    sample = said(rng.integers(5, 60, len(WHO)), rng.normal(size=len(WHO)))
    waits = pd.Series(rng.uniform(1, 9, len(WHO)))
    found = controlled(replace(sample, run=replace(sample.run, waits=waits)))
    assert found.features["left_out"].tolist().count("") == 2
    assert found.features.loc[list(FEATURES).index("wait"), "mean"] == pytest.approx(waits.mean())
