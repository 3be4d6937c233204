"""Serve the simulated Prolific on its own port, and send its events to subscribers."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

import httpx2
import uvicorn
from starlette.applications import Starlette
from starlette.types import ASGIApp

from server.recruiters.prolific.hooks import EVENT, SIGNATURE, TIMESTAMP, signature
from server.recruiters.stand_in.api import Faults, StandInApi
from server.recruiters.stand_in.participants import ParticipantPages, Signer
from server.recruiters.stand_in.platform import StandInPlatform
from server.recruiters.stand_in.records import Event


def stand_in(platform: StandInPlatform, token: str, faults: Faults, signer: Signer) -> Starlette:
    """Return the simulated Prolific as an application. `token`: the researcher's; `signer` signs arrivals."""
    researchers = StandInApi(platform, token, faults)
    return Starlette(routes=[*researchers.routes, *ParticipantPages(platform, signer).routes])


@contextmanager
def serving(app: ASGIApp, port: int = 0) -> Iterator[str]:
    """Serve `app` on `port`, by default any free port, and yield its address."""
    server = uvicorn.Server(uvicorn.Config(app, "127.0.0.1", port, log_level="warning", lifespan="off"))
    with server.config.bind_socket() as listening:
        thread = threading.Thread(target=server.run, args=([listening],), name="prolific-stand-in")
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


_SECONDS = 30.0  # time-out


def send(platform: StandInPlatform, event: Event, at: datetime) -> httpx2.Response:
    """Send an event as of the time `at`, note whether it was accepted, and return the response.

    Raises httpx2.HTTPError if there was no response.
    """
    wanted = platform.subscription(event.subscription)
    body, timestamp = json.dumps(event.payload).encode(), str(int(at.timestamp()))
    secret = str(platform.secrets[wanted.workspace]["value"])
    headers = {
        "Content-Type": "application/json",
        TIMESTAMP: timestamp,
        SIGNATURE: signature(secret, timestamp, body),
        EVENT: event.id,
    }
    event.status = "FAILED"
    answer = httpx2.post(wanted.target_url, content=body, headers=headers, timeout=_SECONDS)
    if answer.is_success:
        event.status = "SUCCEEDED"
    return answer
