"""Workers who follow a plain link: with an id of the researcher's in it, or anonymous."""

import secrets
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlencode

from pydantic import StringConstraints

PLATFORM = "link"
SIMULATED = "simulated"
# Control characters cannot be stored by every database.
WorkerId = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$"),
]


@dataclass(frozen=True, slots=True)
class Arrival:
    """Somebody who arrives, as their platform names them."""

    platform: str
    external_id: str


def arrive(worker: str | None, *, simulated: bool) -> Arrival:
    """Return who arrives. Without an id each arrival is somebody new."""
    platform = SIMULATED if simulated else PLATFORM
    return Arrival(platform, worker if worker is not None else f"anonymous-{secrets.token_hex(8)}")


def personal_link(public_url: str, run: str, worker: str, signature: str) -> str:
    """Return one worker's own link to a run, signed.

    Args:
        public_url: the start of the server's links, without a slash at the end.
        run: the run's name.
        worker: the worker's id, of any characters.
        signature: what shows that the link is genuine.
    """
    return f"{public_url}/w/{run}?{urlencode({'worker': worker, 'signature': signature})}"
