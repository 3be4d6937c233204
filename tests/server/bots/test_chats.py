"""Registered bots as workers meet them: one is disabled, deleted, asked elsewhere while they chat."""

import subprocess
import sys
from pathlib import Path

import httpx2

from server.bots.opened_bots import OpenedBots
from tests.server.support.answers import error
from tests.server.support.database import execute, query
from tests.server.support.page import Page
from tests.server.support.registered import Serve, bearer, bots, good, open_run, register, study
from tests.server.support.server import House
from tests.server.support.talker import Talker, talking
from tests.support.local_process import free_port
from tests.support.waiting import PATIENCE, wait_until


def meets(page: Page, birds: dict[str, Talker]) -> tuple[str, str]:
    """Say something in a new conversation; return the bot that answered, and the other one."""
    page.open_topic()
    text = page.say("Hello?")["text"]
    here = next(name for name, talker in birds.items() if talker.text == text)
    return here, next(name for name in birds if name != here)


def test_a_registered_bot_answers_a_worker(aviary: House, birds: dict[str, Talker]) -> None:
    with aviary.page() as page:
        page.agree()
        here, other = meets(page, birds)
        view = good(bots(aviary, path=f"/{here}"))
        assert view["used_by"] == ["harbour"]
        assert [replica["calls"] for replica in view["replicas"]] == [1]
        # In this study a reply comes naturally at once, so that no bot can be as fast.
        assert view["overruns"] == {"replies": 1, "overran": 1}
        assert good(bots(aviary, path=f"/{other}"))["overruns"] == {"replies": 0, "overran": 0}


def test_which_runs_have_a_bot_is_said_of_those_that_the_caller_may_see(aviary: House) -> None:
    for of_study, runs in (("lighthouse", ["harbour"]), ("tidepool", [])):
        token = aviary.token_in(of_study, "researcher")
        assert [bot["used_by"] for bot in good(aviary.desk("/bots", token))["bots"]] == [runs, runs]
        assert good(aviary.desk("/bots/parrot", token))["used_by"] == runs


def test_simulated_workers_in_a_hurry_do_not_count_as_overruns(
    aviary: House, birds: dict[str, Talker]
) -> None:
    body = {"run": "harbour", "worker": "robot", "simulated": True, "reply_pace": 0.0}
    token = aviary.http("POST", "/api/join", json=body, headers=bearer(aviary)).json()["token"]
    with aviary.open(token) as page:
        page.agree()
        here, _ = meets(page, birds)
    assert good(bots(aviary, path=f"/{here}"))["overruns"] == {"replies": 0, "overran": 0}


def test_an_open_run_sees_an_added_replica(aviary: House, birds: dict[str, Talker]) -> None:
    with aviary.page() as page, talking("I am new.") as new:
        page.agree()
        here, _ = meets(page, birds)
        good(bots(aviary, "POST", f"/{here}/replicas", json={"url": new.url}))
        good(bots(aviary, "DELETE", f"/{here}/replicas", params={"url": birds[here].url}))
        assert page.say("Still there?")["text"] == "I am new."


def test_disabling_a_bot_replaces_it_at_once_and_calmly(aviary: House, birds: dict[str, Talker]) -> None:
    with aviary.page() as page:
        page.agree()
        here, other = meets(page, birds)
        asked = birds[here].asked
        assert good(bots(aviary, "PATCH", f"/{here}", json={"enabled": False}))["enabled"] is False
        page.send("say", text="Are you there?")
        page.until("replaced")
        page.until("topic_due")
        page.converse(3)
        assert birds[here].asked == asked
        assert all('"error"' not in frame and here not in frame for frame in page.frames)
    # Given up at the first try, without another that would have been noted.
    kinds = [("bot_gave_up",), ("replaced",)]
    assert query(aviary.url, "SELECT kind FROM note ORDER BY id") == kinds
    assert f"{here}: it is disabled" in query(aviary.url, "SELECT text FROM note ORDER BY id")[0][0]
    assert birds[other].asked == 3


