"""Measure by which channels workers could tell people in a bot's place from bots: the AUC of each system.

python benchmarks/partners.py [--workers 48] [--inputs 6] [--pause 12] [--median 2.5] [--longest 8]

Each worker meets a person and three bots, on one server of two processes with PostgreSQL and Redis. A worker
reads and writes for a log-normal time around `--pause` seconds before each message; the writing of people is
a draw, so only times and frames are compared, not words. The AUC of a system is the chance that one of its
values is above one of the other systems, ties counting half: at 0.5 a channel says nothing.
"""

import asyncio
import itertools
import json
import math
import random
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import httpx2
import numpy as np
import psycopg
import typer
import yaml
from scipy.stats import rankdata
from websockets.asyncio.client import ClientConnection, connect

sys.path.insert(0, str(Path(__file__).parents[1]))
from server.session.protocol import PROTOCOL_VERSION
from tests.support import postgres, redis_server
from tests.support.server_process import Server
from tests.support.waiting import wait_until

Message = dict[str, Any]
Place = tuple[str, int, int]  # assignment, conversation, attempt
Values = dict[str, dict[str, list[float]]]  # by channel and system
RUN = "partners"
BOTS = {
    "person": "human:partner",
    "retrieval": "builtin:retrieval",
    "reflect": "builtin:reflect",
    "ngram": "builtin:ngram",
}
LINES = (
    "I like the sea a lot.",
    "What do you do on weekends?",
    "My dog is old.",
    "Do you cook?",
    "I make soup.",
)
SPREAD = 0.5  # standard deviation of the logarithm of the time that a message takes
PATIENCE = 400.0
_SYSTEMS = """
    SELECT a.id, c.position, c.attempt, s.name, h.taken_over_by
    FROM conversation c JOIN assignment a ON a.id = c.assignment_id JOIN system s ON s.id = c.system_id
    LEFT JOIN human_conversation h ON h.conversation_id = c.id"""


def study(inputs: int, median: float, longest: float) -> str:
    """Return the study: four systems for each worker, one of them a person."""
    return yaml.safe_dump(
        {
            "name": RUN,
            "title": "A few chats",
            "payment": "Nobody is paid.",
            "systems_per_assignment": len(BOTS),
            "qc_per_assignment": 0,
            "minimum_inputs": inputs,
            "criteria": [{"label": "fun", "statement": "It was fun."}],
            "personas": "corpus",
            "systems": [{"name": name, "family": name, "bot": bot} for name, bot in BOTS.items()],
            "people": {"take_over": "builtin:reflect", "consent_says_so": True},
            "texts": {"consent": {"version": "1", "text": "Some of your partners may be people."}},
            "reply_time": {"median": median, "longest": longest},
            "simulate": {"quality": dict.fromkeys(BOTS, 0.5)},
        },
        sort_keys=False,
    )


class Worker:
    """A worker who goes through an assignment; `note` is told what the page could measure."""

    def __init__(
        self,
        socket: ClientConnection,
        inputs: int,
        think: Callable[[], Awaitable[None]],
        note: Callable[[int, int, str, float], None],
    ) -> None:
        self._socket = socket
        self._inputs = inputs
        self._think = think
        self._note = note
        self._ids = itertools.count()
        self._unread: list[Message] = []
        self._sent = self._arrived = 0.0
        self._id = ""
        self._where = {"conversation": 0, "attempt": 0}

    async def take_part(self, token: str) -> None:
        """Go all the way."""
        await self._send("hello", token=token, protocol=PROTOCOL_VERSION)
        await self._until("snapshot")
        await self._send("agree", consent="1", ticked=[])
        due = await self._until("topic_due")
        while due["type"] == "topic_due":
            self._where = {"conversation": due["conversation"], "attempt": due["attempt"]}
            due = await self._converse()
        await self._send("feedback", text="")
        await self._until("completed")

    async def _converse(self) -> Message:
        """Hold a conversation and rate it; return what is due next."""
        await self._send("topic", **self._where, text="the sea", opinion="like")
        await self._until("conversation_started", note="until the conversation starts")
        turn = 0
        for number in range(self._inputs):
            await self._think()
            await self._send("say", **self._where, turn=turn, text=random.choice(LINES))
            await self._until("accepted", note="until a message is accepted")
            pong = time.monotonic()
            await (await self._socket.ping())
            self._tell("until a pong", time.monotonic() - pong)
            which = "the first reply" if number == 0 else "a later reply"
            heard = await self._until("said", "rating_due", note=f"until {which}")
            if heard["type"] == "rating_due":
                return await self._rate()  # the person has ended the chat
            turn = heard["turn"] + 1
        await self._think()
        await self._send("end_conversation", **self._where)
        await self._until("rating_due", note="until the rating")
        return await self._rate()

    async def _rate(self) -> Message:
        await self._send("rate", **self._where, ratings={"fun": 50})
        return await self._until("topic_due", "feedback_due", note="until the next conversation")

    def _tell(self, channel: str, value: float) -> None:
        self._note(self._where["conversation"], self._where["attempt"], channel, value)

    async def _send(self, type_: str, **fields: Any) -> None:
        self._sent, self._id = time.monotonic(), f"m{next(self._ids)}"
        await self._socket.send(json.dumps({"type": type_, "id": self._id, **fields}))

    async def _until(self, *types: str, note: str = "") -> Message:
        """Return the next message of these types; `note` names the channel of the time that it takes."""
        while True:
            if not self._unread:
                content = json.loads(await asyncio.wait_for(self._socket.recv(), PATIENCE))
                self._arrived = time.monotonic()
                self._unread = content if isinstance(content, list) else [content]
            message = self._unread.pop(0)
            if message["type"] == "error":
                raise RuntimeError(message["message"])
            is_late = message["type"] == "accepted" and message["id"] != self._id
            if message["type"] in types and not is_late:
                if note and message["type"] == types[0]:
                    self._tell(note, self._arrived - self._sent)
                return message


