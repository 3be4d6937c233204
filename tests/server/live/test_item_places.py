"""Places of a run whose workers rate items: judged evenly, without clashes, the same for who comes next."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from server.access.auth import make_secrets
from server.bots.lineup import OpenRun
from server.db.store import Store
from server.desk.assignments.transcript import transcript
from server.errors import RunFull
from server.live.arrive.enrolment import ArrivingWorker, Enrolment, enrol
from server.recruiters.arrival import Arrival, IdCipher
from server.session.records import Closed
from tests.server.support.commands import Candor
from tests.server.support.database import execute, make_run, query
from tests.server.support.items import (
    ITEMS_RUN,
    QUESTIONS,
    RATED,
    TEXTS,
    items_text,
    make_items_run,
    make_run_of_conversations,
    new_items,
)
from tests.server.support.server import ID_KEY, House
from tests.server.support.study import AT, RUN

pytestmark = pytest.mark.databases("sqlite", in_soak=["postgresql"])

IDS = IdCipher([ID_KEY])
PLAN = """
    SELECT position, item.name, shown_item.kind, twin_of FROM conversation
    JOIN shown_item ON shown_item.conversation_id = conversation.id JOIN item ON item.id = item_id
    WHERE assignment_id = ? ORDER BY position"""


async def sit(store: Store, run: OpenRun, worker: str, at: Any = AT) -> Enrolment:
    arriving = ArrivingWorker(Arrival("link", IDS.encrypted(worker)), f"W-{worker}", False, 1.0)
    return await store.submit(lambda connection: enrol(connection, run, arriving, at))


async def test_every_item_is_judged_as_often_as_the_study_asks(url: str, store: Store) -> None:
    run = make_items_run(url)
    # Twelve texts, two judgments each, four in an assignment: six assignments, and no more.
    sat = [await sit(store, run, f"worker {k}") for k in range(6)]
    with pytest.raises(RunFull):
        await sit(store, run, "one more")
    plans = [query(url, PLAN, each.assignment) for each in sat]
    judged = Counter(name for plan in plans for _, name, kind, _ in plan if kind == "ordinary")
    assert judged == dict.fromkeys(TEXTS, 2)
    for plan in plans:
        assert Counter(kind for _, _, kind, _ in plan) == {"ordinary": 4, "bad": 1, "repeat": 1}


async def test_the_desk_shows_what_was_read(url: str, store: Store) -> None:
    first = await sit(store, make_items_run(url), "ann")
    shown = await store.read(lambda connection: transcript(connection, first.assignment))
    found = [(each.position, each.item) for each in shown.conversations]
    plan = [(position, kind, twin_of) for position, _, kind, twin_of in query(url, PLAN, first.assignment)]
    assert [(position, item.kind, item.twin_of) for position, item in found if item] == plan
    texts = {item.content.text: item.kind for _, item in found if item}
    originals = {text for _, text in TEXTS.values()}
    assert Counter(text in originals for text in texts) == {True: 4, False: 1}
    assert {kind for text, kind in texts.items() if text not in originals} == {"bad"}


async def test_a_place_that_was_given_back_has_the_same_items(url: str, store: Store) -> None:
    run = make_items_run(url)
    first = await sit(store, run, "ann")
    await sit(store, run, "bob")
    await store.append(first.assignment, 0, [Closed("returned", AT)], AT)
    again = await sit(store, run, "cleo")
    assert query(url, PLAN, again.assignment) == query(url, PLAN, first.assignment)


async def test_a_silent_workers_items_go_to_the_next(url: str, store: Store) -> None:
    run = make_items_run(url)
    first = await sit(store, run, "ann")
    again = await sit(store, run, "bob", AT + timedelta(hours=1))
    assert again.displaced == first.assignment
    assert query(url, PLAN, again.assignment) == query(url, PLAN, first.assignment)


async def test_an_assignment_is_about_one_passage(url: str, store: Store) -> None:
    composition = {"ordinary": 4, "bad": 1, "repeat": 1, "one_group": True, "human": "ibis"}
    items = [replace(item, group=item.name[0]) for item in new_items()]
    run = make_items_run(url, items_text(composition=composition), items)
    groups = []
    for worker in ("ann", "bob"):
        plan = query(url, PLAN, (await sit(store, run, worker)).assignment)
        groups.append({name[0] for _, name, _, _ in plan})
        kinds = Counter((name.split()[1], kind) for _, name, kind, _ in plan)
        assert kinds["ibis", "bad"] == kinds["ibis", "repeat"] == 1
    assert groups in ([{"x"}, {"y"}], [{"y"}, {"x"}])


async def test_what_is_planned_can_be_read_again(url: str, store: Store) -> None:
    run = make_items_run(url)
    enrolment = await sit(store, run, "ann")
    records = await store.load(enrolment.assignment)
    plan = query(url, PLAN, enrolment.assignment)
    assert [(r.position, r.item.item, r.item.kind, r.item.twin_of) for r in records] == plan  # type: ignore[union-attr]
    shown = {r.item.item: r.item.content.text for r in records if r.item.kind == "bad"}  # type: ignore[union-attr]
    ((name, text),) = shown.items()
    assert text == f"spoilt {TEXTS[name][1]}"


async def test_nobody_rates_a_conversation_that_they_held(url: str, serve: Callable[..., House]) -> None:
    house = serve(url, make_run(url))
    for worker in ("ann", "bob", "cleo"):
        with house.page(worker) as page:
            page.whole()
    house.stop()
    run = make_run_of_conversations(url, RUN, composition={"ordinary": 6}, judgments_per_item=2)
    store = Store(url)
    store.start()
    try:
        sat = {worker: await sit(store, run, worker) for worker in ("ann", "bob", "cleo")}
        for worker, enrolment in sat.items():
            held = query(
                url,
                "SELECT conversation.id FROM conversation JOIN assignment ON assignment.id = assignment_id "
                "JOIN worker ON worker.id = worker_id WHERE external_id = ? AND run_id <> ?",
                IDS.encrypted(worker),
                run.id,
            )
            plan = {name for _, name, _, _ in query(url, PLAN, enrolment.assignment)}
            assert len(plan) == 6
            assert not plan & {name for (name,) in held}
    finally:
        store.stop()


@pytest.mark.databases("sqlite", "postgresql")
async def test_an_open_place_goes_to_somebody_who_may_rate_all_of_it(
    url: str, serve: Callable[..., House]
) -> None:
    house = serve(url, make_run(url))
    for worker in ("ann", "bob"):
        with house.page(worker) as page:
            page.whole()
    house.stop()
    run = make_run_of_conversations(url, RUN, composition={"ordinary": 3}, judgments_per_item=2)
    store = Store(url)
    store.start()
    try:
        first = await sit(store, run, "bob")  # gets ann's three conversations
        await store.append(first.assignment, 0, [Closed("returned", AT)], AT)
        own = await sit(store, run, "ann")  # the open place has her own
        assert not {n for _, n, _, _ in query(url, PLAN, own.assignment)} & {
            n for _, n, _, _ in query(url, PLAN, first.assignment)
        }
        other = await sit(store, run, "dora")
        assert query(url, PLAN, other.assignment) == query(url, PLAN, first.assignment)
    finally:
        store.stop()


async def test_an_item_is_rated_once_over_runs(url: str, store: Store) -> None:
    run = make_items_run(url, items_text(composition={"ordinary": 6}))
    again = make_items_run(url, items_text(composition={"ordinary": 6}), slug="again")
    first = await sit(store, run, "ann")
    execute(url, "UPDATE conversation SET status = 'rated' WHERE assignment_id = ?", first.assignment)
    second = await sit(store, again, "ann")
    plans = [{n for _, n, _, _ in query(url, PLAN, each.assignment)} for each in (first, second)]
    assert not plans[0] & plans[1]


# ---- over the wire -------------------------------------------------------------------------------


def read_all(page: Any, items: int = 6, *, edit: str | None = None) -> None:
    """Rate every item, coming back in the middle is the caller's."""
    for number in range(items):
        page.send("rate", ratings=RATED, edit=edit)
        page.until("item_due" if number < items - 1 else "feedback_due")
    page.send("feedback", text="Fine.")
    page.until("completed")


