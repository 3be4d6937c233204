"""Incidents by system, from a database to the report, and the description of the evaluated models."""

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest
from rich.console import Console

from qc.analysis import Analysis, AnalysisOptions, analyse
from qc.convert import losses
from qc.errors import DataError
from qc.loading import load
from qc.method.incidents import describe_incidents, describe_served
from qc.render import terminal, write
from qc.robustness.writing import WritingResults
from qc.run import FAILURES, INCIDENT_COLUMNS, SERVED_COLUMNS, SIMULATED_NOTE, Run
from qc.sections.course.incidents import flagged, incidents, offensive
from qc.signature import data_hash
from tests.qc.support.analyses import awkward_run, bare, whole

BARE = AnalysisOptions(bootstrap=100, sections=frozenset())


def reply(database: Any, conversation: str, *late: int) -> None:
    """Add replies to a conversation in which nothing was said; 1 is one that overran."""
    for index, overran in enumerate(late):
        keys = {"run_id": "r1", "conversation_id": conversation}
        worker, bot = (
            {"turn_index": 2 * index + n, "author": who} for n, who in enumerate(("worker", "bot"))
        )
        database.insert("v1_turn", **keys, **worker, text="Hello", overran=0)
        database.insert("v1_turn", **keys, **bot, text="hi .", overran=overran)


def note(database: Any, conversation: str, *kinds: str) -> None:
    for kind in kinds:
        database.insert("v1_note", run_id="r1", conversation_id=conversation, kind=kind, text="…")


@pytest.fixture
def troubled(database: Any) -> Any:
    """The small database, and what went wrong in it.

    anna's and ben's conversations are, in order, with alpha, qc, beta, alpha_p. A conversation with beta
    failed, one with alpha was begun and left, one was only planned.
    """
    reply(database, "r1-anna-1", 0, 1, 1)
    reply(database, "r1-ben-1", 0)
    reply(database, "r1-anna-3", 0, 0)
    reply(database, "r1-anna-2", 1)
    note(database, "r1-anna-1", "bot_error", "bot_error", "gave_itself_away")
    note(database, "r1-anna-2", "gave_itself_away", "gave_itself_away")
    for number, (system, status) in enumerate(
        [("beta", "failed"), ("alpha", "active"), ("alpha", "planned"), ("beta", "skipped")], start=10
    ):
        database.insert(
            "v1_conversation",
            run_id="r1",
            assignment_id="r1-ben",
            conversation_id=f"r1-ben-{number}",
            position=number,
            system=system,
            has_persona=0,
            persona="",
            status=status,
        )
    note(database, "r1-ben-10", "bot_error", "bot_gave_up", "replaced")
    return database


def with_kinds(database: Any) -> Any:
    """Give it the view that a server of 0.2 adds, with the failures above as that server would store them."""
    database.execute(
        "CREATE VIEW v2_note AS "
        "SELECT *, CASE WHEN conversation_id = 'r1-anna-1' THEN 'timeout' ELSE 'empty' END AS failure "
        "FROM v1_note WHERE kind IN ('bot_error', 'bot_gave_up') "
        "UNION ALL SELECT *, NULL FROM v1_note WHERE kind NOT IN ('bot_error', 'bot_gave_up')"
    )
    return database


# system -> conversations begun, failed, replies, errors, overran, gave_away. SMALL has four conversations
# with alpha and with beta, three with alpha_p, and four with the qc bot; see above for the rest.
EXPECTED = {
    "alpha": (5, 0, 4, 2, 2, 1),
    "alpha_p": (3, 0, 0, 0, 0, 0),
    "beta": (5, 1, 2, 1, 0, 0),
    "qc": (4, 0, 1, 0, 1, 2),
}


def counted(run: Run, *names: str) -> dict[str, tuple[float, ...]]:
    assert run.incidents is not None
    counts = run.incidents[["system", *(names or INCIDENT_COLUMNS[1:7])]]
    return {system: tuple(values) for system, *values in counts.itertuples(index=False)}


def test_incidents_are_counted_in_all_conversations_that_were_begun(troubled: Any) -> None:
    assert counted(load(troubled.url)) == EXPECTED


def test_offensive_words_are_counted_beside_what_they_were_said_in(troubled: Any) -> None:
    note(troubled, "r1-anna-1", "offensive_reply", "offensive_input", "offensive_input")
    found = describe_incidents(load(troubled.url))
    assert found is not None
    alpha = found.table.set_index("system").loc["alpha"]
    assert alpha[["replies", "offensive", "inputs", "offensive_inputs"]].to_list() == [4, 1, 4, 2]
    assert alpha[["offensive_share", "offensive_inputs_share"]].to_list() == [0.25, 0.5]
    assert any("offensive ones" in text and "alpha (1)" in text for text in found.notes)


