"""The schema: what the migrations make is what the models say, there and back."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect
from sqlmodel import SQLModel

from server.db import tables as models
from server.db import views
from server.db.engine import alembic_config, migrate, open_engine
from tests.server.support.database import execute, make_run, query
from tests.server.support.items import ITEMS_RUN, make_items_run
from tests.server.support.server import House
from tests.server.support.study import RUN, study_text

pytestmark = pytest.mark.databases("sqlite", "postgresql")


def names(url: str, kind: str) -> set[str]:
    if url.startswith("sqlite"):
        found = query(url, "SELECT name FROM sqlite_master WHERE type = ?", kind)
        return {name for (name,) in found if not name.startswith("sqlite_")}
    kinds = {"table": "r", "view": "v", "index": "i"}
    relations = "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = ?"
    return {name for (name,) in query(url, relations, kinds[kind])}


def schema(url: str) -> object:
    """Return everything that a migration may change, to be compared."""
    if url.startswith("sqlite"):
        return query(url, "SELECT type, name, sql FROM sqlite_master ORDER BY type, name")
    return [
        query(
            url,
            "SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns "
            "WHERE table_schema = 'public' ORDER BY 1, 2",
        ),
        query(url, "SELECT viewname, definition FROM pg_views WHERE schemaname = 'public' ORDER BY 1"),
        query(url, "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1"),
        query(url, "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint ORDER BY 1"),
    ]


def test_the_models_are_what_the_migrations_make(url: str) -> None:
    engine = open_engine(url)
    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "compare_server_default": True, "render_as_batch": True}
        )
        assert compare_metadata(context, SQLModel.metadata) == []
    engine.dispose()


def test_every_table_of_the_models_is_there(url: str) -> None:
    tables = {str(model.__tablename__) for model in _models()}
    assert len(tables) == 67
    assert tables | {"alembic_version"} == names(url, "table")


def _models() -> list[Any]:
    members = vars(models).values()
    return [m for m in members if isinstance(m, type) and issubclass(m, SQLModel) and hasattr(m, "__table__")]


VIEWS = (
    views.V1
    | views.V2
    | views.V1_ITEMS
    | views.V1_ANSWERS
    | views.V1_SCENARIO
    | views.V1_TURN_RATING_WITH_POINTS
    | views.V1_QUIZ_WITH_PERSONAS
    | views.V1_CHOICE
    | views.V1_EXCLUSIONS
    | views.V1_REPLY_OUTPUT
    | views.V1_BOT_CALL
    | views.V1_SIMULATED
    | views.V1_HUMAN
    | views.V1_WIZARD
    | views.V1_WRITING
    | views.V1_MODERATED_LINE
    | views.V1_RUN_STATE
    | views.V1_REMOVAL
    | views.V1_MESSAGE_REPORT
    | views.V1_SUBMISSION_PAY
    | views.V1_ITEM
)


def test_the_views_are_the_ones_that_are_documented(url: str) -> None:
    assert names(url, "view") == set(VIEWS)
    assert query(url, "SELECT version FROM v1_version") == [(views.VERSION,)]


# What readers outside this package rely on: a change here needs a new version of the views.
CALL = (
    "tries model revision prompt_hash sampling tokens_in tokens_out cost finish_reason replica queued_ms "
    "computed_ms"
)
COLUMNS = {
    "v1_version": "version",
    "v1_run": "run_id run study study_hash status created_at task kind",
    "v1_criterion": "run_id position label statement negative counts_for_qc",
    "v1_system": "run_id system family is_qc",
    "v1_assignment": "run_id assignment_id worker simulated status created_at agreed_at active_at ended_at "
    "feedback consent_version consent_ticked",
    "v1_conversation": "run_id assignment_id conversation_id position attempt system family is_qc "
    "has_persona persona status started_at ended_at rated_at rating_probability",
    "v1_rating": "run_id assignment_id conversation_id criterion value",
    "v1_turn": "run_id conversation_id turn_index author text latency_ms created_at show_at overran " + CALL,
    "v1_bot_call": f"run_id conversation_id system turn_index failure {CALL} output created_at",
    "v1_topic_mark": "run_id conversation_id ordinal round topic how opinion bot_opinion",
    "v1_note": "run_id conversation_id kind text created_at",
    "v1_exclusion": "run_id assignment_id reason excluded_at",
    "v1_submission_pay": "run_id ordinal assignment_id worker platform_status currency reward_cents decision "
    "decided_at decided_cents paid_cents bonus_sent_cents bonus_paid_cents",
    "v1_removal": "run_id assignment_id extent cause removed_at",
    "v2_note": "run_id conversation_id kind failure text created_at",
    "v1_item": "run_id item_id form item_group system source source_conversation_id content",
    "v1_item_rating": "run_id assignment_id worker_id position item_id source source_conversation_id system "
    "family kind twin_of criterion value started_at rated_at seconds",
    "v1_item_edit": "run_id assignment_id worker_id position item_id source source_conversation_id system "
    "family kind twin_of edited_text edit_share",
    "v1_question": "run_id part position label kind question choices points",
    "v1_turn_rating": "run_id assignment_id worker conversation_id system turn_index value created_at points",
    "v1_quiz": "run_id assignment_id worker conversation_id system choices why_not choice is_right asked_at "
    "answered_at about",
    "v1_quiz_line": "run_id conversation_id choice text is_right said_in_conversation_id turn_index",
    "v1_scenario": "run_id conversation_id system scenario",
    "v1_writing": "run_id assignment_id conversation_id system turn_index typed composed pasted pastes "
    "writing_ms longest_pause_ms away away_ms",
    "v1_message_report": "run_id assignment_id worker conversation_id system turn_index ordinal line reason "
    "note left_with_it reported_at taken_back_at seen_at",
    "v1_moderated_line": "run_id assignment_id conversation_id system turn_index author flagged categories "
    "score model judged_at",
    "v1_reply_output": "run_id conversation_id system turn_index text output changes",
    "v1_simulated_conversation": "run_id assignment_id conversation_id simulated_as",
    "v1_human_conversation": "run_id assignment_id conversation_id system partner_conversation_id "
    "waiting_since met_at taken_over_by taken_over_from taken_over_because",
    "v1_wizard_line": "run_id conversation_id system turn_index asked_at answered_at answered_by",
    "v1_answer": "run_id assignment_id worker conversation_id system part label ordinal text number "
    "created_at",
    "v1_tutorial_answer": "run_id assignment_id ordinal question answer is_right created_at",
    "v1_choice": (
        "run_id assignment_id worker pair attempt left_conversation_id right_conversation_id left_system "
        "right_system left_is_qc right_is_qc turn_index preference chosen_at"
    ),
    "v1_run_state": "run_id run status cause reason target_assignments target_conversations_per_system "
    "target_widest_interval",
}


def test_every_view_has_a_promise() -> None:
    assert set(COLUMNS) == set(VIEWS)


@pytest.mark.parametrize("view", COLUMNS)
def test_a_view_has_the_columns_that_were_promised(url: str, view: str) -> None:
    engine = open_engine(url)
    with engine.connect() as connection:
        found = [column["name"] for column in inspect(connection).get_columns(view)]
        assert found == COLUMNS[view].split()
    engine.dispose()


def test_views_show_a_whole_assignment(url: str, serve: Callable[..., House]) -> None:
    house = serve(url, make_run(url))
    with house.page() as page:
        page.whole()
    # One run of one study: four conversations, each with two inputs, two replies, one topic, three ratings.
    counts = {view: query(url, f"SELECT count(*) FROM {view}")[0][0] for view in COLUMNS}  # noqa: S608
    assert counts == {
        "v1_version": 1,
        "v1_run": 1,
        "v1_criterion": 3,
        "v1_system": 7,
        "v1_assignment": 1,
        "v1_conversation": 4,
        "v1_rating": 12,
        "v1_turn": 16,
        "v1_topic_mark": 4,
        "v1_note": 0,
        "v1_exclusion": 0,
        "v1_submission_pay": 0,
        "v1_removal": 0,
        "v2_note": 0,
        "v1_item": 0,
        "v1_item_rating": 0,
        "v1_item_edit": 0,
        "v1_question": 0,
        "v1_turn_rating": 0,
        "v1_quiz": 0,
        "v1_quiz_line": 0,
        "v1_scenario": 0,
        "v1_writing": 0,
        "v1_message_report": 0,
        "v1_moderated_line": 0,
        "v1_reply_output": 0,
        "v1_bot_call": 0,
        "v1_simulated_conversation": 0,
        "v1_human_conversation": 0,
        "v1_wizard_line": 0,
        "v1_answer": 0,
        "v1_tutorial_answer": 0,
        "v1_choice": 0,
        "v1_run_state": 1,
    }
    assert query(url, "SELECT worker FROM v1_assignment") == [(house.auth.pseudonym("link", "ann"),)]
    personas = query(url, "SELECT has_persona, persona <> '', system LIKE '%_warm' FROM v1_conversation")
    assert all(len(set(row)) == 1 for row in personas)


def test_down_and_up_again(url: str) -> None:
    before = schema(url)
    command.downgrade(alembic_config(url), "base")
    assert names(url, "table") == {"alembic_version"}
    assert names(url, "view") == set()
    assert names(url, "index") <= {"alembic_version_pkc"}
    migrate(url)
    assert schema(url) == before


def test_a_database_from_before_items(url: str) -> None:
    make_run(url)
    command.downgrade(alembic_config(url), "0007")
    assert "shown_item" not in names(url, "table")
    migrate(url)
    assert query(url, "SELECT run, task FROM v1_run") == [(RUN, "chat")]
    make_items_run(url)
    assert query(url, "SELECT run, task FROM v1_run ORDER BY run_id")[1] == (ITEMS_RUN, "transcripts")


def test_a_database_from_before_quizzes_knows_on_how_many_points_its_studies_rate_replies(url: str) -> None:
    for slug, asked in (("thumbs", "thumbs"), ("five", 5), ("none", None)):
        make_run(url, study_text(name=slug, **({"turn_ratings": asked} if asked else {})), slug=slug)
    command.downgrade(alembic_config(url), "0021")
    assert "quiz" not in names(url, "table")
    migrate(url)
    found = query(url, "SELECT name, turn_points FROM study ORDER BY name")
    assert found == [("five", 5), ("none", None), ("thumbs", 2)]


def test_codes_of_students_that_were_stored_in_plain_text_are_removed(url: str) -> None:
    make_run(url)
    worker = "INSERT INTO worker (id, platform, external_id, pseudonym) VALUES (?, ?, ?, ?)"
    assignment = (
        "INSERT INTO assignment (id, run_id, worker_id, place, simulated, reply_pace, status, created_at, "
        "active_at, fence) SELECT ?, id, ?, ?, ?, 1.0, 'completed', ?, ?, 0 FROM run"
    )
    at = "2026-01-01 12:00:00.000000"
    for number, platform in enumerate(("sona", "prolific"), 1):
        execute(url, worker, number, platform, f"encrypted {number}", f"W{number}")
        execute(url, assignment, platform, number, number, False, at, at)
        visit = "INSERT INTO visit (assignment_id, visit, at) VALUES (?, ?, ?)"
        execute(url, visit, platform, f"visit of {platform}", at)
    command.downgrade(alembic_config(url), "0039")
    migrate(url)
    assert query(url, "SELECT visit FROM visit") == [("visit of prolific",)]


def test_registered_bots_lose_headers_that_are_refused_now(url: str) -> None:
    command.downgrade(alembic_config(url), "0047")
    endpoint = {
        "kind": "openai", "urls": ["http://bot.example"], "model": "m",
        "headers": {"Host": "x", "proxy-authorization": "Basic x", "X-Team": "tide"},
    }  # fmt: skip
    insert = "INSERT INTO registration (name, endpoint, enabled, created_at) VALUES ('far', ?, ?, ?)"
    execute(url, insert, json.dumps(endpoint), True, "2026-01-01 12:00:00.000000")
    migrate(url)
    ((stored,),) = query(url, "SELECT endpoint FROM registration")
    assert json.loads(stored) == endpoint | {"headers": {"X-Team": "tide"}}


def test_an_assignment_that_was_released_is_known_by_the_audit_log(url: str) -> None:
    run = make_run(url)
    worker = "INSERT INTO worker (id, platform, external_id, pseudonym) VALUES (?, 'link', ?, ?)"
    assignment = (
        "INSERT INTO assignment (id, run_id, worker_id, place, simulated, reply_pace, status, created_at, "
        "active_at, fence) VALUES (?, ?, ?, ?, ?, 1.0, 'expired', ?, ?, 0)"
    )
    at = "2026-01-01 12:00:00.000000"
    for number, name in enumerate(("released", "lapsed"), 1):
        execute(url, worker, number, name, f"W{number}")
        execute(url, assignment, name, run.id, number, number, False, at, at)
    entry = (
        "INSERT INTO audit_entry (at, kind, actor, action, subject, detail) "
        "VALUES (?, 'person', 'vera', 'assignment.release', 'released', '')"
    )
    execute(url, entry, at)
    command.downgrade(alembic_config(url), "0046")
    migrate(url)
    assert query(url, "SELECT id FROM assignment WHERE released") == [("released",)]


def test_migrating_twice_changes_nothing(url: str) -> None:
    make_run(url)
    migrate(url)
    assert query(url, "SELECT count(*) FROM run") == [(1,)]


def test_there_is_one_newest_step(url: str) -> None:
    heads = ScriptDirectory.from_config(alembic_config(url)).get_heads()
    assert query(url, "SELECT version_num FROM alembic_version") == [(head,) for head in heads]
    assert len(heads) == 1


@pytest.mark.databases("sqlite")
def test_a_database_whose_path_is_awkward(tmp_path: Path) -> None:
    folder = tmp_path / "100 % new" / "übung"
    url = f"sqlite:///{folder / 'candor.db'}"
    migrate(url)  # makes the folder too
    assert names(url, "view") == set(VIEWS)


@pytest.mark.databases("sqlite")
def test_foreign_keys_hold(url: str) -> None:
    engine = open_engine(url)
    with engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA foreign_key_check").all() == []
        with pytest.raises(Exception, match="FOREIGN KEY"):
            connection.exec_driver_sql("INSERT INTO rating VALUES ('nobody', 'fun', 1, '2026-01-01')")
    engine.dispose()
    execute(url, "PRAGMA wal_checkpoint")
