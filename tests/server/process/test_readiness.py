"""Alive and ready are two answers."""

from collections.abc import Callable

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from server.access.parts import Parts
from server.bots.lineup import OpenRun
from server.config import Settings
from server.db.store import Store
from server.process import readiness
from server.process.readiness import Lifecycle
from tests.server.support.database import execute
from tests.server.support.server import House
from tests.support.redis_server import RedisServer

Serve = Callable[..., House]


def test_a_server_that_serves_is_alive_and_ready(house: House) -> None:
    assert house.http("GET", "/healthz").json() == {"status": "ok"}
    answer = house.http("GET", "/readyz")
    assert answer.status_code == 200
    assert answer.json() == {"ready": True, "stage": "serving", "database": "ok", "redis": None}


def test_an_older_schema_is_not_ready_but_alive(house: House) -> None:
    execute(house.url, "UPDATE alembic_version SET version_num = '0001'")
    answer = house.http("GET", "/readyz")
    assert answer.status_code == 503
    assert answer.json()["database"].startswith("its schema is 0001, this version's is ")
    assert house.http("GET", "/healthz").status_code == 200


def test_without_its_database_it_is_not_ready_but_alive(house: House) -> None:
    execute(house.url, "DROP TABLE alembic_version")
    answer = house.http("GET", "/readyz")
    assert answer.status_code == 503
    assert answer.json()["database"] == "cannot be read"
    assert house.http("GET", "/healthz").status_code == 200


async def test_before_its_start_and_during_its_end_it_is_not_ready(url: str) -> None:
    lifecycle, app = Lifecycle(), FastAPI()
    app.include_router(readiness.router)
    app.state.parts = Parts(Store(url), lifecycle, Settings())
    client = TestClient(app)
    assert client.get("/readyz").json()["stage"] == "starting"
    assert client.get("/readyz").status_code == 503
    lifecycle.begin_serving()
    assert client.get("/readyz").status_code == 200
    await lifecycle.drain()
    assert client.get("/readyz").json()["stage"] == "draining"
    assert client.get("/readyz").status_code == 503
    assert client.get("/healthz").status_code == 200


@pytest.mark.services
def test_without_its_redis_it_is_ready_all_the_same_and_says_so(
    url: str, run: OpenRun, serve: Serve, redis: RedisServer
) -> None:
    house = serve(url, run, redis_url=redis.url)
    assert house.http("GET", "/readyz").json()["redis"] == "ok"
    redis.stop()
    answer = house.http("GET", "/readyz")
    assert answer.status_code == 200
    assert answer.json()["redis"] == "away"
