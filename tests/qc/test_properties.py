"""Invariants of the analysis for every data set; a damaged file ends in a message, never in a traceback."""

import copy
import csv
import io
import json
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from qc.analysis import SECTIONS, AnalysisOptions, analyse
from qc.errors import QcError
from qc.loading import load
from qc.loading.raw_run import (
    ASSIGNMENT_COLUMNS,
    CONVERSATION_COLUMNS,
    CRITERION_COLUMNS,
    SYSTEM_COLUMNS,
    RawRun,
    build_run,
)
from qc.method.sample import standardise, take_sample
from qc.method.scores import score
from qc.render.document import document
from qc.run import CHANGES, OPINIONS, Run, Words
from qc.signature import signature, words_hash
from tests.qc.support.same import same_run

LABELS = ["fun", "clear", "topic"]
SYSTEMS = ["a", "b", "c", "qc"]
PART = {"filter": "filter_check"}  # what a section's part is called, where not like the section

# One assignment: who did it, and the ratings of each of the four systems on each of the three criteria. They
# are at most 30, so that there is room to stretch and shift them on the scale of 100.
ratings = st.lists(st.lists(st.integers(0, 30), min_size=3, max_size=3), min_size=4, max_size=4)
assignments = st.lists(st.tuples(st.sampled_from("wxyz"), ratings), min_size=1, max_size=8)
Held = list[tuple[str, list[list[int]]]]


def build(held: Held, order: list[int] | None = None) -> Run:
    """Return a run of positive criteria, its conversations given in `order`, and its words."""
    names = [f"A{number}" for number in range(len(held))]
    conversations = [
        (f"{name}/{position}", f"{name}/{position}", name, position, system, None)
        for name in names
        for position, system in enumerate(SYSTEMS, start=1)
    ]
    order = list(range(len(conversations))) if order is None else order
    return build_run(
        RawRun(
            name="drawn",
            source="drawn",
            criteria=pd.DataFrame(
                [(label, False, True, 100.0) for label in LABELS], columns=CRITERION_COLUMNS
            ),
            systems=pd.DataFrame(
                [(name, name, False, name == "qc") for name in SYSTEMS], columns=SYSTEM_COLUMNS
            ),
            assignments=pd.DataFrame(
                [
                    (name, name, name, worker, 60.0, 0.99, None)
                    for name, (worker, _) in zip(names, held, strict=True)
                ],
                columns=ASSIGNMENT_COLUMNS,
            ),
            conversations=pd.DataFrame(conversations, columns=CONVERSATION_COLUMNS).iloc[order],
            ratings=pd.DataFrame([row for _, rows in held for row in rows], columns=LABELS).iloc[order],
            words=said([row for _, rows in held for row in rows], order),
        )
    )


def words_of(held: Held) -> Words:
    """Return the words of the run that `build` makes of `held`."""
    rows = [row for _, rows in held for row in rows]
    return said(rows, list(range(len(rows))))


def said(given: list[list[int]], order: list[int]) -> Words:
    """Return words that follow from the ratings of each conversation, for conversations in `order`."""
    inputs, topics, changes = [], [], []
    for row, number in enumerate(order):
        fun, clear, topic = (int(value) for value in given[number])
        inputs += [(row, turn, f"{fun} words", f"{clear} words") for turn in range(1, 1 + fun % 4)]
        topics += [(row, turn, f"topic {topic}", OPINIONS[turn]) for turn in range(1 + topic % 3)]
        changes += [(row, turn, CHANGES[turn], OPINIONS[clear % 3]) for turn in range(clear % 3)]
    opinion, how = pd.CategoricalDtype(list(OPINIONS)), pd.CategoricalDtype(list(CHANGES))
    keys: dict[str, Any] = {"conversation": np.int32, "round": np.int32}

    def frame(rows: list[Any], **types: Any) -> pd.DataFrame:
        return pd.DataFrame(rows, columns=[*keys, *types]).astype({**keys, **types})

    return Words(
        frame(inputs, input=str, reply=str),
        frame(topics, topic=str, opinion=opinion),
        frame(changes, how=how, bot_opinion=opinion),
    )


@given(held=assignments, factor=st.sampled_from([0.5, 1.5, 2.0, 3.0]), offset=st.integers(0, 10))
def test_stretching_and_shifting_a_worker_changes_no_z(held: Held, factor: float, offset: int) -> None:
    worker = held[0][0]
    moved = [
        (who, [[value * factor + offset for value in row] for row in rows] if who == worker else rows)
        for who, rows in held
    ]
    one, other = (take_sample(build(rows), alpha=0.5) for rows in (held, moved))
    pd.testing.assert_frame_equal(one.screening.workers, other.screening.workers)
    by_name = [score(sample).z.sort_values("system", ignore_index=True) for sample in (one, other)]
    pd.testing.assert_frame_equal(*by_name, check_exact=False, rtol=0.0, atol=1e-9)


