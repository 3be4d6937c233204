"""Registered bots: over the REST API, and as workers meet them."""

import json
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.bots import stored_bots
from server.bots.lineup import OpenRun, open_lineup
from server.bots.opened_bots import OpenedBots
from server.db import runs
from server.db.engine import open_engine
from tests.server.support.answers import error
from tests.server.support.database import execute, query
from tests.server.support.page import Page
from tests.server.support.server import House
from tests.server.support.study import AT, study_text
from tests.server.support.talker import Talker, endpoint, talking
from tests.support.examples import examples
from tests.support.waiting import PATIENCE, wait_until

Serve = Callable[..., House]
NOWHERE = {"kind": "http", "urls": ["http://127.0.0.1:1"]}
JSON = {"Content-Type": "application/json"}


def study(**changes: Any) -> str:
    """Return a study of two systems, `parrot` and `macaw`, each of them registered; workers meet one."""
    systems = [{"name": bird, "family": bird, "bot": bird} for bird in ("parrot", "macaw")]
    few = {"systems_per_assignment": 1, "qc_per_assignment": 0, "minimum_inputs": 3, "simulate": None}
    return study_text(systems=systems, **few, **changes)


def register(url: str, **bots: Talker) -> None:
    """Write bots into the database, as an earlier call of the API has done."""
    engine = open_engine(url, begin="BEGIN IMMEDIATE")
    with engine.begin() as connection:
        for name, talker in bots.items():
            stored_bots.add(connection, name, endpoint(talker.endpoint), AT)
    engine.dispose()


def open_run(url: str, text: str, opened_bots: OpenedBots, slug: str = "harbour") -> OpenRun:
    """Open a run as a server does at its start."""
    engine = open_engine(url, begin="BEGIN IMMEDIATE")
    with engine.begin() as connection:
        opened_bots.load(connection)
        entry = runs.open_run(connection, text, slug, AT)
    engine.dispose()
    return open_lineup(entry, opened_bots)


@pytest.fixture
def birds() -> Iterator[dict[str, Talker]]:
    with talking("Polly speaks.") as parrot, talking("Ara speaks.") as macaw:
        yield {"parrot": parrot, "macaw": macaw}


@pytest.fixture
def aviary(url: str, serve: Serve, birds: dict[str, Talker]) -> House:
    """A server whose run has two registered bots."""
    register(url, **birds)
    opened_bots = OpenedBots(refuse_private=False, heartbeat=0.05)
    return serve(url, open_run(url, study(), opened_bots), opened_bots=opened_bots)


def bots(house: House, method: str = "GET", path: str = "", **kwargs: Any) -> httpx2.Response:
    return house.desk(f"/bots{path}", method=method, **kwargs)


def good(answer: httpx2.Response, status: int = 200) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    content: dict[str, Any] = answer.json()
    return content


# ---- registering -----------------------------------------------------------------------------


def test_a_bot_is_registered_shown_listed_disabled_and_deleted(house: House) -> None:
    assert good(bots(house)) == {"bots": []}
    made = good(bots(house, "POST", json={"name": "far", "endpoint": NOWHERE}), 201)
    replica = {"url": NOWHERE["urls"][0], "state": "fine", "in_flight": 0, "calls": 0, "failures": 0}
    assert made == {
        "name": "far",
        "endpoint": NOWHERE,
        "enabled": True,
        "created_at": made["created_at"],
        "used_by": [],
        "replicas": [replica | {"last_error": None}],
        "overruns": {"replies": 0, "overran": 0},
        "check": None,
    }
    assert good(bots(house, path="/far"))["name"] == "far"
    assert [bot["name"] for bot in good(bots(house))["bots"]] == ["far"]
    assert good(bots(house, "PATCH", "/far", json={"enabled": False}))["enabled"] is False
    assert good(bots(house, path="/far"))["enabled"] is False
    assert bots(house, "DELETE", "/far").status_code == 204
    error(bots(house, path="/far"), 404, "bot_not_found")
    assert query(house.url, "SELECT * FROM registration") == []


def test_a_name_is_given_once(house: House) -> None:
    body = {"name": "far", "endpoint": NOWHERE}
    good(bots(house, "POST", json=body), 201)
    assert "`far`" in error(bots(house, "POST", json=body), 409, "bot_exists")["message"]


