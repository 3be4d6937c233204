"""What simulated workers ask with the researcher's token: to be let in, and what to believe."""

import asyncio
from dataclasses import dataclass
from typing import Any

import httpx2

from bots.crowd.profile import Criterion


class Refused(Exception):
    """The server said no, and will say so again."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """A simulated worker's way in."""

    token: str
    assignment: str


@dataclass(frozen=True, slots=True)
class Beliefs:
    """The quality of each conversation's system, by the conversation's number, and the criteria."""

    quality: dict[int, float]
    criteria: tuple[Criterion, ...]


class Desk:
    """Calls the server, again and again while it is away, for `patience` seconds at most."""

    def __init__(self, client: httpx2.AsyncClient, patience: float) -> None:
        self._client = client
        self._patience = patience

    async def join(self, run: str, worker: str, reply_pace: float) -> Ticket:
        """Return the way into a new assignment. Raises Refused or TimeoutError."""
        body = {"run": run, "worker": worker, "simulated": True, "reply_pace": reply_pace}
        answer = await self._call("POST", "/api/join", body)
        return Ticket(answer["token"], answer["assignment"])

    async def beliefs(self, assignment: str) -> Beliefs:
        """Return what a simulated worker believes of its conversations. Raises Refused or TimeoutError."""
        answer = await self._call("GET", f"/api/desk/assignments/{assignment}/simulation", None)
        # Attempts come in order, so that a replacement's quality stands for its conversation.
        quality = {row["k"]: float(row["quality"]) for row in answer["conversations"]}
        criteria = tuple(Criterion(c["label"], c["negative"], c["qc"]) for c in answer["criteria"])
        return Beliefs(quality, criteria)

    async def runs(self) -> list[str]:
        """Return the names of the server's runs. Raises Refused or TimeoutError."""
        answer = await self._call("GET", "/api/desk/runs", None)
        return [run["run"] for run in answer["runs"]]

    async def _call(self, method: str, path: str, body: object) -> Any:
        async with asyncio.timeout(self._patience):
            pause = 0.2
            while True:
                try:
                    response = await self._client.request(method, path, json=body)
                except httpx2.TransportError:
                    response = None
                if response is not None and response.status_code < 400:
                    return response.json()
                if response is not None and response.status_code != 429 and response.status_code < 500:
                    raise Refused(_reason(response))
                await asyncio.sleep(pause)
                pause = min(pause * 1.5, 3.0)


def _reason(response: httpx2.Response) -> str:
    try:
        error = response.json()["error"]
        return f"{error['message']} {error['hint']}"
    except (ValueError, KeyError, TypeError):
        return f"HTTP {response.status_code} from {response.request.url}: is this a Candor server?"
