"""Places: balanced however many arrive at once, given again when they fall free, apart from rehearsals."""

import asyncio
import re
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from alembic import command
from sqlalchemy import Connection, event
from structlog.testing import capture_logs

from server.bots.lineup import OpenRun
from server.db.engine import alembic_config, migrate
from server.db.store import Store
from server.errors import RunClosed, RunFull, RunNotReady
from server.live.arrive.enrolment import ArrivingWorker, Enrolment, enrol, find_enrolment
from server.recruiters.arrival import Arrival, IdCipher
from server.session.plan import QC, replacement
from server.session.records import Closed, ConversationFailed, ConversationPlanned, FeedbackGiven
from tests.server.support.arrivals import arrive_at_processes
from tests.server.support.database import audit, execute, make_run, query
from tests.server.support.study import AT, SYSTEMS, seconds, study_text

pytestmark = pytest.mark.databases("sqlite", in_soak=["postgresql"])

IDLE = timedelta(minutes=30)  # the study's defaults
TOTAL = timedelta(hours=3)
LITTLE = timedelta(seconds=1)


async def sit(
    store: Store, run: OpenRun, worker: str, at: datetime = AT, *, simulated: bool = False
) -> Enrolment:
    platform = "simulated" if simulated else "link"
    worker = ArrivingWorker(Arrival(platform, worker), f"{platform}-{worker}", simulated, 1.0)
    return await store.submit(lambda connection: enrol(connection, run, worker, at))


async def crowd(store: Store, run: OpenRun, names: list[str], at: datetime = AT) -> list[Enrolment]:
    return list(await asyncio.gather(*(sit(store, run, name, at) for name in names)))


async def close(store: Store, enrolment: Enrolment, status: str, at: datetime = AT) -> None:
    records = [FeedbackGiven("", at, "f"), Closed("completed", at)] if status == "completed" else []
    await store.append(enrolment.assignment, 0, records or [Closed(status, at)], at)  # type: ignore[arg-type]


def plan(url: str, enrolment: Enrolment) -> list[str]:
    found = query(
        url,
        "SELECT system.name FROM conversation JOIN system ON system.id = system_id "
        "WHERE assignment_id = ? AND attempt = 1 ORDER BY position",
        enrolment.assignment,
    )
    return [name for (name,) in found]


def place(url: str, enrolment: Enrolment) -> int:
    ((number,),) = query(url, "SELECT place FROM assignment WHERE id = ?", enrolment.assignment)
    return int(number)


def status(url: str, enrolment: Enrolment) -> str:
    ((found,),) = query(url, "SELECT status FROM assignment WHERE id = ?", enrolment.assignment)
    return str(found)


def assert_balanced(plans: list[list[str]]) -> None:
    met = [name for each in plans for name in each if name != QC]
    names, families = Counter(met), Counter(SYSTEMS[name] for name in met)
    of_family = [families[family] for family in set(SYSTEMS.values())]
    assert max(of_family) - min(of_family) <= 1
    for family in set(SYSTEMS.values()):
        of_variant = [names[name] for name, its in SYSTEMS.items() if its == family]
        assert max(of_variant) - min(of_variant) <= 1
    for each in plans:
        assert len({SYSTEMS[name] for name in each if name != QC}) == 3
        assert each.count(QC) == 1
        assert each[0] != QC != each[-1]


@pytest.mark.databases("sqlite", "postgresql")
@pytest.mark.parametrize("workers", [1, 7, 60])
async def test_any_number_of_workers_at_once_is_balanced(
    store: Store, run: OpenRun, url: str, workers: int
) -> None:
    enrolments = await crowd(store, run, [f"w{n}" for n in range(workers)])
    assert sorted(place(url, enrolment) for enrolment in enrolments) == list(range(workers))
    assert all(enrolment.displaced is None for enrolment in enrolments)
    assert_balanced([plan(url, enrolment) for enrolment in enrolments])