def test_the_name_of_a_deleted_bot_may_be_given_again(house: House) -> None:
    for urls in (["http://127.0.0.1:1"], ["http://127.0.0.1:2"]):
        content = {"kind": "http", "urls": urls}
        made = good(bots(house, "POST", json={"name": "far", "endpoint": content}), 201)
        assert [replica["url"] for replica in made["replicas"]] == urls
        assert bots(house, "DELETE", "/far").status_code == 204


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({}, "name"),
        ([], "body"),
        ({"name": "far"}, "endpoint"),
        ({"name": 5, "endpoint": NOWHERE}, "name"),
        ({"name": "", "endpoint": NOWHERE}, "name"),
        ({"name": "qc", "endpoint": NOWHERE}, "`qc`"),
        ({"name": "Far", "endpoint": NOWHERE}, "`Far`"),
        ({"name": "-far", "endpoint": NOWHERE}, "`-far`"),
        ({"name": "far\n", "endpoint": NOWHERE}, "name"),
        ({"name": "builtin:retrieval", "endpoint": NOWHERE}, "builtin:retrieval"),
        ({"name": "a" * 65, "endpoint": NOWHERE}, "name"),
        ({"name": "a" * 300, "endpoint": NOWHERE}, "name"),
        ({"name": "\ud800", "endpoint": NOWHERE}, "name"),
        ({"name": "far", "endpoint": NOWHERE, "admin": True}, "admin"),
        ({"name": "far", "endpoint": "http://a.example"}, "endpoint"),
        ({"name": "far", "endpoint": {"kind": "pigeon", "urls": ["http://a.example"]}}, "pigeon"),
        ({"name": "far", "endpoint": {"kind": "http", "urls": []}}, "urls"),
        ({"name": "far", "endpoint": {"kind": "http", "urls": ["gopher://a.example"]}}, "urls"),
        ({"name": "far", "endpoint": {"kind": "http", "urls": ["http://a.example"] * 2}}, "urls"),
        ({"name": "far", "endpoint": {"kind": "openai", "urls": ["http://a.example"]}}, "model"),
        ({"name": "far", "endpoint": NOWHERE | {"key": "sk-123abc"}}, "key"),
        ({"name": "far", "endpoint": NOWHERE | {"api_key": "X"}}, "api_key"),
    ],
)
def test_a_bot_that_cannot_be_registered_is_refused_with_what_is_wrong(
    shared: House, body: Any, named: str
) -> None:
    answer = shared.http("POST", "/api/desk/bots", content=json.dumps(body), headers=JSON | bearer(shared))
    assert named in error(answer, 422, "invalid_request")["message"]
    assert "sk-123abc" not in answer.text


def bearer(house: House) -> dict[str, str]:
    return {"Authorization": f"Bearer {house.auth.researcher_token}"}


CALLS = [
    ("GET", ""),
    ("POST", ""),
    ("GET", "/far"),
    ("PATCH", "/far"),
    ("DELETE", "/far"),
    ("POST", "/far/replicas"),
    ("DELETE", "/far/replicas?url=http://a.example"),
    ("POST", "/far/check"),
    ("GET", "/far/check"),
]
BODIES = {
    ("POST", ""): {"name": "far", "endpoint": NOWHERE},
    ("PATCH", "/far"): {"enabled": True},
    ("POST", "/far/replicas"): {"url": "http://a.example"},
}


@pytest.mark.parametrize(("method", "path"), CALLS)
def test_every_call_needs_a_researchers_token(shared: House, method: str, path: str) -> None:
    body = BODIES.get((method, path))
    error(shared.http(method, f"/api/desk/bots{path}", json=body), 401, "token_missing")
    error(bots(shared, method, path, token="wrong", json=body), 401, "token_invalid")
    assert query(shared.url, "SELECT * FROM registration") == []


@pytest.mark.parametrize("name", ["far", "qc", "..", "%00", "x" * 300, "日本"])
@pytest.mark.parametrize(("method", "path"), [call for call in CALLS if call[1]])
def test_a_bot_that_is_not_registered_is_not_found(shared: House, method: str, path: str, name: str) -> None:
    there = path.replace("far", name)
    answer = bots(shared, method, there, json=BODIES.get((method, path)))
    if name == "..":  # the client has taken the step up
        assert answer.status_code in {404, 405}
    else:
        error(answer, 404, "bot_not_found")


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)
NEARLY = st.fixed_dictionaries(
    {},
    optional={
        "name": st.text(max_size=10) | ANYTHING,
        "enabled": ANYTHING,
        "url": st.text(max_size=30) | ANYTHING,
        "at_once": ANYTHING,
        "endpoint": st.fixed_dictionaries(
            {"kind": st.sampled_from(["http", "openai", "parlai-web", "dial-in"]) | ANYTHING},
            optional={"urls": ANYTHING, "key": ANYTHING, "model": ANYTHING, "prompt": ANYTHING},
        )
        | ANYTHING,
    },
)


