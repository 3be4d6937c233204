"""Tests of exported payments (decided, sent and paid), in the database's view and in the files of a run."""

import json
from pathlib import Path

import pytest

from server.db.engine import open_engine
from server.db.runs.runs import find_run
from server.export.formats import write_run
from tests.server.support.database import query
from tests.server.support.recruiting import Recruiting

# By ordinal, which is the order of the submissions' ids.
PAY = """
    SELECT platform_status, reward_cents, decision, decided_cents, paid_cents, bonus_sent_cents,
           bonus_paid_cents
    FROM v1_submission_pay ORDER BY ordinal"""


@pytest.mark.databases("sqlite", "postgresql")
def test_pay_is_in_the_exports_of_a_run(recruiting: Recruiting, tmp_path: Path) -> None:
    platform = recruiting.prolific.platform
    study = recruiting.publish()
    ann, bob = recruiting.finish("PID-ann"), recruiting.finish("PID-bob")
    away = platform.reserve(study, "PID-cay").id
    recruiting.refreshed()
    recruiting.ask("/decisions", submissions=[ann], decision="approve")
    recruiting.ask("/decisions", submissions=[bob], decision="partial", share=30, reason="A chatbot failed.")
    seen = recruiting.ask("/bonuses", purpose="thanks", cents={ann: 150})["batch"]
    recruiting.ask(f"/bonuses/{seen}/pay")
    recruiting.refreshed()
    platform.pays_later = True
    waiting = recruiting.ask("/bonuses", purpose="typo", cents={ann: 20, bob: 5})["batch"]
    recruiting.ask(f"/bonuses/{waiting}/pay")
    recruiting.ask("/bonuses", purpose="prepared", cents={bob: 7})  # of which nothing is sent
    url = recruiting.house.url
    assert [ann, bob, away] == sorted([ann, bob, away])
    assert query(url, PAY) == [
        ("APPROVED", 450, "approve", 450, 450, 20, 150),
        ("PARTIALLY APPROVED", 450, "partial", 135, 135, 5, 0),  # 30 % of 450
        ("RESERVED", 450, None, None, 0, 0, 0),
    ]
    whose = "SELECT assignment_id IS NULL, worker IS NULL FROM v1_submission_pay ORDER BY ordinal"
    assert [tuple(map(bool, row)) for row in query(url, whose)] == [(False, False)] * 2 + [(True, True)]
    engine = open_engine(url)
    with engine.connect() as connection:
        run = find_run(connection, recruiting.run)
        write_run(connection, run, "jsonl", tmp_path / "run.jsonl", lambda *_: None)
    engine.dispose()
    lines = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text().splitlines()]
    rows = [line for line in lines if line.get("view") == "v1_submission_pay"]
    assert [(row["decided_cents"], row["paid_cents"]) for row in rows] == [(450, 450), (135, 135), (None, 0)]
    assert not {ann, bob, away} & set((tmp_path / "run.jsonl").read_text().split('"'))
