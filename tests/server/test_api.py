"""The HTTP side: the way in, the researcher's calls, and one shape for every error."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import httpx2
import pytest
from structlog.testing import capture_logs

from server.bots.lineup import OpenRun
from tests.server.support.answers import assert_secure, error
from tests.server.support.database import execute, make_run, query
from tests.server.support.server import House
from tests.server.support.study import CRITERIA, RATINGS, RUN, SYSTEMS, study_text

pytestmark = pytest.mark.databases("sqlite", in_soak=["postgresql"])

Serve = Callable[..., House]


# ---- joining ---------------------------------------------------------------------------------


def assignment(answer: httpx2.Response) -> str:
    assert answer.status_code == 200, answer.text
    return str(answer.json()["assignment"])


def test_a_worker_who_joins_gets_a_token_and_its_assignment_and_nothing_else(house: House) -> None:
    answer = house.join("ann")
    assert answer.status_code == 200
    assert_secure(answer)
    content = answer.json()
    assert set(content) == {"token", "socket", "assignment"}
    assert content["socket"] == "/ws"
    with house.open(content["token"]) as page:
        page.agree()
    assert query(house.url, "SELECT id FROM assignment") == [(content["assignment"],)]


def test_the_same_worker_comes_back_to_the_same_assignment(house: House) -> None:
    house.enrolled("ann")
    assert len({assignment(house.join(name)) for name in ("ann", "ann", " ann ")}) == 1


def test_an_anonymous_worker_comes_back_by_the_token_only(house: House) -> None:
    first = house.join()
    again = house.join(token=first.json()["token"])
    other = house.join()
    assert assignment(first) == assignment(again) != assignment(other)
    with house.open(again.json()["token"]) as page:
        page.agree()
    later = house.join(token=first.json()["token"])
    assert assignment(first) == assignment(later)
    with house.open(later.json()["token"]) as page:
        assert page.snapshot["phase"] == "topic"


@pytest.mark.parametrize("token", ["garbage", "", "日本", "x" * 512])
def test_an_old_token_that_means_nothing_is_a_new_arrival(house: House, token: str) -> None:
    assert house.join(token=token).status_code == 200


def test_a_token_of_another_run_is_a_new_arrival(url: str, serve: Serve) -> None:
    one, two = make_run(url, slug="one"), make_run(url, slug="two")
    house = serve(url, one, two)
    first = house.join(run="one")
    other = house.join(run="two", token=first.json()["token"])
    assert assignment(first) != assignment(other)


def test_a_token_that_has_expired_is_told_so(house: House) -> None:
    """Not a new arrival: the same person would take a second place."""
    token = house.join().json()["token"]
    with house.open(token) as page:
        page.agree()
    house.stop()
    house.auth = replace(house.auth, token_seconds=-1)
    house.start()
    error(house.join(token=token), 401, "token_expired")
    assert query(house.url, "SELECT count(*) FROM assignment") == [(1,)]


def test_a_worker_id_wins_over_a_token_left_in_the_browser(house: House) -> None:
    ann = house.join("ann")
    bob = house.join("bob", token=ann.json()["token"])
    assert assignment(ann) != assignment(bob)


def test_an_id_that_was_never_filled_in_is_refused_and_logged_once(house: House) -> None:
    """All visitors by such a link would share one assignment, and read each other's chats."""
    unfilled = "${e://Field/ResponseID}"
    with capture_logs() as logs:
        for _ in range(2):
            said = error(house.join(unfilled), 403, "link_unfilled")
    assert f"“worker={unfilled}”" in said["message"]
    assert "fills in" in said["hint"]
    warned = [line for line in logs if line["log_level"] == "warning"]
    assert [(line["run"], unfilled in line["reason"]) for line in warned] == [(RUN, True)]
    signature = house.auth.link_signature(RUN, "{7}")  # somebody who makes links has chosen it
    assert house.join("{7}", signature=signature).status_code == 200


def test_an_address_with_two_names_is_refused(house: House) -> None:
    error(house.join(doubled=["worker"]), 403, "link_ambiguous")
    assert house.join("ann", doubled=["utm_source"]).status_code == 200


@pytest.mark.databases("sqlite", "postgresql")
def test_an_address_with_a_null_character_is_answered_by_the_page(house: House) -> None:
    for path in ("/w/harbour?worker=%00", "/w/har%00bour"):
        page = house.http("GET", path)
        assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    error(house.join("a\0b"), 422, "invalid_request")  # which is what the page is told then, and says


