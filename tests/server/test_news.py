"""News between processes: heard, lost while Redis is away, heard again; never an error to who publishes."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from structlog.testing import capture_logs

from server.news import News, RedisNews
from tests.support import redis_server
from tests.support.redis_server import RedisServer
from tests.support.waiting import until


class Heard:
    """What one process hears of a topic."""

    def __init__(self, news: News, topic: str = "bots") -> None:
        self.payloads: list[Any] = []
        news.subscribe(topic, self.payloads.append)


async def test_within_one_process_it_is_there_at_once() -> None:
    news = News()
    one, other, deaf = Heard(news), Heard(news), Heard(news, "runs")
    news.publish("bots", {"name": "a"})
    assert one.payloads == other.payloads == [{"name": "a"}]
    assert deaf.payloads == []


async def test_a_listener_that_fails_harms_neither_publisher_nor_others() -> None:
    news = News()

    def fail(_payload: object) -> None:
        raise ZeroDivisionError

    news.subscribe("bots", fail)
    heard = Heard(news)
    news.publish("bots", {})
    assert heard.payloads == [{}]


@pytest.mark.services
class TestRedis:
    @pytest.fixture
    async def two(self, redis: RedisServer) -> AsyncIterator[tuple[RedisNews, RedisNews]]:
        """The news of two processes, both connected."""
        both = RedisNews(redis.url), RedisNews(redis.url)
        for news in both:
            news.start()
            await news.connected.wait()
        yield both
        for news in both:
            await news.close()

    async def test_others_hear_it_and_the_own_process_once(self, two: tuple[RedisNews, RedisNews]) -> None:
        here, there = Heard(two[0]), Heard(two[1])
        two[0].publish("bots", {"name": "a", "number": 1})
        assert here.payloads == [{"name": "a", "number": 1}]
        await until(lambda: there.payloads == [{"name": "a", "number": 1}])
        two[1].publish("bots", {"name": "b"})
        await until(lambda: len(here.payloads) == 2)
        assert len(there.payloads) == len(here.payloads) == 2

    async def test_a_redis_that_goes_and_comes_back(
        self, redis: RedisServer, two: tuple[RedisNews, RedisNews]
    ) -> None:
        here, there = Heard(two[0]), Heard(two[1])
        with capture_logs() as logs:
            await asyncio.to_thread(redis.stop)
            await until(lambda: not two[0].connected.is_set() and not two[1].connected.is_set())
            two[0].publish("bots", {"name": "meanwhile"})
            redis.start()
            await asyncio.gather(*(news.connected.wait() for news in two))
            two[0].publish("bots", {"name": "afterwards"})
            await until(lambda: there.payloads)
        assert here.payloads == [{"name": "meanwhile"}, {"name": "afterwards"}]
        assert there.payloads == [{"name": "afterwards"}]
        events = [entry["event"] for entry in logs]
        assert events.count("redis is lost") == events.count("redis is back") == 2  # once a process

    async def test_a_redis_that_is_not_there_from_the_start(self) -> None:
        with redis_server.serving() as server:
            server.stop()
            news = RedisNews(server.url)
            heard = Heard(news)
            news.start()
            news.publish("bots", {})
            assert heard.payloads == [{}]
            server.start()
            await news.connected.wait()
            await news.close()

    async def test_what_is_no_news_is_passed_over(
        self, redis: RedisServer, two: tuple[RedisNews, RedisNews]
    ) -> None:
        there = Heard(two[1])
        with redis.client() as client:
            for rubbish in (b"{", b"[]", b"{}", b'"x"', b"\xff"):
                client.publish("candor:0:news", rubbish)
        two[0].publish("bots", {"name": "a"})
        await until(lambda: there.payloads == [{"name": "a"}])
