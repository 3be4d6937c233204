"""A simulated worker beside the server that it speaks with."""

import json
import random

from websockets.asyncio.server import ServerConnection, serve

from bots.crowd import worker
from bots.crowd.profile import PROFILES
from bots.crowd.talk import OwnChat
from bots.crowd.worker import Diary, SimulatedWorker
from bots.researcher_api import JoinAnswer
from server.bots.lineup import study_card
from server.session import protocol
from server.session.records import Closed
from server.session.state import fold
from server.session.steps.worker_view import snapshot
from server.study import parse_study
from tests.server.support.study import AT, new_state, study_text


def test_the_crowd_speaks_the_version_of_the_server() -> None:
    assert worker.PROTOCOL_VERSION == protocol.PROTOCOL_VERSION


class Joined:
    """A way in that is open."""

    async def join(self, run: str, name: str, reply_pace: float, simulated_as: str) -> JoinAnswer:
        return JoinAnswer(token="t", assignment="a1")


class Silent:
    """Somebody who has nothing to say here."""

    async def say(self, chat: OwnChat) -> str:
        raise AssertionError(f"nothing was asked for: {chat}")


async def test_a_worker_who_is_taken_over_before_it_saw_anything_comes_back() -> None:
    """After a silence the network may deliver a connection that was given up, later than the newer one."""
    done = snapshot(fold(new_state(), [Closed("completed", AT)]), study_card(parse_study(study_text())), AT)
    connections = 0

    async def answer(socket: ServerConnection) -> None:
        nonlocal connections
        connections += 1
        await socket.recv()
        first = {"type": "taken_over"} if connections == 1 else json.loads(done.model_dump_json())
        await socket.send(json.dumps([first]))

    diary = Diary(lambda assignment, message: None)
    async with serve(answer, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        simulated = SimulatedWorker(
            name="w",
            profile=next(iter(PROFILES.values()))(random.Random(1)),
            rng=random.Random(1),
            speaker=Silent(),
            client=Joined(),  # type: ignore[arg-type]
            socket_url=f"ws://127.0.0.1:{port}",
            patience=60,
            diary=diary,
        )
        await simulated.run("r", 1.0)
    assert (connections, diary.failure, diary.reconnects) == (2, None, 1)
