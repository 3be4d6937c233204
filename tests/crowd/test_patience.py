"""The crowd's calls of the researcher's API, against a server that takes its time."""

import asyncio
from collections.abc import Iterator

import pytest
from fastapi import FastAPI, HTTPException

from bots.crowd.patience import PatientClient
from bots.researcher.access import Access
from bots.researcher.client import ResearcherClient
from bots.researcher.views import RunView
from tests.bots.support.app_server import running
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

    def runs(self) -> list[RunView]:
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


async def test_thirty_two_calls_are_made_at_once_on_any_machine(slow: Slow, client: Watched) -> None:
    slow.enough = 32
    with PatientClient(client, PATIENCE) as patient:
        assert await asyncio.gather(*(patient.runs() for _ in range(32))) == [["demo"]] * 32


async def test_a_server_that_is_away_is_asked_again(slow: Slow, client: Watched) -> None:
    slow.away = 2
    with PatientClient(client, PATIENCE) as patient:
        assert await patient.runs() == ["demo"]
    assert slow.asked == 3


async def test_nobody_waits_for_a_call_that_was_given_up(slow: Slow, client: Watched) -> None:
    slow.enough = 2
    with PatientClient(client, 0.2) as patient, pytest.raises(TimeoutError):
        await patient.runs()
    assert client.ended == 0
    slow.enough = 0
    await until(lambda: client.ended == 1)
