"""Bots and runs that another process changes while a server runs: taken up without a restart."""

from collections.abc import Callable
from typing import Any, TypeVar

import pytest
import yaml
from sqlalchemy import Connection

from server.bots import stored_bots
from server.bots.opened_bots import OpenedBots
from server.db.engine import open_engine
from server.db.runs.run_states import change_run
from server.db.runs.runs import open_run
from server.session.plan import QC
from tests.server.support.answers import error
from tests.server.support.database import query
from tests.server.support.server import House
from tests.server.support.study import AT, SYSTEMS, study_text
from tests.server.support.talker import endpoint, talking
from tests.support.waiting import wait_until

pytestmark = pytest.mark.databases("sqlite", in_soak=["postgresql"])

T = TypeVar("T")
Serve = Callable[..., House]
# Every system is the registered bot `talker`, and so is the qc bot.
STUDY = study_text(
    systems=[
        {"name": name, "family": family, "bot": "talker", "persona": "none"}
        for name, family in SYSTEMS.items()
    ],
    qc={"bot": "talker"},
)


def elsewhere(url: str, change: Callable[[Connection], T]) -> T:
    """Change the database as another process does."""
    engine = open_engine(url, begin="BEGIN IMMEDIATE")
    try:
        with engine.begin() as connection:
            return change(connection)
    finally:
        engine.dispose()


def register(url: str, at: dict[str, Any], when: Any = AT) -> None:
    elsewhere(url, lambda c: stored_bots.add(c, "talker", endpoint(at), when))


def open_later(url: str) -> None:
    elsewhere(url, lambda c: open_run(c, STUDY, "later", AT))


def joins(house: House, worker: str) -> bool:
    return bool(house.http("POST", "/api/join", json={"run": "later", "worker": worker}).status_code == 200)


@pytest.fixture
def house(url: str, serve: Serve) -> House:
    return serve(url, opened_bots=OpenedBots(refuse_private=False, heartbeat=3600))


def test_the_study_of_these_tests_needs_no_other_bot() -> None:
    assert {system["bot"] for system in yaml.safe_load(STUDY)["systems"]} == {"talker"}


@pytest.mark.databases("sqlite", "postgresql")
def test_a_run_that_is_opened_and_closed_elsewhere(house: House, url: str) -> None:
    with talking("Hello.") as talker:
        register(url, talker.endpoint)
        open_later(url)
        wait_until(lambda: joins(house, "ann"), "the run to be served")
        token = house.http("POST", "/api/join", json={"run": "later", "worker": "ann"}).json()["token"]
        with house.open(token) as page:
            page.agree()
            page.open_topic()
            assert page.say("Hi.")["text"] == "Hello."
        elsewhere(url, lambda c: change_run(c, "later", "close"))
        error(house.http("POST", "/api/join", json={"run": "later", "worker": "bob"}), 410, "run_closed")
        with house.open(token) as page:  # who is under way goes on
            assert page.say("Still there?")["text"] == "Hello."


def test_a_run_that_waits_for_a_bot_is_served_once_that_is_registered(house: House, url: str) -> None:
    with talking("Hello.") as talker:
        open_later(url)
        error(house.http("POST", "/api/join", json={"run": "later", "worker": "ann"}), 503, "run_not_ready")
        register(url, talker.endpoint)
        wait_until(lambda: joins(house, "ann"), "the run to be served")


def test_a_bot_that_is_changed_elsewhere(house: House, url: str) -> None:
    def urls() -> list[str]:
        return [state.url for state in house.opened_bots.states("talker")]

    with talking("one") as first, talking("two") as second:
        register(url, first.endpoint)
        wait_until(lambda: urls() == [first.url], "the bot")
        elsewhere(url, lambda c: stored_bots.add_replica(c, "talker", second.url))
        wait_until(lambda: set(urls()) == {first.url, second.url}, "the second replica")
        elsewhere(url, lambda c: stored_bots.remove_replica(c, "talker", first.url))
        wait_until(lambda: urls() == [second.url], "the first replica to go")
        elsewhere(url, lambda c: stored_bots.enable(c, "talker", False))
        bot: Any = house.opened_bots.registered("talker")
        wait_until(lambda: bot.unavailable == "it is disabled", "the bot to be disabled")
        elsewhere(url, lambda c: stored_bots.enable(c, "talker", True))
        wait_until(lambda: not bot.unavailable, "the bot to be enabled")
        elsewhere(url, lambda c: stored_bots.remove(c, "talker"))
        wait_until(lambda: house.opened_bots.names() == (), "the bot to be forgotten")


def test_another_bot_by_the_name_of_one_that_was_deleted(house: House, url: str) -> None:
    with talking("one") as talker:
        register(url, talker.endpoint)
        wait_until(lambda: house.opened_bots.names() == ("talker",), "the bot")
        bot: Any = house.opened_bots.registered("talker")
        before = bot.replicas

        def replace(connection: Connection) -> None:
            stored_bots.remove(connection, "talker")
            later = AT.replace(hour=13)
            stored_bots.add(connection, "talker", endpoint(talker.endpoint), later)

        elsewhere(url, replace)
        wait_until(lambda: bot.replicas not in {None, before}, "the other bot")
        assert not bot.unavailable


def test_a_bot_that_has_died_is_given_to_nobody_new(url: str, serve: Serve) -> None:
    """Every second worker got it, and waited a minute for its first line."""
    house = serve(url, opened_bots=OpenedBots(refuse_private=False, heartbeat=0.05))
    systems = [
        {"name": name, "family": family, "bot": "talker" if family == "quokka" else "builtin:retrieval"}
        for name, family in SYSTEMS.items()
    ]
    study = study_text(systems=systems, corpus="builtin:smalltalk", personas="corpus")
    with talking("Hello.") as talker:
        register(url, talker.endpoint)
        elsewhere(url, lambda c: open_run(c, study, "later", AT))
        wait_until(lambda: joins(house, "ann"), "the run to be served")
    wait_until(lambda: house.opened_bots.states("talker")[0].state == "resting", "the heartbeat to find out")
    for name in ("ann", "bob", "cyn", "dan"):
        token = house.http("POST", "/api/join", json={"run": "later", "worker": name}).json()["token"]
        with house.open(token) as page:
            page.agree()
    met = query(url, "SELECT DISTINCT name FROM conversation JOIN system ON system.id = system_id")
    assert {name for (name,) in met} == {*SYSTEMS, QC} - {"quokka_plain", "quokka_warm"}
