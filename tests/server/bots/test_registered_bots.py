"""Changes of one registered bot at the same time: in the end the database and the process agree."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest

from bots import Bot, BotError, Chat, Reply, Turn
from bots.serving import BotGone, HostSession
from server.access.auth import Auth
from server.app import create_app
from server.bots import stored_bots
from server.bots.fitness import BackgroundChecks
from server.bots.opened_bots import OpenedBots
from server.bots.planned_calls import Confirmation
from server.bots.registered_bots import ApiLimits, RegisteredBots
from server.config import Settings
from server.db.audit import CommandLine
from server.db.engine import open_engine
from server.db.store import Store
from server.errors import BotDisabled, BotNotFound, NotChecked
from server.news import News
from tests.server.support.bots import report
from tests.server.support.database import held_up, query
from tests.server.support.study import AT
from tests.server.support.talker import endpoint

pytestmark = pytest.mark.databases("sqlite", in_soak=["postgresql"])

CHAT = Chat("c", 1, (), (Turn("worker", "Hello?"),))
# Nobody listens there: whoever asks an enabled bot hears of a failed connection.
ONE, TWO, THREE = (f"http://127.0.0.1:{port}" for port in (1, 2, 3))
AUTH = Auth("a secret", "researcher-token", 3600)


class SlowToStop:
    """A bot that never answers. A call that is cancelled ends once it is `let_go`."""

    def __init__(self) -> None:
        self.asked, self.cancelled, self.let_go = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def reply(self, chat: Chat) -> Reply:
        self.asked.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            await self.let_go.wait()
        raise asyncio.CancelledError


class SlowToAnswer:
    """A bot that answers once it is `let_go`."""

    def __init__(self) -> None:
        self.asked, self.let_go = asyncio.Event(), asyncio.Event()

    async def reply(self, chat: Chat) -> Reply:
        self.asked.set()
        await self.let_go.wait()
        return Reply(f"I have thought {chat.replies_given()} times.")


class OpenedBotsOf(OpenedBots):
    """Holds bots as ever, but has `answers` asked in their place."""

    def __init__(self, answers: Bot) -> None:
        super().__init__(refuse_private=False)
        self._answers = answers

    def registered(self, name: str) -> Bot | None:
        return self._answers if super().registered(name) is not None else None

    async def held(self, name: str) -> tuple[bool, list[str]] | None:
        """Return what the process holds of a bot: whether it answers, and its replicas."""
        bot = super().registered(name)
        if bot is None:
            return None
        with pytest.raises(BotError) as refusal:
            await bot.reply(CHAT)
        return not isinstance(refusal.value, BotGone), [state.url for state in self.states(name)]


def stored(url: str, name: str) -> tuple[bool, list[str]] | None:
    """Return what the database has of a bot: whether it is enabled, and its replicas."""
    found = query(url, "SELECT enabled, endpoint FROM registration WHERE name = ?", name)
    return (bool(found[0][0]), json.loads(found[0][1])["urls"]) if found else None


@asynccontextmanager
async def serving(url: str, folder: Path, opened_bots: OpenedBots) -> AsyncIterator[httpx2.AsyncClient]:
    """Run the server's application in this loop; give a researcher's client of its API of bots."""
    app = create_app(Settings(data=folder, database_url=url), AUTH, {}, opened_bots, folder)
    transport = httpx2.ASGITransport(app)
    bearer = {"Authorization": f"Bearer {AUTH.researcher_token}"}
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=transport, base_url="http://candor/api/desk", headers=bearer) as client,
    ):
        made = await client.post(
            "/bots", json={"name": "far", "endpoint": {"kind": "http", "urls": [ONE, TWO]}}
        )
        assert made.status_code == 201, made.text
        yield client


async def meanwhile(client: httpx2.AsyncClient) -> None:
    """Give what was begun before time to go as far as it can: the time of many calls of the same kind."""
    for _ in range(10):
        await client.get("/bots/far")


DISABLE = ("PATCH", "/bots/far", {"json": {"enabled": False}})
ENABLE = ("PATCH", "/bots/far", {"json": {"enabled": True}})
ADD = ("POST", "/bots/far/replicas", {"json": {"url": THREE}})
REMOVE = ("DELETE", "/bots/far/replicas", {"params": {"url": ONE}})
DELETE = ("DELETE", "/bots/far", {})
Call = tuple[str, str, dict[str, Any]]


@pytest.mark.parametrize(
    ("first", "second"),
    [(DISABLE, ENABLE), (DISABLE, ADD), (DISABLE, DELETE), (ADD, DISABLE), (ADD, REMOVE), (ADD, DELETE)],
)
@pytest.mark.databases("sqlite", "postgresql")
async def test_a_change_during_another_leaves_database_and_process_agreed(
    url: str, tmp_path: Path, first: Call, second: Call
) -> None:
    """The first change has to end a check, which takes its time: the second arrives in between."""
    checked = SlowToStop()
    opened_bots = OpenedBotsOf(checked)
    async with serving(url, tmp_path, opened_bots) as client:

        async def change(call: Call) -> int:
            method, path, content = call
            return (await client.request(method, path, **content)).status_code

        assert (await client.post("/bots/far/check")).status_code == 202
        await checked.asked.wait()
        earlier = asyncio.create_task(change(first))
        await checked.cancelled.wait()
        later = asyncio.create_task(change(second))
        await meanwhile(client)
        checked.let_go.set()
        assert {await earlier, await later} <= {200, 204}
        assert await opened_bots.held("far") == stored(url, "far")


ME = CommandLine()


def owner(store: Store, opened_bots: OpenedBots) -> RegisteredBots:
    reach = ApiLimits({}, Path("corpora"))
    return RegisteredBots(store, opened_bots, BackgroundChecks(store, News()), reach, News())


@pytest.mark.databases("sqlite", "postgresql")
async def test_a_check_that_ends_after_a_replica_was_added_is_not_stored(url: str, store: Store) -> None:
    """It did not ask the new replica. Its report waits for the writer, behind the replica."""

    checked = SlowToAnswer()
    bots = owner(store, OpenedBotsOf(checked))
    await bots.register("far", endpoint({"kind": "http", "urls": [ONE, TWO]}), ME)
    check = await bots.start_check("far", ME, Confirmation(given=True), at_once=1)
    await checked.asked.wait()
    async with held_up(store):
        added = asyncio.create_task(bots.add_replica("far", THREE, ME))
        for _ in range(10):  # as often as it takes to get into the queue of the writer
            await store.read(lambda connection: None)
        checked.let_go.set()
        while check.done < check.total:
            await store.read(lambda connection: None)
        for _ in range(10):
            await store.read(lambda connection: None)
    await added
    await store.submit(lambda connection: None)  # so that everything that waited is written
    assert bots.check_of("far") is None
    assert query(url, "SELECT count(*) FROM bot_check") == [(0,)]


@pytest.mark.parametrize(
    ("now", "kept"),
    [([ONE, TWO], True), ([TWO, ONE], True), ([ONE], True), ([ONE, TWO, THREE], False), ([THREE], False)],
)
def test_a_report_is_kept_while_every_replica_is_one_that_was_asked(
    url: str, now: list[str], kept: bool
) -> None:
    engine = open_engine(url)
    with engine.begin() as connection:
        checked = stored_bots.add(connection, "far", endpoint({"kind": "http", "urls": [ONE, TWO]}), AT)
        for there in set(now) - {ONE, TWO}:
            stored_bots.add_replica(connection, "far", there)
        for gone in {ONE, TWO} - set(now):
            stored_bots.remove_replica(connection, "far", gone)
        with nullcontext() if kept else pytest.raises(NotChecked):
            stored_bots.store_check(connection, checked, report("pass"), AT)
        assert (stored_bots.latest_check(connection, checked) is not None) == kept
    engine.dispose()


async def test_hosts_that_dial_in_while_their_bot_is_deleted_are_of_a_bot_that_is_stored(
    url: str, store: Store
) -> None:
    opened_bots = OpenedBots(refuse_private=False)
    bots = owner(store, opened_bots)

    async def dial_in(number: int) -> None:
        await bots.attach("far", HostSession(number, lambda frame: None), ME)

    async def delete() -> None:
        with suppress(BotNotFound):
            await bots.delete("far", ME)

    await asyncio.gather(*(call for number in range(20) for call in (dial_in(number), delete())))
    assert (opened_bots.names(), query(url, "SELECT * FROM registration")) == ((), [])
    await asyncio.gather(delete(), *(dial_in(number) for number in range(20, 40)))
    assert opened_bots.names() == ("far",)
    assert query(url, "SELECT name FROM registration") == [("far",)]
    assert len(bots.replica_states("far")) == 20
    await opened_bots.close()


async def test_a_change_whose_caller_has_gone_away_is_applied_all_the_same(url: str, store: Store) -> None:
    opened_bots = OpenedBotsOf(SlowToAnswer())
    bots = owner(store, opened_bots)
    await bots.register("far", endpoint({"kind": "http", "urls": [ONE]}), ME)
    async with held_up(store):
        change = asyncio.create_task(bots.disable("far", ME))
        for _ in range(10):  # as often as it takes to get into the queue of the writer
            await store.read(lambda connection: None)
        change.cancel()
        with suppress(asyncio.CancelledError):
            await change
    with pytest.raises(BotDisabled):  # it waits for the change, whose database has it
        await bots.start_check("far", ME, Confirmation(given=True), at_once=1)
    assert await opened_bots.held("far") == stored(url, "far") == (False, [ONE])
    await opened_bots.close()
