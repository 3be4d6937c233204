"""Tests of the stored origin of each reply, and of caps on the cost of bots."""

import asyncio
import json
import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from bots import Chat, Provenance, Reply
from bots.core.failures import ThoughtsOnly
from bots.serving import BudgetSpent
from qc.loading import load
from qc.method.incidents import describe_served
from server.access.auth import make_secrets
from server.bots.lineup import SpendingCap, spending_caps
from server.bots.opened_bots import OpenedBots
from server.session.plan import QC
from server.study import parse_study
from tests.server.support.commands import Candor
from tests.server.support.database import execute, make_run, query
from tests.server.support.server import ID_KEY, House
from tests.server.support.study import RUN, study_text
from tests.support.waiting import wait_until

pytestmark = pytest.mark.databases("sqlite", in_soak=["postgresql"])
Serve = Callable[..., House]
MADE = Provenance(
    model="zanzibar-5-2026-01-01",
    revision="fp_1",
    prompt_hash="0123456789abcdef",
    sampling='{"temperature": 0.7}',
    tokens_in=20,
    tokens_out=5,
    cost=0.25,
    finish_reason="stop",
    replica="http://zanzibar.example/v1",
    queued_ms=3,
    computed_ms=250,
)


class Billed:
    """Answers for money, once the gate is open; counts how often it was asked.

    `thinks_first`: the first try of every line is thoughts only.
    """

    def __init__(self, thinks_first: bool = False, made: Provenance = MADE) -> None:
        self._thinks_first = thinks_first
        self._made = made
        self._lines: set[tuple[str, int]] = set()
        self._lock = threading.Lock()
        self.asked = 0
        self.gate = threading.Event()
        self.gate.set()

    async def reply(self, chat: Chat) -> Reply:
        with self._lock:  # servers of one test each have a thread
            self.asked += 1
        while not self.gate.is_set():  # noqa: ASYNC110  (opened from another thread)
            await asyncio.sleep(0.01)
        line = (chat.conversation_id, len(chat.turns))
        if self._thinks_first and line not in self._lines:
            self._lines.add(line)
            error = ThoughtsOnly("it thought")
            error.output, error.provenance = "<think>Zanzibar plans.", replace(MADE, finish_reason="length")
            raise error
        return Reply("I like tea.", provenance=self._made)


def test_every_reply_is_stored_with_where_it_came_from(
    url: str, serve: Serve, candor: Candor, tmp_path: Path
) -> None:
    house = serve(url, make_run(url, bots=Billed(thinks_first=True)))
    with house.page() as page:
        page.whole()
        sent = "\n".join(page.frames).lower()
    assert "zanzibar" not in sent
    facts = (
        "tries, model, revision, prompt_hash, sampling, tokens_in, tokens_out, cost, finish_reason, replica"
    )
    replies = query(url, f"SELECT {facts}, queued_ms, computed_ms FROM v1_turn WHERE author = 'bot'")  # noqa: S608
    assert len(replies) == 8
    assert set(replies) == {
        (2, MADE.model, "fp_1", MADE.prompt_hash, MADE.sampling, 20, 5, 0.25, "stop", MADE.replica, 3, 250)
    }
    assert set(query(url, "SELECT tries, model, cost FROM v1_turn WHERE author = 'worker'")) == {(None,) * 3}
    failed = query(url, "SELECT tries, failure, output, finish_reason FROM v1_bot_call WHERE failure <> ''")
    assert failed == [(1, "thoughts", "<think>Zanzibar plans.", "length")] * 8
    assert query(url, "SELECT sum(cost) FROM spending") == [(16 * 0.25,)]
    make_secrets(tmp_path)
    given = {"CANDOR_DATABASE_URL": url, "CANDOR_WORKER_ID_KEY": ID_KEY}
    audited = candor("data", "audit", "--data", tmp_path, **given)
    assert audited.exit_code == 0, audited.output
    file = tmp_path / "hits_data.json"
    done = candor("data", "export", "--run", RUN, "--out", file, "--data", tmp_path, CANDOR_DATABASE_URL=url)
    assert done.exit_code == 0, done.output
    held = json.loads(file.read_text())["data"][0]["result"]
    made = [said["provenance"] for one in held for said in one["dialogue"]]
    assert len(made) == 8
    assert all(one["model"] == MADE.model and one["cost"] == 0.25 and one["tries"] == 2 for one in made)
    assert load(file).words is not None


def test_what_a_builtin_bot_tells_is_stored_and_nothing_else(url: str, serve: Serve) -> None:
    made = Provenance(model="builtin:x", revision="1", replica="builtin_7", queued_ms=1, computed_ms=2)
    house = serve(url, make_run(url, bots=Billed(made=made)))
    with house.page() as page:
        page.whole()
    calls = query(url, "SELECT * FROM v1_bot_call")
    assert len(calls) == 8
    of_all = "SELECT DISTINCT tries, model, revision, replica, queued_ms, computed_ms FROM v1_bot_call"
    assert query(url, of_all) == [(1, "builtin:x", "1", "builtin_7", 1, 2)]
    unknown = "failure, output, prompt_hash, sampling, tokens_in, tokens_out, cost, finish_reason"
    assert query(url, f"SELECT DISTINCT {unknown} FROM v1_bot_call") == [(None,) * 8]  # noqa: S608