@given(held=assignments, data=st.data())
def test_the_order_of_rows_changes_no_bit_of_a_run(held: Held, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(held) * len(SYSTEMS))))
    same_run(build(held), build(held, order))


# Of runs that are the same to the bit, which the property above is about, the whole chain is done 10 times.
@settings(max_examples=10)
@given(held=assignments, data=st.data())
def test_the_order_of_rows_changes_no_bit_of_a_result(held: Held, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(held) * len(SYSTEMS))))
    options = AnalysisOptions(alpha=0.5, bootstrap=100)
    # A second run has its workers in another order, so that scores and ties differ.
    second = [(who, other) for (who, _), (_, other) in zip(held, reversed(held), strict=True)]
    straight = analyse(build(held), options, build(second))
    permuted = analyse(build(held, order), options, build(second, order))
    # No family has two systems, nobody rates transcripts, and of nobody the background is known.
    sections = set(SECTIONS) - {"persona", "transcripts", "groups"}
    assert all(getattr(straight, PART.get(name, name)) is not None for name in sections - {"forecast"})
    assert document(straight) == document(permuted)
    assert straight.filter_check is not None
    assert permuted.filter_check is not None
    pd.testing.assert_frame_equal(
        straight.filter_check.workers, permuted.filter_check.workers, check_exact=True
    )


def as_hits(held: Held) -> dict[str, Any]:
    """Return what was drawn, with words that follow from the ratings, as the content of a hits_data.json."""
    score = {label: {"positive": True, "qc": True} for label in LABELS}
    return {
        "metadata": {"score": score, "model": SYSTEMS[:-1], "qc-model": "qc"},
        "data": [
            {
                "hit": f"H{number % 2}",
                "assignment": f"A{number}",
                "worker": worker,
                "duration in seconds": 60,
                "result": [
                    {
                        "model": system,
                        "score": dict(zip(LABELS, row, strict=True)),
                        "dialogue": [
                            {"round": turn, "user": f"{row[0]} words", "bot": ""}
                            for turn in range(1, 1 + row[1] % 4)
                        ],
                        "topic": [{"round": 0, "topic": f"topic {row[2]}", "attitude": OPINIONS[row[2] % 3]}],
                    }
                    for system, row in zip(SYSTEMS, rows, strict=True)
                ],
            }
            for number, (worker, rows) in enumerate(held)
        ],
    }


def loaded(name: str, content: bytes) -> Run:
    """Return the run in a file that is called so and holds this."""
    with TemporaryDirectory() as directory:
        path = Path(directory) / name
        path.write_bytes(content)
        return load(path)


def from_hits(content: dict[str, Any]) -> Run:
    return loaded("drawn.json", json.dumps(content).encode())


@given(held=assignments, data=st.data())
def test_splitting_a_file_and_joining_it_again_changes_nothing(held: Held, data: st.DataObject) -> None:
    content = as_hits(held)
    part_of = data.draw(st.lists(st.integers(0, 2), min_size=len(held), max_size=len(held)))
    parts = [
        [one for one, own in zip(content["data"], part_of, strict=True) if own == part]
        for part in data.draw(st.permutations(range(3)))
    ]
    whole, joined = (
        from_hits(content),
        from_hits({**content, "data": [one for part in parts for one in part]}),
    )
    same_run(whole, joined)
    assert signature(whole, alpha=0.05) == signature(joined, alpha=0.05)
    read = [from_hits({**content, "data": part}) for part in parts if part]
    assert whole.words is not None
    assert by_conversation(*read).equals(by_conversation(whole))


def by_conversation(*runs: Run) -> pd.DataFrame:
    """Return ratings and inputs of all `runs`, a row for each input, or for a conversation without any."""
    found = []
    for run in runs:
        assert run.words is not None
        rated = run.ratings.assign(conversation=run.conversations["conversation"])
        said = run.words.exchanges.set_index("conversation")
        found.append(rated.join(said).sort_values(["conversation", "round"]))
    return pd.concat(found).sort_values(["conversation", "round"], ignore_index=True)


@given(held=assignments, data=st.data())
def test_the_order_of_conversations_within_an_assignment_changes_no_score(
    held: Held, data: st.DataObject
) -> None:
    scores = np.array([row for _, rows in held for row in rows], dtype=float) / 7
    workers = np.repeat([ord(worker) - ord("w") for worker, _ in held], len(SYSTEMS))
    order = np.array(data.draw(st.permutations(range(len(scores)))))
    np.testing.assert_array_equal(
        standardise(scores[order], workers[order], 4), standardise(scores, workers, 4)[order], strict=True
    )