def test_joining_a_run_that_is_not_there(house: House) -> None:
    said = error(house.join("ann", run="nowhere"), 404, "run_not_found")
    assert "“nowhere”" in said["message"]


def test_joining_a_closed_run(house: House, url: str) -> None:
    execute(url, "UPDATE run SET status = 'closed'")
    error(house.join("ann"), 410, "run_closed")


def test_joining_a_run_that_this_server_does_not_serve(house: House, url: str) -> None:
    make_run(url, slug="later")  # its bots are registered nowhere
    error(house.join("ann", run="later"), 503, "run_not_ready")


def test_joining_a_full_run(url: str, serve: Serve) -> None:
    house = serve(url, make_run(url, study_text(assignments=1)))
    house.enrolled("ann")
    error(house.join("bob"), 409, "run_full")
    house.token("ann")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "run"),
        ({"run": ""}, "run"),
        ({"run": 5}, "run"),
        ({"run": "x" * 101}, "run"),
        ({"run": RUN, "worker": ""}, "worker"),
        ({"run": RUN, "worker": "   "}, "worker"),
        ({"run": RUN, "worker": "w" * 201}, "worker"),
        ({"run": RUN, "worker": 7}, "worker"),
        ({"run": RUN, "worker": "\ud800"}, "worker"),
        ({"run": RUN, "worker": "a\1b"}, "worker"),
        ({"run": RUN, "worker": "a", "signature": "x" * 65}, "signature"),
        ({"run": RUN, "token": "x" * 4_097}, "token"),
        ({"run": RUN, "reply_pace": 1.5}, "reply_pace"),
        ({"run": RUN, "reply_pace": -0.1}, "reply_pace"),
        ({"run": RUN, "reply_pace": float("nan")}, "reply_pace"),
        ({"run": RUN, "simulated": "perhaps"}, "simulated"),
        ({"run": RUN, "admin": True}, "admin"),
        ({"run": RUN, "\ud800": 1}, ""),
        ([], "body"),
    ],
)
def test_a_wrong_request_names_the_field(shared: House, body: Any, field: str) -> None:
    content, header = json.dumps(body), {"Content-Type": "application/json"}
    answer = shared.http("POST", "/api/join", content=content, headers=header)
    assert field in error(answer, 422, "invalid_request")["message"]


@pytest.mark.parametrize(
    ("content", "status", "code"),
    [
        (b"", 422, "invalid_request"),
        (b"{", 422, "invalid_request"),
        (b"\xff\xfe", 422, "invalid_request"),
        (b"[" * 60_000, 400, "http_error"),
        (b" " * 65_537, 413, "too_long"),
        (b" " * 5_000_000, 413, "too_long"),
    ],
    ids=["nothing", "half", "garbage", "deep", "long", "huge"],
)
def test_a_request_that_is_no_json(shared: House, content: bytes, status: int, code: str) -> None:
    header = {"Content-Type": "application/json"}
    error(shared.http("POST", "/api/join", content=content, headers=header), status, code)


@pytest.mark.parametrize(
    ("method", "path", "content"),
    [
        ("POST", "/api/join", {"run": "harbour\0"}),
        ("POST", "/api/join", {"run": "harbour", "worker": "ann\0"}),
        ("POST", "/api/account/sign-in", {"name": "x\0", "password": "y"}),
        ("POST", f"/api/desk/runs/{RUN}/pause", {"reason": "\\\0"}),
        ("GET", f"/api/desk/runs/{RUN}/conversations?text=%00", None),
        ("GET", "/api/desk/runs/%00", None),
        ("GET", "/api/desk/studies/a%00b", None),
    ],
)
@pytest.mark.databases("sqlite", "postgresql")
def test_no_request_has_a_null_character(house: House, method: str, path: str, content: Any) -> None:
    """PostgreSQL does not store it: each was said to be a fault of the database's, with a line in the log."""
    bearer = {"Authorization": f"Bearer {house.auth.researcher_token}", "Content-Type": "application/json"}
    body = None if content is None else json.dumps(content)
    assert house.http(method, path, headers=bearer, content=body).status_code == 422


