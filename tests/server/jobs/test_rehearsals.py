"""Rehearsals against a real server with real chatbots, over the command line and over the API."""

import json
import sqlite3
import sys
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
import yaml
from typer.testing import CliRunner

from bots.rehearse import cli
from qc.loading import load
from qc.report.__main__ import app as report
from qc.run import REHEARSAL_NOTE
from tests.server.support.provider import providing
from tests.support.orchard import STUDY
from tests.support.server_process import Server
from tests.support.terminal import at_a_terminal
from tests.support.waiting import PATIENCE, wait_until


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("candor"))
    running.data.joinpath("orchard.yaml").write_text(yaml.safe_dump(STUDY))
    running.start()
    yield running
    running.stop()


def ask(server: Server, method: str, path: str, body: object = None) -> Any:
    bearer = {"Authorization": f"Bearer {server.token}"}
    return httpx2.request(
        method, f"{server.url}/api{path}", json=body, headers=bearer, timeout=PATIENCE, verify=False
    ).json()


# A pilot in which `quince`, the last of the study, was by far the best, whatever `--spread` says.
MODEL = {
    "format": "candor-rater-model",
    "version": 1,
    "systems": {
        name: dict.fromkeys(("fun", "fluent", "kind"), deserved)
        for name, deserved in (("apple", 30.0), ("quince", 75.0), ("qc", -5.0))
    },
    "worker_sd": 5.0,
    "conversation_sd": 5.0,
    "rating_sd": 5.0,
    "random_share": 0.2,
}


def test_a_rehearsal_ends_with_a_forecast(server: Server) -> None:
    server.data.joinpath("model.json").write_text(json.dumps(MODEL), encoding="utf-8")
    arguments = [str(server.data / "orchard.yaml"), "--workers", "14", "--planned", "100", "--pay", "2"]
    arguments += ["--model", str(server.data / "model.json")]
    arguments += ["--fee", "0.25", "--spread", "0.5", "--server", server.url, "--token", server.token]
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 0, done.output
    # `pear`, which the pilot had not, is the middle one of the study: a quality of 0.5 is 46 points.
    assert "quince and pear told apart" in done.stdout
    assert "fitted to, which did not have pear." in done.stdout
    assert "About 5 minutes for an assignment" in done.stdout  # 4 conversations × 6.68 × 2 of 10 inputs
    assert REHEARSAL_NOTE in done.stdout
    rows = [line.split() for line in done.stdout.splitlines() if line.split()[:1] in (["100"], ["400"])]
    assert [row[-1] for row in rows] == ["250.00", "1000.00"]  # 2 a worker, and a quarter more

    run = ask(server, "GET", "/desk/runs/demo/rehearsals")
    assert run == {"rehearsals": []}  # of another study
    with sqlite3.connect(server.data / "candor.db") as database:
        kinds = dict(database.execute("SELECT run, kind FROM v1_run"))
        simulated = database.execute("SELECT DISTINCT simulated FROM v1_assignment").fetchall()
    assert kinds == {"demo": "study", "orchard-rehearsal-1": "rehearsal"}
    assert simulated == [(1,)]
    # It is not among the runs, it is closed, and no person could have come.
    assert [each["run"] for each in ask(server, "GET", "/desk/runs")["runs"]] == ["demo"]
    assert ask(server, "GET", "/desk/runs/orchard-rehearsal-1")["status"] == "closed"
    refused = ask(server, "POST", "/join", {"run": "orchard-rehearsal-1", "worker": "ann"})
    assert refused["error"]["code"] == "run_closed"


def test_a_report_of_it_says_what_it_is_and_it_is_compared_with_nothing_else(server: Server) -> None:
    database = str(server.data / "candor.db")
    assert REHEARSAL_NOTE in load(database, "orchard-rehearsal-1", words=False).notes
    crowd = server.crowd("demo", "--workers", "4")
    crowd.communicate()
    result = CliRunner().invoke(
        report, [database, "--run", "demo", "--replicate", "orchard-rehearsal-1", "--only", "replication"]
    )
    assert result.exit_code == 2
    assert "is a rehearsal" in result.stderr
    assert load(database, words=False).name == "demo"  # the only run, where none is named