@given(held=assignments)
def test_z_of_every_worker_has_mean_0_and_sd_1(held: Held) -> None:
    scores = np.array([row for _, rows in held for row in rows], dtype=float)
    workers = np.repeat([ord(worker) - ord("w") for worker, _ in held], len(SYSTEMS))
    z = standardise(scores, workers, 4)
    for worker in np.unique(workers):
        own = z[workers == worker]
        if np.isnan(own).any():
            assert np.isnan(own).all()
            assert np.ptp(scores[workers == worker]) == 0
        else:
            assert own.mean() == pytest.approx(0, abs=1e-12)
            assert own.std(ddof=1) == pytest.approx(1, abs=1e-12)


@given(held=assignments, change=st.integers(1, 30))
def test_the_data_hash_tells_different_ratings_apart(held: Held, change: int) -> None:
    changed = copy.deepcopy(held)
    changed[0][1][0][0] += change
    one, other = (signature(build(rows), alpha=0.05) for rows in (held, changed))
    assert one != other


@given(held=assignments, data=st.data())
def test_the_hash_of_words_tells_different_words_apart(held: Held, data: st.DataObject) -> None:
    words = words_of(held)
    frame = data.draw(st.sampled_from([words.exchanges, words.topics, words.changes]))
    assume(len(frame))
    row = data.draw(st.integers(0, len(frame) - 1))
    column = data.draw(st.sampled_from(list(frame.columns)))
    changed = frame.copy()
    if column in ("input", "reply", "topic"):
        changed.loc[row, column] += "."
    elif column in ("round", "conversation"):
        changed.loc[row, column] += 1
    else:
        changed.loc[row, column] = np.nan
    parts = [changed if part is frame else part for part in (words.exchanges, words.topics, words.changes)]
    # What the bots said decides no number; all else does.
    assert (words_hash(Words(*parts)) == words_hash(words)) == (column == "reply")


@given(held=assignments, cuts=st.lists(st.integers(0, 30), max_size=3))
def test_the_hash_of_words_does_not_depend_on_how_they_are_stored(held: Held, cuts: list[int]) -> None:
    words = words_of(held)
    bounds = [0, *sorted(cuts), len(words.exchanges)]
    pieces = [words.exchanges.iloc[start:end] for start, end in pairwise(bounds)]
    again = Words(
        pd.concat(pieces, ignore_index=True).iloc[: len(words.exchanges)], words.topics, words.changes
    )
    assert words_hash(again) == words_hash(words)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def paths(value: object) -> list[tuple[Any, Any]]:
    """Return every (container, key) within a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path for key, inner in items for path in ((value, key), *paths(inner))]


def damage(content: object, data: st.DataObject) -> None:
    """Replace or remove something anywhere in `content`."""
    container, key = data.draw(st.sampled_from(paths(content)))
    if data.draw(st.booleans()):
        del container[key]
    else:
        container[key] = data.draw(json_values)


def analysed_or_refused(name: str, content: bytes) -> None:
    """Fail on any exception but those with a message for the analyst; warnings are exceptions here."""
    with suppress(QcError):
        analyse(loaded(name, content), WITHOUT_SECTIONS)


# What a damaged source comes to is a matter of the loader, and the whole chain takes seven times as long.
WITHOUT_SECTIONS = AnalysisOptions(sections=frozenset())
tolerant = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@tolerant
@given(data=st.data())
def test_a_damaged_hits_file_is_analysed_or_refused(small_hits: dict[str, Any], data: st.DataObject) -> None:
    content = copy.deepcopy(small_hits)
    damage(content, data)
    analysed_or_refused("hits_data.json", json.dumps(content).encode())


@tolerant
@given(data=st.data())
def test_a_damaged_batch_is_analysed_or_refused(batch: list[dict[str, str]], data: st.DataObject) -> None:
    rows = copy.deepcopy(batch)
    row = data.draw(st.sampled_from(rows))
    if data.draw(st.booleans()):
        answer = json.loads(row["Answer.taskAnswers"])
        damage(answer, data)
        row["Answer.taskAnswers"] = json.dumps(answer)
    else:
        row[data.draw(st.sampled_from(list(row)))] = data.draw(st.text(max_size=5))
    text = io.StringIO()
    writer = csv.DictWriter(text, list(batch[0]))
    writer.writeheader()
    writer.writerows(rows)
    try:
        content = text.getvalue().encode()
    except UnicodeEncodeError:
        assume(False)
    analysed_or_refused("batch.csv", content)


@tolerant
@given(content=st.binary(max_size=60))
@example(content=b"\x00\r\x00")
@example(content=b"\r\xc2\x80")
def test_arbitrary_bytes_are_refused(content: bytes) -> None:
    for name in ("some.json", "some.csv"):
        with pytest.raises(QcError):
            loaded(name, content)
