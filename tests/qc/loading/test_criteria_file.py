"""A file that says which criteria are analysed, instead of what the source declares."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from qc.convert import save
from qc.errors import DataError
from qc.loading import load

Json = dict[str, Any]
Refused = Callable[..., str]
WriteFile = Callable[[str], Path]


@pytest.fixture
def criteria_file(tmp_path: Path) -> WriteFile:
    """Return a function that writes a text as a criteria file and returns it."""

    def write(text: str) -> Path:
        path = tmp_path / "criteria.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_only_what_is_listed_is_analysed_in_that_order(
    small_hits: Json, hits_file: Callable[[object], Path], criteria_file: WriteFile
) -> None:
    chosen = criteria_file(
        "criteria:\n- {label: robotic, negative: true, counts_for_qc: false}\n- label: clear\n"
    )
    run = load(str(hits_file(small_hits)), criteria=chosen)
    assert run.criteria.to_dict("records") == [
        {"label": "robotic", "negative": True, "counts_for_qc": False, "maximum": 100},
        {"label": "clear", "negative": False, "counts_for_qc": True, "maximum": 100},
    ]
    # anna's conversation with alpha: robotic 55, clear 40.
    assert run.ratings.iloc[0].to_dict() == {"robotic": 55, "clear": 40}


def test_the_source_need_not_declare_what_is_listed(
    small_hits: Json, hits_file: Callable[[object], Path], criteria_file: WriteFile
) -> None:
    for assignment in small_hits["data"]:
        for conversation in assignment["result"]:
            conversation["score"] = {"charm": 300, "fun": 1000}
    run = load(str(hits_file(small_hits)), criteria=criteria_file("criteria: [{label: charm, maximum: 300}]"))
    assert list(run.ratings) == ["charm"]
    assert run.criteria["maximum"].item() == 300


@pytest.mark.parametrize("source", ["hits", "database"])
def test_what_is_not_rated_is_an_error_that_lists_what_is(
    source: str,
    small_hits: Json,
    hits_file: Callable[[object], Path],
    database: Any,
    criteria_file: WriteFile,
    refused: Refused,
) -> None:
    chosen = criteria_file("criteria:\n- label: charm\n- label: fun\n- label: wit\n")
    given = hits_file(small_hits) if source == "hits" else database.url
    if source == "database":  # declared, and never rated
        row = {"position": 9, "label": "wit", "statement": "…", "negative": 0, "counts_for_qc": 1}
        database.insert("v1_criterion", run_id="r1", **row)
    message = refused(given, "--criteria-file", chosen)
    assert "2 problems" in message
    for label in ("charm", "wit"):
        assert f"criterion '{label}': is not rated in this source" in message
    listed = sorted(message.split("Rated are: ")[1].split(".")[0].split(", "))
    assert listed == ["clear", "fun", "robotic"]


def test_ratings_are_held_against_the_maximum_of_the_file(
    small_hits: Json, hits_file: Callable[[object], Path], criteria_file: WriteFile
) -> None:
    with pytest.raises(DataError, match="'fun' is rated 70, not within 0 to 60") as caught:
        load(str(hits_file(small_hits)), criteria=criteria_file("criteria: [{label: fun, maximum: 60}]"))
    # Above 60 are only anna's 70 for alpha_p and ben's 70 for the qc bot.
    assert [problem.where for problem in caught.value.problems] == ["data[0].result[3]", "data[1].result[1]"]


def test_an_empty_run_stays_an_empty_run(
    small_hits: Json, hits_file: Callable[[object], Path], criteria_file: WriteFile, refused: Refused
) -> None:
    small_hits["data"].clear()
    chosen = criteria_file("criteria: [{label: fun}]")
    assert "holds no assignment" in refused(hits_file(small_hits), "--criteria-file", chosen)


def test_the_numbers_of_a_batch_are_named_in_their_order(
    batch: list[dict[str, str]], batch_file: Callable[..., Path], criteria_file: WriteFile
) -> None:
    chosen = criteria_file("criteria:\n" + "".join(f"- label: c{number}\n" for number in range(7)))
    run = load(str(batch_file(batch)), criteria=chosen)
    # 90#60#70#80#85#40#75#
    assert run.ratings.iloc[0].to_dict() == {
        "c0": 90, "c1": 60, "c2": 70, "c3": 80, "c4": 85, "c5": 40, "c6": 75
    }  # fmt: skip
    assert list(run.criteria["label"]) == [f"c{number}" for number in range(7)]


def test_a_batch_of_other_numbers_is_told_once(
    batch: list[dict[str, str]], batch_file: Callable[..., Path], criteria_file: WriteFile, refused: Refused
) -> None:
    chosen = criteria_file("criteria: [{label: fun}, {label: topic}]")
    message = refused(batch_file(batch), "--criteria-file", chosen)
    assert "1 problem\n" in message
    assert "the criteria file: names 2, but a scoreN holds 7 numbers. Name each number" in message


def test_other_faults_of_such_a_batch_are_told_as_well(
    batch: list[dict[str, str]], batch_file: Callable[..., Path], criteria_file: WriteFile, refused: Refused
) -> None:
    chosen = criteria_file("criteria: [{label: fun}, {label: topic}]")
    batch[1]["WorkTimeInSeconds"] = "-5"
    message = refused(batch_file(batch), "--criteria-file", chosen)
    for part in ("2 problems\n", "the criteria file: names 2", "the working time is negative (-5 s)"):
        assert part in message


def test_criteria_of_a_converted_run(
    small_hits: Json, hits_file: Callable[[object], Path], criteria_file: WriteFile, tmp_path: Path
) -> None:
    chosen = criteria_file("criteria: [{label: clear, maximum: 200}, {label: fun}]")
    source = hits_file(small_hits)
    expected = load(str(source), criteria=chosen)
    save(load(str(source)), tmp_path / "run.json", "hits")
    run = load(str(tmp_path / "run.json"), criteria=chosen)
    assert run.ratings.equals(expected.ratings)
    assert run.criteria.equals(expected.criteria)


FAULTS = {
    "unknown fields": (
        "criteria:\n- {label: fun, positive: true}\n- {label: topic, max: 5}\nscale: 5\n",
        ["criteria[0].positive", "criteria[1].max", "scale", "3 problems", "is in an unknown field"],
    ),
    "wrong types": (
        "criteria:\n- {label: 7, negative: perhaps, counts_for_qc: 1, maximum: high}\n",
        [
            "criteria[0].label: 7 is not a text",
            "criteria[0].negative: 'perhaps' is neither true nor false",
            "criteria[0].counts_for_qc: 1 is neither true nor false",
            "criteria[0].maximum: 'high' is not a number",
        ],
    ),
    "label missing or empty": (
        "criteria:\n- {negative: true}\n- {label: ''}\n",
        ["criteria[0].label: the field is missing", "criteria[1].label: '' is empty"],
    ),
    "maximum 0 or infinite": (
        "criteria:\n- {label: a, maximum: 0}\n- {label: b, maximum: .inf}\n- {label: c, maximum: .nan}\n",
        [
            "criteria[0].maximum: 0 is not above 0",
            "criteria[1].maximum: inf is not a finite number",
            "criteria[2].maximum: nan is not a finite number",
        ],
    ),
    "label twice": (
        "criteria:\n- label: fun\n- label: topic\n- label: fun\n",
        ["criteria[2].label: 'fun' is already given at criteria[0]"],
    ),
    "name of a column of ours": (
        "criteria:\n- label: fun\n- label: overall\n- label: n\n",
        ["2 problems", "criteria[1].label: 'overall' is the name of a column of the results"],
    ),
    "no criteria": ("criteria: []\n", ["criteria: [] is empty"]),
    "something else": ("- label: fun\n", ["the file", "is not an object"]),
    "empty file": ("", ["the file", "is not an object"]),
    "not YAML": ("criteria: [\n", ["the file: is not YAML"]),
    "levels without end": (
        "criteria: " + "[" * 5_000,
        ["line 1: nested more than 50 levels deep"],
    ),
    "digits without end": ("criteria: 0x" + "f" * 5_000, ["a number of more than 100 digits"]),
    # 10 values, and at each of eight levels nine times as many and one more.
    "aliases of aliases": (
        "a: &a [0, 0, 0, 0, 0, 0, 0, 0, 0]\n"
        + "".join(f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n" for old, new in pairwise("abcdefghi"))
        + "criteria: *i\n",
        ["more than 200,000 values"],
    ),
    "an alias of itself": ("criteria: &a [*a]\n", ["a part refers to itself"]),
    "a large file": ("#" * 1_000_001, ["more than 1,000,000 bytes"]),
}


@pytest.mark.parametrize("case", FAULTS)
def test_faults_of_the_file_are_all_told(
    case: str,
    small_hits: Json,
    hits_file: Callable[[object], Path],
    criteria_file: WriteFile,
    refused: Refused,
) -> None:
    text, expected = FAULTS[case]
    path = criteria_file(text)
    message = refused(hits_file(small_hits), "--criteria-file", path)
    assert message.startswith(f"Error: {path}: ")
    for part in expected:
        assert part in message


def test_a_file_that_cannot_be_read(
    small_hits: Json, hits_file: Callable[[object], Path], tmp_path: Path, refused: Refused
) -> None:
    message = refused(hits_file(small_hits), "--criteria-file", tmp_path / "nowhere.yaml")
    assert "nowhere.yaml: the criteria file cannot be read (No such file or directory)" in message
    assert "cannot be read" in refused(hits_file(small_hits), "--criteria-file", tmp_path)
