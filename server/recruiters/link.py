"""Workers who follow a plain link: with an id of the researcher's in it, or anonymous."""

import secrets
from dataclasses import dataclass

PLATFORM = "link"
SIMULATED = "simulated"


@dataclass(frozen=True, slots=True)
class Arrival:
    """Somebody at the door, as their platform names them."""

    platform: str
    external_id: str


def arrive(worker: str | None, *, simulated: bool) -> Arrival:
    """Return who arrives. Without an id each arrival is somebody new."""
    platform = SIMULATED if simulated else PLATFORM
    return Arrival(platform, worker if worker is not None else f"anonymous-{secrets.token_hex(8)}")
