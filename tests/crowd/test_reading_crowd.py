"""Sixty simulated workers rate the demo study's own conversations; the server is killed once meanwhile."""

import json
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import spearmanr, wilcoxon

from tests.crowd.test_crowd import open_demo
from tests.support.server_process import Server
from tests.support.warm_process import WarmProcess

WORKERS, HONEST, RANDOM = 60, 40, 20
MIX = f"honest={HONEST},random={RANDOM}"
A_CROWD = 600  # seconds, more than enough on a machine that is busy with other things
COUNTING = ("interesting", "fun", "consistent", "fluent", "topic")  # for quality control, in the demo study

pytestmark = pytest.mark.timeout(3 * A_CROWD)

Rated = list[dict[str, Any]]


@pytest.fixture(scope="module")
def rated(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Rated:
    """Every item that was rated, as a reader of the views finds it, with its worker's profile."""
    open_demo(server, "demo", 1)
    server.start()
    finish(server.crowd("demo", "--workers", str(WORKERS), "--seed", "2"))
    done = subprocess.run(
        [sys.executable, "-m", "server", "demo", "transcripts", "--data", str(server.data)],
        env=server.environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "is open with 300 conversations" in done.stdout
    log = tmp_path_factory.mktemp("reading") / "acknowledged.jsonl"
    log.touch()
    options = ["--workers", str(WORKERS), "--mix", MIX, "--seed", "3", "--log", str(log)]
    crowd = server.crowd("demo-transcripts", *options, "--patience", str(A_CROWD))
    while log.read_bytes().count(b"\n") < WORKERS * 10:  # of 22 messages each
        assert crowd.poll() is None, crowd.communicate()[0]
        time.sleep(0.02)
    server.kill()
    server.start()
    finish(crowd)
    profiles = {line["assignment"]: line["profile"] for line in map(json.loads, log.read_text().splitlines())}
    with sqlite3.connect(server.data / "candor.db") as database:
        database.row_factory = sqlite3.Row
        rows = database.execute(
            "SELECT v1_item_rating.* FROM v1_item_rating JOIN v1_run USING (run_id) "
            "WHERE run = 'demo-transcripts'"
        ).fetchall()
    return [dict(row) | {"profile": profiles[row["assignment_id"]]} for row in rows]


def finish(crowd: WarmProcess) -> None:
    output, _ = crowd.communicate(timeout=A_CROWD)
    assert crowd.returncode == 0, output


def test_everybody_rates_every_item_of_an_assignment(rated: Rated) -> None:
    items = Counter((row["assignment_id"], row["kind"]) for row in rated if row["criterion"] == "fun")
    assignments = {assignment for assignment, _ in items}
    assert len(assignments) == WORKERS
    for assignment in assignments:
        assert [items[assignment, kind] for kind in ("ordinary", "bad", "repeat")] == [11, 6, 3]
    assert len(rated) == WORKERS * 20 * 7


def test_items_are_judged_evenly_by_different_workers(rated: Rated) -> None:
    judges: dict[str, list[str]] = {}
    for row in rated:
        if row["kind"] == "ordinary" and row["criterion"] == "fun":
            judges.setdefault(row["item_id"], []).append(row["worker_id"])
    # 660 judgments of 300 conversations.
    assert Counter(len(those) for those in judges.values()) == {2: 240, 3: 60}
    assert all(len(set(those)) == len(those) for those in judges.values())


def differences(rows: Rated) -> list[int]:
    """Return, for each bad twin and criterion that counts, its rating less that of its ordinary item."""
    value = {(row["position"], row["criterion"]): row["value"] for row in rows}
    return [
        row["value"] - value[row["twin_of"], row["criterion"]]
        for row in rows
        if row["kind"] == "bad" and row["criterion"] in COUNTING
    ]


def passes(rows: Rated) -> bool:
    found = differences(rows)
    return bool(any(found) and wilcoxon(found, alternative="less", method="asymptotic").pvalue < 0.05)


def test_the_filter_tells_honest_workers_from_random_ones(rated: Rated) -> None:
    by_worker: dict[tuple[str, str], Rated] = {}
    for row in rated:
        by_worker.setdefault((row["profile"], row["worker_id"]), []).append(row)
    passed = Counter(profile for (profile, _), rows in by_worker.items() if passes(rows))
    assert passed["honest"] >= 0.9 * HONEST
    assert passed["random"] <= 5  # α = 0.05 of 20 is one; more than five have a probability of 0.0003


def test_a_repeat_is_rated_like_its_item(rated: Rated) -> None:
    pairs = []
    for row in (row for row in rated if row["kind"] == "repeat" and row["profile"] == "honest"):
        (first,) = (
            other["value"]
            for other in rated
            if (other["assignment_id"], other["position"], other["criterion"])
            == (row["assignment_id"], row["twin_of"], row["criterion"])
        )
        pairs.append((first, row["value"]))
    one, two = np.array(pairs).T
    assert np.corrcoef(one, two)[0, 1] > 0.6


def test_the_systems_come_in_the_order_that_the_workers_believe(rated: Rated) -> None:
    believed = {
        "semantic_p": 0.80,
        "retrieval_p": 0.74,
        "semantic": 0.69,
        "retrieval": 0.63,
        "interviewer": 0.57,
        "translation": 0.51,
        "reflect": 0.46,
        "ngram": 0.40,
    }
    means = {
        system: np.mean(
            [
                row["value"]
                for row in rated
                if (row["system"], row["kind"], row["profile"]) == (system, "ordinary", "honest")
                and row["criterion"] in COUNTING
            ]
        )
        for system in believed
    }
    order = spearmanr([believed[s] for s in believed], [means[s] for s in believed]).statistic
    assert order > 0.8


def test_the_export_has_them_all(server: Server, rated: Rated, tmp_path: Path) -> None:
    file = tmp_path / "items.jsonl"
    command = [
        sys.executable,
        "-m",
        "server",
        "data",
        "export",
        "--run",
        "demo-transcripts",
        "--out",
        str(file),
    ]
    subprocess.run(
        [*command, "--data", str(server.data)], env=server.environment, check=True, capture_output=True
    )
    header, *assignments = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    assert header["assignments"] == len(assignments) == WORKERS
    assert header["simulated"] is True
    exported = {
        (a["worker"], item["position"], criterion, value)
        for a in assignments
        for item in a["items"]
        for criterion, value in item["ratings"].items()
    }
    assert exported == {(r["worker_id"], r["position"], r["criterion"], r["value"]) for r in rated}
