"""Two web processes and one bot host that is connected to one of them, or to Redis only: both are served."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from sqlalchemy import create_engine, text

from tests.needs import need_services
from tests.support import redis_server
from tests.support.postgres import Postgres
from tests.support.redis_server import RedisServer
from tests.support.server_process import Server
from tests.support.waiting import ENOUGH, wait_until
from tests.support.warm_process import WarmProcess

WORKERS = 4  # at each process
STUDY = """\
name: short
title: Short chats
payment: Nobody is paid.
systems_per_assignment: 2
minimum_inputs: 2
criteria: [{{label: fun, statement: It was fun.}}]
systems:
  - {{name: first, family: one, bot: {name}}}
  - {{name: second, family: two, bot: {name}}}
simulate: {{quality: {{first: 0.6, second: 0.5}}}}
"""
COMPLETED = """
    SELECT count(*) FROM assignment JOIN run ON run.id = assignment.run_id
    WHERE assignment.status = 'completed' AND run.slug = :run"""
pytestmark = [pytest.mark.services, pytest.mark.timeout(3 * ENOUGH)]


@pytest.fixture(scope="module")
def redis() -> Iterator[RedisServer]:
    """The Redis of this module."""
    need_services()
    with redis_server.serving() as server:
        yield server


@pytest.fixture(scope="module")
def webs(
    postgres: Postgres, redis: RedisServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Server, Server]]:
    """Two processes of one installation. Each test has a run and a bot of its own there."""
    data = tmp_path_factory.mktemp("webs")
    with postgres.database(migrated=False) as database:
        environment = {"CANDOR_DATABASE_URL": database, "CANDOR_REDIS_URL": redis.url}
        made = (Server(data, environment=environment), Server(data, environment=environment))
        try:
            for web in made:
                web.start()
            yield made
        finally:
            for web in made:
                web.stop()


def bot(web: Server, name: str) -> dict[str, Any]:
    """The registered bot, as a researcher sees it at one of the processes."""
    headers = {"Authorization": f"Bearer {web.token}"}
    answer: dict[str, Any] = httpx2.get(
        f"{web.url}/api/desk/bots/{name}", headers=headers, timeout=ENOUGH
    ).json()
    return answer


def metric(web: Server, metric_name: str, name: str) -> float | None:
    page = httpx2.get(
        f"{web.url}/metrics", headers={"Authorization": f"Bearer {web.token}"}, timeout=ENOUGH
    ).text
    beginning = f'{metric_name}{{bot="{name}"}}'
    lines = (line.rsplit(" ", 1) for line in page.splitlines() if line.startswith(beginning))
    return next((float(value) for _, value in lines), None)


@pytest.mark.parametrize(
    ("way", "name"),
    [
        # From the process that it has dialled in to, its work goes over Redis as well.
        pytest.param("dialled in", "dialled", id="dialled in", marks=pytest.mark.soak),
        pytest.param("redis", "listening", id="redis"),
    ],
)
def test_one_host_answers_for_both_processes(
    webs: tuple[Server, Server], redis: RedisServer, tmp_path: Path, way: str, name: str
) -> None:
    first, second = webs
    log = tmp_path / "said.log"
    register = ["bots", "add", name, "--kind", "dial-in", "--server", second.url, "--token", first.token]
    assert WarmProcess(register, os.environ, log).wait(ENOUGH) == 0, log.read_text()
    command = ["host", "builtin:retrieval", "--name", name]
    to = {
        "dialled in": ["--server", first.url.replace("http", "ws", 1), "--token", first.token],
        "redis": ["--redis", redis.url],
    }
    host = WarmProcess([*command, *to[way]], os.environ, log)
    try:
        for web in webs:  # before anybody asks: both see that there is a host
            wait_until(lambda web=web: metric(web, "candor_bot_work_hosts", name) == 1, "the host to be seen")
        (tmp_path / "short.yaml").write_text(STUDY.format(name=name))
        first.open_unchecked(tmp_path / "short.yaml", name)
        for web in webs:
            url = f"{web.url}/w/{name}"
            wait_until(
                lambda url=url: httpx2.get(f"{url}?worker=x", timeout=ENOUGH).status_code == 200, "the run"
            )
        crowds = [web.crowd(name, "--workers", str(WORKERS), "--seed", str(n)) for n, web in enumerate(webs)]
        for crowd in crowds:
            said, _ = crowd.communicate(timeout=ENOUGH)
            assert crowd.returncode == 0, said
        engine = create_engine(first.environment["CANDOR_DATABASE_URL"])
        with engine.connect() as connection:
            completed = connection.execute(text(COMPLETED), {"run": name}).scalar_one()
        engine.dispose()
        assert completed == 2 * WORKERS
        urls = {replica["url"]: replica for replica in bot(second, name)["replicas"]}
        assert set(urls) == {"redis stream"}
        assert urls["redis stream"]["calls"] > urls["redis stream"]["failures"] == 0
        wait_until(lambda: metric(second, "candor_bot_work", name) == 0, "the work to be seen as done")
    finally:
        host.send_signal(signal.SIGTERM)
        assert host.wait(ENOUGH) == 0, log.read_text()
    wait_until(lambda: metric(second, "candor_bot_work_hosts", name) == 0, "the host to be gone")
    with redis.client() as client:
        left = {key.decode().split(":")[1] for key in client.scan_iter()}
    assert not left & {"work", "hosts"}
