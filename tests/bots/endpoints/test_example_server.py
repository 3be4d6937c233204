"""The bot in the documentation is as short as is said, and answers as the how-to page shows."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator

import httpx2
import pytest

from bots import Chat, Turn
from bots.endpoints.http import HttpEndpoint
from bots.serving import open_endpoint
from tests.support.typed_page import REPOSITORY, blocks
from tests.support.waiting import PATIENCE

DOCS = REPOSITORY / "docs"
(EXAMPLE,) = [block.text for block in blocks(DOCS / "tutorials" / "own-bot.md") if block.file == "bot.py"]
# The body that the how-to page sends with curl, and the line that it shows as the answer.
((SENT, SHOWN),) = re.findall(
    r"-d '(.+)'\n +(\{.+\})\n",
    (DOCS / "how-to" / "bots" / "write-your-own-bot.md").read_text(encoding="utf-8"),
)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the example listens, on a port that is free."""
    bot = tmp_path_factory.mktemp("example") / "bot.py"
    bot.write_text(EXAMPLE.replace("port=8700", "port=0"), encoding="utf-8")
    with subprocess.Popen([sys.executable, str(bot)], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        running = (re.search(r"running on (http://[\d.:]+)", line) for line in process.stderr)
        found = next(filter(None, running), None)
        assert found is not None, "the example ended before it listened"
        yield found[1]
        process.terminate()


def test_it_is_at_most_twenty_lines_of_code() -> None:
    assert 0 < len([line for line in EXAMPLE.splitlines() if line.strip()]) <= 20


def test_it_answers_curl_as_is_shown(address: str) -> None:
    answer = httpx2.post(f"{address}/reply", json=json.loads(SENT), timeout=PATIENCE)
    assert answer.text == SHOWN


async def test_it_is_a_bot_that_looks_at_the_last_line(address: str) -> None:
    bot = open_endpoint(HttpEndpoint(kind="http", urls=[address]))
    try:
        await bot.probe()
        turns = (Turn("worker", "Do you have pets?"), Turn("bot", "No."), Turn("worker", "No?"))
        said = await bot.reply(Chat("c1", 7, (), turns))
        assert [state.state for state in bot.states()] == ["fine"]
        assert said.text == "Tell me more. I have heard 3 lines so far."
    finally:
        await bot.close()


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"persona": [], "turns": [{"text": "x"}]}'])
def test_input_that_it_cannot_read_does_not_stop_it(address: str, body: bytes) -> None:
    assert httpx2.post(f"{address}/reply", content=body, timeout=PATIENCE).status_code == 422
    assert httpx2.post(f"{address}/reply", json=json.loads(SENT), timeout=PATIENCE).text == SHOWN