async def crowd(server: Server, workers: int, inputs: int, pause: float) -> list[tuple[Place, str, float]]:
    """Let workers take part; return what their pages measured."""
    found: list[tuple[Place, str, float]] = []
    draw = random.Random(1)

    async def think() -> None:
        await asyncio.sleep(draw.lognormvariate(math.log(pause), SPREAD))

    async def one(number: int) -> None:
        body = {"run": RUN, "worker": f"w{number}"}
        async with httpx2.AsyncClient(timeout=PATIENCE) as browser:
            joined = (await browser.post(f"{server.url}/api/join", json=body)).json()

        def note(conversation: int, attempt: int, channel: str, value: float) -> None:
            found.append(((joined["assignment"], conversation, attempt), channel, value))

        async with connect(f"ws://127.0.0.1:{server.port}/ws", max_size=None) as socket:
            await Worker(socket, inputs, think, note).take_part(joined["token"])

    await asyncio.gather(*(one(number) for number in range(workers)))
    return found


def by_system(found: list[tuple[Place, str, float]], systems: dict[Place, str]) -> Values:
    """Return the values of each channel by system; conversations that a bot has taken over are not in it."""
    values: Values = defaultdict(lambda: defaultdict(list))
    for place, channel, value in found:
        if place in systems:
            values[channel][systems[place]].append(value)
    return values


def rows(values: Values) -> Iterator[str]:
    """Yield a line of the table for each channel and system."""
    for channel, of_systems in sorted(values.items()):
        for system, own in sorted(of_systems.items()):
            rest = [each for other, theirs in of_systems.items() if other != system for each in theirs]
            ranks = rankdata(own + rest)[: len(own)]
            auc = (ranks.sum() - len(own) * (len(own) + 1) / 2) / (len(own) * len(rest))
            yield f"| {channel} | {system} | {len(own)} | {np.median(own):.3f} s | {auc:.3f} |"


def main(
    workers: Annotated[int, typer.Option(help="Workers at once.")] = 48,
    inputs: Annotated[int, typer.Option(help="Messages in each conversation.")] = 6,
    pause: Annotated[float, typer.Option(help="Median seconds that a message takes its writer.")] = 12.0,
    median: Annotated[float, typer.Option(help="Median of the study's reply_time.")] = 2.5,
    longest: Annotated[float, typer.Option(help="Longest of the study's reply_time.")] = 8.0,
) -> None:
    """Print the AUC of each system in each channel."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        redis = stack.enter_context(redis_server.serving())
        database = stack.enter_context(stack.enter_context(postgres.serving()).database(migrated=False))
        environment = {"CANDOR_DATABASE_URL": database, "CANDOR_REDIS_URL": redis.url}
        server = Server(folder, "--processes", "2", environment=environment)
        server.start()
        stack.callback(server.stop)
        file = folder / "study.yaml"
        file.write_text(study(inputs, median, longest))
        server.open_run(file, RUN)
        first = {"run": RUN, "worker": "w0"}
        wait_until(
            lambda: httpx2.post(f"{server.url}/api/join", json=first).is_success, "the run to be served"
        )
        found = asyncio.run(crowd(server, workers, inputs, pause))
        with psycopg.connect(database.replace("+psycopg", "")) as connection:
            stored = connection.execute(_SYSTEMS).fetchall()
    print(f"{sum(1 for *_, bot in stored if bot)} conversations were taken over by a bot")
    print("| channel | system | values | median | AUC |\n|---|---|---|---|---|")
    systems = {(one, position, attempt): name for one, position, attempt, name, bot in stored if not bot}
    for row in rows(by_system(found, systems)):
        print(row)


if __name__ == "__main__":
    typer.run(main)
