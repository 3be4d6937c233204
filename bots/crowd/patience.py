"""The researcher's API for simulated workers: calls are repeated while the server is away."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Self, TypeVar, TypeVarTuple

from tenacity import AsyncRetrying, retry_if_exception_type, wait_exponential

from bots.researcher.client import NoAnswer, RequestFailed, ResearcherClient, ServerAway
from bots.researcher.views import JoinAnswer
from candor.common.api_models import SimulatedBeliefs

# Asyncio's own pool has four more threads than the machine has processors; these threads only wait.
_THREADS = 32
Ts = TypeVarTuple("Ts")
T = TypeVar("T")


class PatientClient:
    """Repeats a call while the server is away, for `patience` seconds at most.

    Every call raises RequestFailed if the server refuses it, or TimeoutError. The client's calls block, so
    each is made in a thread. Cancelled calls are not awaited at the end.

    Args:
        client: of the server.
        patience: seconds.
        on_no_answer: called once, if the very first call gets no answer, before it is repeated.
    """

    def __init__(
        self, client: ResearcherClient, patience: float, on_no_answer: Callable[[], None] | None = None
    ) -> None:
        self._client = client
        self._patience = patience
        self._on_no_answer = on_no_answer
        self._answered = False
        self._threads = ThreadPoolExecutor(_THREADS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    @property
    def answered(self) -> bool:
        """Whether the server has answered any call so far."""
        return self._answered

    async def join(self, run: str, worker: str, reply_pace: float, simulated_as: str) -> JoinAnswer:
        """Join a new assignment of `run` as a simulated worker; return its session."""
        return await self._patiently(self._client.join_simulated, run, worker, reply_pace, simulated_as)

    async def beliefs(self, assignment: str) -> SimulatedBeliefs:
        """Return a simulated worker's beliefs about the systems of its assignment."""
        return await self._patiently(self._client.simulation, assignment)

    async def crowd_question(self, run: str, workers: int) -> str | None:
        """Return the question about the costs of so many simulated workers; None if they cost nothing."""
        return await self._patiently(self._client.crowd_question, run, workers)

    async def runs(self) -> list[str]:
        """Return the names of the server's runs."""
        return [run.run for run in await self._patiently(self._client.runs)]

    async def _patiently(self, call: Callable[[*Ts], T], *args: *Ts) -> T:
        tries = AsyncRetrying(
            retry=retry_if_exception_type(ServerAway),
            wait=wait_exponential(multiplier=0.2, exp_base=1.5, max=3.0),
        )
        async with asyncio.timeout(self._patience):
            return await tries(self._in_thread, call, *args)

    async def _in_thread(self, call: Callable[[*Ts], T], *args: *Ts) -> T:
        try:
            answer = await asyncio.get_running_loop().run_in_executor(self._threads, call, *args)
        except NoAnswer:
            tell, self._on_no_answer = self._on_no_answer, None
            if tell is not None and not self._answered:
                tell()
            raise
        except RequestFailed:
            self._answered = True
            raise
        self._answered = True
        return answer