@settings(max_examples=examples(25))
@given(body=ANYTHING | NEARLY)
@pytest.mark.parametrize(
    ("method", "path"), [("POST", ""), ("PATCH", "/x"), ("POST", "/x/replicas"), ("POST", "/x/check")]
)
def test_whatever_is_sent_is_taken_or_told_why_not(shared: House, method: str, path: str, body: Any) -> None:
    content = json.dumps(body)
    answer = shared.http(method, f"/api/desk/bots{path}", content=content, headers=JSON | bearer(shared))
    if answer.status_code == 201:  # the dial-in kind needs nothing but its name
        assert bots(shared, "DELETE", f"/{answer.json()['name']}").status_code == 204
    else:
        said = answer.json()["error"]
        assert answer.status_code in {404, 422}, answer.text
        assert said["code"] in {"invalid_request", "bot_not_found", "bot_unusable"}


# ---- keys ------------------------------------------------------------------------------------

KEYED = {"kind": "http", "urls": ["http://127.0.0.1:1"], "key": "PARROT_API_KEY"}


@pytest.fixture
def trusting(url: str, serve: Serve, run: OpenRun) -> House:
    """A server whose operator lets the key be sent to this machine."""
    return serve(url, run, bot_keys={"PARROT_API_KEY": ["127.0.0.1", "parrots.example"]})


