"""The simulated crowd against a real server: nobody fails, nothing is lost, the report sees the truth."""

import json
import os
import random
import sqlite3
import time
from collections import Counter
from pathlib import Path
from typing import Any

import httpx2
import jsonschema
import pytest
import yaml
from scipy.stats import binomtest, spearmanr
from typer.testing import CliRunner

from qc.report.__main__ import app as report_command
from tests.support.waiting import ENOUGH, wait_until

DEMO = Path(__file__).parents[2] / "server" / "studies" / "demo.yaml"
SCHEMA = Path(__file__).parents[2] / "frontend" / "src" / "worker" / "session" / "protocol.schema.json"
ALPHA = 0.05
SOAK = int(os.environ.get("CANDOR_SOAK", "0"))  # `make soak`: so many times 200 workers and 20 kills
WORKERS, KILLS = 200 * SOAK or 90, 20 * SOAK or 3
INPUTS = 10 if SOAK else 4  # of a conversation; the demo study asks for 10
UNHURRIED = "timeouts: {bot_try: 300, bot_total: 600}"  # no bot fails because the machine is busy
RANDOM = 240 if SOAK else 60
A_CROWD = 1_700 * max(
    SOAK, 1
)  # seconds, more than enough for a crowd on a machine that is busy with other things

pytestmark = pytest.mark.timeout(2 * A_CROWD)

Acknowledged = list[dict[str, Any]]


def acknowledged(path: Path) -> Acknowledged:
    return [json.loads(line) for line in path.read_text().splitlines()]


def report(server: Any, run: str, out: Path) -> dict[str, Any]:
    """Return the report of a run, as `candor report` writes it for programs."""
    options = ["--run", run, "--out", str(out), "--format", "json"]
    result = CliRunner().invoke(report_command, [server.database, *options])
    assert result.exit_code == 0, result.output
    content: dict[str, Any] = json.loads((out / "report.json").read_text())
    return content


def open_demo(server: Any, run: str, inputs: int) -> None:
    """Open a run of the demo study with so many inputs to a conversation."""
    study = server.data / f"{run}.yaml"
    text = DEMO.read_text().replace("minimum_inputs: 10", f"minimum_inputs: {inputs}")
    study.write_text(f"{text}\n{UNHURRIED}\n")
    server.open_run(study, run)


def workers_by_profile(server: Any, log: Acknowledged) -> dict[str, set[str]]:
    """Return the pseudonyms of the workers of each profile."""
    profile = {entry["assignment"]: entry["profile"] for entry in log}
    with sqlite3.connect(server.data / "candor.db") as database:
        rows = database.execute("SELECT assignment_id, worker FROM v1_assignment").fetchall()
    named: dict[str, set[str]] = {}
    for assignment, worker in rows:
        if assignment in profile:
            named.setdefault(profile[assignment], set()).add(worker)
    return named


def kill_points(rng: random.Random) -> list[int]:
    """Return after how many acknowledged messages the server is killed: once in each of KILLS equal parts.

    The parts cover nine tenths of the least that the crowd sends. A worker agrees, holds 6 conversations of
    a topic, INPUTS inputs, an end and a rating, and hands in.
    """
    part = WORKERS * (1 + 6 * (INPUTS + 3) + 1) * 9 // 10 // KILLS
    return [rng.randrange(kill * part + 1, (kill + 1) * part) for kill in range(KILLS)]


@pytest.fixture(scope="module")
def killed_run(server: Any, tmp_path_factory: pytest.TempPathFactory) -> Acknowledged:
    """Workers take part while the server is killed again and again; what the clients were told is stored."""
    log = tmp_path_factory.mktemp("crowd") / "acknowledged.jsonl"
    log.touch()
    open_demo(server, "crowd", INPUTS)
    server.start()
    mix = "honest=0.7,random=0.2,flat=0.1"
    options = ["--workers", str(WORKERS), "--mix", mix, "--seed", "1", "--log", str(log)]
    crowd = server.crowd("crowd", *options, "--patience", str(A_CROWD))
    with log.open("rb") as told:
        acknowledgements = 0
        for point in kill_points(random.Random(20)):
            while acknowledgements < point:
                assert crowd.poll() is None, (
                    f"the crowd ended at {acknowledgements}: {crowd.communicate()[0]}"
                )
                time.sleep(0.01)
                acknowledgements += told.read().count(b"\n")
            server.kill()
            server.start()
    output, _ = crowd.communicate(timeout=A_CROWD)
    assert crowd.returncode == 0, output
    return acknowledged(log)


