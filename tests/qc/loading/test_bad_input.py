"""Every kind of bad input has its own message: what, where, why, what to do."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from qc.errors import SHOWN_PROBLEMS, DataError
from qc.loading import load

Json = dict[str, Any]
Rows = list[dict[str, str]]
Refused = Callable[..., str]


def drop(container: Json, key: str) -> None:
    del container[key]


# What is changed in the small hits_data.json, and what the message must say.
HITS_CASES: dict[str, tuple[Callable[[Json], object], list[str]]] = {
    "rating missing": (
        lambda hits: drop(hits["data"][1]["result"][2]["score"], "fun"),
        ["data[1].result[2]", "'fun' is not rated", "Correct it or take the assignment out"],
    ),
    "field missing": (
        lambda hits: drop(hits["data"][1], "worker"),
        ["data[1].worker", "the field is missing", "Give it as in the published hits_data.json"],
    ),
    "metadata missing": (lambda hits: drop(hits, "metadata"), ["'metadata'"]),
    "qc model missing": (lambda hits: drop(hits["metadata"], "qc-model"), ["metadata.qc-model", "missing"]),
    "not a number": (
        lambda hits: hits["data"][0]["result"][3]["score"].update(clear="high"),
        ["data[0].result[3].score.clear", "'high' is not a number"],
    ),
    "a number as text": (
        lambda hits: hits["data"][0]["result"][3]["score"].update(clear="50"),
        ["data[0].result[3].score.clear", "'50' is not a number"],
    ),
    "true as a rating": (
        lambda hits: hits["data"][0]["result"][3]["score"].update(clear=True),
        ["True is not a number"],
    ),
    "null as a rating": (
        lambda hits: hits["data"][0]["result"][3]["score"].update(clear=None),
        ["None is not a number"],
    ),
    "above the scale": (
        lambda hits: hits["data"][0]["result"][3]["score"].update(clear=101),
        ["data[0].result[3]", "'clear' is rated 101, not within 0 to 100"],
    ),
    "below the scale": (
        lambda hits: hits["data"][0]["result"][3]["score"].update(clear=-1),
        ["'clear' is rated -1, not within 0 to 100"],
    ),
    "unknown criterion": (
        lambda hits: hits["data"][0]["result"][3]["score"].update(charm=5),
        ["data[0].result[3]", "unknown criterion 'charm'", "Known are: fun, clear, robotic"],
    ),
    "unknown system": (
        lambda hits: hits["data"][2]["result"][0].update(model="gamma"),
        ["data[2].result[0]", "unknown system 'gamma'", "Known are: alpha, alpha_p, beta, qc"],
    ),
    "duplicate assignment": (
        lambda hits: hits["data"].append(hits["data"][0]),
        ["data[5]", "assignment 'A-anna' was already given at data[0]", "Keep one of the two"],
    ),
    "negative time": (
        lambda hits: hits["data"][4].update({"duration in seconds": -3}),
        ["data[4]", "working time is negative (-3 s)"],
    ),
    "infinite time": (
        lambda hits: hits["data"][4].update({"duration in seconds": 1e999}),
        ["data[4].duration in seconds", "inf is not a finite number"],
    ),
    "worker is a number": (
        lambda hits: hits["data"][0].update(worker=7),
        ["data[0].worker", "7 is not a text"],
    ),
    "assignment without name": (
        lambda hits: hits["data"][0].update(assignment=""),
        ["data[0].assignment", "empty"],
    ),
    "result is no list": (
        lambda hits: hits["data"][0].update(result={}),
        ["data[0].result", "is not a list"],
    ),
    "data is no list": (lambda hits: hits.update(data={}), ["list 'data'"]),
    "system declared twice": (
        lambda hits: hits["metadata"]["model"].append("beta"),
        ["system 'beta'", "declared more than once"],
    ),
    "qc bot among the systems": (
        lambda hits: hits["metadata"]["model"].append("qc"),
        ["system 'qc'", "declared more than once"],
    ),
    "order of criteria incomplete": (
        lambda hits: hits["metadata"]["sorted_scores"].pop(),
        ["metadata.sorted_scores", "does not name each criterion"],
    ),
    "empty run": (
        lambda hits: hits["data"].clear(),
        ["is empty: it holds no assignment", "Collect some first"],
    ),
    "no answers at all": (
        lambda hits: [assignment["result"].clear() for assignment in hits["data"]],
        ["holds no assignment that can be analysed", "5 (no answers)"],
    ),
    "no criterion for quality control": (
        lambda hits: [criterion.update(qc=False) for criterion in hits["metadata"]["score"].values()],
        ["no criterion counts for quality control", "Declare at least one"],
    ),
    "no qc conversation": (
        lambda hits: hits["metadata"].update(
            {"model": ["alpha", "alpha_p", "beta", "qc"], "qc-model": "bot"}
        ),
        ["no conversation with the quality-control bot", "Check which system is declared"],
    ),
    "only qc conversations": (
        lambda hits: hits.update(data=hits["data"][4:]),
        ["no conversation with a system", "Check which system is declared"],
    ),
}


@pytest.mark.parametrize("case", HITS_CASES)
def test_hits_data(
    case: str, small_hits: Json, hits_file: Callable[[object], Path], refused: Refused
) -> None:
    change, expected = HITS_CASES[case]
    change(small_hits)
    path = hits_file(small_hits)
    message = refused(path)
    assert str(path) in message
    for part in expected:
        assert part in message


def test_all_problems_of_a_file_are_told_at_once(
    small_hits: Json, hits_file: Callable[[object], Path], refused: Refused
) -> None:
    del small_hits["data"][0]["hit"]
    small_hits["data"][1]["result"][0]["model"] = "gamma"
    small_hits["data"][2]["result"][0]["score"]["fun"] = 200
    small_hits["data"].append(small_hits["data"][3])
    message = refused(hits_file(small_hits))
    for part in ("4 problems", "data[0].hit", "'gamma'", "rated 200", "already given at data[3]"):
        assert part in message


def test_a_wrong_order_of_criteria_hides_no_other_problem(
    small_hits: Json, hits_file: Callable[[object], Path], refused: Refused
) -> None:
    small_hits["metadata"]["sorted_scores"].pop()
    small_hits["data"][1]["result"][0]["model"] = "gamma"
    message = refused(hits_file(small_hits))
    for part in ("2 problems", "metadata.sorted_scores", "unknown system 'gamma'"):
        assert part in message


def test_all_problems_of_a_batch_are_told_at_once(
    batch: Rows, batch_file: Callable[[Rows], Path], refused: Refused
) -> None:
    again = {**batch[0], "WorkTimeInSeconds": "601"}
    batch[1]["WorkTimeInSeconds"] = "long"
    path = batch_file([*batch, again])
    path.write_text(path.read_text() + "H9,A9\n")
    message = refused(path)
    for part in (
        "3 problems",
        "row 6: has 2 fields where the header has 8",
        "row 5 (assignment A1): the same assignment is in row 2",
        "row 3 (assignment A2): WorkTimeInSeconds is 'long'",
    ):
        assert part in message


def test_the_display_of_problems_is_capped_and_the_error_holds_all(
    small_hits: Json, hits_file: Callable[[object], Path], refused: Refused
) -> None:
    for assignment in small_hits["data"]:
        for conversation in assignment["result"]:
            conversation["score"] = {"fun": 101, "clear": 102, "robotic": 103}
    path = hits_file(small_hits)
    message = refused(path)
    # 4 + 4 + 4 + 2 + 1 conversations of three ratings each.
    assert "45 problems" in message
    assert message.count("not within") == SHOWN_PROBLEMS
    assert "… and 25 more" in message
    with pytest.raises(DataError) as caught:
        load(str(path))
    assert len(caught.value.problems) == 45


@pytest.mark.parametrize("text", ["{", "[1, 2]", "nonsense", '{"metadata": {}, "data": {}}', "\ufeff{]"])
def test_not_json(text: str, tmp_path: Path, refused: Refused) -> None:
    path = tmp_path / "hits_data.json"
    path.write_text(text)
    message = refused(path)
    assert "is not JSON" in message or "is not an object with 'metadata'" in message


# What replaces parts of the first answer of the batch, and what the message must say.
ANSWER_CASES: dict[str, tuple[dict[str, object], list[str]]] = {
    "score missing": ({"score1": None}, ["conversation 1", "score1 is missing"]),
    "task missing": ({"task0": None}, ["conversation 0", "task0 is missing"]),
    "seed missing": ({"seed0": None}, ["conversation 0", "seed0 is missing"]),
    "seed not a number": ({"seed0": "many"}, ["seed0 is 'many', which is not a number"]),
    "too few ratings": ({"score0": "1#2#3#"}, ["score0 has 3 ratings where 7 belong"]),
    "too many ratings": ({"score0": "1#2#3#4#5#6#7#8#"}, ["score0 has 8 ratings where 7 belong"]),
    "rating not a number": (
        {"score0": "1#2#x#4#5#6#7#"},
        ["the rating of 'fun' in score0 is 'x', not a number"],
    ),
    "rating nan": ({"score0": "1#2#nan#4#5#6#7#"}, ["the rating of 'fun' in score0 is 'nan', not a number"]),
    "rating empty": ({"score0": "1#2##4#5#6#7#"}, ["the rating of 'fun' in score0 is '', not a number"]),
    "rating above the scale": ({"score0": "1#2#3#4#5#6#700#"}, ["'topic' is rated 700, not within 0 to 100"]),
    "unknown system": ({"task0": "kb"}, ["unknown system 'kb' in task0", "The HIT has: kv, qc"]),
    "score not a text": ({"score0": [1, 2]}, ["score0 is [1, 2], which is not a text"]),
}


@pytest.mark.parametrize("case", ANSWER_CASES)
def test_batch_answer(
    case: str,
    edited_answer: Callable[..., Rows],
    batch_file: Callable[[Rows], Path],
    refused: Refused,
) -> None:
    parts, expected = ANSWER_CASES[case]
    message = refused(batch_file(edited_answer(**parts)))
    assert "row 2 (assignment A1)" in message
    for part in expected:
        assert part in message


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [
        ("WorkTimeInSeconds", "long", "WorkTimeInSeconds is 'long', which is not a number"),
        ("WorkTimeInSeconds", "", "WorkTimeInSeconds is '', which is not a number"),
        ("WorkTimeInSeconds", "-5", "the working time is negative (-5 s)"),
        ("WorkerId", "", "the field 'WorkerId' is empty"),
        ("HITId", "", "the field 'HITId' is empty"),
        ("Answer.taskAnswers", "[{", "Answer.taskAnswers is not JSON"),
        ("Answer.taskAnswers", "[1]", "Answer.taskAnswers is not a list with one object"),
        ("Answer.taskAnswers", "[{}, {}]", "Answer.taskAnswers is not a list with one object"),
    ],
)
def test_batch_field(
    column: str, value: str, expected: str, batch: Rows, batch_file: Callable[[Rows], Path], refused: Refused
) -> None:
    batch[1][column] = value
    message = refused(batch_file(batch))
    assert "row 3 (assignment A2)" in message
    assert expected in message


def test_the_same_assignment_with_different_content(
    batch: Rows, batch_file: Callable[[Rows], Path], refused: Refused
) -> None:
    message = refused(batch_file([*batch, {**batch[0], "WorkTimeInSeconds": "601"}]))
    assert "row 5 (assignment A1): the same assignment is in row 2 with different content" in message
    assert "Keep the right one" in message


def test_batch_of_assignments_without_answers_only(
    batch: Rows, batch_file: Callable[[Rows], Path], refused: Refused
) -> None:
    message = refused(batch_file(batch[2:]))
    assert "holds no assignment that can be analysed" in message
    assert "1 (no answers)" in message


def test_batch_without_a_row(batch_file: Callable[[Rows], Path], refused: Refused) -> None:
    assert "is empty: it holds no assignment" in refused(batch_file([]))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("HITId,b,c\n1,2,3\n", "row 1: the column 'WorkerId' is missing"),
        ("HITId,b,c\n1,2,3\n", "row 1: the column 'Input.u0' is missing"),
        ("a,b,c\n1,2,3\n", "it has no column of a batch. Check the path."),
        ('a,b\n"1,2\n', "is not a CSV table"),
        ("just some words, nothing else", "this is neither a hits_data.json, nor an MTurk batch CSV"),
    ],
)
def test_not_a_batch(text: str, expected: str, tmp_path: Path, refused: Refused) -> None:
    path = tmp_path / "batch.csv"
    path.write_text(text)
    assert expected in refused(path)


def test_a_row_of_another_length(batch: Rows, batch_file: Callable[[Rows], Path], refused: Refused) -> None:
    path = batch_file(batch)
    path.write_text(path.read_text() + "H9,A9\n")
    assert "row 5: has 2 fields where the header has 8" in refused(path)


def test_another_encoding(tmp_path: Path, refused: Refused) -> None:
    for name in ("batch.csv", "hits_data.json"):
        (tmp_path / name).write_bytes('{"é": 1}'.encode("latin-1"))
        assert "UTF-8" in refused(tmp_path / name)


def test_empty_file(tmp_path: Path, refused: Refused) -> None:
    for content in ("", " \n"):
        (tmp_path / "hits_data.json").write_text(content)
        assert "the file is empty. Export or download it again" in refused(tmp_path / "hits_data.json")


def test_missing_file(tmp_path: Path, refused: Refused) -> None:
    message = refused(tmp_path / "nowhere.json")
    assert "nowhere.json: the file cannot be read (No such file or directory). Check the path" in message


def test_directory(tmp_path: Path, refused: Refused) -> None:
    message = refused(tmp_path)
    assert f"{tmp_path}: this is a directory" in message
    assert "hits_data.json" in message


def test_a_file_of_another_kind(tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "picture").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00")
    assert (
        "neither a hits_data.json, nor an MTurk batch CSV, nor an export of Candor, nor an SQLite database"
        in refused(tmp_path / "picture")
    )


@pytest.mark.parametrize("alpha", ["0", "1", "-0.1", "1.5", "nan"])
def test_alpha(alpha: str, small_hits: Json, hits_file: Callable[[object], Path], refused: Refused) -> None:
    assert "a significance level lies between 0 and 1" in refused(hits_file(small_hits), "--alpha", alpha)


def test_run_of_a_file(small_hits: Json, hits_file: Callable[[object], Path], refused: Refused) -> None:
    assert "--run chooses a run of a database" in refused(hits_file(small_hits), "--run", "first")


def test_out_is_a_file(small_hits: Json, hits_file: Callable[[object], Path], refused: Refused) -> None:
    path = hits_file(small_hits)
    assert "the results cannot be written (File exists). Name another --out" in refused(path, "--out", path)


def test_url_of_another_kind(refused: Refused) -> None:
    assert "databases of the kind 'mysql' are not supported" in refused("mysql://host/name")
    assert "databases of the kind 'https' are not supported" in refused("https://example.org/hits_data.json")


def test_url_that_is_none(refused: Refused) -> None:
    assert "is not a valid database URL" in refused("postgresql://host:port/name")
    assert "is not a valid database URL" in refused("://")


def test_url_that_does_not_connect(refused: Refused) -> None:
    # Port 1 is reserved and closed. Without the driver the message is about the driver.
    message = refused("postgresql://someone:secret@127.0.0.1:1/candor")
    assert "no connection" in message or "driver is missing" in message
    assert "secret" not in message


def test_sqlite_url_without_file(tmp_path: Path, refused: Refused) -> None:
    path = tmp_path / "nowhere.db"
    assert "there is no such database file" in refused(f"sqlite:///{path}")
    assert not path.exists()


def test_sqlite_url_of_another_file(tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "notes.db").write_text("hello")
    assert "the file is not an SQLite database" in refused(f"sqlite:///{tmp_path / 'notes.db'}")


def test_sqlite_without_views(tmp_path: Path, refused: Refused) -> None:
    connection = sqlite3.connect(tmp_path / "other.db")
    connection.execute("CREATE TABLE unrelated (a)")
    connection.close()
    message = refused(tmp_path / "other.db")
    assert "has no view v1_version" in message


def test_sqlite_that_is_broken(tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "broken.db").write_bytes(b"SQLite format 3\x00" + b"\xff" * 2000)
    assert "broken.db" in refused(tmp_path / "broken.db")


@pytest.mark.parametrize("ratings", [(70, 70, 70), (10, 90, 60)])
def test_a_worker_with_no_variance_fails_with_a_reason(
    ratings: tuple[int, int, int],
    small_hits: Json,
    hits_file: Callable[[object], Path],
    tmp_path: Path,
    report: Callable[..., Any],
) -> None:
    cleo = small_hits["data"][2]
    for conversation in cleo["result"]:
        conversation["score"] = dict(zip(("robotic", "fun", "clear"), ratings, strict=True))
    assert report(hits_file(small_hits), "--out", tmp_path / "out").exit_code == 0
    failed = json.loads((tmp_path / "out" / "report.json").read_text())["workers"]["failed"]
    (found,) = [worker for worker in failed if worker["worker"] == "cleo"]
    assert found["reason"] == "no variance: every conversation is rated the same"
    assert found["p"] >= 0.5
