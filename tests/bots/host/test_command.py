"""`python -m bots.host` as a process of its own."""

import asyncio
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest
from typer.testing import CliRunner

from bots import Chat
from bots.host.__main__ import cli
from candor.common.network import listener
from tests.bots.support.chats import as_request
from tests.bots.support.host_process import COMMAND, REPOSITORY, running
from tests.needs import need_hf, need_ipv6
from tests.support.waiting import ENOUGH, PATIENCE

Talk = Callable[..., Chat]


async def test_sigterm_finishes_what_is_under_way(talk: Talk) -> None:
    """The signal comes when fifty requests are under way.

    They gather for a second, and their lines are so long that fifty replies take seconds to compute, on a
    slower machine more, as everything else does there.
    """
    line = "Do you like dogs and cats? " * 110
    chats = [talk(line, name=str(number)) for number in range(50)]
    limits = httpx2.Limits(max_connections=60, max_keepalive_connections=60)
    with running("builtin:reflect", "--wait-ms", "1000", "--largest", "64") as (process, url):
        async with httpx2.AsyncClient(base_url=url, timeout=PATIENCE, limits=limits) as client:
            posts = [
                asyncio.create_task(client.post("/reflect/reply", json=as_request(chat))) for chat in chats
            ]
            while (await client.get("/reflect/health")).json()["under_way"] < len(chats):
                pass
            process.send_signal(signal.SIGTERM)
            while (await client.get("/reflect/health")).json()["ready"]:
                pass
            late = await client.post("/reflect/reply", json=as_request(talk("late", name="late")))
            answers = await asyncio.gather(*posts)
        assert [answer.status_code for answer in answers] == [200] * 50
        assert all(answer.json()["text"] for answer in answers)
        assert late.status_code == 503
        assert process.wait(ENOUGH) == 0


def test_several_models_in_one_process(talk: Talk, tiny: dict[str, Path]) -> None:
    models = ["--model", "rules=builtin:reflect", "--model", f"net=hf:{tiny['gpt2']}", "--device", "cpu"]
    with running(*models, "--max-new-tokens", "12", ready=2) as (process, url):
        listed = httpx2.get(url, timeout=PATIENCE).json()["models"]
        assert [(each["name"], each["ready"]) for each in listed] == [("rules", True), ("net", True)]
        said = [
            httpx2.post(f"{url}/{name}/reply", json=as_request(talk("hi")), timeout=PATIENCE).json()["text"]
            for name in ("rules", "net")
        ]
        assert all(said)
        assert said[0] != said[1]
        process.send_signal(signal.SIGINT)
        assert process.wait(ENOUGH) == 0


def test_a_model_that_cannot_be_loaded_ends_the_process(tmp_path: Path) -> None:
    need_hf()
    done = subprocess.run(
        [*COMMAND, f"hf:{tmp_path}/nowhere", "--port", "0"],
        capture_output=True,
        text=True,
        check=False,
        cwd=REPOSITORY,
    )
    assert done.returncode == 2
    assert f"Error: hf:{tmp_path}/nowhere: there is no such folder." in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "no model: give one"),
        (["--name", "x"], "--name needs a model"),
        (["ollama:x"], '"ollama:x" is not a model'),
        (["hf:"], '"hf:" is not a model'),
        (["builtin:retrieval", "--name", "Not a name"], '"Not a name" is not a valid name'),
        (["--model", "builtin:retrieval"], "write NAME=SPEC"),
        (["builtin:qc", "--name", "a", "--model", "a=builtin:ngram"], 'two models are called "a"'),
        (["builtin:retrieval", "--port", "99999"], "--port"),
        (["builtin:retrieval", "--host", "203.0.113.1"], "cannot listen on 203.0.113.1:8601"),
        (["builtin:retrieval", "--dtype", "int4"], "int4"),
        *(
            (["builtin:retrieval", *given], f"{given[0].replace('no-t', 't')} is for language models")
            for given in (
                ["--prompt", "Be kind."],
                ["--temperature", "0.7"],
                ["--no-thinking"],
                ["--chat-template", "x.jinja"],
                ["--layout", "plain"],
                ["--dtype", "auto"],  # the default, and given all the same
                ["--device", "cpu"],
                ["--top-p", "0.9"],
                ["--repetition-penalty", "1.1"],
                ["--max-new-tokens", "8"],
                ["--thinking-tokens", "8"],
            )
        ),
        (
            ["--model", "a=builtin:qc", "--model", "b=parlai:y", "--layout", "plain", "--top-p", "0.9"],
            "--top-p, --layout are for language models, and builtin:qc takes none: leave that out",
        ),
        (
            ["--model", "a=hf:x", "--model", "b=parlai:y", "--prompt", "Be kind.", "--device", "cpu"],
            "--prompt is for language models, and parlai:y takes none: host it in a process of its own",
        ),
        (["builtin:retrieval", "--key-variable", "NO_SUCH_KEY"], "environment variable NO_SUCH_KEY"),
        (["builtin:retrieval", "--server", "ws://127.0.0.1:1"], "--server needs a token"),
        (["builtin:retrieval", "--server", "127.0.0.1:1", "--token", "t"], "is no address of a server"),
        (["builtin:retrieval", "--server", "ws://127.0.0.1:1", "--token", "a b"], "the token is empty, or"),
        (["builtin:none", "--server", "ws://127.0.0.1:1", "--token", "t"], "builtin:none"),
    ],
)
def test_a_command_that_makes_no_sense_says_why(arguments: list[str], says: str) -> None:
    done = CliRunner().invoke(cli, arguments)
    assert isinstance(done.exception, SystemExit), done.exception
    assert done.exit_code == 2
    assert says in done.stderr


def test_help_is_there_without_torch() -> None:
    """The heavy libraries are loaded with a model, not with the command."""
    code = (
        "import sys, bots.host.__main__; sys.exit(any(m in sys.modules for m in ('torch', 'transformers')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, cwd=REPOSITORY).returncode == 0
    done = subprocess.run([*COMMAND, "--help"], capture_output=True, text=True, check=True, cwd=REPOSITORY)
    assert "micro-batches" in done.stdout


def test_a_host_is_reached_by_ipv6() -> None:
    need_ipv6()
    with running("builtin:reflect", "--host", "::1") as (_, url):
        assert url.startswith("http://[::1]:")
        assert httpx2.get(f"{url}/reflect/health").status_code == 200


def test_an_answer_does_not_wait_for_an_acknowledgement() -> None:
    """Answers are written in two parts: with Nagle's algorithm the second is held back, 40 ms mostly."""
    with listener("127.0.0.1", 0) as listening, socket.create_connection(listening.getsockname()):
        connection, _ = listening.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
