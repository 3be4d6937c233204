"""A worker who comes back, at any phase and from any recruiter, resumes the same session at the same step."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.server.support.database import make_run
from tests.server.support.page import Page
from tests.server.support.server import House, stored
from tests.server.support.study import study_text

Address = dict[str, Any]  # what the address by which somebody comes brings along


@dataclass(frozen=True)
class Way:
    """How a worker comes from one recruiter: by one address first, and by another in a later visit.

    `names`: whether the address says who it is. `is_signed`: they come by a personal link.
    """

    recruiter: dict[str, Any] | None
    first: Address
    later: Address
    names: bool = True
    is_signed: bool = False


def parameters(**given: str) -> Address:
    return {"parameters": given}


ANN = {"worker": "ann"}
WAYS = {
    "prolific": Way(
        {"kind": "prolific", "completion_code": "C1AB2CD3"},
        parameters(PROLIFIC_PID="5f3a", STUDY_ID="s", SESSION_ID="v1"),
        parameters(PROLIFIC_PID="5f3a", STUDY_ID="s", SESSION_ID="v2"),
    ),
    "connect": Way(
        {"kind": "connect", "completion_code": "Q7"},
        parameters(participantId="5f3a", assignmentId="a1", projectId="p"),
        parameters(participantId="5f3a", assignmentId="a2", projectId="p"),
    ),
    "sona": Way(
        {"kind": "sona", "school": "tide.sona-systems.com", "experiment_id": 12, "credit_token": "9a8b"},
        parameters(survey_code="4711"),
        parameters(survey_code="4711"),
    ),
    "personal link": Way(None, ANN, ANN, is_signed=True),
    "link with an id": Way(None, ANN, ANN),
    "open link": Way(None, {}, {}, names=False),
}


class Browser:
    """A worker's browser, which keeps the token that it was given last."""

    def __init__(self, house: House, way: Way) -> None:
        self.house, self.way = house, way
        self.token = self.join(way.first)

    def join(self, address: Address, **kept: str) -> str:
        signed: Address = {}
        if self.way.is_signed:
            signature = self.house.auth.link_signature(self.house.runs[0].slug, address["worker"])
            signed = {"signature": signature}
        answer = self.house.join(**address, **signed, **kept)
        assert answer.status_code == 200, answer.text
        return str(answer.json()["token"])

    def seen(self) -> dict[str, Any]:
        """Return what the page is shown when it connects; then the connection is lost."""
        with self.house.open(self.token) as page:
            return page.snapshot

    def does(self, *steps: Callable[[Page], object]) -> None:
        """Take steps, each on a connection of its own."""
        for step in steps:
            with self.house.open(self.token) as page:
                step(page)

    def comes_back(self, phase: str) -> None:
        """Come back by every way that there is: each shows the very same page."""
        before = self.seen()
        assert before["phase"] == phase
        assert self.seen() == before, "the connection was lost"
        self.token = self.join(self.way.first, token=self.token, earlier=self.token)
        assert self.seen() == before, "the page was loaded anew"
        self.token = self.join(self.way.later, token=self.token, earlier=self.token)
        assert self.seen() == before, "another visit, in the same browser"
        if self.way.names:
            self.token = self.join(self.way.later)
            assert self.seen() == before, "another device"


def end_conversation(page: Page) -> None:
    page.send("end_conversation")
    page.until("rating_due")


def to_the_feedback(page: Page) -> None:
    for _ in range(3):
        page.rate()
        page.converse()
    page.rate("feedback_due")


def hand_in(page: Page) -> None:
    page.send("feedback", text="Thank you.")
    page.until("completed")


@pytest.mark.parametrize("way", WAYS.values(), ids=list(WAYS))
def test_the_same_worker_in_the_same_place(url: str, serve: Callable[..., House], way: Way) -> None:
    given = {"recruiter": way.recruiter} if way.recruiter is not None else {}
    house = serve(url, make_run(url, study_text(**given)), signed_links=way.is_signed)
    browser = Browser(house, way)
    browser.comes_back("instructions")
    assert stored(house, "SELECT count(*) FROM assignment") == [(0,)]
    browser.does(Page.agree)
    browser.comes_back("topic")
    browser.does(Page.open_topic, lambda page: page.say("Hello?"))
    browser.comes_back("chat")
    browser.does(lambda page: page.say("Who is there?"), end_conversation)
    browser.comes_back("rating")
    browser.does(to_the_feedback)
    browser.comes_back("feedback")
    browser.does(hand_in)
    browser.comes_back("done")
    counted = "SELECT (SELECT count(*) FROM assignment), (SELECT count(*) FROM worker)"
    assert stored(house, counted) == [(1, 1)]
