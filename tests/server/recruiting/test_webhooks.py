"""The platform tells of what happens: signed, once, in any order, or not at all."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

import httpx2
import pytest
from structlog.testing import capture_logs

from server.clock import utc_now
from server.db.engine import open_engine
from server.db.recruiting.recruitments import take_event
from server.recruiters.prolific.hooks import EVENT, SIGNATURE, TIMESTAMP
from server.recruiters.stand_in.records import Event
from server.recruiters.stand_in.serving import send
from tests.server.support.database import execute, make_run
from tests.server.support.prolific import Prolific
from tests.server.support.recruiting import CODE, Recruiting
from tests.server.support.server import House, stored
from tests.server.support.study import study_text
from tests.support.waiting import wait_until

WORKSPACE = "w"
Start = Callable[..., "Listening"]
PATH = "/api/recruitment/prolific/events"


@dataclass
class Listening(Recruiting):
    """A server that the stand-in sends its events to. It does not look by itself."""

    readings: list[str]

    def told(self) -> list[Event]:
        """Return the events that were not sent yet."""
        return [one for one in self.prolific.platform.events if one.status == "PENDING"]

    def send(self, event: Event) -> httpx2.Response:
        return send(self.prolific.platform, event, utc_now())

    def statuses(self) -> list[str]:
        return [status for (status,) in stored(self.house, "SELECT status FROM submission ORDER BY id")]


@pytest.fixture
def listen(
    url: str, prolific: Prolific, serve: Callable[..., House], monkeypatch: pytest.MonkeyPatch
) -> Start:
    """Return a function that starts the server, with some settings changed."""
    platform = prolific.platform
    read, readings = platform.of_study, list[str]()
    monkeypatch.setattr(platform, "of_study", lambda study: (readings.append(study), read(study))[1])
    secret = platform.new_secret(WORKSPACE)["value"]

    def start(**settings: object) -> Listening:
        run = make_run(url, study_text(recruiter={"kind": "prolific", "completion_code": CODE}))
        given = {
            "prolific_token": prolific.token,
            "prolific_api": prolific.url,
            "prolific_hook_secret": secret,
        }
        house = serve(url, run, **(given | settings))
        polled = "FROM job_lease WHERE name = 'recruitment'"
        wait_until(lambda: stored(house, f"SELECT 1 {polled}") != [], "the first look")
        never = "holder = 'nobody', until = '2999-01-01 00:00:00'"
        execute(url, f"UPDATE job_lease SET {never} WHERE name = 'recruitment'")  # noqa: S608
        target = f"http://127.0.0.1:{house.port}{PATH}"
        for kind in ("study.status.change", "submission.status.change"):
            given = {"workspace_id": WORKSPACE, "event_type": kind, "target_url": target}
            platform.subscribe(given).is_enabled = True
        return Listening(house, prolific, readings)

    return start


def test_what_happens_on_the_platform_is_read_as_it_tells_of_it(listen: Start) -> None:
    here = listen()
    study = here.publish()
    (published,) = here.told()
    assert here.send(published).status_code == 204
    here.prolific.platform.reserve(study, "PID-ann")
    (reserved,) = here.told()  # of a submission that is not known here yet
    assert here.send(reserved).status_code == 204
    wait_until(lambda: here.statuses() == ["RESERVED"], "the reading")


def test_events_in_another_order_and_lost_ones_lead_to_what_the_platform_says(listen: Start) -> None:
    here = listen()
    submission = here.prolific.platform.reserve(here.publish(), "PID-ann")
    here.prolific.platform.open(submission.id)
    here.prolific.platform.complete(submission.id, CODE)
    _published, reserved, opened, submitted = here.told()
    for event in (submitted, reserved):
        assert here.send(event).status_code == 204
    assert opened.status == "PENDING"
    wait_until(lambda: here.statuses() == ["AWAITING REVIEW"], "the reading")
    # Nobody is there to hear of the return: the server finds it as it begins.
    here.house.stop()
    here.prolific.platform.give_back(submission.id)
    execute(here.house.url, "DELETE FROM job_lease")
    with pytest.raises(httpx2.HTTPError):
        here.send(here.told()[-1])
    here.house.start()
    wait_until(lambda: here.statuses() == ["RETURNED"], "the first look")


def test_events_that_were_lost_while_the_server_was_down_are_taken_up_at_its_start(listen: Start) -> None:
    here = listen()
    house, platform = here.house, here.prolific.platform
    submission = platform.reserve(here.publish(), "PID-ann")
    house.settings["public_url"] = f"http://127.0.0.1:{house.port}"  # as the subscriptions have it
    house.stop()
    platform.open(submission.id)
    for event in here.told():
        with pytest.raises(httpx2.HTTPError):
            here.send(event)
    house.start()
    wait_until(lambda: here.ask(method="GET")["lost_events"] == 3, "the look for lost events")
    assert here.statuses() == ["ACTIVE"]
    assert len(here.readings) == 1  # of two events, of a submission that was not known and of a study
    taken = stored(house, "SELECT count(*) FROM platform_event")
    house.stop()
    house.start()
    assert stored(house, "SELECT count(*) FROM platform_event") == taken == [(3,)]


def test_an_event_that_did_not_arrive_is_taken_up_once_for_as_long_as_it_is_listed(listen: Start) -> None:
    here = listen()
    house, platform = here.house, here.prolific.platform
    house.settings["public_url"] = f"http://127.0.0.1:{house.port}"  # as the subscriptions have it
    assert here.ask(method="GET")["lost_events"] == 0
    here.publish()
    house.stop()
    (published,) = here.told()
    with pytest.raises(httpx2.HTTPError):
        here.send(published)
    house.start()
    wait_until(lambda: here.ask(method="GET")["lost_events"] == 1, "the look for lost events")
    assert len(here.readings) == 1
    shown = here.ask(method="GET")
    assert (shown["lost_events"], shown["lost_at"] is not None) == (1, True)
    # Days later: what has arrived is forgotten by then, what is still listed is not.
    execute(house.url, "UPDATE platform_event SET received_at = '2026-01-01 00:00:00.000000'")
    engine = open_engine(house.url)
    with engine.begin() as connection:
        assert take_event(connection, "another", "signed", utc_now())
    engine.dispose()
    another_look(house)
    assert len(here.readings) == 1
    platform.events.clear()
    another_look(house)
    assert here.ask(method="GET")["lost_events"] == 0


def test_an_event_whose_study_could_not_be_read_is_taken_up_by_the_next_look(listen: Start) -> None:
    here = listen()
    house, platform = here.house, here.prolific.platform
    house.settings["public_url"] = f"http://127.0.0.1:{house.port}"  # as the subscriptions have it
    study = here.publish()
    house.stop()
    (published,) = here.told()
    with pytest.raises(httpx2.HTTPError):
        here.send(published)
    gone = platform.studies.pop(study)
    house.start()
    wait_until(lambda: here.shown()["fault"] is not None, "the failure")
    assert here.ask(method="GET")["lost_events"] == 0
    platform.studies[study] = gone
    another_look(house)
    assert here.ask(method="GET")["lost_events"] == 1
    assert here.shown()["fault"] is None


def another_look(house: House) -> None:
    """Have the server look for lost events once more, as one that starts does."""
    house.stop()
    noted = "INSERT INTO platform_event (id, signature, received_at) VALUES ('gone', 'lost gone', ?)"
    execute(house.url, noted, "2026-01-01 00:00:00.000000")  # what is listed no more goes with the look
    house.start()
    wait_until(lambda: stored(house, "SELECT 1 FROM platform_event WHERE id = 'gone'") == [], "a look")


def test_a_subscription_that_is_missing_is_made_anew_by_the_server(listen: Start) -> None:
    here = listen(prolific_workspace=WORKSPACE)
    house, platform = here.house, here.prolific.platform
    house.settings["public_url"] = f"http://127.0.0.1:{house.port}"
    house.stop()
    removed, *_ = list(platform.subscriptions)
    kind = platform.subscriptions.pop(removed).event_type
    house.start()

    def subscribed() -> set[str]:
        there = tuple(platform.subscriptions.values())  # the server adds to them meanwhile
        ours = [one for one in there if one.target_url.startswith(house.settings["public_url"])]
        return {one.event_type for one in ours if one.is_enabled}

    wait_until(lambda: kind in subscribed(), "the subscription")
    assert len([one for one in tuple(platform.subscriptions.values()) if one.event_type == kind]) <= 2


def test_a_replayed_event_is_answered_and_leads_to_nothing(listen: Start) -> None:
    here = listen()
    submission = here.prolific.platform.reserve(here.publish(), "PID-ann")
    published, reserved = here.told()
    with capture_logs() as lines:
        first = here.send(reserved)
        wait_until(lambda: here.statuses() == ["RESERVED"], "the reading")
        assert here.send(reserved).status_code == 204  # sent again, at another time
        assert again(first).status_code == 204
        assert again(first, event="another").status_code == 204  # the id is not signed
        here.prolific.platform.open(submission.id)
        assert here.send(published).status_code == 204
        wait_until(lambda: here.statuses() == ["ACTIVE"], "the reading")
    refused = [line for line in lines if line["event"] == "event refused"]
    assert [line["reason"] for line in refused] == ["it has arrived before"] * 3
    assert len(here.readings) == 2


def test_a_forged_or_old_event_is_refused_and_nobody_is_named_in_the_log(listen: Start) -> None:
    here = listen()
    submission = here.prolific.platform.reserve(here.publish(), "PID-ann")
    event = here.told()[-1]
    old = send(here.prolific.platform, event, utc_now() - timedelta(hours=1))
    with capture_logs() as lines:
        answers = [again(old), again(old, signature="forged"), again(old, body=b"{}")]
    assert [answer.status_code for answer in (old, *answers)] == [403] * 4
    assert "seconds ago; 300 are allowed" in old.json()["error"]["message"]
    assert {answer.json()["error"]["code"] for answer in answers} == {"event_refused"}
    refused = [line for line in lines if line["event"] == "event refused"]
    assert len(refused) == 3
    assert submission.id not in str(refused)
    assert "PID-ann" not in str(refused)
    assert stored(here.house, "SELECT * FROM platform_event") == []
    assert event.status == "FAILED"


def test_an_event_of_a_study_that_no_run_has_is_answered_and_nothing_is_read(listen: Start) -> None:
    here = listen()
    study = here.publish()
    other = here.prolific.platform.draft(here.prolific.platform.study(study).given)
    here.prolific.platform.move_study(other.id, "PUBLISH")
    here.prolific.platform.reserve(study, "PID-ann")
    _ours, theirs, reserved = here.told()
    with capture_logs() as lines:
        assert here.send(theirs).status_code == 204
        assert here.send(reserved).status_code == 204
        wait_until(lambda: here.statuses() == ["RESERVED"], "the reading")
    reasons = [line["reason"] for line in lines if line["event"] == "event refused"]
    assert reasons == ["no run here has its study"]
    assert here.readings == [study]


def test_a_reading_that_fails_is_made_good_by_the_next_event(listen: Start) -> None:
    here = listen()
    study = here.publish()
    here.prolific.platform.reserve(study, "PID-ann")
    published, reserved = here.told()
    gone = here.prolific.platform.studies.pop(study)
    assert here.send(published).status_code == 204
    wait_until(lambda: here.shown()["fault"] is not None, "the failure")
    here.prolific.platform.studies[study] = gone
    assert here.send(reserved).status_code == 204
    wait_until(lambda: here.statuses() == ["RESERVED"], "the reading")
    assert here.shown()["fault"] is None


def test_a_server_without_the_secret_takes_no_events(listen: Start) -> None:
    here = listen(prolific_hook_secret=None)
    here.publish()
    answer = here.send(here.told()[0])
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "not_connected")
    assert "CANDOR_PROLIFIC_HOOK_SECRET" in answer.json()["error"]["hint"]


def test_events_of_another_platform_are_not_taken_for_prolifics(listen: Start) -> None:
    here = listen()
    answer = here.house.http("POST", "/api/recruitment/market/events", content=b"{}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "not_connected")


def test_events_have_limits_of_size_and_number(listen: Start) -> None:
    here = listen(attempts_per_address="2/minute")
    assert here.house.http("POST", PATH, content=b"x" * 70_000).status_code == 413
    statuses = [here.house.http("POST", PATH, content=b"{}").status_code for _ in range(3)]
    assert statuses == [403, 403, 429]


def again(
    answer: httpx2.Response,
    *,
    event: str | None = None,
    signature: str | None = None,
    body: bytes | None = None,
) -> httpx2.Response:
    """Post what an answer was for once more, with something changed."""
    sent = answer.request
    headers = {name: sent.headers[name] for name in (SIGNATURE, TIMESTAMP, EVENT)}
    headers |= {EVENT: event} if event is not None else {}
    headers |= {SIGNATURE: signature} if signature is not None else {}
    return httpx2.post(str(sent.url), content=sent.content if body is None else body, headers=headers)
