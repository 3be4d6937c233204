"""A run and the list of runs as they are pushed to whoever watches."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.server.support.bots import BROKEN
from tests.server.support.database import make_run
from tests.server.support.server import House
from tests.server.support.stream import watching
from tests.server.support.study import RUN


def test_what_a_worker_does_is_pushed(house: House) -> None:
    with watching(house, f"/runs/{RUN}") as stream:
        whole = stream.next()
        assert whole["whole"]
        assert whole["workers"] == []
        assert whole["run"]["run"] == RUN
        with house.page("ann") as page:
            page.agree()
            new = stream.until(lambda change: change["workers"])
            assert not new["whole"]
            (row,) = new["workers"]
            assert (row["step"], row["position"], row["away_since"]) == ("topic", 1, None)
            page.converse()
            at_rating = stream.until(lambda c: c["workers"] and c["workers"][0]["step"] == "rating")
            assert at_rating["workers"][0]["inputs_here"] == 2
            page.rate()
        gone = stream.until(lambda change: change["workers"] and change["workers"][0]["away_since"])
        assert gone["workers"][0]["step"] == "topic"
        assert gone["workers"][0]["conversations_rated"] == 1


def test_what_is_pushed_adds_up_to_what_is_asked_for(house: House) -> None:
    seen: dict[str, Any] = {}
    with watching(house, f"/runs/{RUN}") as stream, house.page("ann") as page:
        page.whole()
        while seen.get("assignments", {}).get("completed") != 1 or "away" not in seen:
            change = stream.next()
            seen |= change.pop("run", {})
            seen |= {name: part for name, part in change.items() if name not in {"whole", "gone"} and part}
            seen["away"] = True
    asked = house.desk(f"/runs/{RUN}").json()
    for name in ("assignments", "systems", "funnel"):
        assert seen[name] == asked[name], name


def test_who_comes_back_gets_what_they_have_missed(house: House) -> None:
    with watching(house, f"/runs/{RUN}") as stream:
        stream.next()
        seen = stream.last
    house.enrolled("ann")
    with watching(house, f"/runs/{RUN}", after=seen) as stream:
        missed = stream.until(lambda change: change["workers"])
        assert not missed["whole"]
    with watching(house, f"/runs/{RUN}", after="of another process") as stream:
        assert stream.next()["whole"]


def test_the_list_of_runs_is_pushed(house: House) -> None:
    with watching(house, "/runs") as stream:
        assert [run["run"] for run in stream.next()["runs"]] == [RUN]
        house.enrolled("ann")
        change = stream.until(lambda change: change["runs"][0]["assignments"]["active"] == 1)
        assert not change["whole"]


def test_a_bot_that_is_down_is_pointed_out_while_workers_wait(url: str, serve: Callable[..., House]) -> None:
    house = serve(url, make_run(url, bots=BROKEN))
    with house.page("ann") as page:
        page.agree()
        page.open_topic()
        page.send("say", text="Hello?")
        page.until("typing")
        with watching(house, f"/runs/{RUN}") as stream:
            named = stream.until(lambda change: change.get("attention"))["attention"][0]
        assert named["urgent"]
        assert "does not answer" in named["text"]
        (row,) = house.desk(f"/runs/{RUN}").json()["workers"]
        assert row["failed_tries"] > 0
        assert house.desk("/runs").json()["runs"][0]["waiting"] == 1


def test_a_bot_that_is_down_is_pointed_out_before_anybody_has_met_it(
    url: str, serve: Callable[..., House]
) -> None:
    house = serve(url, replace(make_run(url), down=lambda: frozenset({"quokka_plain"})))
    (named,) = house.desk(f"/runs/{RUN}").json()["attention"]
    assert named["urgent"]
    assert named["text"] == (
        "quokka_plain does not answer. New workers who would meet it are asked to come back later."
    )


def test_conversations_are_found_page_by_page(house: House) -> None:
    for worker in range(7):
        with house.page(f"worker {worker}") as page:
            page.whole()
    found = house.desk(f"/runs/{RUN}/conversations").json()
    rest = house.desk(f"/runs/{RUN}/conversations", params={"after": found["after"]}).json()
    names = [hit["conversation"] for hit in (*found["conversations"], *rest["conversations"])]
    assert len(names) == len(set(names)) == 28
    assert rest["after"] is None
    assert house.desk(f"/runs/{RUN}/conversations", params={"text": "LINE 1"}).json()["after"]
    assert not house.desk(f"/runs/{RUN}/conversations", params={"text": "li%e"}).json()["conversations"]
    assert house.desk(f"/runs/{RUN}/conversations", params={"after": "yesterday"}).status_code == 422


def test_a_run_that_is_not_there_has_no_stream(house: House) -> None:
    with watching(house, "/runs/nowhere") as stream:
        assert stream.status == 404


def test_a_server_that_ends_ends_its_streams(house: House) -> None:
    with watching(house, f"/runs/{RUN}") as stream:
        stream.next()
        house.begin_to_stop()
        house.stop()
