"""Simulated workers who talk by a model, against a real server and a stand-in for the model's."""

import asyncio
import json
import os
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.bots.support.servers import saying, serving
from tests.support.server_process import Server
from tests.support.waiting import ENOUGH

DEMO = Path(__file__).parents[2] / "server" / "studies" / "demo.yaml"
INPUTS = 4
pytestmark = pytest.mark.timeout(2 * ENOUGH)

Rows = Callable[[str], list[tuple[Any, ...]]]


@pytest.fixture(scope="module")
def talked_with(server: Server) -> Server:
    study = server.data / "talk.yaml"
    short = DEMO.read_text().replace("minimum_inputs: 10", f"minimum_inputs: {INPUTS}")
    study.write_text(f"{short}\nrecords_writing: true\n")
    server.open_run(study, "talk")
    server.start()
    return server


async def crowd(server: Server, *options: str, run: str = "talk") -> tuple[int, str]:
    command = ["-m", "bots.crowd", "--url", f"{server.url}/w/{run}", "--token", server.token, *options]
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *command,
        env=os.environ | {"MODEL_KEY": "k3y", "COLUMNS": "200"},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    assert process.returncode is not None
    return process.returncode, output.decode()


def stored(server: Server, query: str) -> list[tuple[Any, ...]]:
    with sqlite3.connect(server.data / "candor.db") as database:
        return database.execute(query).fetchall()


async def test_a_model_is_asked_for_every_line_after_its_cost_was_agreed_to(talked_with: Server) -> None:
    async with serving(saying("I like that.")) as model:
        options = ["--workers", "1", "--mix", "disguised=1", "--price-in", "0.5", "--price-out", "2"]
        options += ["--talk", "openai:small", "--talk-url", f"{model.url}/v1", "--talk-key", "MODEL_KEY"]
        code, said = await crowd(talked_with, *options)
        assert code == 2, said
        # 1 worker, 6 conversations of 4 inputs: 24 calls.
        assert "What its workers say may cost money" in said
        assert "about 24 calls to “small” at 127.0.0.1: less than 0.01, at 0.5 and 2" in said
        assert "add --yes" in said
        assert not model.requests
        assert stored(talked_with, "SELECT count(*) FROM assignment") == [(0,)]
        code, said = await crowd(talked_with, *options, "--yes")
        assert code == 0, said
        assert len(model.requests) == 6 * INPUTS
        assert {request.headers["authorization"] for request in model.requests} == {"Bearer k3y"}
        last = json.loads(model.requests[-1].body)
    roles = [message["role"] for message in last["messages"]]
    assert roles == ["system", *["user", "assistant"] * ((len(roles) - 1) // 2), "user"]
    assert "complete, well-formed sentences" in last["messages"][0]["content"]
    lines = stored(talked_with, "SELECT DISTINCT text FROM turn WHERE author = 'worker'")
    assert lines == [("I like that.",)]
    marked = "SELECT simulated_as, count(*) FROM v1_simulated_conversation GROUP BY 1"
    assert stored(talked_with, marked) == [("disguised openai:small", 6)]
    assert stored(talked_with, "SELECT DISTINCT typed, pasted FROM v1_writing") == [(0, len("I like that."))]
    assert stored(talked_with, "SELECT count(*) FROM v1_writing") == [(6 * INPUTS,)]


async def test_a_crowd_in_a_run_whose_bots_may_cost_money_is_asked_about_first(talked_with: Server) -> None:
    async with serving(saying("I like that.")) as model:
        far = {
            "kind": "openai",
            "urls": [f"{model.url}/v1"],
            "model": "m",
            "price": {"input": 1, "output": 1},
        }
        systems = [{"name": "far", "family": "far", "bot": "far"}]
        content = yaml.safe_load(DEMO.read_text())
        content |= {"name": "paid", "systems": systems, "bots": {"far": far}, "systems_per_assignment": 1}
        content |= {"qc_per_assignment": 0, "minimum_inputs": INPUTS, "simulate": {"quality": {"far": 0.5}}}
        path = talked_with.data / "paid.yaml"
        path.write_text(yaml.safe_dump(content))
        await asyncio.to_thread(talked_with.open_run, path, "paid", "--despite-failing-bots", "--yes")
        before = len(model.requests)
        code, said = await crowd(talked_with, "--workers", "2", run="paid")
        assert code == 2, said
        assert "A crowd of 2 in the run “paid” may cost money" in said
        assert f"about {2 * INPUTS} calls to “far” at 127.0.0.1: less than 0.01" in said
        assert sum(request.path.endswith("/completions") for request in model.requests[before:]) == 0
        code, said = await crowd(talked_with, "--workers", "2", "--yes", run="paid")
        assert code == 0, said
        asked = [request for request in model.requests[before:] if request.path.endswith("/completions")]
        assert len(asked) >= 2 * INPUTS


async def test_a_model_that_says_nothing_fails_its_workers_and_says_why(talked_with: Server) -> None:
    options = ["--workers", "1", "--talk", "openai:small", "--talk-url", "http://127.0.0.1:9", "--yes"]
    code, said = await crowd(talked_with, *options)
    assert code == 1
    assert "the worker's message could not be written: http://127.0.0.1:9: no connection" in said


async def test_workers_change_the_topic_bring_it_up_and_mark_it(talked_with: Server) -> None:
    code, said = await crowd(talked_with, "--workers", "4", "--mix", "honest=0.5,careless=0.5", "--seed", "3")
    assert code == 0, said
    changes = stored(
        talked_with,
        "SELECT mark.topic, mark.how, turn.text FROM topic_mark AS mark JOIN turn"
        " ON turn.conversation_id = mark.conversation_id AND turn.turn_index = 2 * mark.round"
        " JOIN v1_simulated_conversation AS simulated USING (conversation_id)"
        " WHERE mark.ordinal > 0 AND simulated.simulated_as LIKE '% builtin:retrieval'",
    )
    assert changes
    for topic, how, next_line in changes:
        assert how == "user change next"
        assert topic in next_line
    own = stored(talked_with, "SELECT count(DISTINCT text), count(*) FROM turn WHERE author = 'worker'")
    assert own[0][0] > INPUTS, "they say more than a few fixed lines"
    export = stored(talked_with, "SELECT DISTINCT simulated_as FROM v1_simulated_conversation ORDER BY 1")
    assert ("careless builtin:retrieval",) in export
    assert ("honest builtin:retrieval",) in export