def test_the_words_for_a_null_character_are_taken(house: House) -> None:
    """A backslash and `u0000` are six characters like others."""
    answer = house.desk(f"/runs/{RUN}/pause", method="POST", json={"reason": "mind the \\u0000"})
    assert answer.json()["reason"] == "mind the \\u0000"


@pytest.mark.parametrize(
    ("method", "path", "content", "status"),
    [
        ("GET", f"/runs/{RUN}/conversations?after=2020-01-01~x", None, 200),
        ("GET", f"/runs/{RUN}/conversations?after=0001-01-01T00:00:00%2B23:59~x", None, 422),
        ("GET", f"/runs/{RUN}/conversations?after=9999-12-31T23:59:59-23:59~x", None, 422),
        ("POST", f"/assignments/nobody/message-reports/{10**30}/seen", None, 422),
        ("POST", f"/assignments/nobody/flagged-lines/{10**30}/1/1/seen", None, 422),
        (
            "POST",
            f"/runs/{RUN}/wizard",
            {"conversation": "c", "turn": 10**30, "text": "Hello there"},
            422,
        ),
        ("DELETE", f"/runs/{RUN}/recruitment/bonuses/{10**30}", None, 422),
    ],
)
@pytest.mark.databases("sqlite", "postgresql")
def test_what_no_column_holds_is_the_callers_mistake(
    house: House, method: str, path: str, content: Any, status: int
) -> None:
    assert house.desk(path, method=method, json=content).status_code == status


@pytest.mark.parametrize(
    "fields", [{"simulated": True}, {"reply_pace": 0.0}, {"simulated": True, "reply_pace": 0.5}]
)
def test_only_a_researcher_may_simulate(shared: House, someone: str, fields: dict[str, Any]) -> None:
    error(shared.join(someone, **fields), 401, "token_missing")
    body = {"run": RUN, "worker": someone, **fields}
    wrong = shared.http("POST", "/api/join", json=body, headers={"Authorization": "Bearer wrong"})
    error(wrong, 401, "token_invalid")
    found = query(shared.url, "SELECT count(*) FROM worker WHERE external_id = ?", shared.kept(someone))
    assert found == [(0,)]


def simulate(house: House, worker: str, **fields: Any) -> dict[str, Any]:
    bearer = {"Authorization": f"Bearer {house.auth.researcher_token}"}
    body = {"run": house.runs[0].slug, "worker": worker, "simulated": True, **fields}
    answer = house.http("POST", "/api/join", json=body, headers=bearer)
    assert answer.status_code == 200, answer.text
    content: dict[str, Any] = answer.json()
    return content


def enrol_simulated(house: House, worker: str) -> str:
    content = simulate(house, worker)
    with house.open(content["token"]) as page:
        page.agree()
    return str(content["assignment"])


def test_a_simulated_worker_is_told_the_assignment(house: House, url: str) -> None:
    content = simulate(house, "robot", reply_pace=0.0)
    assert query(url, "SELECT count(*) FROM assignment") == [(0,)]
    with house.open(content["token"]) as page:
        page.agree()
    assert query(url, "SELECT id, simulated, reply_pace FROM assignment") == [(content["assignment"], 1, 0.0)]
    assert query(url, "SELECT platform FROM worker") == [("simulated",)]


def test_an_exempt_address_has_no_limit(url: str, run: OpenRun, serve: Serve) -> None:
    limits = dict.fromkeys(("joins_per_address", "attempts_per_address"), "3/minute")
    house = serve(url, run, **limits, exempt_addresses=["127.0.0.1"])
    for number in range(8):
        house.enrolled(f"w{number}")


@pytest.mark.databases("sqlite", "postgresql")
def test_a_database_that_cannot_be_read_is_said_so(url: str, run: OpenRun, serve: Serve) -> None:
    house = serve(url, run)
    execute(url, "ALTER TABLE worker RENAME TO hidden")
    said = error(house.join("ann"), 503, "storage_failed")
    assert "SQL" not in said["message"]
    execute(url, "ALTER TABLE hidden RENAME TO worker")
    house.token("ann")


# ---- addresses -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", ["/nowhere", "/api", "/api/desk/nowhere/x", "/assets/no.js", "/w/", "/w/a/b"]
)
def test_an_unknown_address(shared: House, path: str) -> None:
    headers = {"Authorization": f"Bearer {shared.auth.researcher_token}"}
    error(shared.http("GET", path, headers=headers), 404, "http_error")


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/api/join"), ("POST", f"/w/{RUN}"), ("DELETE", "/desk")]
)
def test_a_wrong_method(shared: House, method: str, path: str) -> None:
    error(shared.http(method, path), 405, "http_error")