@pytest.mark.databases("sqlite", "postgresql")
async def test_the_same_worker_gets_the_same_assignment_even_at_once(
    store: Store, run: OpenRun, url: str
) -> None:
    enrolments = await crowd(store, run, ["ann"] * 10)
    assert len(set(enrolments)) == 1
    assert query(url, "SELECT count(*) FROM assignment") == [(1,)]


async def test_the_same_name_on_another_platform_or_run_is_another_assignment(store: Store, url: str) -> None:
    first, second = make_run(url, slug="one"), make_run(url, slug="two")

    enrolments = [
        await sit(store, first, "ann"),
        await sit(store, second, "ann"),
        await sit(store, first, "ann", simulated=True),
    ]
    assert len({enrolment.assignment for enrolment in enrolments}) == 3
    assert query(url, "SELECT count(*) FROM worker") == [(2,)]


async def test_a_place_that_is_given_back_is_the_next_workers_with_the_same_plan(
    store: Store, run: OpenRun, url: str
) -> None:
    enrolments = await crowd(store, run, ["a", "b", "c", "d"])
    await close(store, enrolments[1], "returned")
    heir, stranger = await sit(store, run, "e"), await sit(store, run, "f")
    assert (place(url, heir), heir.displaced) == (place(url, enrolments[1]), None)
    assert plan(url, heir) == plan(url, enrolments[1])
    assert place(url, stranger) == 4
    held = [enrolment for enrolment in [*enrolments, heir, stranger] if status(url, enrolment) == "active"]
    assert_balanced([plan(url, enrolment) for enrolment in held])


async def test_the_heir_of_a_place_gets_personas_and_seeds_of_their_own(
    store: Store, run: OpenRun, url: str
) -> None:
    first = await sit(store, run, "a")
    await close(store, first, "returned")
    heir = await sit(store, run, "b")
    seeds = [
        {
            seed
            for (seed,) in query(url, "SELECT seed FROM conversation WHERE assignment_id = ?", s.assignment)
        }
        for s in (first, heir)
    ]
    assert len(seeds[0] | seeds[1]) == 8


@pytest.mark.databases("sqlite", "postgresql")
@pytest.mark.parametrize(("still", "gone"), [(IDLE, IDLE + LITTLE)])
async def test_a_silent_worker_loses_the_place_only_when_somebody_wants_it(
    store: Store, run: OpenRun, url: str, still: timedelta, gone: timedelta
) -> None:
    silent = await sit(store, run, "silent")
    early = await sit(store, run, "early", AT + still)  # just within the time-out: another place
    assert status(url, silent) == "active"
    late = await sit(store, run, "late", AT + gone)
    assert (place(url, silent), place(url, early), place(url, late)) == (0, 1, 0)
    assert late.displaced == silent.assignment
    assert status(url, silent) == "expired"
    assert plan(url, late) == plan(url, silent)


async def test_expiry_is_stored_as_any_end_is_and_leaves_when_the_worker_was_last_heard_of(
    store: Store, run: OpenRun, url: str
) -> None:
    gone = AT + IDLE + LITTLE

    silent = await sit(store, run, "silent")
    before = await store.load(silent.assignment)
    await sit(store, run, "late", gone)
    records = await store.load(silent.assignment)
    assert records[:-1] == before
    assert records[-1] == Closed("expired", gone)
    silent_for = query(url, "SELECT active_at = created_at FROM assignment WHERE status = 'expired'")
    assert silent_for == [(1,)]


async def test_a_worker_who_returns_before_the_place_is_wanted_goes_on_and_keeps_it(
    store: Store, run: OpenRun, url: str
) -> None:
    first = await sit(store, run, "ann")
    again = await sit(store, run, "ann", AT + 2 * IDLE)
    newcomer = await sit(store, run, "bob", AT + 2 * IDLE + LITTLE)
    assert again == first
    assert status(url, first) == "active"
    assert (place(url, newcomer), newcomer.displaced) == (1, None)


