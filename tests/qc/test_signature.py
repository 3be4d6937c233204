"""The line that states what a result was made of and how."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from qc.analysis import SAME_DATA, AnalysisOptions, analyse
from qc.comparison.several_runs import set_side_by_side
from qc.errors import OptionError
from qc.loading import load
from qc.run import Run, Unrated
from qc.signature import data_hash, published_hash, several_runs_signature, signature, words_hash
from tests.qc.support.analyses import SYSTEMS, awkward_run


@pytest.fixture
def run(spoken_database: Any) -> Run:
    return load(spoken_database.url)


def parts(line: str) -> dict[str, str]:
    return dict(part.split("=", 1) for part in line.split("|"))


def test_it_states_data_criteria_and_options(run: Run) -> None:
    assert run.words is not None
    found = parts(signature(run, alpha=0.01, seed=7, bootstrap=500))
    assert list(found) == [
        "candor", "data", "words", "criteria", "filter", "alpha", "z", "partial", "seed", "bootstrap",
        "replies",
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


WHOLE = awkward_run()
assert WHOLE.scenarios is not None
assert WHOLE.turn_ratings is not None


def changed_answers(part: str) -> Run:
    """Return WHOLE with another first answer in this part of it."""
    assert WHOLE.answers is not None
    given = WHOLE.answers.given.copy()
    row = given.index[(given["part"] == part) & given["text"].notna()][0]
    given.loc[row, "text"] += "!"
    return replace(WHOLE, answers=replace(WHOLE.answers, given=given))


def unrated(count: int) -> Unrated:
    rows = WHOLE.conversations[["conversation", "assignment", "worker", "system"]].iloc[:count]
    return Unrated(rows, None)


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        ("people", WHOLE, replace(WHOLE, people=frozenset({SYSTEMS[0]}))),
        ("people", *(replace(WHOLE, people=frozenset({name})) for name in SYSTEMS[:2])),
        ("scenarios", WHOLE, replace(WHOLE, scenarios=WHOLE.scenarios.iloc[::-1].reset_index(drop=True))),
        ("turns", WHOLE, replace(WHOLE, turn_ratings=WHOLE.turn_ratings.assign(value=1.0))),
        ("answers", WHOLE, changed_answers("conversation")),
        ("unrated", *(replace(WHOLE, unrated=unrated(count)) for count in (1, 2))),
    ],
)
def test_what_decides_a_number_is_in_it(name: str, first: Run, second: Run) -> None:
    one, other = (parts(signature(run, alpha=0.05)) for run in (first, second))
    assert {key for key in one.keys() | other.keys() if one.get(key) != other.get(key)} == {name}


PEOPLE = replace(WHOLE, people=frozenset({SYSTEMS[0]}))
assert WHOLE.words is not None
OTHER_TOPICS = replace(WHOLE.words, topics=WHOLE.words.topics.iloc[1:])


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        ("people2", WHOLE, PEOPLE),
        ("words2", WHOLE, replace(WHOLE, words=OTHER_TOPICS)),
        ("unrated2", *(replace(WHOLE, unrated=unrated(count)) for count in (1, 2))),
    ],
)
def test_what_decides_a_number_of_runs_side_by_side_is_in_their_line(
    name: str, first: Run, second: Run
) -> None:
    runs = ([awkward_run(2), run] for run in (first, second))
    one, other = (parts(several_runs_signature(each, alpha=0.05, seed=0, bootstrap=100)) for each in runs)
    assert {key for key in one.keys() | other.keys() if one.get(key) != other.get(key)} == {name}


def test_which_systems_of_a_second_run_are_people_is_in_it() -> None:
    plain, people = (parts(signature(WHOLE, alpha=0.05, second=run)) for run in (WHOLE, PEOPLE))
    assert plain == {key: value for key, value in people.items() if key != "second_people"}
    assert "second_people" in people


def test_what_a_study_has_not_is_not_stated() -> None:
    bare = replace(
        WHOLE, scenarios=None, turn_ratings=None, answers=None, quizzes=None, writing=None, background=None
    )
    assert not parts(signature(bare, alpha=0.05)).keys() & {
        "scenarios", "turns", "answers", "unrated", "people", "quiz", "writing", "background"
    }  # fmt: skip


def test_no_label_takes_the_line_apart() -> None:
    labels = ["a\nb", "c|d=e", "f,g", "50%"]
    run = replace(
        WHOLE, criteria=WHOLE.criteria.assign(label=labels), ratings=WHOLE.ratings.set_axis(labels, axis=1)
    )
    line = signature(run, alpha=0.05)
    assert len(line.splitlines()) == 1
    assert [one.rstrip("*") for one in parts(line)["criteria"].split(",")] == [
        "a%0Ab", "c%7Cd=e", "f%2Cg", "50%25"
    ]  # fmt: skip


def test_families_and_personas_make_no_other_run_of_the_same_ratings() -> None:
    poorer = replace(WHOLE, systems=WHOLE.systems.assign(family=WHOLE.systems["system"], has_persona=False))
    assert data_hash(poorer) != data_hash(WHOLE)
    assert published_hash(poorer) == published_hash(WHOLE)
    options = AnalysisOptions(bootstrap=100, sections=frozenset())
    assert SAME_DATA in analyse(WHOLE, options, poorer).notes
    with pytest.raises(OptionError, match="the same data twice"):
        set_side_by_side([WHOLE, poorer], options)
    other = replace(WHOLE, ratings=WHOLE.ratings.iloc[::-1].reset_index(drop=True))
    assert SAME_DATA not in analyse(WHOLE, options, other).notes