@pytest.mark.parametrize("path", [f"/w/{RUN}", "/w/whatever", "/desk"])
def test_the_pages_are_always_asked_for_again(shared: House, path: str) -> None:
    answer = shared.http("GET", path)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/html")
    assert answer.headers["cache-control"] == "no-cache"
    assert_secure(answer)


def test_what_the_pages_load_is_kept(shared: House) -> None:
    (shared.folder / "pages" / "assets" / "worker-D0a1.js").write_text("1")
    answer = shared.http("GET", "/assets/worker-D0a1.js")
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    again = shared.http("GET", "/assets/worker-D0a1.js", headers={"If-None-Match": answer.headers["etag"]})
    assert again.status_code == 304
    missing = shared.http("GET", "/assets/worker-D0a2.js")
    assert "immutable" not in missing.headers.get("cache-control", "")


def test_health(shared: House) -> None:
    answer = shared.http("GET", "/healthz")
    assert answer.json() == {"status": "ok"}
    assert_secure(answer)


@pytest.mark.parametrize(
    "path", ["/assets/../../candor.db", "/assets/%2e%2e/%2e%2e/candor.db", "/assets/..%2f..%2fcandor.db"]
)
def test_nothing_outside_the_pages_is_served(shared: House, path: str) -> None:
    assert (shared.folder / "candor.db").exists()  # two folders above the assets
    assert shared.http("GET", path).status_code == 404


# ---- the researcher's calls ------------------------------------------------------------------

DESK = ["/runs", f"/runs/{RUN}", "/assignments/x", "/assignments/x/simulation"]


@pytest.mark.parametrize("path", DESK)
@pytest.mark.parametrize(
    ("header", "code"),
    [
        ({}, "token_missing"),
        ({"Authorization": ""}, "token_missing"),
        ({"Authorization": "Bearer"}, "token_missing"),
        ({"Authorization": "Basic cmVzZWFyY2hlci10b2tlbg=="}, "token_missing"),
        ({"Authorization": "Bearer wrong"}, "token_invalid"),
        ({"Authorization": "Bearer researcher-tokenx"}, "token_invalid"),
        ({"Authorization": b"Bearer \xff\xfe"}, "token_invalid"),
    ],
)
def test_the_desk_is_closed_without_the_token(shared: House, path: str, header: Any, code: str) -> None:
    error(shared.http("GET", f"/api/desk{path}", headers=header), 401, code)


def test_a_workers_token_opens_no_desk(shared: House, someone: str) -> None:
    error(shared.desk("/runs", shared.token(someone)), 401, "token_invalid")


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/runs/nowhere", "run_not_found"),
        ("/assignments/nobody", "assignment_not_found"),
        ("/assignments/nobody/simulation", "assignment_not_found"),
    ],
)
def test_what_is_not_there(shared: House, path: str, code: str) -> None:
    error(shared.desk(path), 404, code)


@pytest.fixture
def visited(house: House) -> House:
    """A house where one worker has gone all the way, one has left, one is in the first chat."""
    with house.page("zoe") as page:
        page.whole()
    with house.page("left") as page:
        page.agree()
        page.ask("leave")
    with house.page("here") as page:
        page.agree()
        page.open_topic()
        page.say("Hello?")
    return house


def test_a_run_in_numbers(visited: House) -> None:
    (run,) = visited.desk("/runs").json()["runs"]
    assert run["run"] == RUN
    assert run["study"] == "lighthouse"
    assert run["status"] == "open"
    assert run["assignments"] == {"active": 1, "completed": 1, "returned": 1, "expired": 0}
    assert run["conversations_rated"] == 4
    assert run["simulated"] == {"active": 0, "completed": 0, "returned": 0, "expired": 0}
    assert run["simulated_conversations_rated"] == 0
    assert run["worker_link"].endswith(f"/w/{RUN}")