def test_a_rehearsal_is_given_up(server: Server) -> None:
    begun = ask(server, "POST", "/desk/rehearsals", {"yaml": yaml.safe_dump(STUDY), "workers": 60})
    where = f"/desk/runs/{begun['run']}/jobs/{begun['job']}"
    wait_until(lambda: ask(server, "GET", where)["done"] > 0, "the crowd")
    again = ask(server, "POST", "/desk/rehearsals", {"study": "orchard"})
    assert again["error"]["code"] == "job_under_way"
    assert ask(server, "POST", f"{where}/cancel")["status"] == "cancelled"
    assert ask(server, "GET", where)["status"] == "cancelled"
    wait_until(lambda: ask(server, "GET", f"/desk/runs/{begun['run']}")["status"] == "closed", "the close")


def test_a_rehearsal_that_may_cost_money_is_asked_about_first(server: Server) -> None:
    price = {"input": 1_000, "output": 0}
    far = {"kind": "openai", "urls": ["http://127.0.0.1:1/v1"], "model": "m", "price": price}
    systems = [{"name": "fig", "family": "fig", "bot": "far"}, *STUDY["systems"][1:]]
    short = {"bot_try": 0.5, "bot_total": 1}
    paid = STUDY | {"name": "paid", "systems": systems, "bots": {"far": far}, "timeouts": short}
    path = server.data / "paid.yaml"
    path.write_text(yaml.safe_dump(paid))
    # 10 workers × 3 conversations × 1 of 3 systems × 2 inputs are 20 calls, 10 of them with 2 lines before:
    # 20 × 200 and 20 × 25 tokens, at 0.001 each.
    said = "A rehearsal of “paid” with 10 simulated workers may cost money: - about 20 calls to “far” at"
    body = {"yaml": path.read_text(), "workers": 10}
    asked = ask(server, "POST", "/desk/rehearsals", body)["error"]
    assert asked["code"] == "needs_confirmation"
    assert said in " ".join(asked["message"].split())
    assert "about 4.50, at 1000 and 0 for a million tokens in and out" in asked["message"]
    assert asked["hint"] == "To do it, confirm (as a program: set confirmed to true)."
    server_and_token = ["--server", server.url, "--token", server.token]
    command = [str(path), "--workers", "10", *server_and_token]
    refused = CliRunner().invoke(cli, command)
    assert refused.exit_code == 2
    assert said in " ".join(refused.stderr.split())
    assert "add --yes" in refused.stderr
    code, printed = at_a_terminal([sys.executable, "-m", "bots.rehearse", *command], "n\n")
    assert (code, said in " ".join(printed.split())) == (2, True)
    with sqlite3.connect(server.data / "candor.db") as database:
        assert not database.execute("SELECT 1 FROM v1_run WHERE run LIKE 'paid%'").fetchall()
    begun = ask(server, "POST", "/desk/rehearsals", body | {"confirmed": True})
    assert begun["status"] == "running", begun
    assert "confirmed" not in begun["options"]
    again = ask(server, "POST", f"/desk/runs/{begun['run']}/rehearsals", {"workers": 10})
    assert again["error"]["code"] == "needs_confirmation"
    ask(server, "POST", f"/desk/runs/{begun['run']}/jobs/{begun['job']}/cancel")
    # It begins. Its bot answers nobody: it fails, or goes on without that bot if that was found out early.
    yes = CliRunner().invoke(cli, [*command, "--yes"])
    assert "paid-rehearsal-2" in yes.stderr, yes.output