async def test_whoever_is_back_is_known_by_id_or_by_name_in_their_own_run_only(
    store: Store, url: str
) -> None:
    one, two = make_run(url, slug="one"), make_run(url, slug="two")
    enrolment = await sit(store, one, "ann")

    async def back(run: OpenRun, who: str | Arrival) -> Enrolment | None:
        return await store.read(lambda connection: find_enrolment(connection, run, who))

    assert await back(one, enrolment.assignment) == await back(one, Arrival("link", "ann")) == enrolment
    strangers = [enrolment.assignment + "0", Arrival("link", "bob"), Arrival("simulated", "ann")]
    assert [await back(one, who) for who in strangers] == [None] * 3
    assert await back(two, enrolment.assignment) is await back(two, Arrival("link", "ann")) is None
    await close(store, enrolment, "returned")
    assert await back(one, Arrival("link", "ann")) == enrolment  # to be told that it is over
    assert query(url, "SELECT status FROM assignment") == [("returned",)]


async def test_a_replacement_counts_for_the_system_that_took_over(
    store: Store, run: OpenRun, url: str
) -> None:
    """What failed counts as well, or a broken bot would be drawn for every worker to come."""

    first = await sit(store, run, "a")
    met = plan(url, first)
    heir = replacement(met[0], run.rules.lineup.variants, met, seed=1)
    assert heir is not None
    records = [
        ConversationFailed(f"{first.assignment}-1.1", AT),
        ConversationPlanned(f"{first.assignment}-1.2", 1, 2, heir, 5, (), None),
    ]
    await store.append(first.assignment, 0, records, AT)
    for n in range(5):
        await sit(store, run, f"w{n}")
    held = query(url, "SELECT name FROM conversation JOIN system ON system.id = system_id WHERE NOT is_qc")
    families = Counter(SYSTEMS[name] for (name,) in held)
    # Six workers with three systems each, and one that took over: 19 over four families.
    assert sorted(families.values()) == [4, 5, 5, 5]


async def test_the_heir_of_a_place_meets_the_planned_systems_not_a_replacement(
    store: Store, run: OpenRun, url: str
) -> None:
    first = await sit(store, run, "a")
    planned = ConversationPlanned(f"{first.assignment}-1.2", 1, 2, "dugong_plain", 5, (), None)
    failed = ConversationFailed(f"{first.assignment}-1.1", AT)
    await store.append(first.assignment, 0, [failed, planned], AT)
    await close(store, first, "returned")
    heir = await sit(store, run, "b")
    assert plan(url, heir) == plan(url, first)
    assert query(url, "SELECT count(*) FROM conversation WHERE assignment_id = ?", heir.assignment) == [(4,)]


async def test_a_worker_who_returns_too_late_finds_the_assignment_expired(
    store: Store, run: OpenRun, url: str
) -> None:
    first = await sit(store, run, "ann")
    await sit(store, run, "bob", AT + 2 * IDLE)
    again = await sit(store, run, "ann", AT + 2 * IDLE)
    assert again.assignment == first.assignment  # one assignment per worker and run
    assert status(url, first) == "expired"


async def test_even_a_busy_worker_has_no_more_than_the_time_in_all(
    store: Store, run: OpenRun, url: str
) -> None:
    busy = await sit(store, run, "busy")
    last_word = AT + TOTAL - LITTLE
    execute(url, "UPDATE assignment SET active_at = ?", last_word.strftime("%Y-%m-%d %H:%M:%S.000000"))
    within = await sit(store, run, "within", AT + TOTAL)
    assert within.displaced is None
    after = await sit(store, run, "after", AT + TOTAL + LITTLE)
    assert after.displaced == busy.assignment


@pytest.mark.databases("sqlite", "postgresql")
@pytest.mark.parametrize("closing", ["returned", "expired"])
async def test_the_lowest_free_place_goes_first_whatever_freed_it(
    store: Store, run: OpenRun, url: str, closing: str
) -> None:
    await sit(store, run, "a")  # place 0: silent later
    enrolments = [await sit(store, run, name, AT + IDLE) for name in ("b", "c")]
    await close(store, enrolments[0], closing, AT + IDLE)
    newcomers = [await sit(store, run, name, AT + IDLE + LITTLE) for name in ("x", "y", "z")]
    assert [place(url, enrolment) for enrolment in newcomers] == [0, 1, 3]


