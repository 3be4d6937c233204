"""Serve the simulated Prolific on its own port, in a thread."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.applications import Starlette
from starlette.types import ASGIApp

from server.recruiters.stand_in.api import Faults, StandInApi
from server.recruiters.stand_in.participants import ParticipantPages, Signer
from server.recruiters.stand_in.platform import StandInPlatform


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
