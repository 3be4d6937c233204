"""Everything is killed, stopped and paused, again and again, under a crowd: what was acknowledged is stored.

`pytest -s` shows the figures; docs/explanation/reliability.md has them.
"""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.storm import A_STORM, SOAK, WORKERS, Stage, Trouble, staged, storm

KILLS = 40 * SOAK or 11
pytestmark = [pytest.mark.services, pytest.mark.timeout(2 * A_STORM)]


def kills(trouble: Trouble, stage: Stage) -> dict[str, Callable[[], None]]:
    disk = stage.disk
    on_disk = {} if disk is None else {"the database's disk full": lambda: trouble.disk_full(disk)}
    return {
        "a web process killed": trouble.web_killed,
        "a bot host killed": trouble.bot_host_killed,
        "Redis killed": trouble.redis_killed,
        "backends terminated": trouble.backend_terminated,
        "a backend killed": trouble.backend_killed,
        "PostgreSQL restarted": trouble.postgres_restarted,
        "PostgreSQL crashed": trouble.postgres_crashed,
        "a rolling restart": trouble.rolling_restart,
        "a web process paused": lambda: trouble.web_paused(stage.to_server),
        "the servers' clock set": lambda: trouble.clock_set(stage.clock),
        **on_disk,
    }


def test_nothing_acknowledged_is_lost_whatever_is_killed(tmp_path: Path) -> None:
    with staged(tmp_path) as stage:
        tally, table = storm(stage, kills(Trouble(stage, random.Random(7)), stage), KILLS)
        print(f"\n{table}")  # noqa: T201
        assert tally.problems(WORKERS) == {}
        assert "Traceback" not in stage.said