def test_every_worker_finishes(killed_run: Acknowledged) -> None:
    submitted = [entry for entry in killed_run if entry["message"]["type"] == "feedback"]
    assert len(submitted) == len({entry["assignment"] for entry in submitted}) == WORKERS


def test_nothing_acknowledged_is_lost_or_double(server: Any, killed_run: Acknowledged) -> None:
    with sqlite3.connect(server.data / "candor.db") as database:
        said = Counter(
            database.execute(
                "SELECT substr(conversation_id, 1, instr(conversation_id, '-') - 1), client_id, text"
                " FROM turn WHERE author = 'worker'"
            ).fetchall()
        )
        marked = Counter(database.execute("SELECT client_id FROM topic_mark").fetchall())
        rated = dict(
            database.execute(
                "SELECT rated_by, (SELECT json_group_object(criterion, value) FROM rating"
                " WHERE conversation_id = conversation.id) FROM conversation WHERE rated_by IS NOT NULL"
            ).fetchall()
        )
    told = Counter(
        (entry["assignment"], entry["message"]["id"], entry["message"]["text"])
        for entry in killed_run
        if entry["message"]["type"] == "say"
    )
    assert said == told
    topics = [
        entry["message"] for entry in killed_run if entry["message"]["type"] in {"topic", "topic_change"}
    ]
    assert marked == Counter((message["id"],) for message in topics)
    ratings = {
        e["message"]["id"]: e["message"]["ratings"] for e in killed_run if e["message"]["type"] == "rate"
    }
    assert {client_id: json.loads(values) for client_id, values in rated.items()} == ratings


def test_every_conversation_is_whole(server: Any, killed_run: Acknowledged) -> None:
    # As many replies as inputs, the worker first, line after line, numbered from 0.
    with sqlite3.connect(server.data / "candor.db") as database:
        shapes = database.execute(
            "SELECT count(*), max(turn_index), sum(author = 'worker'),"
            " sum((author = 'worker') = (turn_index % 2 = 0))"
            " FROM turn GROUP BY conversation_id"
        ).fetchall()
    assert Counter(shapes) == {(2 * INPUTS, 2 * INPUTS - 1, INPUTS, 2 * INPUTS): WORKERS * 6}


def test_report_sees_who_is_honest_and_what_is_good(
    server: Any, killed_run: Acknowledged, tmp_path: Path
) -> None:
    result = report(server, "crowd", tmp_path)
    quality = yaml.safe_load(DEMO.read_text())["simulate"]["quality"]
    z = {system["system"]: system["z"] for system in result["systems"]}
    assert set(z) == set(quality)
    order = spearmanr([quality[name] for name in z], list(z.values())).statistic
    assert order >= 0.9, z
    failed = {worker["worker"] for worker in result["workers"]["failed"]}
    honest = workers_by_profile(server, killed_run)["honest"]
    assert len(honest) == WORKERS * 7 // 10
    assert 1 - len(honest & failed) / len(honest) >= 0.9
    assert workers_by_profile(server, killed_run)["flat"] <= failed


def test_random_workers_pass_no_more_often_than_alpha(
    server: Any, killed_run: Acknowledged, tmp_path: Path
) -> None:
    """Ratings do not depend on the chat, so that one input per conversation is enough here."""
    open_demo(server, "second", inputs=1)
    wait_until(lambda: httpx2.get(f"{server.url}/w/second", timeout=ENOUGH).status_code == 200, "the run")
    crowd = server.crowd("second", "--workers", str(RANDOM), "--mix", "random=1", "--seed", "2")
    output, _ = crowd.communicate(timeout=A_CROWD)
    assert crowd.returncode == 0, output
    workers = report(server, "second", tmp_path / "report")["workers"]
    assert workers["total"] == RANDOM
    test = binomtest(workers["passed"], workers["total"], ALPHA, alternative="greater")
    assert test.pvalue > 0.01, f"{workers['passed']} of {RANDOM} random workers passed"


def test_the_crowd_speaks_by_the_published_schema(killed_run: Acknowledged) -> None:
    schema = json.loads(SCHEMA.read_text())
    client = jsonschema.Draft202012Validator({**schema["properties"]["client"], "$defs": schema["$defs"]})
    by_type = {entry["message"]["type"]: entry["message"] for entry in killed_run}
    assert set(by_type) == {"agree", "topic", "say", "topic_change", "end_conversation", "rate", "feedback"}
    for message in by_type.values():
        client.validate(message)
    assert not client.is_valid({**by_type["rate"], "ratings": {"fun": 101}})
