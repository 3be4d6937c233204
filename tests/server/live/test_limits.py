"""Rules of a run at its door: nobody gets in beyond its target, its budget, its hours; it stops by itself."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from server.bots.lineup import OpenRun
from server.db import interventions
from server.db.engine import open_engine
from server.db.removal import remove
from server.db.runs.run_rules import all_rules_of, encrypted_workers, set_rules
from server.db.runs.run_states import change_run
from server.db.store import Store
from server.errors import (
    CandorError,
    NotInvited,
    RunComplete,
    RunFull,
    RunHasEnough,
    RunNotFound,
    RunOutOfHours,
    TookPart,
)
from server.live.arrive.admission import RunEnds
from server.live.arrive.enrolment import ArrivingWorker, Enrolment, enrol
from server.news import open_news
from server.recruiters.arrival import Arrival, IdCipher
from server.run_rules import Budget, OpeningHours, RunRules, Target
from server.session.records import Closed, ConversationRated, MessageReported
from tests.server.support.arrivals import arrive_at_processes
from tests.server.support.database import audit, execute, make_run, query
from tests.server.support.study import AT, CRITERIA, RUN, SYSTEMS, study_text

pytestmark = pytest.mark.databases("sqlite", in_soak=["postgresql"])

IDS = IdCipher(["a key"])
BUDGET = Budget(total=Decimal(10), pay=Decimal(3))  # pays for three


def go_by(url: str, slug: str = RUN, **rules: Any) -> None:
    engine = open_engine(url, begin="BEGIN IMMEDIATE")
    try:
        with engine.begin() as connection:
            given = RunRules(**rules)
            set_rules(connection, slug, given, encrypted_workers(given, IDS))
    finally:
        engine.dispose()


async def sit(store: Store, run: OpenRun, name: str, after: timedelta = timedelta()) -> Enrolment:
    worker = ArrivingWorker(Arrival("link", IDS.encrypted(name)), f"W-{name}", False, 1.0)
    return await store.submit(lambda connection: enrol(connection, run, worker, AT + after))


async def rehearse(store: Store, run: OpenRun, name: str) -> Enrolment:
    worker = ArrivingWorker(Arrival("simulated", name), f"S-{name}", True, 1.0)
    return await store.submit(lambda connection: enrol(connection, run, worker, AT))


async def end(store: Store, enrolment: Enrolment, status: Any = "completed") -> None:
    await store.append(enrolment.assignment, 0, [Closed(status, AT)], AT)


async def crowd(store: Store, run: OpenRun, workers: int) -> Counter[str]:
    """Let as many arrive at once; return how many got in, and what the others were told."""
    calls = (sit(store, run, f"w{n}") for n in range(workers))
    results = await asyncio.gather(*calls, return_exceptions=True)
    return Counter(r.code if isinstance(r, CandorError) else "in" for r in results)


async def look(store: Store, run: OpenRun) -> None:
    await RunEnds(store, {run.id: run}, open_news(None)).look()


def state(url: str) -> tuple[str, str, str]:
    ((status, cause, reason),) = query(url, "SELECT status, cause, reason FROM v1_run_state")
    return status, cause, reason


@pytest.mark.parametrize(
    ("rules", "places"),
    [
        ({"target": Target(assignments=5)}, 5),
        ({"budget": BUDGET}, 3),
        ({"most_at_once": 4}, 4),
        ({"target": Target(assignments=5), "budget": BUDGET, "most_at_once": 4}, 3),
        ({"target": Target(conversations_per_system=1)}, 3),  # half of four families' variants: 8/3 workers
    ],
)
@pytest.mark.databases("sqlite", "postgresql")
async def test_no_more_get_in_than_the_rules_have_places_for(
    store: Store, run: OpenRun, url: str, rules: dict[str, Any], places: int
) -> None:
    go_by(url, **rules)
    assert await crowd(store, run, 12) == {"in": places, "run_full": 12 - places}
    assert (await rehearse(store, run, "s")).displaced is None  # rehearsals have places of their own


@pytest.mark.databases("sqlite", "postgresql")
async def test_two_hundred_who_arrive_at_once_for_twenty_places_are_twenty(
    store: Store, run: OpenRun, url: str
) -> None:
    go_by(url, target=Target(assignments=20))
    assert await crowd(store, run, 200) == {"in": 20, "run_full": 180}
    assert query(url, "SELECT number FROM assignment_count WHERE status = 'active'") == [(20,)]


async def test_who_is_gone_makes_room_though_no_more_may_be_under_way(
    store: Store, run: OpenRun, url: str
) -> None:
    go_by(url, most_at_once=2)
    await sit(store, run, "silent")
    await sit(store, run, "a")
    with pytest.raises(RunFull):
        await sit(store, run, "b")
    heir = await sit(store, run, "b", timedelta(minutes=31))
    assert heir.displaced is not None
    assert query(url, "SELECT count(*) FROM assignment WHERE status = 'active'") == [(2,)]


async def test_places_open_by_the_dropout_that_was_seen(store: Store, run: OpenRun, url: str) -> None:
    go_by(url, target=Target(assignments=4))
    seated = [await sit(store, run, f"w{n}") for n in range(4)]
    with pytest.raises(RunFull):
        await sit(store, run, "early")
    for enrolment in seated[:2]:
        await end(store, enrolment)
    await end(store, seated[2], "returned")
    # Two are needed, two completed, one dropped out. With one under way p is 4/5: 0.8 + 0.693 < 2.
    x = await sit(store, run, "x")
    # With two p is 5/6: 1.7 + 0.693 > 2.
    with pytest.raises(RunFull):
        await sit(store, run, "y")
    await end(store, seated[3], "returned")
    y = await sit(store, run, "y")
    await end(store, x, "returned")
    await end(store, y, "returned")
    # Four dropped out. With two under way p is 5/9: 1.1 + 0.693 < 2, so three may be for the two needed.
    for n in range(3):
        await sit(store, run, f"z{n}")
    with pytest.raises(RunFull):
        await sit(store, run, "late")


async def _released(store: Store, enrolment: Enrolment) -> None:
    await store.submit(lambda connection: interventions.release(connection, enrolment.assignment, AT))


async def _returned(store: Store, enrolment: Enrolment) -> None:
    await end(store, enrolment, "returned")


async def _expired(store: Store, enrolment: Enrolment) -> None:
    await end(store, enrolment, "expired")


async def _withdrawn(store: Store, enrolment: Enrolment) -> None:
    await store.submit(lambda connection: remove(connection, [enrolment.assignment], "all", "withdrawn", AT))


async def _excluded(store: Store, enrolment: Enrolment) -> None:
    await store.submit(lambda connection: interventions.exclude(connection, enrolment.assignment, "odd", AT))


async def _completed(store: Store, enrolment: Enrolment) -> None:
    await end(store, enrolment)


@pytest.mark.parametrize(
    ("ended", "newcomers"),
    [
        (_released, 5),  # a researcher has ended it: nobody dropped out
        # With 23 under way p is 24/29, and 23 * 24/29 + 0.693 = 19.7 lets one more in: 24 - 15.
        (_returned, 9),
        (_expired, 9),
        (_withdrawn, 9),
        (_excluded, 0),  # still under way, and paid
        (_completed, 0),
    ],
)
async def test_how_many_follow_five_of_twenty(
    store: Store, run: OpenRun, url: str, ended: Callable[[Store, Enrolment], Awaitable[None]], newcomers: int
) -> None:
    go_by(url, target=Target(assignments=20))
    seated = [await sit(store, run, f"first{n}") for n in range(20)]
    for enrolment in seated[:5]:
        await ended(store, enrolment)
    assert await crowd(store, run, 30) == Counter({"in": newcomers, "run_full": 30 - newcomers})


async def test_a_run_stops_by_itself_and_says_why(store: Store, run: OpenRun, url: str) -> None:
    go_by(url, target=Target(assignments=2))
    first, second = await sit(store, run, "a"), await sit(store, run, "b")
    await end(store, first)
    await look(store, run)
    assert state(url) == ("open", "researcher", "")
    await end(store, second)
    with pytest.raises(RunComplete):  # told at once, before anybody has looked
        await sit(store, run, "c")
    await look(store, run)
    await look(store, run)
    assert state(url) == ("closed", "target", "The run reached its target: 2 assignments.")
    columns = "target_assignments, target_conversations_per_system, target_widest_interval"
    assert query(url, f"SELECT {columns} FROM v1_run_state") == [(2, None, None)]  # noqa: S608
    with pytest.raises(RunComplete):
        await sit(store, run, "c")
    with pytest.raises(RunHasEnough):
        await store.submit(lambda connection: change_run(connection, RUN, "resume"))
    go_by(url, target=Target(assignments=3))
    await store.submit(lambda connection: change_run(connection, RUN, "resume"))
    await sit(store, run, "c")
    go_by(url, target=Target(widest_interval=0.5))
    assert query(url, f"SELECT {columns} FROM v1_run_state") == [(None, None, 0.5)]  # noqa: S608


async def test_a_paused_run_stops_when_those_under_way_have_brought_what_it_needs(
    store: Store, run: OpenRun, url: str
) -> None:
    go_by(url, budget=Budget(total=Decimal(3), pay=Decimal(2)))
    only = await sit(store, run, "a")
    await store.submit(lambda connection: change_run(connection, RUN, "pause"))
    await end(store, only)
    await look(store, run)
    assert state(url)[:2] == ("closed", "budget")


async def test_who_leaves_with_a_report_is_paid_out_of_the_budget(
    store: Store, run: OpenRun, url: str
) -> None:
    go_by(url, budget=BUDGET)
    for name in ("a", "b", "c"):
        seated = await sit(store, run, name)
        ((conversation, *_),) = query(
            url,
            "SELECT id FROM conversation WHERE assignment_id = ? AND position = 1",
            seated.assignment,
        )
        reports = [
            MessageReported(conversation, line, "sexual", None, line == 3, AT, f"{name}{line}")
            for line in (1, 3)
        ]
        await store.append(seated.assignment, 0, [*reports, Closed("returned", AT)], AT)
    with pytest.raises(RunComplete):
        await sit(store, run, "late")
    await look(store, run)
    assert state(url)[2] == "The budget of 10.00 pays for no other assignment: 9.00 are spent."


async def test_a_target_of_conversations_counts_what_completed_assignments_have_rated(
    store: Store, run: OpenRun, url: str
) -> None:
    go_by(url, target=Target(conversations_per_system=1))
    while state(url)[0] == "open":
        ((known,),) = query(url, "SELECT count(*) FROM worker")
        seated = await sit(store, run, f"w{known}")
        planned = query(url, "SELECT id FROM conversation WHERE assignment_id = ?", seated.assignment)
        ratings = tuple((label, 50) for label in CRITERIA)
        records = [ConversationRated(key, ratings, AT, f"r{key}") for (key,) in planned]
        await store.append(seated.assignment, 0, [*records, Closed("completed", AT)], AT)
        await look(store, run)
    rated = query(
        url,
        "SELECT count(*) FROM conversation JOIN system ON system.id = system_id "
        "WHERE NOT is_qc AND conversation.status = 'rated' GROUP BY system_id",
    )
    assert len(rated) == len(SYSTEMS)
    # Six systems in four families: three a worker are met, so that two families have two variants to fill.
    assert query(url, "SELECT count(*) FROM assignment")[0][0] <= 4


async def test_a_target_of_an_interval_is_met_by_the_latest_analysis(
    store: Store, run: OpenRun, url: str
) -> None:
    go_by(url, target=Target(widest_interval=0.3))
    await end(store, await sit(store, run, "a"))
    add = "INSERT INTO analysis (run_id, at, basis, content) VALUES (?, ?, '', ?)"
    execute(url, add, run.id, "2026-01-01 12:00:00.000000", '{"widest": 0.31}')
    await look(store, run)
    assert state(url)[0] == "open"
    await sit(store, run, "b")
    execute(url, "UPDATE analysis SET content = ?", '{"widest": 0.28}')
    await look(store, run)
    assert state(url) == (
        "closed",
        "target",
        "The run reached its target: the widest interval of a score below 0.3.",
    )


async def test_out_of_hours(store: Store, run: OpenRun, url: str) -> None:
    hours = [{"days": ["fri"], "opens": "09:00", "closes": "17:00"}]
    go_by(url, opening_hours=OpeningHours.model_validate({"time_zone": "Europe/Berlin", "hours": hours}))
    with pytest.raises(RunOutOfHours, match=r"Friday at 09:00 \(Europe/Berlin time\)"):
        await sit(store, run, "a")  # on a Thursday
    seated = await sit(store, run, "a", timedelta(days=1))
    assert await sit(store, run, "a", timedelta(days=2)) == seated  # who is in stays in


async def test_who_may_not_come(store: Store, run: OpenRun, url: str) -> None:
    second = make_run(url, slug="second")
    go_by(url, "second", excluded_runs=(RUN,), excluded_workers=("eve",))
    returned = await sit(store, run, "ann")
    await end(store, returned, "returned")
    with pytest.raises(TookPart):
        await sit(store, second, "ann")
    with pytest.raises(NotInvited):
        await sit(store, second, "eve")
    await sit(store, second, "bob")
    rules = await store.read(lambda connection: all_rules_of(connection, second.id, IDS))
    assert (rules.excluded_runs, rules.excluded_workers) == ((RUN,), ("eve",))
    go_by(url, "second")
    await sit(store, second, "ann")
    with pytest.raises(RunNotFound, match="workers are excluded"):
        go_by(url, "second", excluded_runs=("nowhere",))


async def test_the_places_of_the_studys_file_are_a_target(store: Store, url: str) -> None:
    run = make_run(url, study_text(assignments=1))
    seated = await sit(store, run, "a")
    with pytest.raises(RunFull):
        await sit(store, run, "b")
    await end(store, seated)
    await look(store, run)
    assert state(url) == ("closed", "target", "The run reached its target: 1 assignment.")


@pytest.mark.databases("postgresql")
async def test_arrivals_at_four_processes_at_once_exceed_nothing(
    store: Store, run: OpenRun, url: str
) -> None:
    pays_for_thirty = Budget(total=Decimal(91), pay=Decimal(3))
    go_by(url, target=Target(assignments=30), most_at_once=30, budget=pays_for_thirty)
    at = [[f"w{own}-{n}" for n in range(40)] for own in range(4)]
    found = await asyncio.to_thread(arrive_at_processes, url, at)
    assert sum(len(process) for process in found) == 30
    assert query(url, "SELECT number FROM assignment_count WHERE status = 'active'") == [(30,)]


@pytest.mark.databases("sqlite", "postgresql")
async def test_an_audit_recounts(store: Store, run: OpenRun, url: str) -> None:
    await sit(store, run, "ann")
    execute(url, "UPDATE assignment_count SET number = 7")
    assert audit(url) == [f"run {run.id}, workers, active: assignments stored as 7 instead of 1"]
    execute(url, "UPDATE assignment_count SET number = 1")