def test_a_runs_systems_and_workers(visited: House) -> None:
    run = visited.desk(f"/runs/{RUN}").json()
    systems = {system["system"]: system for system in run["systems"]}
    assert set(systems) == {*SYSTEMS, "qc"}
    assert [name for name, system in systems.items() if system["is_qc"]] == ["qc"]
    assert sum(system["rated"] for system in systems.values()) == 4
    assert sum(system["active"] for system in systems.values()) == 1
    # Four conversations with two inputs each, and one line in the chat that goes on.
    assert sum(system["inputs"] for system in systems.values()) == 9
    # Four rated, one under way, three to come; what was given back is nobody's any more.
    states = ("planned", "active", "rated", "failed", "skipped")
    assert sum(system[state] for system in systems.values() for state in states) == 8
    by_status = {worker["status"]: worker for worker in run["workers"]}
    assert by_status["completed"]["conversations_rated"] == 4
    assert by_status["completed"]["inputs"] == 8
    code = by_status["completed"]["completion_code"]
    assert code == visited.auth.completion_code(by_status["completed"]["assignment"])
    assert by_status["returned"]["completion_code"] is by_status["active"]["completion_code"] is None


def test_researchers_see_pseudonyms_only(visited: House) -> None:
    seen = visited.desk(f"/runs/{RUN}").text
    for worker in ("zoe", "left", "here"):
        assert visited.auth.pseudonym("link", worker) in seen
    assert '"zoe"' not in seen


def test_a_transcript(house: House) -> None:
    with house.page("ann") as page:
        page.agree()
        page.open_topic("the sea")
        page.say("first")
        page.ask("topic_change", how="bot change", topic="ships", opinion="like", bot_opinion="dislike")
        page.say("second")
        page.send("end_conversation")
        page.until("rating_due")
        page.rate()
    ((assignment, system),) = query(
        house.url,
        "SELECT assignment_id, system.name FROM conversation JOIN system ON system.id = system_id "
        "WHERE position = 1",
    )
    transcript = house.desk(f"/assignments/{assignment}").json()
    assert transcript["status"] == "active"
    first, *rest = transcript["conversations"]
    assert (first["position"], first["attempt"], first["system"]) == (1, 1, system)
    assert (first["family"], first["is_qc"], first["status"]) == (SYSTEMS[system], False, "rated")
    assert [(turn["turn_index"], turn["author"], turn["text"]) for turn in first["turns"]] == [
        (0, "worker", "first"),
        (1, "bot", "Reply 0 to: first"),
        (2, "worker", "second"),
        (3, "bot", "Reply 1 to: second"),
    ]
    assert first["topic_marks"] == [
        {"round": 0, "topic": "the sea", "how": None, "opinion": "like", "bot_opinion": None},
        {"round": 1, "topic": "ships", "how": "bot change", "opinion": "like", "bot_opinion": "dislike"},
    ]
    # In the study's order, with the statement that the worker saw.
    assert [(rating["criterion"], rating["value"]) for rating in first["ratings"]] == [
        (label, RATINGS[label]) for label in CRITERIA
    ]
    assert first["ratings"][0]["statement"] == "It was a machine."
    assert bool(first["persona"]) == system.endswith("_warm")
    assert [conversation["status"] for conversation in rest] == ["planned"] * 3


def test_what_a_simulated_worker_may_look_up(house: House) -> None:
    assignment = enrol_simulated(house, "robot")
    believed = house.desk(f"/assignments/{assignment}/simulation").json()
    planned = query(
        house.url,
        "SELECT position, system.name FROM conversation JOIN system ON system.id = system_id ORDER BY 1",
    )
    assert believed["conversations"] == [
        {
            "conversation": position,
            "attempt": 1,
            "quality": 0.0 if name == "qc" else 0.5,
            "item": None,
            "system": name,
        }
        for position, name in planned
    ]
    assert [criterion["label"] for criterion in believed["criteria"]] == list(CRITERIA)
    assert believed["criteria"][0] == {"label": "robotic", "negative": True, "qc": False}


def test_a_persons_systems_cannot_be_looked_up(house: House) -> None:
    house.enrolled("ann")
    ((assignment,),) = query(house.url, "SELECT id FROM assignment")
    error(house.desk(f"/assignments/{assignment}/simulation"), 403, "not_simulated")


def test_a_study_without_beliefs_has_none_to_look_up(url: str, serve: Serve) -> None:
    house = serve(url, make_run(url, study_text(simulate=None)))
    assignment = enrol_simulated(house, "robot")
    error(house.desk(f"/assignments/{assignment}/simulation"), 403, "not_simulated")