@pytest.mark.databases("sqlite", "postgresql")
def test_a_whole_assignment_and_its_views_and_export(
    url: str, serve: Callable[..., House], candor: Candor, tmp_path: Path
) -> None:
    house = serve(url, make_items_run(url))
    token = house.token("ann")
    with house.open(token) as page:
        assert page.snapshot["study"]["task"] == "transcripts"
        page.send("agree")
        first = page.until("item_due")
        assert first["conversations"] == 6
        page.send("rate", ratings=RATED)
        second = page.until("item_due")
    with house.open(token) as page:  # a refresh: the same item, and no way back
        assert page.snapshot["phase"] == "rating"
        assert page.snapshot["conversation"]["conversation"] == 2
        assert page.snapshot["conversation"]["item"] == second["item"]
        assert page.ask("rate", conversation=1, attempt=1, ratings=RATED)["code"] == "wrong_phase"
        read_all(page, 5)
    rows = query(
        url,
        "SELECT position, item_id, source, kind, twin_of, criterion, value, seconds >= 0 FROM v1_item_rating "
        "ORDER BY position, criterion",
    )
    assert len(rows) == 12
    assert {row[2] for row in rows} == {"text"}
    assert all((row[6], bool(row[7])) == (RATED[row[5]], True) for row in rows)
    twins = {position: item for position, item, _, kind, *_ in rows if kind == "ordinary"}
    assert all(twins[row[4]] == row[1] for row in rows if row[3] != "ordinary")
    assert query(url, "SELECT run, task FROM v1_run") == [(ITEMS_RUN, "transcripts")]

    file = tmp_path / "items.jsonl"
    done = candor(
        "data", "export", "--run", ITEMS_RUN, "--out", file, "--data", tmp_path, CANDOR_DATABASE_URL=url
    )
    assert done.exit_code == 0, done.output
    header, assignment = (json.loads(line) for line in file.read_text(encoding="utf-8").splitlines())
    assert (header["format"], header["version"], header["assignments"]) == ("candor-item-ratings", 1, 1)
    assert [c["label"] for c in header["criteria"]] == list(RATED)
    assert assignment["duration_seconds"] >= 0
    exported = [(i["position"], i["item"], i["source"], i["kind"], i["twin_of"]) for i in assignment["items"]]
    assert exported == sorted({row[:5] for row in rows})
    assert all(item["ratings"] == RATED for item in assignment["items"])

    make_secrets(tmp_path)
    said = candor("data", "audit", "--data", tmp_path, CANDOR_DATABASE_URL=url, CANDOR_WORKER_ID_KEY=ID_KEY)
    assert "gallery, workers: 4 judgments: 0 to 1 per item" in said.output