@pytest.mark.databases("sqlite", "postgresql")
async def test_many_at_once_share_out_the_freed_places(store: Store, run: OpenRun, url: str) -> None:
    enrolments = await crowd(store, run, [f"w{n}" for n in range(12)])
    for enrolment in enrolments[:4]:
        await close(store, enrolment, "completed")
    for enrolment in enrolments[4:8]:
        await close(store, enrolment, "returned")
    # The last four fall silent; ten newcomers take their places, the four given back, and two new ones.
    newcomers = await crowd(store, run, [f"n{n}" for n in range(10)], AT + IDLE + LITTLE)
    assert sorted(place(url, enrolment) for enrolment in newcomers) == [4, 5, 6, 7, 8, 9, 10, 11, 12, 13]
    assert sum(enrolment.displaced is not None for enrolment in newcomers) == 4
    held = query(url, "SELECT id FROM assignment WHERE status IN ('active', 'completed') ORDER BY place")
    assert len(held) == 14
    assert_balanced([plan(url, Enrolment(id_, None)) for (id_,) in held])


async def test_a_completed_place_is_never_free(store: Store, run: OpenRun, url: str) -> None:
    done = await sit(store, run, "ann")
    await close(store, done, "completed")
    newcomer = await sit(store, run, "bob", AT + 2 * TOTAL)
    assert (place(url, newcomer), newcomer.displaced) == (1, None)


async def test_a_full_run_turns_away_until_a_place_is_free(store: Store, url: str) -> None:
    run = make_run(url, study_text(assignments=2))

    enrolments = await crowd(store, run, ["a", "b"])
    with pytest.raises(RunFull):
        await sit(store, run, "c")
    assert (await sit(store, run, "a")) == enrolments[0]  # who is in stays in
    await close(store, enrolments[1], "returned")
    assert place(url, await sit(store, run, "c")) == 1
    # Whoever was turned away has left no trace behind.
    assert query(url, "SELECT external_id FROM worker ORDER BY id") == [("a",), ("b",), ("c",)]


@pytest.mark.databases("sqlite", "postgresql")
async def test_at_the_last_place_one_of_many_gets_in(store: Store, url: str) -> None:
    run = make_run(url, study_text(assignments=3))

    calls = (sit(store, run, f"w{n}") for n in range(9))
    results = list(await asyncio.gather(*calls, return_exceptions=True))
    assert Counter(type(result) for result in results) == {Enrolment: 3, RunFull: 6}


async def test_a_closed_run_takes_nobody_new_but_lets_others_finish(
    store: Store, run: OpenRun, url: str
) -> None:
    enrolment = await sit(store, run, "ann")
    execute(url, "UPDATE run SET status = 'closed'")
    assert await sit(store, run, "ann") == enrolment
    with pytest.raises(RunClosed):
        await sit(store, run, "bob")


async def test_simulated_workers_have_places_of_their_own(store: Store, url: str) -> None:
    run = make_run(url, study_text(assignments=2))

    played = [await sit(store, run, f"s{n}", simulated=True) for n in range(2)]
    people = [await sit(store, run, f"w{n}") for n in range(2)]
    with pytest.raises(RunFull):
        await sit(store, run, "s2", simulated=True)
    # A silent rehearsal never gives its place to a person, nor the other way round.
    late = AT + IDLE + LITTLE
    assert (await sit(store, run, "w2", late)).displaced in {enrolment.assignment for enrolment in people}
    assert (await sit(store, run, "s2", late, simulated=True)).displaced in {
        enrolment.assignment for enrolment in played
    }
    assert (
        [place(url, enrolment) for enrolment in played]
        == [place(url, enrolment) for enrolment in people]
        == [0, 1]
    )


