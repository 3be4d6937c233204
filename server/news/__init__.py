"""Messages between the processes of a server. Losing one is harmless: the database has it too."""

from server.news.news import Handler, LocalNews, News, Payload
from server.news.over_redis import RedisNews

__all__ = ["Handler", "LocalNews", "News", "Payload", "RedisNews", "open_news"]


def open_news(redis_url: str | None) -> News:
    """Return news between the processes that share a Redis; without one, only within this process."""
    return LocalNews() if redis_url is None else RedisNews(redis_url)
