"""Two web processes and one bot host that is connected to one of them, or to Redis only: both are served."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from sqlalchemy import create_engine, text

from tests.support.postgres import Postgres
from tests.support.redis_server import RedisServer
from tests.support.server_process import Server
from tests.support.waiting import ENOUGH, wait_until

WORKERS = 5  # at each process
STUDY = """\
name: short
title: Short chats
payment: Nobody is paid.
systems_per_assignment: 2
minimum_inputs: 2
criteria: [{label: fun, statement: It was fun.}]
systems:
  - {name: first, family: one, bot: ours}
  - {name: second, family: two, bot: ours}
simulate: {quality: {first: 0.6, second: 0.5}}
"""
pytestmark = [pytest.mark.services, pytest.mark.timeout(3 * ENOUGH)]


@pytest.fixture
def webs(postgres: Postgres, redis: RedisServer, tmp_path: Path) -> Iterator[tuple[Server, Server]]:
    with postgres.database(migrated=False) as database:
        environment = {"CANDOR_DATABASE_URL": database, "CANDOR_REDIS_URL": redis.url}
        made = (Server(tmp_path, environment=environment), Server(tmp_path, environment=environment))
        try:
            for web in made:
                web.start()
            yield made
        finally:
            for web in made:
                web.stop()


def bot(web: Server) -> dict[str, Any]:
    """The registered bot, as a researcher sees it at one of the processes."""
    headers = {"Authorization": f"Bearer {web.token}"}
    answer: dict[str, Any] = httpx2.get(f"{web.url}/api/desk/bots/ours", headers=headers).json()
    return answer


def metric(web: Server, name: str) -> float | None:
    page = httpx2.get(f"{web.url}/metrics", headers={"Authorization": f"Bearer {web.token}"}).text
    lines = (line.rsplit(" ", 1) for line in page.splitlines() if line.startswith(f'{name}{{bot="ours"}}'))
    return next((float(value) for _, value in lines), None)


@pytest.mark.parametrize("way", ["dialled in", "redis"])
def test_one_host_answers_for_both_processes(
    webs: tuple[Server, Server], redis: RedisServer, tmp_path: Path, way: str
) -> None:
    first, second = webs
    candor = [sys.executable, "-m", "server"]
    register = [*candor, "bots", "add", "ours", "--kind", "dial-in", "--server", second.url]
    subprocess.run([*register, "--token", first.token], check=True, capture_output=True)
    command = [sys.executable, "-m", "bots.host", "builtin:retrieval", "--name", "ours"]
    to = {
        "dialled in": ["--server", first.url.replace("http", "ws", 1), "--token", first.token],
        "redis": ["--redis", redis.url],
    }
    with (tmp_path / "host.log").open("w") as log:
        host = subprocess.Popen([*command, *to[way]], env=os.environ, stdout=log, stderr=log)
    try:
        for web in webs:  # before anybody asks: both see that there is a host
            wait_until(lambda web=web: metric(web, "candor_bot_work_hosts") == 1, "the host to be seen")
        (tmp_path / "short.yaml").write_text(STUDY)
        first.open_unchecked(tmp_path / "short.yaml", "short")
        for web in webs:
            url = f"{web.url}/w/short"
            wait_until(lambda url=url: httpx2.get(f"{url}?worker=x").status_code == 200, "the run")
        crowds = [
            web.crowd("short", "--workers", str(WORKERS), "--seed", str(n)) for n, web in enumerate(webs)
        ]
        for crowd in crowds:
            said, _ = crowd.communicate(timeout=ENOUGH)
            assert crowd.returncode == 0, said
        engine = create_engine(first.environment["CANDOR_DATABASE_URL"])
        with engine.connect() as connection:
            done = connection.execute(text("SELECT count(*) FROM assignment WHERE status = 'completed'"))
            completed = done.scalar_one()
        engine.dispose()
        assert completed == 2 * WORKERS
        urls = {replica["url"]: replica for replica in bot(second)["replicas"]}
        assert set(urls) == {"redis stream"}
        assert urls["redis stream"]["calls"] > urls["redis stream"]["failures"] == 0
        wait_until(lambda: metric(second, "candor_bot_work") == 0, "the work to be seen as done")
    finally:
        host.terminate()
        assert host.wait(ENOUGH) == 0, (tmp_path / "host.log").read_text()
    wait_until(lambda: metric(second, "candor_bot_work_hosts") == 0, "the host to be gone")
    with redis.client() as client:
        left = {key.decode().split(":")[1] for key in client.scan_iter()}
    assert not left & {"work", "hosts"}
