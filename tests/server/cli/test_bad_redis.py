"""A Redis that cannot be used, or not as it should be: what is wrong, where, and what to do."""

import pytest

from server.cli.serve import check_redis
from server.errors import CandorError
from tests.server.support.commands import Candor, assert_refused
from tests.support import redis_server
from tests.support.local_process import free_port
from tests.support.redis_server import RedisServer


def warned(url: str, capsys: pytest.CaptureFixture[str]) -> str:
    check_redis(url)
    return capsys.readouterr().err


@pytest.mark.parametrize("url", ["localhost", "http://ann:secret@host", "redis://ann:sec@host:port/0", ""])
def test_a_url_that_is_none(candor: Candor, tmp_path: object, url: str) -> None:
    refused = candor("serve", "--data", str(tmp_path), CANDOR_REDIS_URL=url)
    assert_refused(refused, "not the URL of a Redis", "redis://:PASSWORD@HOST")
    assert "secret" not in refused.output


def test_one_that_is_away_stops_no_server(capsys: pytest.CaptureFixture[str]) -> None:
    said = warned(f"redis://:secret@127.0.0.1:{free_port()}/0", capsys)
    assert "redis://:***@127.0.0.1" in said
    assert "cannot be reached" in said
    assert "secret" not in said


@pytest.mark.services
@pytest.mark.parametrize("password", ["", ":wrong-one@"])
def test_one_with_a_password(password: str) -> None:
    with redis_server.serving(password="right-one") as server:
        check_redis(server.url)
        with pytest.raises(CandorError) as refused:
            check_redis(f"redis://{password}127.0.0.1:{server.port}/0")
    assert "refuses this server's login" in refused.value.message
    assert "password" in refused.value.hint
    assert "-one" not in refused.value.message + refused.value.hint


@pytest.mark.services
def test_a_number_that_it_does_not_have(redis: RedisServer) -> None:
    with pytest.raises(CandorError, match="cannot be used"):
        check_redis(redis.url.removesuffix("0") + "99")


@pytest.mark.services
def test_one_that_throws_away(redis: RedisServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert warned(redis.url, capsys) == ""
    with redis.client() as client:
        client.config_set("maxmemory-policy", "allkeys-lru")
        assert warned(redis.url, capsys) == ""  # without a limit nothing is thrown away
        client.config_set("maxmemory", "100mb")
    said = warned(redis.url, capsys)
    assert "allkeys-lru" in said
    assert "maxmemory-policy noeviction" in said
