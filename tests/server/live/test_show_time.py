"""No reply is shown before its time: an answer to it would be refused, as if it were still on its way."""

import asyncio
from datetime import datetime, timedelta

import uvloop

from server.clock import utc_now
from server.live.converse.bot_replies import seconds_until


def test_no_timer_of_the_servers_event_loop_shows_a_reply_too_early() -> None:
    async def was_early(part: int) -> bool:
        loop = asyncio.get_running_loop()
        shown: asyncio.Future[datetime] = loop.create_future()
        now = utc_now()
        at = now + timedelta(milliseconds=5, microseconds=10 * part)
        loop.call_later(seconds_until(at, now), lambda: shown.set_result(utc_now()))
        return await shown < at

    async def any_was_early() -> bool:
        return any([await was_early(part) for part in range(100)])

    assert not uvloop.run(any_was_early())
