"""Processes go on announcing their open pages, even after an invalid announcement from another process."""

from datetime import datetime

import pytest
from structlog.testing import capture_logs

from server.live.converse import presence
from server.live.converse.presence import TOPIC, Presence
from server.news import News, Payload
from tests.support.waiting import until


async def test_whoever_hears_nonsense_goes_on_telling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence, "_EVERY", 0.01)
    news, told = News(), list[Payload]()
    news.subscribe(TOPIC, told.append)
    known = Presence(news)
    with capture_logs() as logs:
        known.start()
        without_a_zone = datetime(2026, 1, 1).isoformat()
        news.publish(TOPIC, {"process": "another", "at": without_a_zone, "opened": ["ann"]})
        await until(lambda: logs)
        told.clear()
        await until(lambda: len(told) >= 2)
        await known.close()
    assert [line["event"] for line in logs] == ["whose pages are open was not told"]
