"""The line that states what a result was made of and how."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from qc.loading import load
from qc.run import Run
from qc.signature import data_hash, signature, words_hash


@pytest.fixture
def run(spoken_database: Any) -> Run:
    return load(spoken_database.url)


def parts(line: str) -> dict[str, str]:
    return dict(part.split("=", 1) for part in line.split("|"))


def test_it_states_data_criteria_and_options(run: Run) -> None:
    assert run.words is not None
    found = parts(signature(run, alpha=0.01, seed=7, bootstrap=500))
    assert list(found) == [
        "candor", "data", "words", "criteria", "filter", "alpha", "z", "partial", "seed", "bootstrap"
    ]  # fmt: skip
    assert found["data"] == f"sha256:{data_hash(run)[:16]}"
    assert found["words"] == f"sha256:{words_hash(run.words)[:16]}"
    # fun and clear count for quality control (*), robotic is negative (-).
    assert found["criteria"] == "fun*,clear*,-robotic"
    assert (found["alpha"], found["seed"], found["bootstrap"], found["partial"]) == ("0.01", "7", "500", "no")


def test_what_was_not_used_is_not_stated(run: Run) -> None:
    found = parts(signature(replace(run, words=None), alpha=0.05))
    assert "words" not in found
    assert "bootstrap" not in found
    assert found["seed"] == "0"


def test_the_reward_is_stated_as_far_as_it_is_known(run: Run) -> None:
    def stated(*rewards: float, given: float | None = None) -> str | None:
        paid = run.assignments.assign(reward=np.resize(rewards, len(run.assignments)).astype(float))
        return parts(signature(replace(run, assignments=paid), alpha=0.05, reward=given)).get("reward")

    assert stated(np.nan) is None
    assert stated(0.99) == "0.99"
    assert stated(0.99, given=1) == "1.0"
    assert stated(np.nan, given=0.1 + 0.2) == "0.30000000000000004"
    mixed = {stated(0.99, np.nan), stated(0.99, 1), stated(1, 0.99)}
    assert len(mixed) == 3
    assert all(value is not None and value.startswith("sha256:") for value in mixed)


def test_every_digit_of_alpha_is_stated(run: Run) -> None:
    assert signature(run, alpha=0.05) != signature(run, alpha=0.05000001)


def test_what_only_some_formats_hold_is_not_in_the_hash_of_the_data(run: Run) -> None:
    feedback = run.assignments.assign(feedback="Fun!", reward=0.99)
    persona = run.conversations.assign(persona="I am a cook.")
    changed = replace(run, assignments=feedback, conversations=persona, name="other", source="elsewhere")
    assert data_hash(changed) == data_hash(run)


@pytest.mark.parametrize(
    ("frame", "column"),
    [
        ("criteria", "maximum"),
        ("assignments", "seconds"),
        ("assignments", "hit"),
        ("conversations", "position"),
        ("ratings", "fun"),
        ("systems", "has_persona"),
    ],
)
def test_any_other_value_is(run: Run, frame: str, column: str) -> None:
    given = getattr(run, frame)
    values = given[column].copy()
    if values.dtype == bool:
        values = ~values
    else:
        values.iloc[-1] = values.iloc[-1] + (1 if pd.api.types.is_numeric_dtype(values) else "x")
    assert data_hash(replace(run, **{frame: given.assign(**{column: values})})) != data_hash(run)


def test_names_of_conversations_are_not(run: Run) -> None:
    # They are made up by some formats, and no number depends on them.
    given = run.conversations
    renamed = given.assign(conversation="x" + given["conversation"])
    assert data_hash(replace(run, conversations=renamed)) == data_hash(run)


def test_texts_do_not_run_into_each_other(run: Run) -> None:
    # "ab" and "c" are other texts than "a" and "bc"; one that is missing is none that is empty.
    given = run.assignments.iloc[:2]
    hashes = {
        data_hash(replace(run, assignments=given.assign(hit=pd.array(names, dtype="str"))))
        for names in (["ab", "c"], ["a", "bc"], ["abc", ""], ["abc", None])
    }
    assert len(hashes) == 4
    assert {len(value) for value in hashes} == {hashlib.sha256().digest_size * 2}


def test_the_criteria_that_were_chosen_are_stated(
    small_hits: dict[str, Any], hits_file: Callable[[object], Path], tmp_path: Path
) -> None:
    chosen = tmp_path / "criteria.yaml"
    chosen.write_text("criteria: [{label: clear}]")
    whole, part = load(str(hits_file(small_hits))), load(str(hits_file(small_hits)), criteria=chosen)
    assert parts(signature(part, alpha=0.05))["criteria"] == "clear*"
    assert data_hash(part) != data_hash(whole)