def test_disabling_a_bot_that_hangs_frees_the_worker_who_waits(
    aviary: House, birds: dict[str, Talker]
) -> None:
    """The study's time-outs are as long as they are by default: nothing else would end the waiting."""
    with aviary.page() as page:
        page.agree()
        here, _ = meets(page, birds)
        birds[here].freed.clear()
        page.send("say", text="Are you there?")
        wait_until(lambda: birds[here].asked == 2, "the question to arrive")
        good(bots(aviary, "PATCH", f"/{here}", json={"enabled": False}))
        page.until("replaced")
        assert query(aviary.url, "SELECT kind FROM note ORDER BY id") == [("bot_gave_up",), ("replaced",)]


def test_a_bot_that_is_enabled_again_answers(aviary: House, birds: dict[str, Talker]) -> None:
    with aviary.page() as page:
        page.agree()
        here, _ = meets(page, birds)
        for enabled in (False, True):
            good(bots(aviary, "PATCH", f"/{here}", json={"enabled": enabled}))
        assert page.say("Still there?")["text"] == birds[here].text
    assert query(aviary.url, "SELECT kind FROM note") == []


def test_a_bot_of_an_open_run_cannot_be_deleted(aviary: House, birds: dict[str, Talker]) -> None:
    assert "harbour" in error(bots(aviary, "DELETE", "/parrot"), 409, "bot_in_use")["message"]
    execute(aviary.url, "UPDATE run SET status = 'closed'")
    assert good(bots(aviary, path="/parrot"))["used_by"] == []
    assert bots(aviary, "DELETE", "/parrot").status_code == 204
    error(bots(aviary, "PATCH", "/parrot", json={"enabled": True}), 404, "bot_not_found")


def test_a_worker_under_way_outlives_a_bot_that_is_deleted(aviary: House, birds: dict[str, Talker]) -> None:
    with aviary.page() as page:
        page.agree()
        here, _ = meets(page, birds)
        execute(aviary.url, "UPDATE run SET status = 'closed'")
        assert bots(aviary, "DELETE", f"/{here}").status_code == 204
        page.send("say", text="Are you there?")
        page.until("replaced")


def test_private_addresses_are_refused_for_registered_bots_too(
    url: str, serve: Serve, birds: dict[str, Talker]
) -> None:
    register(url, **birds)
    opened_bots = OpenedBots(refuse_private=True)
    house = serve(url, open_run(url, study(), opened_bots), opened_bots=opened_bots)
    with talking("Me too.") as third:
        good(bots(house, "POST", "/parrot/replicas", json={"url": third.url}))
        with house.page() as page:
            page.agree()
            page.open_topic()
            page.send("say", text="Hello?")
            wait_until(lambda: query(url, "SELECT text FROM note"), "a failure")
        ((reason,), *_) = query(url, "SELECT text FROM note")
        assert "a private address" in reason
        assert [third.asked, *(bird.asked for bird in birds.values())] == [0, 0, 0]


def test_a_real_bot_host_answers_a_worker(url: str, serve: Serve, tmp_path: Path) -> None:
    port = free_port()
    command = [sys.executable, "-m", "bots.host", "builtin:retrieval", "--port", str(port)]
    with (tmp_path / "host.log").open("wb") as out, subprocess.Popen(command, stdout=out, stderr=out) as host:
        try:
            wait_until(lambda: ready(f"http://127.0.0.1:{port}/retrieval/health"), "the bot host")
            host_at = Talker("")
            host_at.path, host_at.port = "/retrieval", port
            register(url, parrot=host_at, macaw=host_at)
            opened_bots = OpenedBots(refuse_private=False)
            house = serve(url, open_run(url, study(), opened_bots), opened_bots=opened_bots)
            with house.page() as page:
                page.agree()
                page.open_topic()
                assert page.say("Do you like music?")["text"]
        finally:
            host.terminate()


def ready(url: str) -> bool:
    try:
        return bool(httpx2.get(url, timeout=PATIENCE).json()["ready"])
    except (httpx2.HTTPError, ValueError):
        return False