async def test_simulated_workers_do_not_change_what_people_get(store: Store, url: str) -> None:
    rehearsed, fresh = make_run(url, slug="rehearsed"), make_run(url, slug="fresh")
    same_seed = replace(fresh, seed=rehearsed.seed)

    for n in range(5):
        await sit(store, rehearsed, f"s{n}", simulated=True)
    one = [await sit(store, rehearsed, f"w{n}") for n in range(6)]
    other = [await sit(store, same_seed, f"w{n}") for n in range(6)]
    assert [plan(url, enrolment) for enrolment in one] == [plan(url, enrolment) for enrolment in other]


@pytest.mark.databases("sqlite", "postgresql")
async def test_a_place_has_one_holder_by_the_databases_own_rule(store: Store, run: OpenRun, url: str) -> None:
    first = await sit(store, run, "ann")
    await sit(store, run, "bob")
    with pytest.raises(Exception, match=r"(?i)unique"):
        execute(url, "UPDATE assignment SET place = 0 WHERE id <> ?", first.assignment)


@pytest.mark.databases("postgresql")
async def test_five_hundred_at_once_at_four_processes_are_balanced_and_no_place_is_given_twice_or_lost(
    store: Store, run: OpenRun, url: str
) -> None:
    early = await crowd(store, run, [f"early{n}" for n in range(20)])
    for enrolment in early[::2]:
        await close(store, enrolment, "returned")
    workers = [f"w{n}" for n in range(500)]
    # Every tenth arrives at two processes at the same moment.
    at = [[name for n, name in enumerate(workers) if n % 4 == own or n % 10 == own] for own in range(4)]
    found = await asyncio.to_thread(arrive_at_processes, url, at)
    got = {(name, assignment) for process in found for name, assignment in process.items()}
    assert len(got) == 500
    assert {name for name, _ in got} == set(workers)
    held = query(url, "SELECT place FROM assignment WHERE status = 'active' ORDER BY place")
    assert held == [(place,) for place in range(510)]
    plans: dict[str, list[str]] = {}
    for assignment, name in query(
        url,
        "SELECT assignment_id, system.name FROM conversation JOIN system ON system.id = system_id "
        "JOIN assignment ON assignment.id = assignment_id WHERE assignment.status = 'active' "
        "ORDER BY conversation.position",
    ):
        plans.setdefault(assignment, []).append(name)
    assert_balanced(list(plans.values()))


async def test_a_bot_that_is_down_is_given_to_nobody_new_while_another_can_be(
    store: Store, run: OpenRun, url: str
) -> None:
    """Workers got it all the same, and lost a minute each before it was replaced."""
    seated = await crowd(store, run, ["a", "b", "c", "d"])
    had_it = next(enrolment for enrolment in seated if "quokka_plain" in plan(url, enrolment))
    await close(store, had_it, "returned")
    broken = replace(run, down=lambda: frozenset({"quokka_plain", "quokka_warm"}))
    with capture_logs() as logs:
        heirs = [await sit(store, broken, name) for name in ("e", "f", "g")]
    told = [(line["place"], *line["away"]) for line in logs if line["event"] == "drawn while bots are away"]
    assert told == [(number, "quokka_plain", "quokka_warm") for number in (4, 5, 6)]
    met = {system for heir in heirs for system in plan(url, heir)}
    assert not met & {"quokka_plain", "quokka_warm"}
    assert [place(url, heir) for heir in heirs] == [4, 5, 6]  # the place that was given back waits
    mended = await sit(store, run, "h")
    assert plan(url, mended) == plan(url, had_it)
    await crowd(store, run, [f"later{n}" for n in range(8)])
    held = query(url, "SELECT id FROM assignment WHERE status IN ('active', 'completed') ORDER BY place")
    assert_balanced([plan(url, Enrolment(id_, None)) for (id_,) in held])


async def test_newcomers_wait_where_there_are_no_places_without_a_bot_that_is_down(
    store: Store, url: str
) -> None:
    run = make_run(url, study_text(assignments=4))
    seated = await crowd(store, run, ["a", "b", "c", "d"])
    for enrolment in seated:
        await close(store, enrolment, "returned")
    broken = replace(run, down=lambda: frozenset(SYSTEMS))
    for name in ("e", "f"):
        with pytest.raises(RunNotReady):
            await sit(store, broken, name)
    rehearsed = replace(broken, is_rehearsal=True)  # there it is to be found out
    assert [place(url, await sit(store, rehearsed, name)) for name in ("e", "f")] == [0, 1]


