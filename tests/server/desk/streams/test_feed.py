"""Tests of clients that follow a feed, disconnect and reconnect."""

import asyncio

from server.access.roles import Actor
from server.desk.streams.feed import Feed, FeedChange, Sight


class Counted:
    """Something that researchers watch, and that never changes."""

    async def __call__(self) -> Sight[str]:
        return Sight({"number": 1}, {"a": "row"})


async def first(feed: Feed[str], seen: str | None, standing: str) -> FeedChange[str]:
    following = feed.follow(seen, standing)
    try:
        return await anext(following)
    finally:
        await following.aclose()


async def test_who_comes_back_with_other_rights_is_told_all_there_is() -> None:
    feed: Feed[str] = Feed(Counted())
    before = await first(feed, None, "viewer")
    assert before.whole
    after = await first(feed, before.name, "analyst")
    assert (after.whole, after.rows) == (True, before.rows)
    await feed.close()


async def test_who_comes_back_with_what_is_no_number_is_told_all_there_is() -> None:
    feed: Feed[str] = Feed(Counted())
    before = await first(feed, None, "viewer")
    epoch = (before.name or "").partition(".")[0]
    for number in ("²", "9" * 5_000, ""):
        again = await first(feed, f"{epoch}.{number}.viewer", "viewer")
        assert (again.whole, again.rows) == (True, before.rows)
    await feed.close()


async def test_who_comes_back_with_the_same_rights_is_told_what_is_new_alone() -> None:
    feed: Feed[str] = Feed(Counted())
    seen = (await first(feed, None, "viewer")).name
    told: list[FeedChange[str]] = []

    async def follow() -> None:
        told.extend([change async for change in feed.follow(seen, "viewer")])

    async with asyncio.TaskGroup() as group:
        group.create_task(follow())
        await asyncio.sleep(0)
        await feed.close()
    assert told == []


def test_a_standing_tells_rights_apart_and_nothing_else() -> None:
    ann = Actor("person", "ann", {"": "viewer", "tide": "owner"})
    same = Actor("token", "bob", {"tide": "owner", "": "viewer"})
    assert ann.standing == same.standing
    assert ann.standing != Actor("person", "ann", {"": "viewer"}).standing
