"""The researcher's API as simulated workers ask it: again and again while the server is away."""

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from bots.researcher.client import ResearcherClient, ServerAway
from bots.researcher.views import JoinView, SimulatedBeliefs

_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 3.0  # seconds
P = ParamSpec("P")
T = TypeVar("T")


class PatientClient:
    """Makes a call again while the server is away, for `patience` seconds at most.

    Every call raises RequestFailed where the server says no, and TimeoutError. The client's calls block, so
    that each is made in a thread.
    """

    def __init__(self, client: ResearcherClient, patience: float) -> None:
        self._client = client
        self._patience = patience

    async def join(self, run: str, worker: str, reply_pace: float) -> JoinView:
        """Return the way into a new assignment of `run` for a simulated worker."""
        return await self._patiently(self._client.join_simulated, run, worker, reply_pace)

    async def beliefs(self, assignment: str) -> SimulatedBeliefs:
        """Return what a simulated worker believes of the systems of its assignment."""
        return await self._patiently(self._client.simulation, assignment)

    async def runs(self) -> list[str]:
        """Return the names of the server's runs."""
        return [run.run for run in await self._patiently(self._client.runs)]

    async def _patiently(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        pause = _FIRST_PAUSE
        async with asyncio.timeout(self._patience):
            while True:
                try:
                    return await asyncio.to_thread(call, *args, **kwargs)
                except ServerAway:
                    await asyncio.sleep(pause)
                    pause = min(pause * 1.5, _LONGEST_PAUSE)
