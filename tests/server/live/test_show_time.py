"""No reply is shown before its time: an answer to it would be refused, as if it were still on its way."""

import asyncio
from datetime import datetime, timedelta

import uvloop

from server.clock import utc_now
from server.live.effects import seconds_until


def test_no_timer_of_the_servers_event_loop_shows_a_reply_too_early() -> None:
    early: list[datetime] = []

    def shown(at: datetime) -> None:
        if utc_now() < at:
            early.append(at)

    async def show_many() -> None:
        loop = asyncio.get_running_loop()
        for part in range(100):
            now = utc_now()
            at = now + timedelta(milliseconds=5, microseconds=10 * part)
            loop.call_later(seconds_until(at, now), shown, at)
            await asyncio.sleep(0.002)
        await asyncio.sleep(0.05)

    uvloop.run(show_many())
    assert early == []
