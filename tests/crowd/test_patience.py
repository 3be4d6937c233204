"""The crowd's calls of the researcher's API, against a server that takes its time."""

import asyncio
from collections.abc import Iterator

import pytest
from fastapi import FastAPI, HTTPException
from typer.testing import CliRunner

from bots.crowd.__main__ import cli
from bots.crowd.crowd import PatientClient
from bots.researcher_api import Access, ResearcherClient, RunAnswer
from tests.bots.support.app_server import running
from tests.support.local_process import free_port
from tests.support.waiting import PATIENCE, until


class Slow:
    """A server with one run, which it tells once `enough` ask for it. For `away` calls it is away."""

    def __init__(self) -> None:
        self.app = FastAPI()
        self.app.get("/api/desk/runs")(self.runs)
        self.enough = 1
        self.away = 0
        self.asked = 0

    async def runs(self) -> dict[str, list[dict[str, str]]]:
        self.asked += 1
        if self.asked <= self.away:
            raise HTTPException(503)
        await until(lambda: self.asked >= self.enough)
        return {"runs": [{"run": "demo"}]}


class Watched(ResearcherClient):
    """Counts its calls that have `ended`."""

    ended = 0

    def runs(self) -> list[RunAnswer]:
        try:
            return super().runs()
        finally:
            self.ended += 1


@pytest.fixture
def slow() -> Slow:
    return Slow()


@pytest.fixture
def client(slow: Slow) -> Iterator[Watched]:
    with running(slow.app) as url, Watched(Access(url, "a-token")) as asking:
        yield asking


async def test_a_server_that_answers_at_once_has_answered(client: Watched) -> None:
    with PatientClient(client, PATIENCE) as patient:
        assert not patient.answered
        assert await patient.runs() == ["demo"]
        assert patient.answered


async def test_thirty_two_calls_are_made_at_once_on_any_machine(slow: Slow, client: Watched) -> None:
    slow.enough = 32
    with PatientClient(client, PATIENCE) as patient:
        assert await asyncio.gather(*(patient.runs() for _ in range(32))) == [["demo"]] * 32


async def test_a_server_that_is_away_is_asked_again(slow: Slow, client: Watched) -> None:
    slow.away = 2
    with PatientClient(client, PATIENCE) as patient:
        assert await patient.runs() == ["demo"]
        assert patient.answered
    assert slow.asked == 3


async def test_nobody_waits_for_a_call_that_was_given_up(slow: Slow, client: Watched) -> None:
    slow.enough = 2
    with PatientClient(client, 0.2) as patient, pytest.raises(TimeoutError):
        await patient.runs()
    assert client.ended == 0
    slow.enough = 0
    await until(lambda: client.ended == 1)


async def test_that_nobody_answers_is_told_at_once_and_once() -> None:
    told: list[str] = []
    nowhere = ResearcherClient(Access(f"http://127.0.0.1:{free_port()}", "a-token"))
    with nowhere, PatientClient(nowhere, PATIENCE, lambda: told.append("nobody")) as patient:
        asking = [asyncio.create_task(patient.runs()) for _ in range(2)]
        await until(lambda: bool(told))
        assert not any(call.done() for call in asking)
        for call in asking:
            call.cancel()
        await asyncio.gather(*asking, return_exceptions=True)
    assert (told, patient.answered) == (["nobody"], False)


async def test_a_server_that_is_busy_is_somebody(slow: Slow, client: Watched) -> None:
    slow.away = 1
    told: list[str] = []
    with PatientClient(client, PATIENCE, lambda: told.append("nobody")) as patient:
        assert await patient.runs() == ["demo"]
    assert (told, patient.answered) == ([], True)


@pytest.mark.parametrize("place", ["", "/w/demo"])
def test_a_crowd_at_a_wrong_port_says_so_and_what_to_do(place: str) -> None:
    address = f"http://127.0.0.1:{free_port()}"
    asked = ["--url", f"{address}{place}", "--workers", "3", "--token", "a-token", "--patience", "1"]
    done = CliRunner().invoke(cli, asked)
    assert (done.exit_code, done.stdout) == (2, "")
    trying, refusal = (line for line in done.stderr.splitlines() if address in line)
    assert trying == f"No answer from {address}: trying again for 1 s."
    assert refusal == f"Error: no answer from {address} within 1 s."
    assert "Start the server" in done.stderr
    assert "--url" in done.stderr
