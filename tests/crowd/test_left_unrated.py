"""A crowd in a study that leaves half of its conversations unrated; then all that an analyst types."""

import os
import re
import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from qc.judgments import read_judgments
from tests.crowd.test_crowd import DEMO, report
from tests.support.server_process import Server

WORKERS, SYSTEMS = 24, 5
A_CROWD = 600  # seconds, more than enough on a machine that is busy with other things

# The counts and the words have tests of their own; here a crowd shows that they agree.
pytestmark = [pytest.mark.soak, pytest.mark.timeout(3 * A_CROWD)]


@pytest.fixture(scope="module")
def half(server: Server) -> Server:
    """A server with the run `half`, in which everybody has handed in."""
    study = server.data / "half.yaml"
    text = DEMO.read_text(encoding="utf-8").replace("minimum_inputs: 10", "minimum_inputs: 1")
    study.write_text(f"{text}\nrate_share: 0.5\n", encoding="utf-8")
    server.open_run(study, "half")
    server.start()
    crowd = server.crowd("half", "--workers", str(WORKERS), "--seed", "4", "--mix", "honest=1")
    output, _ = crowd.communicate(timeout=A_CROWD)
    assert crowd.returncode == 0, output
    return server


def statuses(server: Server) -> Counter[str]:
    """Return how many conversations with systems have each status."""
    with sqlite3.connect(server.data / "candor.db") as database:
        rows = database.execute("SELECT status, count(*) FROM v1_conversation WHERE NOT is_qc GROUP BY 1")
        return Counter(dict(rows.fetchall()))


def candor(server: Server, command: str, *options: str) -> "subprocess.CompletedProcess[str]":
    """Run `candor COMMAND DATABASE`, as it is typed."""
    return subprocess.run(
        [sys.executable, "-m", "server", command, server.database, *options],
        env=os.environ | {"CANDOR_DATA": str(server.data)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_report_says_how_many_were_left_unrated(half: Server, tmp_path: Path) -> None:
    held = statuses(half)
    assert held["rated"] + held["unrated"] == WORKERS * SYSTEMS
    # 60 of 120 are expected, with a standard deviation of 5.5.
    assert 30 < held["unrated"] < 90
    found = report(half, "half", tmp_path)
    (said,) = [note for note in found["notes"] if "left unrated" in note]
    assert f"rate_share says: {held['unrated']}. They are in no score." in said
    assert sum(row["conversations"] for row in found["incidents"]) == WORKERS * (SYSTEMS + 1)
    # The time of an assignment is that of all its conversations, not of the rated ones alone.
    with sqlite3.connect(half.data / "candor.db") as database:
        (minutes,) = database.execute(
            "SELECT avg((julianday(ended_at) - julianday(agreed_at)) * 1440) FROM v1_assignment"
        ).fetchone()
    assert found["minutes_per_conversation"]["all"] == pytest.approx(minutes / (SYSTEMS + 1), rel=0.01)


def test_from_the_database_to_a_metric_to_an_estimate(half: Server, tmp_path: Path) -> None:
    held = statuses(half)
    cache = ["--cache", str(tmp_path / "cache.db"), "--bootstrap", "200"]
    scored = candor(half, "metrics", *cache, "--out", str(tmp_path / "metrics"))
    assert scored.returncode == 0, scored.stderr
    every = pd.read_csv(tmp_path / "metrics" / "metrics_conversation_scores.csv")
    assert (every["takes_part"] == "no: left unrated").sum() == held["unrated"]
    metrics = tmp_path / "metrics" / "metrics_for_estimate.csv"
    pool = pd.read_csv(metrics)
    assert pool[["distinct_1", "words_per_reply"]].notna().all(axis=None)
    out = tmp_path / "estimate"
    options = ["--metrics", str(metrics), "--criterion", "overall", "--metric", "words_per_reply"]
    found = candor(half, "estimate", *options, "--bootstrap", "200", "--out", str(out), "--format", "csv")
    assert found.returncode == 0, found.stderr
    words = " ".join(found.stdout.split())
    said = re.search(r"(\d+) conversations of the workers who passed were left unrated", words)
    assert said is not None, words
    rows = pd.read_csv(out / "estimate_efficiency.csv")
    rows = rows[(rows["metric"] == "words_per_reply") & (rows["scale"] == "raw")]
    of_all = rows[rows["system"] == "all systems"].iloc[0]
    # Nearly all of honest workers pass; the pool is theirs, and what was judged is the rated part of it.
    assert of_all["pool"] == len(pool)
    assert of_all["pool"] - of_all["rated"] == int(said[1])
    assert 0 < int(said[1]) <= held["unrated"]
    assert of_all["rated"] <= held["rated"]


def test_failed_conversations_are_not_in_the_pool(half: Server, tmp_path: Path) -> None:
    database = tmp_path / "candor.db"
    with sqlite3.connect(half.data / "candor.db") as source, sqlite3.connect(database) as copy:
        source.backup(copy)
        (lost,) = copy.execute("SELECT id FROM conversation WHERE status = 'unrated' LIMIT 1").fetchone()
        copy.execute("UPDATE conversation SET status = 'failed' WHERE id = ?", [lost])
        (skipped,) = copy.execute("SELECT id FROM conversation WHERE status = 'unrated' LIMIT 1").fetchone()
        copy.execute("UPDATE conversation SET status = 'skipped' WHERE id = ?", [skipped])
    sources = (half.data / "candor.db", database)
    pools = [set(read_judgments(str(source)).outputs["output"]) for source in sources]
    assert pools[0] - pools[1] <= {lost, skipped}
    assert not pools[1] & {lost, skipped}
