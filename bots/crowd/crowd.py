"""Run a crowd: simulated workers who take part in a run at the same time.

Their calls to the researcher's API are repeated while the server is away.
"""

import asyncio
import json
import random
import time
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Self, TextIO, TypeVar, TypeVarTuple

from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from tenacity import AsyncRetrying, retry_if_exception_type, wait_exponential
from websockets.asyncio.client import connect

from bots.corpus import Corpus, load_corpus
from bots.crowd.profile import PROFILES, FittedRaterModel, Honest, Profile, ProfileName, manner_of
from bots.crowd.talk import Speaker, Talk, speaker
from bots.crowd.view import Message
from bots.crowd.worker import OPEN_SECONDS, PROTOCOL_VERSION, Diary, SimulatedWorker
from bots.endpoints import planned_calls
from bots.endpoints.hosted import estimate, in_words
from bots.researcher_api import Access, JoinAnswer, NoAnswer, RequestFailed, ResearcherClient, ServerAway
from candor.common.api_models import SimulatedBeliefs
from candor.common.terminal import agree, stderr

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


async def study_card(client: PatientClient, run: str, socket_url: str) -> Message:
    """Return the study's description, as shown to a worker who has not agreed yet; nothing is stored."""
    joined = await client.join(run, f"look-{uuid.uuid4().hex[:8]}", 0.0, "")
    async with asyncio.timeout(OPEN_SECONDS), connect(socket_url, open_timeout=OPEN_SECONDS) as socket:
        hello = {"type": "hello", "id": "hello", "token": joined.token, "protocol": PROTOCOL_VERSION}
        await socket.send(json.dumps(hello))
        while True:
            frame = json.loads(await socket.recv())
            for message in frame if isinstance(frame, list) else [frame]:
                if message["type"] == "snapshot":
                    study: Message = message["study"]
                    return study


@dataclass(frozen=True, slots=True)
class CrowdOptions:
    """Options of a crowd.

    `dealt` has the profile of each worker. `yes`: do not ask for confirmation of costs.
    """

    run: str | None
    dealt: Sequence[ProfileName]
    model: FittedRaterModel | None
    seed: int
    reply_pace: float
    writing_pace: float
    patience: float
    talk: Talk
    yes: bool


async def hold_crowd(
    server_access: Access, options: CrowdOptions, log: TextIO | None
) -> tuple[list[Diary], float]:
    """Let the workers take part; return their diaries, and the seconds that it took.

    Raises:
        TalkRefused: the speaker cannot be opened.
        RequestFailed: the server has no such run, or several and none was chosen.
        TimeoutError: the server was away for too long, before anybody took part.
    """

    def tell() -> None:
        where = f"No answer from {server_access.server}: trying again for {options.patience:.0f} s."
        stderr.print(escape(where), soft_wrap=True)

    corpus = load_corpus("builtin:smalltalk")
    started = time.monotonic()
    async with speaker(options.talk, corpus) as speaking:
        with (
            ResearcherClient(server_access) as client,
            PatientClient(client, options.patience, tell) as patient,
        ):
            run = options.run or await _only_run(patient)
            socket_url = f"{server_access.server.replace('http', 'ws', 1)}/ws"
            if not options.yes:
                await _ask_first(options, patient, run, socket_url)
            workers = _workers(options, corpus, speaking, patient, socket_url, log)
            await _with_progress(workers, run, options.reply_pace)
            if not patient.answered:
                raise TimeoutError
    return [worker.diary for worker in workers], time.monotonic() - started


async def _ask_first(options: CrowdOptions, client: PatientClient, run: str, socket_url: str) -> None:
    """Ask for confirmation if the run's bots or the workers' own model may cost money."""
    workers = len(options.dealt)
    asked = [await client.crowd_question(run, workers)]
    speaking = options.talk.endpoint
    if speaking is not None and speaking.may_cost:
        study = await study_card(client, run, socket_url)
        calls = estimate(workers * study["conversations"], study["minimum_inputs"])
        planned = planned_calls(f"“{speaking.model}”", speaking, calls)
        asked.append(in_words("What its workers say", [planned] if planned else []))
    agree("\n".join(filter(None, asked)) or None, yes=False)


def _workers(
    options: CrowdOptions,
    corpus: Corpus,
    speaking: Speaker,
    client: PatientClient,
    socket_url: str,
    log: TextIO | None,
) -> list[SimulatedWorker]:
    batch = uuid.uuid4().hex[:8]
    people = random.Random(f"{options.seed} people")
    return [
        SimulatedWorker(
            name=f"{batch}-{number:04d}",
            profile=_rater(profile, random.Random(f"{options.seed} rate {number}"), options.model),
            rng=random.Random(f"{options.seed} act {number}"),
            speaker=speaking,
            client=client,
            socket_url=socket_url,
            patience=options.patience,
            diary=Diary(partial(_note, log, profile)),
            persona=tuple(people.choice(corpus.personas).sentences),
            manner=manner_of(profile),
            simulated_as=f"{profile} {options.talk.name}",
            writing_pace=options.writing_pace,
        )
        for number, profile in enumerate(options.dealt)
    ]


def _rater(profile: ProfileName, rng: random.Random, model: FittedRaterModel | None) -> Profile:
    return Honest(rng, model) if profile == "honest" else PROFILES[profile](rng)


def _note(log: TextIO | None, profile: ProfileName, assignment: str, message: Message) -> None:
    if log is not None:
        log.write(json.dumps({"assignment": assignment, "profile": profile, "message": message}) + "\n")
        log.flush()


async def _only_run(client: PatientClient) -> str:
    found = await client.runs()
    if len(found) == 1:
        return found[0]
    raise RequestFailed(f"the server has several runs: choose one with --run ({', '.join(found)})")


async def _with_progress(workers: Sequence[SimulatedWorker], run: str, reply_pace: float) -> None:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=stderr) as progress:
        bar = progress.add_task(f"{run}: workers", total=len(workers))

        async def one(worker: SimulatedWorker) -> None:
            await worker.run(run, reply_pace)
            progress.advance(bar)

        await asyncio.gather(*(one(worker) for worker in workers))