def test_what_a_classifier_flags_is_counted_of_what_it_has_judged(troubled: Any) -> None:
    unasked = describe_incidents(load(troubled.url))
    assert unasked is not None
    assert flagged(unasked) is None
    note(troubled, "r1-anna-1", "flagged_reply", "flagged_input", "flagged_input")
    troubled.execute(  # of six lines the second reply was not taken
        "CREATE VIEW v1_moderated_line AS SELECT run_id, conversation_id, author, "
        "CASE WHEN turn_index = 3 THEN NULL ELSE turn_index < 3 END AS flagged "
        "FROM v1_turn WHERE conversation_id = 'r1-anna-1'"
    )
    found = describe_incidents(load(troubled.url))
    assert found is not None
    alpha = found.table.set_index("system").loc["alpha"]
    assert alpha[["judged", "flagged", "judged_inputs", "flagged_inputs"]].to_list() == [2, 1, 3, 2]
    assert alpha[["flagged_share", "flagged_inputs_share"]].to_list() == [1 / 2, 2 / 3]
    assert any("moderation service" in text and "alpha (1)" in text for text in found.notes)
    assert flagged(found) is not None


def test_reported_messages_are_counted_but_for_those_that_were_taken_back(troubled: Any) -> None:
    troubled.execute(
        "CREATE VIEW v1_message_report AS SELECT run_id, conversation_id, "
        "CASE WHEN turn_index = 1 THEN '2026-11-23 12:00:00' END AS taken_back_at "
        "FROM v1_turn WHERE author = 'bot'"
    )
    found = describe_incidents(load(troubled.url))
    assert found is not None
    # All replies but the first of each conversation: alpha's 4 in two, the qc bot's 1, beta's 2 in one.
    assert dict(zip(found.table["system"], found.table["reported"], strict=True)) == {
        "alpha": 2,
        "alpha_p": 0,
        "beta": 1,
        "qc": 0,
    }
    assert any("reported" in text and "alpha (2)" in text for text in found.notes)
    assert "Reported" in [column.head for column in offensive(found).columns]


def test_neither_the_filter_nor_a_score_knows_of_what_was_flagged() -> None:
    run = awkward_run()
    assert run.incidents is not None
    calm = run.incidents.assign(offensive=0, offensive_inputs=0, flagged=0, flagged_inputs=0)
    foul = run.incidents.assign(offensive=240, offensive_inputs=240, flagged=240, flagged_inputs=120)
    first, second = (analyse(replace(run, incidents=each), BARE) for each in (calm, foul))
    pd.testing.assert_frame_equal(first.sample.screening.workers, second.sample.screening.workers)
    pd.testing.assert_frame_equal(first.scores.z, second.scores.z)


def test_without_incidents_there_are_counts_of_none(database: Any) -> None:
    run = load(database.url)
    assert {system: counts[1:] for system, counts in counted(run).items()} == dict.fromkeys(
        EXPECTED, (0,) * 5
    )
    assert analyse(run, BARE).incidents is not None


def of_kinds(**counts: int) -> tuple[int, ...]:
    """Return the counts of failed tries in the order of the columns; of what is not named there are none."""
    assert counts.keys() <= set(FAILURES.values())
    return tuple(counts.get(column, 0) for column in FAILURES.values())


def test_failed_tries_are_counted_by_kind(troubled: Any) -> None:
    run = load(with_kinds(troubled).url)
    assert counted(run) == EXPECTED
    assert counted(run, *FAILURES.values()) == {
        "alpha": of_kinds(timed_out=2),
        "alpha_p": of_kinds(),
        "beta": of_kinds(empty=2),  # a try that failed, and the last one
        "qc": of_kinds(),
    }


def test_where_no_kinds_are_stored_none_are_counted(troubled: Any) -> None:
    assert set(counted(load(troubled.url), *FAILURES.values()).values()) == {of_kinds()}


def test_a_reader_sees_the_kinds_that_there_were(troubled: Any) -> None:
    found = describe_incidents(load(with_kinds(troubled).url))
    assert found is not None
    table = incidents(found)
    at = [column.head for column in table.shown].index("How they failed")
    assert [row[at].text for row in table.cells()] == ["2 timed out", "", "2 empty", ""]