async def test_time_outs_are_the_studys(store: Store, url: str) -> None:
    run = make_run(url, study_text(timeouts={"idle": 5, "assignment": 7}))

    first = await sit(store, run, "a")
    second = await sit(store, run, "b", AT + seconds(5.5))
    third = await sit(store, run, "c", AT + seconds(11.5))
    assert second.displaced == first.assignment
    displaced, expected = [third.displaced, second.assignment]
    assert displaced == expected


@pytest.mark.databases("sqlite", "postgresql")
async def test_an_audit_says_what_differs(store: Store, run: OpenRun, url: str) -> None:
    enrolment = await sit(store, run, "ann")
    position, system = query(url, "SELECT position, system_id FROM conversation ORDER BY position LIMIT 1")[0]
    execute(url, "UPDATE plan_count SET number = 5 WHERE position = ? AND system_id = ?", position, system)
    execute(url, "INSERT INTO free_place VALUES (?, false, 0)", run.id)
    assert audit(url) == [
        f"run {run.id}, workers, system {system}, position {position}: conversations stored as 5 "
        "instead of 1",
        f"run {run.id}, workers, slot 0: not free, but stored as free",
    ]
    execute(url, "UPDATE plan_count SET number = 1 WHERE position = ? AND system_id = ?", position, system)
    execute(url, "DELETE FROM free_place")
    assert status(url, enrolment) == "active"


@pytest.mark.databases("sqlite", "postgresql")
async def test_a_run_made_before_the_counts_is_counted_by_the_migration(
    store: Store, run: OpenRun, url: str
) -> None:
    enrolments = await crowd(store, run, [f"w{n}" for n in range(5)])
    await close(store, enrolments[1], "returned")
    await close(store, enrolments[2], "completed")
    counted = "SELECT * FROM plan_count WHERE number > 0 ORDER BY run_id, simulated, system_id, position"
    before = query(url, counted), query(url, "SELECT * FROM free_place")
    assert before[1] == [(run.id, 0, 1)]
    ids = IdCipher(["the key of this test"])
    command.downgrade(alembic_config(url, lambda: ids), "0004")
    migrate(url, lambda: ids)
    assert (query(url, counted), query(url, "SELECT * FROM free_place")) == before


@pytest.mark.databases("sqlite")
async def test_arriving_looks_at_no_more_rows_in_a_large_run(store: Store, run: OpenRun) -> None:
    """Neither at a whole table nor at all assignments of the run."""
    plans: list[str] = []

    def arrive(connection: Connection) -> None:
        def explain(
            _conn: object, _cursor: object, statement: str, given: Any, _context: object, many: bool
        ) -> None:
            # The plan of an INSERT of values names what foreign keys would look at if one were broken.
            if statement.lstrip().startswith(("SELECT", "UPDATE", "DELETE", "INSERT INTO plan_count")):
                parameters = given[0] if many else given
                rows = connection.connection.cursor().execute(f"EXPLAIN QUERY PLAN {statement}", parameters)
                plans.extend(str(row[-1]) for row in rows)

        event.listen(connection, "before_cursor_execute", explain)
        enrol(connection, run, ArrivingWorker(Arrival("link", "ann"), "p", False, 1.0), AT)

    await store.submit(arrive)
    looked = [plan for plan in plans if re.match(r"(SCAN|SEARCH) (assignment|conversation)\b", plan)]
    assert looked
    assert [plan for plan in looked if plan.startswith("SCAN")] == []
    # The greatest place of a run is the last entry of its index, which is all that is read of it.
    by_run_only = [plan for plan in looked if re.search(r"\(run_id=\?( AND simulated=\?)?\)$", plan)]
    assert by_run_only == ["SEARCH assignment USING COVERING INDEX place_of_a_run (run_id=? AND simulated=?)"]
