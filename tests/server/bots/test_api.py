"""Registered bots over the REST API: names, keys, replicas."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.bots.lineup import OpenRun
from tests.server.support.answers import error
from tests.server.support.database import query
from tests.server.support.registered import NOWHERE, Serve, bearer, bots, good
from tests.server.support.server import House
from tests.server.support.talker import Talker
from tests.support.examples import examples
from tests.support.waiting import wait_until

JSON = {"Content-Type": "application/json"}


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
    assert "“far”" in error(bots(house, "POST", json=body), 409, "bot_exists")["message"]


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
        ({"name": "qc", "endpoint": NOWHERE}, "“qc”"),
        ({"name": "Far", "endpoint": NOWHERE}, "“Far”"),
        ({"name": "-far", "endpoint": NOWHERE}, "“-far”"),
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


@pytest.mark.parametrize("name", ["far", "qc", "..", "x" * 300, "日本"])
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
    assert said["message"].endswith("may not be sent as a key to 127.0.0.1.evil.example")
    tricky = KEYED | {"urls": ["http://127.0.0.1@evil.example/"]}
    assert bots(trusting, "POST", json={"name": "far", "endpoint": tricky}).status_code == 422
    good(bots(trusting, "POST", json={"name": "far", "endpoint": KEYED}), 201)
    replica = bots(trusting, "POST", "/far/replicas", json={"url": "http://evil.example/v1"})
    assert "may not be sent as a key to evil.example" in error(replica, 422, "bot_unusable")["message"]
    assert "evil" not in str(query(trusting.url, "SELECT * FROM registration"))


def test_no_key_is_sent_anywhere_unless_the_operator_says_so(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARROT_API_KEY", "hush-hush")
    said = error(bots(house, "POST", json={"name": "far", "endpoint": KEYED}), 422, "bot_unusable")
    assert 'CANDOR_BOT_KEYS=\'{"PARROT_API_KEY": ["127.0.0.1"]}\'' in said["hint"]


def test_what_is_sent_besides_is_seen_by_those_who_may_change_it(house: House) -> None:
    sent = {"headers": {"X-Team": "sesame"}, "query": {"code": "open-up"}}
    endpoint = {"kind": "openai", "urls": ["http://127.0.0.1:1/v1"], "model": "m", **sent}
    good(bots(house, "POST", json={"name": "far", "endpoint": endpoint}), 201)
    body = {"name": "reader", "scope": "researcher", "study": "lighthouse"}
    reader = house.desk("/tokens", method="POST", json=body).json()["token"]
    for path in ("/bots", "/bots/far"):
        assert all(secret in house.desk(path).text for secret in ("sesame", "open-up"))
        seen = house.desk(path, reader)
        assert "X-Team" in seen.text
        assert not any(secret in seen.text for secret in ("sesame", "open-up", "127.0.0.1"))
        assert all(known in seen.text for known in ("far", "openai"))


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
