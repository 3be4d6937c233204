"""The server asks SONA for the credit of whoever has handed in: once for each, until there is an answer."""

from collections.abc import Iterator
from typing import Any

import pytest

from server.db.recruiting.credits import ask_again, credits_of
from server.db.secrets import FORGOTTEN
from server.db.store import Store
from server.jobs.credits import CreditJob
from server.live.arrive.enrolment import ArrivingWorker, enrol
from server.recruiters.arrival import Arrival, IdCipher
from server.recruiters.recruiter import SONA
from server.recruiters.sona import SonaClient
from server.recruiters.stand_in.serving import serving
from tests.server.support.database import execute, make_run
from tests.server.support.server import ID_KEY
from tests.server.support.sona import STUDY, SonaStandIn, granted
from tests.server.support.study import AT, study_text

IDS = IdCipher([ID_KEY])
pytestmark = pytest.mark.databases("sqlite", in_soak=["postgresql"])


@pytest.fixture
def sona() -> SonaStandIn:
    return SonaStandIn(students={"s1", "s2", "s3"})


@pytest.fixture
def address(sona: SonaStandIn) -> Iterator[str]:
    with serving(sona.app) as served:
        yield served


class Course:
    """A run whose students come from SONA, and the job that asks for their credits."""

    def __init__(self, store: Store, url: str, address: str, credit: str = "server") -> None:
        self.store, self.url = store, url
        self.run = make_run(url, study_text(recruiter=STUDY | {"credit": credit}))
        self.job = self.another_job(address)

    def another_job(self, address: str) -> CreditJob:
        return CreditJob(self.store, IDS, SonaClient(address), lambda: AT)

    async def sit(self, student: str, status: str = "completed", **changes: Any) -> None:
        """Have a student take part, who is as far as `status` says."""
        arriving = ArrivingWorker(
            Arrival(changes.get("platform", SONA), IDS.encrypted(student)), f"W-{student}", False, 1.0
        )
        sat = await self.store.submit(lambda connection: enrol(connection, self.run, arriving, AT))
        execute(self.url, "UPDATE assignment SET status = ? WHERE id = ?", status, sat.assignment)

    async def found(self) -> dict[str, tuple[str | None, str]]:
        stored = await self.store.read(lambda connection: credits_of(connection, SONA, self.run.id))
        return {credit.worker: (credit.status, credit.reason) for credit in stored}


@pytest.fixture
def course(store: Store, url: str, address: str) -> Course:
    return Course(store, url, address)


async def test_who_has_handed_in_is_credited_once_and_nobody_else(course: Course, sona: SonaStandIn) -> None:
    await course.sit("s1")
    await course.sit("s2", "active")
    await course.sit("s3", platform="link")
    assert await course.found() == {"W-s1": (None, "")}
    for _ in range(2):
        await course.job.look()
    assert (sona.asked, sona.credited) == (["s1"], ["s1"])
    assert await course.found() == {"W-s1": ("granted", "")}


async def test_who_has_left_with_a_report_is_credited(course: Course, sona: SonaStandIn) -> None:
    await course.sit("s1", "returned")
    await course.sit("s2", "returned")
    await course.job.look()
    assert sona.asked == []
    report = (
        "INSERT INTO message_report (conversation_id, turn_index, reason, leaves, created_at, client_id) "
        "SELECT conversation.id, 1, 'harm', ?, created_at, '' FROM conversation "
        "JOIN assignment ON assignment.id = assignment_id JOIN worker ON worker.id = worker_id "
        "WHERE pseudonym = ? AND position = 1"
    )
    execute(course.url, report, True, "W-s1")
    execute(course.url, report, False, "W-s2")
    await course.job.look()
    assert sona.credited == ["s1"]


async def test_what_is_refused_waits_for_a_person(course: Course, sona: SonaStandIn) -> None:
    await course.sit("late")
    await course.sit("s1")
    for _ in range(2):
        await course.job.look()
    refused = ("refused", "SONA says: Invalid survey_code ….")
    assert await course.found() == {"W-late": refused, "W-s1": ("granted", "")}
    assert sona.asked == ["late", "s1"]
    sona.students.add("late")
    assert await course.store.submit(lambda connection: ask_again(connection, course.run.id)) == 1
    await course.job.look()
    assert await course.found() == {"W-late": ("granted", ""), "W-s1": ("granted", "")}
    assert sona.asked == ["late", "s1", "late"]


async def test_any_other_2xx_is_no_success(course: Course, sona: SonaStandIn) -> None:
    sona.faults = [(200, granted("N"))]
    await course.sit("s1")
    await course.job.look()
    assert await course.found() == {"W-s1": ("refused", "SONA answered 200: its credit status is N, not G")}


async def test_while_sona_is_unwell_it_is_asked_again_by_itself(course: Course, sona: SonaStandIn) -> None:
    sona.faults = [(503, "")]
    await course.sit("s1")
    await course.sit("s2")
    await course.job.look()
    # After one that came to nothing the others are left for the next look, and come first there.
    assert await course.found() == {"W-s1": ("unreachable", "SONA answered 503"), "W-s2": (None, "")}
    await course.job.look()
    assert sona.asked == ["s1", "s2", "s1"]
    assert await course.found() == {"W-s1": ("granted", ""), "W-s2": ("granted", "")}


@pytest.mark.databases("sqlite", "postgresql")
async def test_one_process_asks(course: Course, sona: SonaStandIn, address: str) -> None:
    await course.sit("s1")
    await course.job.look()
    await course.sit("s2")
    await course.another_job(address).look()
    assert sona.asked == ["s1"]  # the first has the lease
    await course.job.close()
    assert sona.asked == ["s1"]


async def test_who_was_forgotten_is_not_asked_for(course: Course, sona: SonaStandIn) -> None:
    await course.sit("s1")
    execute(course.url, "UPDATE worker SET external_id = ?", f"{FORGOTTEN}W1")
    await course.job.look()
    assert (sona.asked, await course.found()) == ([], {})


async def test_where_browsers_go_for_the_credit_the_server_does_not(
    store: Store, url: str, address: str, sona: SonaStandIn
) -> None:
    course = Course(store, url, address, credit="browser")
    await course.sit("s1")
    await course.job.look()
    assert sona.asked == []


async def test_a_started_job_looks_and_ends(course: Course, sona: SonaStandIn) -> None:
    await course.sit("s1")
    course.job.start()
    while not (await course.found())["W-s1"][0]:
        pass
    await course.job.close()
    assert sona.credited == ["s1"]
