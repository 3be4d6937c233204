"""A Prolific to try things with: the stand-in, held against the specification whatever is asked of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import yaml

from server.recruiters.stand_in.platform import StandInPlatform
from server.recruiters.stand_in.serving import Faults, Signer, serving, stand_in
from tests.conftest import REPOSITORY
from tests.support.openapi_contract import Contract

TOKEN = "a researcher's token"


@dataclass
class Clock:
    """A time that only moves where a test moves it."""

    at: datetime = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)

    def now(self) -> datetime:
        return self.at

    def pass_by(self, **amount: float) -> None:
        self.at += timedelta(**amount)


@dataclass
class Prolific:
    """The stand-in as tests see it."""

    url: str
    platform: StandInPlatform
    clock: Clock
    faults: Faults
    signer: Signer
    token: str = TOKEN
    contract: Contract = field(repr=False, default_factory=lambda: Contract({"paths": {}}))


def specification() -> dict[str, Any]:
    """Return the facts of Prolific's API that the client and the stand-in use, as OpenAPI."""
    text = (REPOSITORY / "tests/data/recruiting/prolific.yaml").read_text(encoding="utf-8")
    found: dict[str, Any] = yaml.safe_load(text)
    return found


@contextmanager
def served_prolific() -> Iterator[Prolific]:
    """The stand-in, served. Whoever uses it looks at `contract.broken` afterwards."""
    clock, faults, contract = Clock(), Faults(), Contract(specification())
    signer = Signer("stand-in")
    platform = StandInPlatform(clock.now)
    with serving(contract.around(stand_in(platform, TOKEN, faults, signer))) as url:
        yield Prolific(url, platform, clock, faults, signer, contract=contract)
