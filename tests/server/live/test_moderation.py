"""In a study with `moderation: classifier` no worker waits, and what is said goes with their words."""

import threading
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from bots.serving import Moderation
from server.bots.opened_bots import OpenedBots
from server.recruiters.stand_in.serving import serving
from tests.server.support.database import make_run
from tests.server.support.server import House, stored
from tests.server.support.study import study_text
from tests.support.moderation import PATH, ModerationStandIn
from tests.support.waiting import wait_until

pytestmark = pytest.mark.databases("sqlite", in_soak=["postgresql"])
JUDGED = "SELECT turn_index, author, flagged, categories, score FROM v1_moderated_line ORDER BY turn_index"


@pytest.fixture
def service() -> ModerationStandIn:
    return ModerationStandIn()


@pytest.fixture
def house(url: str, serve: Callable[..., House], service: ModerationStandIn) -> Iterator[House]:
    with serving(service.app) as address:
        bots = OpenedBots(refuse_private=False, moderation=Moderation(f"{address}{PATH}"))
        run = make_run(url, study_text(moderation="classifier", withdrawal_days=7))
        opened = serve(url, run, opened_bots=bots)
        yield opened
        opened.stop()


def test_no_worker_waits_for_it_and_what_it_says_goes_with_their_words(
    house: House, service: ModerationStandIn
) -> None:
    service.held = threading.Event()
    with house.page("ann") as page:  # whose chatbot says again what was said
        assert page.snapshot["study"]["moderation"] == "classifier"
        page.agree()
        page.open_topic()
        page.say("I grumble.")
        service.reached.wait()
        page.say("And it has not answered yet.")
        assert stored(house, JUDGED) == []
        service.held.set()
        wait_until(lambda: len(stored(house, JUDGED)) == 4, "all lines to be judged")
        assert "harassment" not in "".join(page.frames)
    found = [(index, author, bool(flagged)) for index, author, flagged, *_ in stored(house, JUDGED)]
    assert found == [(0, "worker", True), (1, "bot", True), (2, "worker", False), (3, "bot", False)]
    own = house.http("POST", "/api/own-data/download", json={"token": house.token("ann")}).json()
    told = [line["flagged"] for line in own["conversations"][0]["lines"]]
    assert told == [["harassment", "violence"], None, [], None]
    forgotten = house.desk("/workers/forget", method="POST", json={"worker": "ann", "extent": "words"})
    assert forgotten.status_code == 200
    kept = [tuple(row[3:]) for row in stored(house, JUDGED)]
    assert kept == [("[removed]", None), ("[removed]", None), ("", None), ("", None)]


def test_all_of_it_goes_with_all(house: House) -> None:
    with house.page("ann") as page:
        page.agree()
        page.open_topic()
        page.say("I grumble.")
        wait_until(lambda: len(stored(house, JUDGED)) == 2, "both lines to be judged")
    house.desk("/workers/forget", method="POST", json={"worker": "ann", "extent": "all"})
    assert stored(house, "SELECT count(*) FROM moderated_line") == [(0,)]


@pytest.mark.databases("sqlite")
def test_a_run_that_nobody_could_judge_is_not_opened(url: str, serve: Callable[..., House]) -> None:
    house = serve(url, make_run(url))
    opened = partial(house.desk, "/runs", method="POST")
    study = study_text(moderation="classifier", name="judged")
    refused = opened(json={"run": "judged", "yaml": study, "despite_failing_bots": True})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "no_moderation")
    assert "CANDOR_MODERATION_URL" in refused.json()["error"]["hint"]
    make_run(url, study, slug="older")
    again = house.desk("/runs/older/replicate", method="POST", json={})
    assert (again.status_code, again.json()["error"]["code"]) == (409, "no_moderation")