def test_another_runs_incidents_do_not_count(troubled: Any) -> None:
    troubled.add_run("r2", "second")
    troubled.add_assignment("r2", "anna")
    found = counted(load(troubled.url, run="second"))
    assert found["alpha"] == (1, 0, 0, 0, 0, 0)
    assert counted(load(troubled.url, run="first")) == EXPECTED


def test_simulated_workers_beside_people_do_not_count(troubled: Any) -> None:
    troubled.execute("UPDATE v1_assignment SET simulated = 1 WHERE worker = 'anna'")
    found = counted(load(troubled.url))
    assert found["alpha"] == (4, 0, 1, 0, 0, 0)
    assert found["qc"][1:] == (0, 0, 0, 0, 0)


def test_of_simulated_workers_alone_it_is_not_known_who_was_late(troubled: Any) -> None:
    troubled.execute("UPDATE v1_assignment SET simulated = 1")
    run = load(troubled.url)
    assert SIMULATED_NOTE in run.notes
    assert run.incidents is not None
    assert run.incidents["overran"].isna().all()
    assert counted(run)["alpha"][:4] == EXPECTED["alpha"][:4]
    found = describe_incidents(run)
    assert found is not None
    assert found.table["overran_share"].isna().all()
    assert not [sentence for sentence in found.notes if "later than" in sentence]


@pytest.mark.parametrize(
    ("value", "reason"), [("maybe", "overran is 'maybe', not 0 or 1"), (None, "'overran' is empty")]
)
def test_what_is_no_flag_is_refused(troubled: Any, value: object, reason: str) -> None:
    troubled.execute("UPDATE v1_turn SET overran = ? WHERE author = 'bot'", value)
    with pytest.raises(DataError, match=reason):
        load(troubled.url)


def test_words_are_not_needed(troubled: Any) -> None:
    assert counted(load(troubled.url, words=False)) == EXPECTED


def test_the_signature_does_not_depend_on_them(troubled: Any) -> None:
    run = load(troubled.url)
    without = replace(run, incidents=None)
    assert data_hash(run) == data_hash(without)
    assert analyse(run, BARE).signature == analyse(without, BARE).signature


# ---- shares and sentences --------------------------------------------------------------------


def test_shares_and_sentences_by_hand(troubled: Any) -> None:
    found = describe_incidents(load(troubled.url))
    assert found is not None
    assert found.any
    table = found.table.set_index("system")
    assert table.loc["beta", "failed_share"] == 1 / 5
    assert table.loc["alpha", "overran_share"] == 2 / 4
    assert table.loc["qc", "overran_share"] == 1.0
    assert np.isnan(table.loc["alpha_p", "overran_share"])  # no reply, so nothing to be a share of
    assert found.notes == (
        "Replies often came later than the time drawn for them, so that workers may have told systems apart "
        "by their pace: alpha (50.0 %) and qc (100.0 %).",
        "Replies by which a system gave itself away as a machine or by name: alpha (1) and qc (2).",
    )


def test_few_late_replies_are_not_worth_a_sentence(database: Any) -> None:
    reply(database, "r1-anna-1", 1, *[0] * 19)  # 5 %
    found = describe_incidents(load(database.url))
    assert found is not None
    assert found.notes == ()
    assert found.any
    reply(database, "r1-ben-1", 1)
    assert describe_incidents(load(database.url)).notes  # type: ignore[union-attr]


# ---- formats ---------------------------------------------------------------------------------


def test_the_published_formats_lose_them_and_say_so(troubled: Any, database: Any) -> None:
    run = load(troubled.url)
    # Of alpha errors, overran and gave_away; of beta failed and errors; of qc overran and gave_away.
    assert "counts of what went wrong with a system: 7" in [str(loss) for loss in losses(run, "hits")]
    assert not [loss for loss in losses(replace(run, incidents=None), "hits") if "went wrong" in loss.what]


# ---- reports ---------------------------------------------------------------------------------


def shown(analysis: Analysis) -> str:
    out = io.StringIO()
    terminal.show(analysis, Console(markup=False, file=out, width=200))
    return out.getvalue()


def test_the_terminal_says_how_workers_wrote_where_it_is_known() -> None:
    assert "How workers wrote: " in shown(whole())
    assert "How workers wrote" not in shown(whole().without(WritingResults))


def without_incidents() -> Analysis:
    return analyse(replace(awkward_run(), incidents=None), BARE)