def test_the_plan_of_a_rehearsal_holds_the_calls_that_it_makes(server: Server) -> None:
    with providing() as provider:
        near = provider.endpoint() | {"price": {"input": 1_000, "output": 2_000}}
        systems = [
            {"name": "fig", "family": "fig", "bot": "near"},
            {"name": "date", "family": "date", "bot": "near"},
            STUDY["systems"][0],
        ]
        counted = STUDY | {"name": "counted", "systems": systems, "bots": {"near": near}}
        ask(server, "POST", "/desk/studies", {"name": "counted", "yaml": yaml.safe_dump(counted)})
        plan = ask(server, "GET", "/desk/studies/counted/rehearsal-plan?workers=8")
        # 8 workers × 2 inputs for each system and the QC bot; two systems are `near`.
        calls = {"near": 32, "builtin:reflect": 16, "qc": 16}
        assert {bot["bot"]: bot["calls"] for bot in plan["bots"]} == calls
        far, *free = plan["bots"]
        # 16 conversations of 2 lines: 200 tokens of instructions for each call, and 25 for each of the 2
        # lines before the second, at 0.001; 25 for each reply, at 0.002.
        assert (far["tokens_in"], far["tokens_out"]) == (32 * 200 + 16 * 50, 32 * 25)
        assert (far["hosts"], far["cost"]) == (["127.0.0.1"], 7.2 + 1.6)
        assert [bot["cost"] for bot in free] == [0, 0]
        begun = ask(server, "POST", "/desk/rehearsals", {"study": "counted", "workers": 8, "confirmed": True})
        where = f"/desk/runs/{begun['run']}/jobs/{begun['job']}"
        wait_until(lambda: ask(server, "GET", where)["status"] != "running", "the rehearsal")
        assert provider.asked == calls["near"]
        again = ask(server, "GET", f"/desk/runs/{begun['run']}/rehearsal-plan?workers=8")
        assert again == plan
    replies = """
        SELECT system, count(*) FROM v1_turn JOIN v1_conversation USING (run_id, conversation_id)
        JOIN v1_run USING (run_id) WHERE run = ? AND author = 'bot' GROUP BY system
    """
    with sqlite3.connect(server.data / "candor.db") as database:
        found = dict(database.execute(replies, (begun["run"],)))
    assert found == {"fig": 16, "date": 16, "apple": 16, "qc": 16}


def test_a_fee_in_per_cent_is_refused() -> None:
    done = CliRunner().invoke(cli, ["study.yaml", "--fee", "25"])
    assert done.exit_code == 2
    assert "--fee is 25, but here it is a share" in done.stderr


def test_what_cannot_be_rehearsed(server: Server) -> None:
    few = STUDY | {"assignments": 10}
    refused = ask(server, "POST", "/desk/rehearsals", {"yaml": yaml.safe_dump(few)})
    assert refused["error"]["code"] == "rehearsal_refused"
    assert "the study has 10" in refused["error"]["message"]
    pairs = {
        key: value for key, value in STUDY.items() if key not in ("systems_per_assignment", "topic_mode")
    }
    pairs |= {"task": "side_by_side", "criteria": []}
    refused = ask(server, "POST", "/desk/rehearsals", {"yaml": yaml.safe_dump(pairs), "workers": 10})
    assert refused["error"]["message"].startswith("Workers of this study compare two chatbots")
    untested = STUDY | {"qc_per_assignment": 0}
    refused = ask(server, "POST", "/desk/rehearsals", {"yaml": yaml.safe_dump(untested), "workers": 10})
    assert refused["error"]["message"].startswith("Workers of this study cannot be tested")
    broken = ask(server, "POST", "/desk/rehearsals", {"yaml": "name: [", "workers": 10})
    assert broken["error"]["code"] == "study_invalid"
    both = ask(server, "POST", "/desk/rehearsals", {"yaml": "x", "study": "y"})
    assert "Give either" in both["error"]["message"]


def test_a_stored_studys_name_is_told_to_be_no_file() -> None:
    done = CliRunner().invoke(cli, ["pilot", "--server", "http://127.0.0.1:1", "--token", "none"])
    assert done.exit_code == 2
    assert "Error: pilot cannot be read: No such file or directory\n" in done.stderr
    assert "`candor study show NAME > study.yaml` makes one of a stored study" in done.stderr