def test_a_key_is_named_and_its_value_shown_nowhere(trusting: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house = trusting
    monkeypatch.setenv("PARROT_API_KEY", "hush-hush")
    answers = [bots(house, "POST", json={"name": "far", "endpoint": KEYED})]
    answers += [bots(house), bots(house, path="/far"), bots(house, "PATCH", "/far", json={"enabled": True})]
    assert good(answers[0], 201)["endpoint"]["key"] == "PARROT_API_KEY"
    assert all("hush-hush" not in answer.text for answer in answers)
    assert "hush-hush" not in str(query(house.url, "SELECT * FROM registration"))


def test_a_key_that_is_not_set_where_the_server_runs(
    trusting: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = trusting
    monkeypatch.delenv("PARROT_API_KEY", raising=False)
    said = error(bots(house, "POST", json={"name": "far", "endpoint": KEYED}), 422, "bot_unusable")
    assert "PARROT_API_KEY" in said["message"]
    assert query(house.url, "SELECT * FROM registration") == []


@pytest.mark.parametrize("variable", ["PATH", "CANDOR_DATABASE_URL", "AWS_SECRET_ACCESS_KEY"])
def test_a_variable_that_is_no_bots_key_cannot_be_sent_anywhere(house: House, variable: str) -> None:
    content = NOWHERE | {"key": variable}
    said = error(bots(house, "POST", json={"name": "far", "endpoint": content}), 422, "bot_unusable")
    assert variable in said["message"]
    assert "CANDOR_BOT_KEYS" in said["hint"]


def test_a_key_is_sent_to_its_own_hosts_only(trusting: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has a researcher's token could otherwise have it sent to a server of theirs."""
    monkeypatch.setenv("PARROT_API_KEY", "hush-hush")
    stolen = KEYED | {"urls": ["http://127.0.0.1:1", "http://127.0.0.1.evil.example/v1"]}
    said = error(bots(trusting, "POST", json={"name": "far", "endpoint": stolen}), 422, "bot_unusable")
    assert said["message"].endswith("may not be sent to 127.0.0.1.evil.example")
    tricky = KEYED | {"urls": ["http://127.0.0.1@evil.example/"]}
    assert bots(trusting, "POST", json={"name": "far", "endpoint": tricky}).status_code == 422
    good(bots(trusting, "POST", json={"name": "far", "endpoint": KEYED}), 201)
    replica = bots(trusting, "POST", "/far/replicas", json={"url": "http://evil.example/v1"})
    assert "may not be sent to evil.example" in error(replica, 422, "bot_unusable")["message"]
    assert "evil" not in str(query(trusting.url, "SELECT * FROM registration"))


def test_no_key_is_sent_anywhere_unless_the_operator_says_so(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARROT_API_KEY", "hush-hush")
    said = error(bots(house, "POST", json={"name": "far", "endpoint": KEYED}), 422, "bot_unusable")
    assert 'CANDOR_BOT_KEYS=\'{"PARROT_API_KEY": ["127.0.0.1"]}\'' in said["hint"]


# ---- replicas --------------------------------------------------------------------------------


def test_replicas_come_and_go(house: House) -> None:
    good(bots(house, "POST", json={"name": "far", "endpoint": NOWHERE}), 201)
    second = {"url": " http://127.0.0.1:2/ "}
    grown = good(bots(house, "POST", "/far/replicas", json=second))
    assert [replica["url"] for replica in grown["replicas"]] == ["http://127.0.0.1:1", "http://127.0.0.1:2"]
    error(bots(house, "POST", "/far/replicas", json=second), 409, "replica_exists")
    shrunk = good(bots(house, "DELETE", "/far/replicas", params={"url": "http://127.0.0.1:1"}))
    assert [replica["url"] for replica in shrunk["replicas"]] == ["http://127.0.0.1:2"]
    error(bots(house, "DELETE", "/far/replicas", params={"url": "http://127.0.0.1:1"}), 404, "bot_not_found")
    error(bots(house, "DELETE", "/far/replicas", params={"url": "http://127.0.0.1:2"}), 409, "last_replica")
    error(bots(house, "DELETE", "/far/replicas"), 422, "invalid_request")


@pytest.mark.parametrize(
    "where", ["", "nowhere", "ftp://a.example", "http://me:pass@a.example", "http://a.example/?b=c"]
)
def test_a_replica_at_no_address_is_refused(house: House, where: str) -> None:
    good(bots(house, "POST", json={"name": "far", "endpoint": NOWHERE}), 201)
    error(bots(house, "POST", "/far/replicas", json={"url": where}), 422, "invalid_request")
    error(bots(house, "DELETE", "/far/replicas", params={"url": where}), 422, "invalid_request")


def test_a_bot_that_dials_in_has_no_replicas_to_name(house: House) -> None:
    made = good(bots(house, "POST", json={"name": "far", "endpoint": {"kind": "dial-in"}}), 201)
    assert made["replicas"] == []
    where = "http://127.0.0.1:1"
    error(bots(house, "POST", "/far/replicas", json={"url": where}), 409, "bot_dials_in")
    error(bots(house, "DELETE", "/far/replicas", params={"url": where}), 409, "bot_dials_in")


def test_heartbeats_find_a_replica_that_has_stopped_and_one_that_is_back(
    aviary: House, birds: dict[str, Talker]
) -> None:
    def state() -> str:
        (replica,) = good(bots(aviary, path="/parrot"))["replicas"]
        return str(replica["state"])

    assert state() == "fine"
    birds["parrot"].ready = False
    wait_until(lambda: state() == "resting", "a heartbeat that fails")
    birds["parrot"].ready = True
    wait_until(lambda: state() != "resting", "a heartbeat that is well")


# ---- as workers meet them --------------------------------------------------------------------


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


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def ready(url: str) -> bool:
    try:
        return bool(httpx2.get(url, timeout=PATIENCE).json()["ready"])
    except (httpx2.HTTPError, ValueError):
        return False


# ---- checks ----------------------------------------------------------------------------------


def checked(house: House, name: str) -> dict[str, Any]:
    """Wait for the end of a check; return its view."""
    wait_until(lambda: good(bots(house, path=f"/{name}/check"))["state"] != "running", "the check")
    return good(bots(house, path=f"/{name}/check"))


def test_a_bot_is_checked_in_the_background_and_the_report_kept(
    aviary: House, birds: dict[str, Talker]
) -> None:
    error(bots(aviary, path="/parrot/check"), 404, "not_checked")
    started = good(bots(aviary, "POST", "/parrot/check", json={"at_once": 2}), 202)
    assert (started["state"], started["report"], started["error"]) == ("running", None, None)
    over = checked(aviary, "parrot")
    assert (over["state"], over["error"]) == ("finished", None)
    report = over["report"]
    # Whatever it is asked, this bot says the same.
    assert report["verdict"] == "fail"
    assert report["calls"] == birds["parrot"].asked
    assert report["latency"]["at_once"]["conversations"] == 2
    assert good(bots(aviary, path="/parrot"))["check"] == {"at": over["at"], "verdict": "fail"}
    assert good(bots(aviary, path="/macaw"))["check"] is None
    aviary.stop()
    aviary.opened_bots = OpenedBots(
        refuse_private=False
    )  # a new process has a new one; the old one is closed
    aviary.start()
    assert checked(aviary, "parrot") == over


def test_a_bot_is_checked_for_the_study_that_is_given(aviary: House) -> None:
    german = study(language="de", assignments=3)
    good(bots(aviary, "POST", "/parrot/check", json={"study": german}), 202)
    report = checked(aviary, "parrot")["report"]
    assert report["scope"] == {"language": "de", "persona": False}
    assert report["latency"]["at_once"]["conversations"] == 3
    broken = german.replace("minimum_inputs: 3", "minimum_inputs: three")
    error(bots(aviary, "POST", "/parrot/check", json={"study": broken}), 422, "study_invalid")


def test_a_check_shows_its_progress_and_is_not_begun_twice(aviary: House, birds: dict[str, Talker]) -> None:
    birds["parrot"].freed.clear()
    first = good(bots(aviary, "POST", "/parrot/check"), 202)
    wait_until(lambda: good(bots(aviary, path="/parrot/check"))["total"] > 0, "the first call")
    again = good(bots(aviary, "POST", "/parrot/check"), 202)
    assert (again["state"], again["done"], again["at"]) == ("running", 0, first["at"])
    birds["parrot"].freed.set()
    assert checked(aviary, "parrot")["state"] == "finished"
    assert query(aviary.url, "SELECT count(*) FROM bot_check") == [(1,)]


def test_the_latest_check_is_shown_and_every_one_kept(aviary: House, birds: dict[str, Talker]) -> None:
    for _ in range(2):
        good(bots(aviary, "POST", "/parrot/check", json={"at_once": 1}), 202)
        checked(aviary, "parrot")
    ((last,),) = query(aviary.url, "SELECT report FROM bot_check ORDER BY id DESC LIMIT 1")
    assert checked(aviary, "parrot")["report"] == json.loads(last)
    assert query(aviary.url, "SELECT name, verdict FROM bot_check") == [("parrot", "fail")] * 2


def test_a_check_counts_for_no_later_bot_of_the_same_name(house: House, birds: dict[str, Talker]) -> None:
    body = {"name": "far", "endpoint": birds["parrot"].endpoint}
    good(bots(house, "POST", json=body), 201)
    good(bots(house, "POST", "/far/check", json={"at_once": 1}), 202)
    checked(house, "far")
    assert bots(house, "DELETE", "/far").status_code == 204
    assert good(bots(house, "POST", json=body), 201)["check"] is None
    error(bots(house, path="/far/check"), 404, "not_checked")
    assert query(house.url, "SELECT count(*) FROM bot_check") == [(1,)]


def test_a_bot_that_is_deleted_while_it_is_checked(house: House, birds: dict[str, Talker]) -> None:
    body = {"name": "far", "endpoint": birds["parrot"].endpoint}
    good(bots(house, "POST", json=body), 201)
    birds["parrot"].freed.clear()
    good(bots(house, "POST", "/far/check"), 202)
    assert bots(house, "DELETE", "/far").status_code == 204
    good(bots(house, "POST", json=body), 201)
    error(bots(house, path="/far/check"), 404, "not_checked")


def test_a_disabled_bot_is_not_checked(aviary: House) -> None:
    good(bots(aviary, "PATCH", "/parrot", json={"enabled": False}))
    error(bots(aviary, "POST", "/parrot/check"), 409, "bot_disabled")


@pytest.mark.parametrize("at_once", [0, 65, -1, 1.5, "many"])
def test_a_check_with_too_many_at_once(aviary: House, at_once: Any) -> None:
    answer = bots(aviary, "POST", "/parrot/check", json={"at_once": at_once})
    assert "at_once" in error(answer, 422, "invalid_request")["message"]


def test_a_check_that_cannot_be_stored_says_so(aviary: House) -> None:
    execute(aviary.url, "DROP TABLE bot_check")
    execute(
        aviary.url,
        "CREATE VIEW bot_check AS SELECT 1 AS id, '' AS name, '' AS at, '' AS verdict, '' AS report",
    )
    good(bots(aviary, "POST", "/parrot/check", json={"at_once": 1}), 202)
    over = checked(aviary, "parrot")
    assert over["state"] == "failed"
    assert "could not store" in over["error"]


def test_a_server_stops_in_the_middle_of_a_check(aviary: House, birds: dict[str, Talker]) -> None:
    birds["parrot"].freed.clear()
    good(bots(aviary, "POST", "/parrot/check"), 202)
    wait_until(lambda: birds["parrot"].asked, "the first question")
    aviary.stop()
    assert query(aviary.url, "SELECT count(*) FROM bot_check") == [(0,)]
