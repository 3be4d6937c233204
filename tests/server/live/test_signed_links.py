"""Personal links: what their signature is good for, and a server that takes nothing else."""

from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from server.bots.lineup import OpenRun
from tests.server.support.answers import error
from tests.server.support.server import House, stored
from tests.server.support.study import RUN

Serve = Callable[..., House]


@pytest.fixture
def strict(url: str, run: OpenRun, serve: Serve) -> House:
    """A server that takes personal links only."""
    return serve(url, run, signed_links=True)


def come(house: House, worker: str, **fields: Any) -> httpx2.Response:
    """Join by the personal link of `worker`."""
    return house.join(worker, signature=house.auth.link_signature(RUN, worker), **fields)


@pytest.mark.parametrize("worker", ["ann", " ann ", "日本 & co"])
def test_a_personal_link_leads_in(strict: House, worker: str) -> None:
    answer = strict.join(worker, signature=strict.auth.link_signature(RUN, worker.strip()))
    assert answer.status_code == 200
    with strict.open(answer.json()["token"]) as page:
        page.agree()
    assert stored(strict, "SELECT external_id FROM worker") == [(strict.kept(worker.strip()),)]


@pytest.mark.parametrize("worker", ["ann", None])
def test_a_link_without_a_signature_is_refused_where_that_is_set(strict: House, worker: str | None) -> None:
    said = error(strict.join(worker), 403, "link_unsigned")
    assert "link that you were sent" in said["hint"]
    assert stored(strict, "SELECT count(*) FROM worker") == [(0,)]


@pytest.mark.parametrize("strictly", [True, False])
def test_a_wrong_signature_is_refused_whatever_is_set(
    url: str, run: OpenRun, serve: Serve, strictly: bool
) -> None:
    house = serve(url, run, signed_links=strictly)
    bobs = house.auth.link_signature(RUN, "bob")
    for worker, signature in (
        ("ann", bobs),
        ("ann", ""),
        ("ann", "x" * 16),
        ("ann", "日本"),
        (None, bobs),
        ("ann", house.auth.link_signature("another-run", "ann")),
    ):
        said = error(house.join(worker, signature=signature), 403, "link_altered")
        assert "Copy the whole link again" in said["hint"]


def test_whoever_came_by_a_personal_link_can_come_back_without_it(strict: House) -> None:
    ticket = come(strict, "ann").json()["token"]
    assert strict.join(token=ticket).status_code == 200
    with strict.open(ticket) as page:
        page.agree()
    for token in (ticket, strict.join(token=ticket).json()["token"]):
        assert strict.join("ann", token=token).status_code == 200
    error(strict.join("ann"), 403, "link_unsigned")


def test_a_simulated_worker_needs_the_researchers_token_only(strict: House) -> None:
    bearer = {"Authorization": f"Bearer {strict.auth.researcher_token}"}
    body = {"run": RUN, "worker": "robot", "simulated": True}
    answer = strict.http("POST", "/api/join", json=body, headers=bearer)
    with strict.open(answer.json()["token"]) as page:
        page.agree()


# ---- set while a study is under way ----------------------------------------------------------


def become_strict(house: House) -> None:
    """Start the server again, which takes personal links only from then on."""
    house.stop()
    house.settings["signed_links"] = True
    house.start()


def test_whoever_has_an_assignment_goes_on_where_their_browser_remembers_it(house: House) -> None:
    token = house.enrolled("ann")
    become_strict(house)
    with house.open(token) as page:
        assert page.snapshot["phase"] == "topic"
    answer = house.join("ann", token=token)
    assert answer.status_code == 200
    with house.open(answer.json()["token"]) as page:
        assert page.snapshot["phase"] == "topic"
    assert come(house, "ann").json()["assignment"] == answer.json()["assignment"]


def test_tickets_that_were_hoarded_before_take_no_places(house: House) -> None:
    tokens = [house.token(f"squatter-{n}") for n in range(5)] + [house.join().json()["token"]]
    become_strict(house)
    for token in tokens:
        with house.socket() as page:
            page.send("hello", token=token)
            (refusal,) = page.closed()
        assert (refusal["code"], refusal["retry"]) == ("link_unsigned", False)
        error(house.join(token=token), 403, "link_unsigned")
    assert stored(house, "SELECT count(*) FROM assignment") == [(0,)]


def test_a_ticket_in_anothers_name_opens_nothing_of_theirs(house: House) -> None:
    stolen = house.token("ann")
    house.enrolled("ann")
    become_strict(house)
    with house.socket() as page:
        page.send("hello", token=stolen)
        (refusal,) = page.closed()
    assert refusal["code"] == "link_unsigned"
    error(house.join("ann", token=stolen), 403, "link_unsigned")
    error(house.join(token=stolen), 403, "link_unsigned")
