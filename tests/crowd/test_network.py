"""The network is cut, delayed, silent and half closed under a crowd: what was acknowledged is stored.

Between pages and server, server and PostgreSQL, server and Redis. `pytest -s` shows the figures;
docs/explanation/reliability.md has them.
"""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.bad_network import Link
from tests.support.storm import A_STORM, SOAK, WORKERS, Stage, Trouble, staged, storm

TIMES = 40 * SOAK or 18
# test_kills holds the same promise with the same installation; this storm takes as long again.
pytestmark = [pytest.mark.services, pytest.mark.soak, pytest.mark.timeout(2 * A_STORM)]


def bad_networks(trouble: Trouble, stage: Stage) -> dict[str, Callable[[], None]]:
    links = {"pages": stage.to_server, "PostgreSQL": stage.to_database, "Redis": stage.to_redis}
    ways: dict[str, Callable[[Link], None]] = {
        "cut": trouble.cut,
        "half closed": trouble.half_closed,
        "delayed": trouble.delayed,
        "stalled": trouble.stalled,
        "stalled, then cut": trouble.stalled_then_cut,
        "refused": trouble.refused,
    }
    return {
        f"{name}: {how}": lambda way=way, to=to: way(to)  # type: ignore[misc]
        for name, to in links.items()
        for how, way in ways.items()
    }


def test_nothing_acknowledged_is_lost_however_bad_the_network(tmp_path: Path) -> None:
    with staged(tmp_path) as stage:
        tally, table = storm(stage, bad_networks(Trouble(stage, random.Random(7)), stage), TIMES)
        print(f"\n{table}")  # noqa: T201
        assert tally.problems(WORKERS) == {}
