"""Simulated workers compare side by side; the server is killed once meanwhile, and nothing is lost."""

import json
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from scipy.stats import chi2

from qc.convert.exchange.runs import content_of
from qc.loading import LoadOptions, open_source
from tests.crowd.test_crowd import DEMO
from tests.support.server_process import Server

WORKERS, PAIRS = 12, 3
A_CROWD = 600  # seconds, more than enough on a machine that is busy with other things
# Qualities so far apart that an honest worker nearly always prefers the better one.
QUALITY = {"ngram": 0.2, "retrieval": 0.5, "interviewer": 0.8}

pytestmark = pytest.mark.timeout(3 * A_CROWD)


def study_text() -> str:
    """Return the demo study's first three systems, compared turn by turn, the chosen reply going on."""
    demo = yaml.safe_load(DEMO.read_text(encoding="utf-8"))
    systems = [spec for spec in demo["systems"] if spec["name"] in QUALITY]
    study = {name: demo[name] for name in ("name", "title", "payment", "corpus") if name in demo}
    study |= {
        "task": "side_by_side",
        "minimum_inputs": 2,
        "systems": systems,
        "comparison": {"pairs": PAIRS, "choose": "turn", "history": "chosen"},
        "reply_time": {"median": 0, "spread": 0, "longest": 0},
        "simulate": {"quality": QUALITY},
    }
    return yaml.safe_dump(study)


@pytest.fixture(scope="module")
def compared(server: Server, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What `candor data export` writes of a run of pairs in which everybody has handed in."""
    folder = tmp_path_factory.mktemp("pairs")
    (folder / "pairs.yaml").write_text(study_text(), encoding="utf-8")
    server.open_run(folder / "pairs.yaml", "pairs")
    server.start()
    log = folder / "acknowledged.jsonl"
    log.touch()
    crowd = server.crowd("pairs", "--workers", str(WORKERS), "--seed", "5", "--log", str(log))
    while log.read_bytes().count(b"\n") < WORKERS * 6:  # of about 25 messages each
        assert crowd.poll() is None, crowd.communicate()[0]
        time.sleep(0.02)
    server.kill()
    server.start()
    output, _ = crowd.communicate(timeout=A_CROWD)
    assert crowd.returncode == 0, output
    out = folder / "choices.jsonl"
    command = [sys.executable, "-m", "server", "data", "export", "--run", "pairs", "--out", str(out)]
    subprocess.run(
        [*command, "--data", str(server.data)], env=server.environment, check=True, capture_output=True
    )
    acknowledged = [json.loads(line) for line in log.read_text().splitlines()]
    with sqlite3.connect(server.data / "candor.db") as database:
        (stored,) = database.execute("SELECT count(*) FROM v1_choice").fetchone()
    assert stored == sum(line["message"]["type"] == "choose" for line in acknowledged)
    return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


def test_everybody_has_chosen_after_every_turn(compared: list[dict[str, Any]]) -> None:
    header, *assignments = compared
    assert header["comparison"]["history"] == "chosen"
    assert len(assignments) == header["assignments"] == WORKERS
    for assignment in assignments:
        assert len(assignment["pairs"]) == PAIRS + 1
        for pair in assignment["pairs"]:
            assert [choice["turn"] for choice in pair["choices"]] == [1, 3]
            assert all(line["left"] and line["right"] for line in pair["lines"] if line["author"] == "bot")
    with_qc = [[{p["left"], p["right"]} >= {"qc"} for p in a["pairs"]] for a in assignments]
    assert all(sum(flags) == 1 and not flags[0] and not flags[-1] for flags in with_qc)


def test_each_pair_of_replies_says_where_both_came_from(compared: list[dict[str, Any]]) -> None:
    for pair in (pair for assignment in compared[1:] for pair in assignment["pairs"]):
        for line in (line for line in pair["lines"] if line["author"] == "bot"):
            made = line["provenance"]
            for side in ("left", "right"):
                system = pair[side]
                assert made[side]["model"] == ("qc" if system == "qc" else f"builtin:{system}")
                assert made[side]["tries"] >= 1
                assert made[side]["revision"]
            assert made["left"]["replica"].startswith("builtin_")


def test_pairs_and_sides_are_balanced_and_the_better_is_preferred(compared: list[dict[str, Any]]) -> None:
    pairs = [pair for assignment in compared[1:] for pair in assignment["pairs"]]
    held = Counter((pair["left"], pair["right"]) for pair in pairs)
    # Sides are drawn, with a bias towards balance. Fair coins would give a chi-squared above `most` once in a
    # million runs. Pairs that always stand the same way round give their number.
    unordered = {tuple(sorted(pair)) for pair in held}
    uneven = sum((held[a, b] - held[b, a]) ** 2 / (held[a, b] + held[b, a]) for a, b in unordered)
    most = chi2.isf(1e-6, len(unordered))
    assert uneven < most < held.total()
    points: dict[str, list[int]] = {}
    for pair in pairs:
        for choice in pair["choices"]:
            ahead = {"left": 1, "tie": 0, "right": -1}[choice["preference"]]
            points.setdefault(pair["left"], []).append(ahead)
            points.setdefault(pair["right"], []).append(-ahead)
    mean = {name: sum(values) / len(values) for name, values in points.items()}
    assert sorted(QUALITY, key=lambda name: mean[name]) == sorted(QUALITY, key=QUALITY.__getitem__)
    assert mean["qc"] < 0


def test_what_arrivals_go_by_agrees_with_what_is_stored(
    compared: list[dict[str, Any]], server: Server
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "server", "data", "audit", "--data", str(server.data)],
        env=server.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "agree with the stored data" in done.stdout


def test_the_votes_of_the_database_are_those_of_the_export(
    compared: list[dict[str, Any]], server: Server, tmp_path: Path
) -> None:
    exported = tmp_path / "choices.jsonl"
    exported.write_text("".join(f"{json.dumps(line)}\n" for line in compared), encoding="utf-8")
    options = LoadOptions(simulated=True)
    with open_source(str(server.data / "candor.db")) as database, open_source(str(exported)) as file:
        stored, told = (content_of(source, options) for source in (database, file))
    assert all(vote.time is not None for vote in stored.votes)
    assert [replace(vote, time=None) for vote in stored.votes] == list(told.votes)
    assert len(stored.votes) == WORKERS * PAIRS * 2
    assert all(vote.first.messages[0] == vote.second.messages[0] for vote in stored.votes)
