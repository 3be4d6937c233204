"""The server's database, read through its views."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import Result

from qc.analysis import AnalysisOptions, analyse
from qc.errors import DataError, EmptyRunError, QcError, RunChoiceError, SourceError
from qc.formats.published import ACTIONS
from qc.loading import load
from qc.signature import data_hash
from tests.qc.support.same import same_run

Refused = Callable[..., str]


def test_the_same_data_give_the_same_results_as_from_the_file(
    database: Any, small_hits: dict[str, Any], hits_file: Callable[[object], Path]
) -> None:
    for assignment in small_hits["data"]:
        assignment["assignment"] = assignment["hit"] = f"r1-{assignment['worker']}"
    ours, expected = analyse(load(database.url)), analyse(load(str(hits_file(small_hits))))
    pd.testing.assert_frame_equal(ours.sample.screening.workers, expected.sample.screening.workers)
    pd.testing.assert_frame_equal(ours.scores.z, expected.scores.z)
    pd.testing.assert_frame_equal(ours.scores.raw, expected.scores.raw)
    assert ours.minutes == expected.minutes
    assert ours.rates == expected.rates
    assert ours.run.name == "first"


def test_path_and_url_are_the_same_source(database: Any) -> None:
    assert data_hash(load(str(database.path))) == data_hash(load(database.url))


def test_the_database_is_opened_for_reading_only(database: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    connect, opened = sqlite3.connect, []
    monkeypatch.setattr(
        sqlite3, "connect", lambda *given, **how: opened.append((given, how)) or connect(*given, **how)
    )
    load(database.url)
    ((given, how),) = opened
    connection = connect(*given, **how)
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        connection.execute("DELETE FROM v1_run")
    connection.close()


def test_the_views_are_read_as_of_one_moment(database: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    database.execute("PRAGMA journal_mode = WAL")
    connect = sqlite3.connect

    def connect_to_a_busy_database(*given: Any, **how: Any) -> sqlite3.Connection:
        connection = connect(*given, **how)
        # Somebody deletes all ratings after the assignments have been read.
        connection.set_trace_callback(
            lambda statement: "v1_rating" in statement and database.execute("DELETE FROM v1_rating")
        )
        return connection

    monkeypatch.setattr(sqlite3, "connect", connect_to_a_busy_database)
    monkeypatch.setattr(type(database), "execute", _deleting_with(connect))
    assert len(load(database.url).ratings) == 15
    with pytest.raises(DataError, match="is not rated"):
        load(database.url)


def _deleting_with(connect: Callable[..., sqlite3.Connection]) -> Callable[..., None]:
    def execute(self: Any, statement: str) -> None:
        connection = connect(self.path)
        connection.execute(statement)
        connection.commit()
        connection.close()

    return execute


def test_a_database_in_use_by_a_server_can_be_read(database: Any) -> None:
    database.execute("PRAGMA journal_mode = WAL")
    assert len(load(database.url).assignments) == 5


def test_one_of_several_runs_is_chosen_by_slug_or_id(database: Any) -> None:
    database.add_run("r2", "second")
    database.add_assignment("r2", "anna")
    with pytest.raises(RunChoiceError, match=r"holds 2 runs\. Choose one with --run: first, second"):
        load(database.url)
    assert list(load(database.url, run="second").assignments["assignment"]) == ["r2-anna"]
    assert list(load(database.url, run="r2").assignments["assignment"]) == ["r2-anna"]


def test_ids_that_the_database_keeps_as_numbers(database: Any) -> None:
    for view in ("run", "criterion", "system", "assignment", "conversation", "rating"):
        database.execute(f"UPDATE v1_{view} SET run_id = 7")  # noqa: S608
    assert len(load(database.url, run="7").assignments) == 5


def test_an_unknown_run(database: Any, refused: Refused) -> None:
    message = refused(database.url, "--run", "third")
    assert "there is no run 'third'. The database holds: first" in message


def test_a_slug_used_twice(database: Any) -> None:
    database.add_run("r2", "first")
    with pytest.raises(RunChoiceError, match=r"several runs are called 'first'\. Name one by its id: r1, r2"):
        load(database.url, run="first")


def test_no_run(empty_database: Any, refused: Refused) -> None:
    assert "holds no run yet" in refused(empty_database.url)


def test_an_empty_run(empty_database: Any, refused: Refused) -> None:
    empty_database.add_run("r1", "first")
    assert "the run 'first' is empty" in refused(empty_database.url)


def test_another_version_of_the_views(database: Any, refused: Refused) -> None:
    database.execute("UPDATE v1_version SET version = 2")
    assert "the views have version 2, this report reads version 1" in refused(database.url)
    database.execute("DELETE FROM v1_version")
    assert "the views have version none" in refused(database.url)


def test_a_view_or_column_that_is_missing(database: Any, refused: Refused) -> None:
    database.execute("ALTER TABLE v1_rating DROP COLUMN criterion")
    assert "the view v1_rating cannot be read" in refused(database.url)
    database.execute("DROP TABLE v1_rating")
    assert "the view v1_rating cannot be read" in refused(database.url)


@pytest.mark.parametrize("status", ["active", "returned", "expired"])
def test_an_incomplete_assignment_is_left_out_and_named(database: Any, status: str) -> None:
    database.execute("UPDATE v1_assignment SET status = ? WHERE worker = 'ben'", status)
    run = load(database.url)
    assert "r1-ben" not in set(run.assignments["assignment"])
    assert [(out.assignment, out.worker, out.reason) for out in run.left_out] == [
        ("r1-ben", "ben", f"not completed: {status}")
    ]


def test_an_incomplete_assignment_takes_part_if_asked(database: Any, report: Callable[..., Result]) -> None:
    database.execute("UPDATE v1_assignment SET status = 'returned', ended_at = NULL WHERE worker = 'ben'")
    database.execute("UPDATE v1_conversation SET status = 'skipped' WHERE conversation_id = 'r1-ben-4'")
    run = load(database.url, include_partial=True)
    assert list(run.conversations.query("worker == 'ben'")["conversation"]) == [
        "r1-ben-1",
        "r1-ben-2",
        "r1-ben-3",
    ]
    assert run.left_out == ()
    output = report(database.url, "--include-partial").stdout
    assert "Assignments that were not completed take part" in output
    assert "Working time unknown, so not in the minutes per conversation: 1 assignment" in output
    assert "partial=yes" in output


def test_an_assignment_without_a_rated_conversation_never_takes_part(database: Any) -> None:
    database.execute("UPDATE v1_assignment SET status = 'active' WHERE worker = 'eve'")
    database.execute("UPDATE v1_conversation SET status = 'active' WHERE assignment_id = 'r1-eve'")
    run = load(database.url, include_partial=True)
    assert [(out.assignment, out.reason) for out in run.left_out] == [("r1-eve", "no rated conversation")]


@pytest.mark.parametrize("status", ["planned", "active", "failed", "skipped"])
def test_only_rated_conversations_count(database: Any, status: str) -> None:
    database.execute("UPDATE v1_conversation SET status = ? WHERE conversation_id = 'r1-anna-1'", status)
    run = load(database.url)
    assert "r1-anna-1" not in set(run.conversations["conversation"])
    assert len(run.conversations) == 14


def test_failed_conversations_are_noted_by_system(database: Any) -> None:
    database.execute("UPDATE v1_conversation SET status = 'failed' WHERE position = 1 AND system = 'alpha'")
    database.execute("UPDATE v1_conversation SET status = 'failed' WHERE conversation_id = 'r1-anna-3'")
    (note,) = load(database.url).notes
    assert note == "Conversations that a system could not carry on, not in its scores: alpha 4, beta 1."


def test_simulated_workers_are_left_out_beside_real_ones(database: Any) -> None:
    database.execute("UPDATE v1_assignment SET simulated = 1 WHERE worker IN ('ben', 'cleo')")
    database.execute("UPDATE v1_conversation SET status = 'failed' WHERE conversation_id = 'r1-ben-1'")
    run = load(database.url)
    assert set(run.assignments["worker"]) == {"anna", "dan", "eve"}
    assert {(out.worker, out.reason) for out in run.left_out} == {
        ("ben", "simulated worker"),
        ("cleo", "simulated worker"),
    }
    assert run.notes == ("2 assignments of simulated workers are left out; the rest are of real ones.",)


@pytest.mark.parametrize("flag", [1, "true", "t"])
def test_only_simulated_workers_are_used_and_said_aloud(
    database: Any, report: Callable[..., Result], flag: object
) -> None:
    database.execute("UPDATE v1_assignment SET simulated = ?", flag)
    result = report(database.url)
    assert result.exit_code == 0
    assert "SIMULATED WORKERS" in result.stdout
    assert len(load(database.url).assignments) == 5


def test_a_visitor_does_not_make_it_a_run_of_real_workers(database: Any) -> None:
    database.execute("UPDATE v1_assignment SET simulated = 1 WHERE worker <> 'ben'")
    database.execute("UPDATE v1_assignment SET status = 'active' WHERE worker = 'ben'")
    run = load(database.url)
    assert "ben" not in set(run.assignments["worker"])
    assert len(run.assignments) > 0
    assert run.notes[0].startswith("SIMULATED WORKERS")
    assert ("ben", "not completed: active") in {(out.worker, out.reason) for out in run.left_out}


def test_a_run_in_which_nobody_has_finished(database: Any, refused: Refused) -> None:
    database.execute("UPDATE v1_assignment SET status = 'active'")
    message = refused(database.url)
    assert "left out: 5 (not completed: active)" in message
    assert "that were not submitted (--include-partial)" in message


@pytest.mark.parametrize(
    ("agreed", "ended"),
    [
        ("2025-03-01T10:00:00", "2025-03-01T10:40:00"),
        ("2025-03-01 10:00:00", "2025-03-01 10:40:00.000000"),
        ("2025-03-01T10:00:00Z", "2025-03-01T11:40:00+01:00"),
    ],
)
def test_times_in_any_usual_form(database: Any, agreed: str, ended: str) -> None:
    database.execute(
        "UPDATE v1_assignment SET agreed_at = ?, ended_at = ? WHERE worker = 'anna'", agreed, ended
    )
    run = load(database.url)
    assert run.assignments.set_index("assignment")["seconds"]["r1-anna"] == 2400


BAD_VALUES = {
    "rating not a number": (
        "UPDATE v1_rating SET value = 'high' WHERE conversation_id = 'r1-anna-1' AND criterion = 'fun'",
        "conversation r1-anna-1: the rating of 'fun' is 'high', which is not a number",
    ),
    "rating above the scale": (
        "UPDATE v1_rating SET value = 101 WHERE conversation_id = 'r1-anna-1' AND criterion = 'fun'",
        "conversation r1-anna-1: 'fun' is rated 101, not within 0 to 100",
    ),
    "rating missing": (
        "DELETE FROM v1_rating WHERE conversation_id = 'r1-anna-1' AND criterion = 'fun'",
        "conversation r1-anna-1: 'fun' is not rated",
    ),
    "rating twice": (
        "INSERT INTO v1_rating SELECT * FROM v1_rating"
        " WHERE conversation_id = 'r1-anna-1' AND criterion = 'fun'",
        "conversation r1-anna-1: 'fun' is rated twice",
    ),
    "rating empty": (
        "UPDATE v1_rating SET value = NULL WHERE conversation_id = 'r1-anna-1'",
        "view v1_rating: the column 'value' is empty in 3 rows",
    ),
    "unknown criterion": (
        "UPDATE v1_rating SET criterion = 'charm' WHERE conversation_id = 'r1-anna-1' AND criterion = 'fun'",
        "conversation r1-anna-1: unknown criterion 'charm'",
    ),
    "unknown system": (
        "UPDATE v1_conversation SET system = 'gamma' WHERE conversation_id = 'r1-anna-1'",
        "conversation r1-anna-1: unknown system 'gamma'",
    ),
    "duplicate assignment": (
        "INSERT INTO v1_assignment SELECT * FROM v1_assignment WHERE worker = 'anna'",
        "assignment r1-anna: assignment 'r1-anna' was already given",
    ),
    "flag": (
        "UPDATE v1_criterion SET negative = 'perhaps' WHERE label = 'fun'",
        "criterion fun: negative is 'perhaps', not 0 or 1",
    ),
    "time": (
        "UPDATE v1_assignment SET ended_at = 'later' WHERE worker = 'anna'",
        "assignment r1-anna: ended_at is 'later', not a time",
    ),
    "end before start": (
        "UPDATE v1_assignment SET ended_at = '2025-03-01 09:00:00' WHERE worker = 'anna'",
        "assignment r1-anna: the working time is negative (-3600 s)",
    ),
    "position between two": (
        "UPDATE v1_conversation SET position = 1.5 WHERE conversation_id = 'r1-anna-1'",
        "conversation r1-anna-1: the position is 1.5, not a whole number from 1",
    ),
    "position before the first": (
        "UPDATE v1_conversation SET position = 0 WHERE conversation_id = 'r1-anna-1'",
        "conversation r1-anna-1: the position is 0, not a whole number from 1",
    ),
    "position": (
        "UPDATE v1_conversation SET position = 'first' WHERE conversation_id = 'r1-anna-1'",
        "conversation r1-anna-1: the position is 'first', which is not a number",
    ),
}


@pytest.mark.parametrize("case", BAD_VALUES)
def test_bad_values(case: str, database: Any, refused: Refused) -> None:
    statement, expected = BAD_VALUES[case]
    database.execute(statement)
    assert expected in refused(database.url)


def test_a_locked_database_is_told_not_thrown(database: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    holder = sqlite3.connect(database.path)
    holder.execute("BEGIN EXCLUSIVE")
    connect = sqlite3.connect
    monkeypatch.setattr(
        sqlite3, "connect", lambda *given, **options: connect(*given, **{**options, "timeout": 0})
    )
    try:
        with pytest.raises(SourceError, match="locked"):
            load(database.url)
    finally:
        holder.close()


def test_the_errors_are_of_their_kinds(database: Any) -> None:
    database.execute("UPDATE v1_rating SET value = 101")
    with pytest.raises(DataError):
        load(database.url)
    database.execute("DELETE FROM v1_assignment")
    with pytest.raises(EmptyRunError):
        load(database.url)


# What a damaged source comes to is a matter of the loader, and the whole chain takes seven times as long.
WITHOUT_SECTIONS = AnalysisOptions(sections=frozenset())
CELLS = st.sampled_from(
    [None, "", "x", -1, 0, 1, 2.5, 1e300, b"\x00\xff", "1", "2025-01-01", "9999999-01-01", 2**62]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    view=st.sampled_from(
        ["run", "criterion", "system", "assignment", "conversation", "rating", "turn", "topic_mark"]
    ),
    data=st.data(),
)
def test_a_damaged_database_is_analysed_or_refused(
    spoken_database: Any, view: str, data: st.DataObject
) -> None:
    content = spoken_database.path.read_bytes()
    connection = sqlite3.connect(spoken_database.path)
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info(v1_{view})")]
    connection.close()
    column, value = data.draw(st.sampled_from(columns)), data.draw(CELLS)
    spoken_database.execute(f"UPDATE v1_{view} SET {column} = ? WHERE rowid = 1", value)  # noqa: S608
    try:
        with suppress(QcError):
            analyse(load(spoken_database.url), WITHOUT_SECTIONS)
    finally:
        spoken_database.path.write_bytes(content)


@pytest.mark.published
def test_the_published_run_through_a_database(published: Path, empty_database: Any) -> None:
    """The systems, the ratings, the times and the words of run 1 do not depend on the way they took."""
    source = published / "published" / "free_run1" / "hits_data.json"
    content = json.loads(source.read_text())
    empty_database.fill(_as_views(content))
    ours, expected = load(empty_database.url), load(str(source))
    # Only the published data have an id of the task that an assignment was an instance of.
    # Only a database says what went wrong.
    same_run(ours, expected, apart_from=("name", "hit", "incidents"))


def _as_views(content: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    metadata, data = content["metadata"], content["data"]
    held = [
        (given["assignment"], f"{given['assignment']}/{position}", position, conversation)
        for given in data
        for position, conversation in enumerate(given["result"], start=1)
    ]
    run = {"run_id": "r1"}
    start = pd.Timestamp("2025-01-01")
    return {
        "v1_run": [{**run, "run": "free-1"}],
        "v1_criterion": [
            {
                **run,
                "position": position,
                "label": label,
                "negative": not given["positive"],
                "counts_for_qc": given["qc"],
            }
            for position, (label, given) in enumerate(metadata["score"].items())
        ],
        "v1_system": [
            {**run, "system": name, "family": name.removesuffix("_p"), "is_qc": name == "qc"}
            for name in [*metadata["model"], "qc"]
        ],
        "v1_assignment": [
            {
                **run,
                "assignment_id": given["assignment"],
                "worker": given["worker"],
                "simulated": 0,
                "status": "completed",
                "feedback": None if given["feedback"] == "None" else given["feedback"],
                "agreed_at": str(start),
                "ended_at": str(start + pd.Timedelta(seconds=given["duration in seconds"])),
            }
            for given in data
        ],
        "v1_conversation": [
            {
                **run,
                "assignment_id": assignment,
                "conversation_id": name,
                "position": position,
                "system": one["model"],
                "has_persona": "persona" in one,
                "persona": "\n".join(one.get("persona", [])),
                "status": "rated",
            }
            for assignment, name, position, one in held
        ],
        "v1_rating": [
            {**run, "conversation_id": name, "criterion": label, "value": value}
            for _, name, _, one in held
            for label, value in one["score"].items()
        ],
        "v1_turn": [
            {
                **run,
                "conversation_id": name,
                "turn_index": index,
                "author": author,
                "text": text,
                "overran": 0,
            }
            for _, name, _, one in held
            for index, (author, text) in enumerate(_turns(one))
        ],
        "v1_topic_mark": [
            {**run, "conversation_id": name, "ordinal": ordinal, **mark}
            for _, name, _, one in held
            for ordinal, mark in enumerate(_marks(one))
        ],
    }


def _turns(conversation: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for said in conversation["dialogue"]:
        yield "worker", said["user"]
        yield "bot", said["bot"]


def _marks(conversation: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A mark of the server is a topic, a change, or both; the published data tell them apart."""
    kinds = {sentence: kind for kind, sentence in ACTIONS.items()}
    nothing = {"topic": None, "opinion": None, "how": None, "bot_opinion": None}
    for mark in conversation["topic"]:
        yield {**nothing, "round": mark["round"], "topic": mark["topic"], "opinion": mark["attitude"]}
    for mark in conversation["change of topic"]:
        how = kinds[mark["action"]]
        yield {**nothing, "round": mark["round"], "how": how, "bot_opinion": mark["attitude"]}


def test_conversations_that_a_bot_took_over_from_a_person_are_in_no_score(database: Any) -> None:
    database.execute(
        "CREATE VIEW v1_human_conversation AS SELECT run_id, conversation_id,"
        " CASE conversation_id WHEN 'r1-anna-1' THEN 'builtin:reflect' END AS taken_over_by"
        " FROM v1_conversation WHERE position = 1"
    )
    run = load(database.url)
    assert "r1-anna-1" not in set(run.conversations["conversation"])
    assert len(run.conversations) == 14
    (note,) = run.notes
    assert note == (
        "Rated conversations with a person from whom a bot took over: 1. They are in no score "
        "(view v1_human_conversation)."
    )