def test_improved_texts_are_stored_with_their_value(url: str, serve: Callable[..., House]) -> None:
    house = serve(url, make_items_run(url, items_text(post_edit={"criterion": "clear"})))
    with house.page() as page:
        page.send("agree")
        page.until("item_due")
        assert page.ask("rate", ratings=RATED)["code"] == "edit_missing"
        assert page.ask("rate", ratings=RATED, edit="?!")["code"] == "edit_senseless"
        read_all(page, edit="Something wholly different.")
    # Three words for eight, so eight edits, or nine where the twin has a word more.
    shares = query(url, "SELECT edit_share, edited_text FROM v1_item_edit")
    assert {(share, text) for share, text in shares} == {(1.0, "Something wholly different.")}
    assert len(shares) == 6


def test_a_tutorial_is_passed_first_and_its_answers_are_kept(url: str, serve: Callable[..., House]) -> None:
    house = serve(url, make_items_run(url, items_text(tutorial=QUESTIONS)))
    token = house.token("ann")
    with house.open(token) as page:
        page.send("agree")
        assert page.until("question_due")["question"]["question"] == 1
        page.send("answer", question=1, answer=1)
        assert page.until("question_due")["question"]["why"] == "`mat` is there three times."
    with house.open(token) as page:
        assert page.snapshot["phase"] == "tutorial"
        assert page.snapshot["question"]["why"] == "`mat` is there three times."
        page.send("answer", question=1, answer=2)
        assert page.until("answer_explained")["why"] == "`mat` is there three times."
        page.until("question_due")
        page.send("answer", question=2, answer=1)
        page.until("item_due")
    answers = query(url, "SELECT question, answer, is_right FROM v1_tutorial_answer ORDER BY ordinal")
    assert [(q, a, bool(right)) for q, a, right in answers] == [(1, 1, False), (1, 2, True), (2, 1, True)]


def test_simulated_workers_believe_a_bad_twin_to_be_worse(url: str, serve: Callable[..., House]) -> None:
    house = serve(url, make_items_run(url))
    bearer = {"Authorization": f"Bearer {house.auth.researcher_token}"}
    body = {"run": ITEMS_RUN, "worker": "robot", "simulated": True}
    joined = house.http("POST", "/api/join", json=body, headers=bearer).json()
    with house.open(joined["token"]) as page:
        page.send("agree")
        page.until("item_due")
    beliefs = house.desk(f"/assignments/{joined['assignment']}/simulation").json()["conversations"]
    plan = {row[0]: row for row in query(url, PLAN, joined["assignment"])}
    for belief in beliefs:
        _, item, kind, _ = plan[belief["conversation"]]
        assert belief["item"] == item
        of_system = 0.8 if item.endswith("heron") else 0.4
        assert belief["quality"] == pytest.approx(of_system - (0.3 if kind == "bad" else 0.0))