def test_a_terminal_shows_them_if_there_are_any() -> None:
    assert "Incidents, in all conversations that were begun" in shown(bare())
    assert "Incidents" not in shown(without_incidents())
    run = awkward_run()
    assert run.incidents is not None
    fine = run.incidents.assign(failed=0, errors=0, overran=0, gave_away=0, offensive=0, offensive_inputs=0,
        flagged=0, flagged_inputs=0, reported=0,
    )  # fmt: skip
    assert "Incidents" not in shown(analyse(replace(run, incidents=fine), BARE))


def test_a_page_shows_them_or_says_that_the_source_does_not(tmp_path: Path) -> None:
    write(whole(), tmp_path / "with", frozenset({"html"}))
    text = (tmp_path / "with" / "report.html").read_text()
    assert "<b>Incidents of each system.</b>" in text
    assert "This source does not say which systems failed" not in text
    write(without_incidents(), tmp_path / "without", frozenset({"html"}))
    text = (tmp_path / "without" / "report.html").read_text()
    assert "Incidents of each system" not in text
    assert "This source does not say which systems failed" in text


def test_files_hold_every_count(tmp_path: Path) -> None:
    write(bare(), tmp_path, frozenset({"csv", "xlsx", "json"}))
    table = pd.read_csv(tmp_path / "incidents.csv")
    assert list(table) == [
        "system", "conversations", "failed", "failed_share", "replies", "errors", "overran", "overran_share",
        "gave_away", "offensive", "offensive_share", "inputs", "offensive_inputs", "offensive_inputs_share",
        "judged", "flagged", "flagged_share", "judged_inputs", "flagged_inputs", "flagged_inputs_share",
        "reported",
        "timed_out", "busy", "gone", "refused", "declined", "budget_spent", "broken_off", "empty",
        "thoughts_only", "too_long",
        "other_errors",
    ]  # fmt: skip
    offensive = pd.read_csv(tmp_path / "offensive.csv")
    assert offensive["offensive_inputs"].tolist() == [0, 2, 4, 6, 8]
    judged = pd.read_csv(tmp_path / "flagged.csv")
    assert judged["flagged_share"].tolist() == pytest.approx([0, 1 / 240, 2 / 240, 3 / 240, 4 / 240])
    assert judged["flagged_inputs_share"].tolist() == [0, 0.025, 0.05, 0.075, 0.1]
    assert table["gave_away"].tolist() == table["failed"].tolist() == [0, 1, 2, 3, 4]
    content = json.loads((tmp_path / "report.json").read_text())
    assert [row["system"] for row in content["incidents"]] == table["system"].tolist()
    assert content["incidents"][-1]["overran"] == 40
    sheet = openpyxl.load_workbook(tmp_path / "report.xlsx")["incidents"]
    assert [cell.value for cell in sheet["C"]] == ["failed", 0, 1, 2, 3, 4]


def test_where_nobody_counted_no_file_and_no_key_is_there(tmp_path: Path) -> None:
    write(without_incidents(), tmp_path, frozenset({"csv", "json"}))
    assert not [*tmp_path.glob("incidents.csv"), *tmp_path.glob("offensive.csv")]
    assert "incidents" not in json.loads((tmp_path / "report.json").read_text())


def run_with(*rows: tuple[str, str, str, str]) -> Run:
    """Return a run whose systems were answered for by models of these names, revisions and settings."""
    given = [
        {"system": system, "model": model, "revision": revision, "sampling": sampling, "first": f"day {at}"}
        for at, (system, model, revision, sampling) in enumerate(rows)
    ]
    return replace(awkward_run(), served=pd.DataFrame(given).reindex(columns=SERVED_COLUMNS))


def notes(*rows: tuple[str, str, str, str]) -> tuple[str, ...]:
    found = describe_served(run_with(*rows))
    assert found is not None
    return found.notes


def test_a_source_that_does_not_say() -> None:
    assert describe_served(replace(awkward_run(), served=None)) is None


def test_one_model_each_is_nothing_to_be_noted() -> None:
    assert notes(("a", "m", "1", "{}"), ("b", "m", "2", "{}")) == ()


def test_a_model_that_changed_is_noted_with_since_when() -> None:
    (note,) = notes(("a", "m", "1", "{}"), ("a", "m", "2", "{}"), ("b", "m", "1", "{}"))
    assert note == (
        "The model of a changed in the midst of the run, so that its scores are of several: "
        "m 1 from day 0 UTC on and m 2 from day 1 UTC on."
    )


def test_settings_that_changed_are_noted() -> None:
    (note,) = notes(("a", "m", "1", "{}"), ("a", "m", "1", '{"seed": 1}'))
    assert note == "The settings by which a was asked changed in the midst of the run."
