"""Look up a study's tasks and questions before simulated workers take part."""

import asyncio
import json
import uuid

from websockets.asyncio.client import connect

from bots.crowd.patience import PatientClient
from bots.crowd.view import Message
from bots.crowd.worker import OPEN_SECONDS, PROTOCOL_VERSION


async def look(client: PatientClient, run: str, socket_url: str) -> Message:
    """Return the study's card, as a worker who has not agreed yet sees it: nothing is stored of that one."""
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