def test_a_report_of_the_database_says_what_was_evaluated(url: str, serve: Serve) -> None:
    house = serve(url, make_run(url, bots=Billed(thinks_first=True)))
    with house.page() as page:
        page.whole()
    served = load(url).served
    assert served is not None
    row = served.iloc[0]
    assert (row["model"], row["revision"], row["sampling"]) == (MADE.model, "fp_1", MADE.sampling)
    assert (row["calls"], row["failed"], row["tokens_in"], row["cost"]) == (4, 2, 20.0, 1.0)
    assert len(served) == 4
    execute(url, "UPDATE bot_call SET revision = 'fp_2' WHERE id = (SELECT max(id) FROM bot_call)")
    found = describe_served(load(url))
    assert found is not None
    (note,) = found.notes
    assert "changed in the midst of the run" in note


@pytest.mark.databases("sqlite", "postgresql")
def test_an_audit_finds_money_that_was_not_counted(url: str, serve: Serve, candor: Candor) -> None:
    house = serve(url, make_run(url, bots=Billed()))
    with house.page() as page:
        page.whole()
    execute(url, "UPDATE spending SET cost = cost + 1 WHERE bot_id = (SELECT min(bot_id) FROM spending)")
    audited = candor("data", "audit", CANDOR_DATABASE_URL=url)
    assert audited.exit_code == 2
    assert "run 1, bot 1: cost of calls stored as 1.5 instead of 0.5" in audited.output
    execute(url, "UPDATE spending SET cost = cost - 1 WHERE bot_id = (SELECT min(bot_id) FROM spending)")


def test_a_cap_that_is_reached_refuses_asks_and_newcomers_and_the_desk_says_why(
    url: str, serve: Serve
) -> None:
    run = make_run(url, bots=Billed())
    caps = (SpendingCap(0.5, None, run.id),)
    house = serve(url, replace(run, spending_caps=dict.fromkeys(run.bots, caps)))
    with house.page() as page:
        page.agree()
        page.open_topic()
        page.say("Hello?")
        page.say("And you?")
        page.send("say", text="Really?")
        page.until("rating_due")  # the bot gave up, and the minimum of inputs was reached
    (kind, failure, why) = query(url, "SELECT kind, failure, text FROM v2_note")[-1]
    assert (kind, failure) == ("bot_gave_up", BudgetSpent.kind)
    assert why.endswith("the spending cap of the study is reached: 0.50 of 0.50 are spent")
    refused = house.join("bob")
    assert (refused.status_code, refused.json()["error"]["code"]) == (410, "run_complete")
    state = "SELECT status, cause, reason FROM v1_run_state"
    wait_until(lambda: query(url, state)[0][0] == "closed", "the end of the run")
    stopped = "The run has to stop: the spending cap of the study is reached: 0.50 of 0.50 are spent."
    assert query(url, state) == [("closed", "budget", stopped)]
    assert query(url, "SELECT sum(cost) FROM v1_bot_call") == [(0.5,)]


@pytest.mark.databases("sqlite", "postgresql")
def test_two_processes_exceed_a_cap_by_no_more_than_was_under_way(url: str, serve: Serve) -> None:
    bot = Billed()
    bot.gate.clear()
    run = make_run(url, bots=bot)
    caps = (SpendingCap(0.5, None, run.id),)  # two calls
    capped = replace(run, spending_caps=dict.fromkeys(run.bots, caps))
    houses = serve(url, capped), serve(url, capped)
    with ExitStack() as opened:
        pages = [
            opened.enter_context(house.page(f"{name} {at}"))
            for at, house in enumerate(houses)
            for name in ("ann", "bob", "cat")
        ]
        for page in pages:
            page.agree()
            page.open_topic()
            page.send("say", text="Hello?")
        wait_until(lambda: bot.asked == len(pages), "a call of each worker")  # nothing is spent so far
        bot.gate.set()
        for page in pages:
            page.until("said")
            page.send("say", text="And you?")
            page.until("rating_due")  # nobody is asked, and there were inputs enough
    assert bot.asked == len(pages)
    assert query(url, "SELECT sum(cost) FROM spending") == [(0.25 * len(pages),)]
    assert query(url, "SELECT count(*), sum(cost) FROM bot_call") == [(len(pages), 0.25 * len(pages))]


def test_whose_caps_hold_for_whom() -> None:
    priced = {
        "kind": "openai",
        "urls": ["http://a.example"],
        "model": "m",
        "price": {"input": 1, "output": 1},
    }
    study = parse_study(
        study_text(
            bots={"gpt": {**priced, "spending_cap": 3}, "free": {**priced}},
            spending_cap=5,
            systems=[
                {"name": "one", "family": "one", "bot": "gpt"},
                {"name": "two", "family": "two", "bot": "free"},
            ],
            systems_per_assignment=2,
            simulate=None,
        )
    )
    caps = spending_caps(7, study, OpenedBots(refuse_private=False))
    of_study = SpendingCap(5, None, 7)
    assert caps == {"one": (SpendingCap(3, "gpt", 7), of_study), "two": (of_study,), QC: (of_study,)}
