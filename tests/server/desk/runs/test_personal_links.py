"""Personal links of a list, over the API: each leads one worker to one place, however often it is used."""

import csv
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.server.support.answers import error
from tests.server.support.server import House, stored
from tests.server.support.study import RUN


def links(house: House, workers: str) -> dict[str, str]:
    answer = house.desk(f"/runs/{RUN}/links.csv", method="POST", json={"workers": workers})
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Disposition"] == 'attachment; filename="links.csv"'
    return {row["worker"]: row["link"] for row in csv.DictReader(answer.text.splitlines())}


def come(house: House, link: str) -> str:
    query = {name: values[0] for name, values in parse_qs(urlsplit(link).query).items()}
    joined = house.join(query["worker"], signature=query["signature"])
    assert joined.status_code == 200, joined.text
    return str(joined.json()["token"])


def test_a_link_that_is_used_twice_leads_to_one_place(house: House) -> None:
    found = links(house, "name,worker\nA,ann\nB,bob\n")
    assert list(found) == ["ann", "bob"]
    assert links(house, "ann")["ann"] == found["ann"]
    for _ in range(2):  # in two browsers: neither brings what the other remembers
        with house.open(come(house, found["ann"])) as page:
            if page.snapshot["phase"] == "instructions":
                page.agree()
            assert page.snapshot["phase"] in {"instructions", "topic"}
    assert stored(house, "SELECT count(*) FROM assignment") == [(1,)]


def test_a_list_may_be_long_though_other_requests_may_not(house: House) -> None:
    workers = [f"participant-{number:012}" for number in range(20_000)]
    assert list(links(house, "\n".join(workers))) == workers
    path, longer = f"/runs/{RUN}/links.csv", {"workers": "x" * 2_100_000}
    assert house.desk(path, method="POST", json=longer).status_code == 413
    reason = {"reason": "x" * 70_000}
    assert house.desk(f"/runs/{RUN}/pause", method="POST", json=reason).status_code == 413


@pytest.mark.parametrize(
    ("workers", "said"),
    [
        ("", "it contains no worker"),
        ("ann\nbob\nann", "line 3: the worker `ann` is in line 1 already"),
        ("name,mail\nA,b", "none is named `worker`"),
        ("a\x07b", "line 1: this is not a valid worker's id"),
    ],
)
def test_a_list_with_a_mistake_says_where_it_is(house: House, workers: str, said: str) -> None:
    answer = house.desk(f"/runs/{RUN}/links.csv", method="POST", json={"workers": workers})
    assert said in error(answer, 422, "worker_list_invalid")["message"]


def test_links_are_to_a_run_that_is_there(house: House) -> None:
    answer = house.desk("/runs/nowhere/links.csv", method="POST", json={"workers": "ann"})
    assert answer.status_code == 404
