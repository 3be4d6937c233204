"""The example in the documentation: it is as short as is said, and it is a bot."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
import yaml

from bots import Chat, Turn, open_endpoint
from bots.endpoints.http import HttpEndpoint
from tests.support.waiting import PATIENCE

EXAMPLE = Path(__file__).parents[3] / "docs" / "http_bot_example.py"
PERSONA = ("i have a dog .", "i like green tea .")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where the example listens, started as the documentation says, on a port that is free."""
    command = [sys.executable, str(EXAMPLE), "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        running = (re.search(r"running on (http://[\d.:]+)", line) for line in process.stderr)
        found = next(filter(None, running), None)
        assert found is not None, "the example ended before it listened"
        yield found[1]
        process.terminate()


async def reply(address: str, *lines: str, persona: tuple[str, ...] = PERSONA) -> str:
    """Return what the example says next; the worker said the first line, and every other one."""
    turns = tuple(Turn("bot" if number % 2 else "worker", line) for number, line in enumerate(lines))
    bot = open_endpoint(HttpEndpoint(kind="http", urls=[address]))
    try:
        await bot.probe()
        said = await bot.reply(Chat("c1", 7, persona, turns))
        assert [state.state for state in bot.states()] == ["fine"]
        return said.text
    finally:
        await bot.close()


def test_it_is_at_most_twenty_lines_of_code() -> None:
    tree = ast.parse(EXAMPLE.read_text(encoding="utf-8"))
    prose = {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    lines = EXAMPLE.read_text(encoding="utf-8").splitlines()
    code = [line for number, line in enumerate(lines, 1) if line.strip() and number not in prose]
    assert 0 < len(code) <= 20


def test_the_lines_for_a_study_that_it_shows_are_a_study_s() -> None:
    shown = (ast.get_docstring(ast.parse(EXAMPLE.read_text(encoding="utf-8"))) or "").split("\n\n")[1]
    endpoint = yaml.safe_load(shown)["bots"]["mine"]
    assert HttpEndpoint.model_validate(endpoint).urls == ["http://127.0.0.1:8700"]


async def test_it_speaks_as_its_persona_and_to_the_point(address: str) -> None:
    assert await reply(address, "Do you have a pet?") == "I have a dog."
    assert await reply(address, "Coffee or green tea ?") == "I like green tea."


async def test_it_remembers_what_it_said(address: str) -> None:
    said = ["Do you have a pet?", "i have a dog .", "What do you have for breakfast?"]
    assert await reply(address, *said) == "I like green tea."
    said += ["i like green tea .", "And else?"]
    first = await reply(address, *said)
    assert first not in PERSONA
    assert first.endswith("?")
    assert await reply(address, *said, first, "I see.") not in {first, *PERSONA}


async def test_without_a_persona_it_asks(address: str) -> None:
    assert (await reply(address, "Hello!", persona=())).endswith("?")


async def test_asked_twice_it_says_the_same(address: str) -> None:
    assert await reply(address, "Hello!") == await reply(address, "Hello!")


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"persona": [], "turns": [{"text": "x"}]}'])
async def test_what_it_cannot_read_does_not_stop_it(address: str, body: bytes) -> None:
    assert httpx2.post(f"{address}/reply", content=body, timeout=PATIENCE).status_code == 422
    assert await reply(address, "Do you have a pet?") == "I have a dog."
