"""A run that recruits on the stand-in, with the workers that come from there."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from server.config import RecruiterAccess
from server.db.store import Store
from server.recruiting.platform import Platform
from tests.server.support.page import Page
from tests.server.support.prolific import Prolific
from tests.server.support.server import House

CODE = "C1AB2CD3"
# What each endpoint writes into the audit log; the tests of recruiting call all of them.
RECRUITING_ROWS = {
    "POST /api/desk/runs/{run}/recruitment": "recruitment.create",
    "DELETE /api/desk/runs/{run}/recruitment": "recruitment.discard",
    "POST /api/desk/runs/{run}/recruitment/run": "run.open",
    "POST /api/desk/runs/{run}/recruitment/publish": "recruitment.publish",
    "POST /api/desk/runs/{run}/recruitment/pause": "recruitment.pause",
    "POST /api/desk/runs/{run}/recruitment/resume": "recruitment.start",
    "POST /api/desk/runs/{run}/recruitment/close": "recruitment.stop",
    "PUT /api/desk/runs/{run}/recruitment/places": "recruitment.places",
    "POST /api/desk/runs/{run}/recruitment/decisions": "pay.approve",
    "POST /api/desk/runs/{run}/recruitment/decisions/{submission}/repeat": "pay.repeat",
    "POST /api/desk/runs/{run}/recruitment/messages": "participants.message",
    "POST /api/desk/runs/{run}/recruitment/bonuses": "bonus.prepare",
    "DELETE /api/desk/runs/{run}/recruitment/bonuses/{batch}": "bonus.discard",
    "POST /api/desk/runs/{run}/recruitment/bonuses/{batch}/pay": "bonus.pay",
    "POST /api/desk/runs/{run}/recruitment/bonuses/{batch}/look": "bonus.look",
}
# What each command writes; None: it reads. Their own tests call all of them.
RECRUIT_COMMANDS = {
    "create": "recruitment.create",
    "discard": "recruitment.discard",
    "publish": "recruitment.publish",
    "pause": "recruitment.pause",
    "resume": "recruitment.start",
    "places": "recruitment.places",
    "show": None,
    "pay": "pay.approve",
    "approve": "pay.approve",
    "reject": "pay.reject",
    "partial": "pay.partial",
    "repeat": "pay.repeat",
    "message": "participants.message",
    "bonus": "bonus.prepare",
    "pay-bonus": "bonus.pay",
    "look-at-bonus": "bonus.look",
    "discard-bonus": "bonus.discard",
    "listen": "recruitment.listen",
    "close": "recruitment.stop",
}
PLAN = {
    "places": 5,
    "reward": 450,
    "minutes": 20,
    "screen_out_reward": 50,
    "screen_out_places": 3,
}


@dataclass(frozen=True)
class Person:
    """Somebody who does something, as the audit log says it."""

    name: str
    kind: str = "person"


@dataclass
class Recruiting:
    """A server and the stand-in that it recruits on."""

    house: House
    prolific: Prolific

    @property
    def run(self) -> str:
        return self.house.runs[0].slug

    def ask(self, path: str = "", method: str = "POST", **body: Any) -> Any:
        """Return what the API of recruiting answers, which has to be a success."""
        answer = self.house.desk(
            f"/runs/{self.run}/recruitment{path}", method=method, **({"json": body} if body else {})
        )
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None

    def refused(self, path: str = "", method: str = "POST", **body: Any) -> str:
        """Return the code of the refusal that the API answers."""
        answer = self.house.desk(
            f"/runs/{self.run}/recruitment{path}", method=method, **({"json": body} if body else {})
        )
        assert not answer.is_success, answer.text
        return str(answer.json()["error"]["code"])

    @contextmanager
    def another_process(self) -> Iterator[tuple[Store, Platform]]:
        """Yield what another process of the same installation has: a store, and the platform."""
        store = Store(self.house.url)
        store.start()
        try:
            yield store, Platform({"prolific": RecruiterAccess(self.prolific.url, self.prolific.token)})
        finally:
            store.stop()

    def shown(self) -> Any:
        """Return the study as it was last read."""
        return self.ask(method="GET")["recruitment"]

    def refreshed(self) -> Any:
        """Read the study anew, and return it."""
        return self.ask("/refresh")["recruitment"]

    def publish(self, **changes: Any) -> str:
        """Create and publish the study; return its id there."""
        self.ask(**(PLAN | changes))
        return str(self.ask("/publish")["recruitment"]["study"])

    def arrive(self, participant: str) -> tuple[str, str]:
        """Have a participant take a place and come; return the submission, and the token of the page."""
        platform = self.prolific.platform
        submission = platform.reserve(self.shown()["study"], participant)
        platform.open(submission.id)
        parameters = {
            "PROLIFIC_PID": participant,
            "STUDY_ID": submission.study,
            "SESSION_ID": submission.id,
        }
        joined = self.house.join(parameters=parameters)
        assert joined.is_success, joined.text
        return submission.id, str(joined.json()["token"])

    def finish(self, participant: str, *, code: str | None = CODE) -> str:
        """Have a participant come, go all the way and hand in; return the submission."""
        submission, token = self.arrive(participant)
        with self.house.open(token) as page:
            page.whole()
        self.prolific.platform.complete(submission, code)
        return submission

    def begin(self, participant: str) -> tuple[str, Page]:
        """Have a participant come and agree, and go away; return the submission and the page that was."""
        submission, token = self.arrive(participant)
        with self.house.open(token) as page:
            page.agree()
        return submission, page
