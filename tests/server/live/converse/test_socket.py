"""The worker's WebSocket on a real server: the whole way, refreshes, second tabs, restarts."""

from collections.abc import Callable

import pytest

from server.bots.lineup import OpenRun
from tests.server.support.bots import Gated
from tests.server.support.database import make_run
from tests.server.support.page import Page
from tests.server.support.server import House, stored
from tests.server.support.study import PERSONAS, RATINGS, study_text
from tests.support.waiting import wait_until

Serve = Callable[..., House]


# ---- the whole way ---------------------------------------------------------------------------


@pytest.mark.databases("sqlite", "postgresql")
def test_a_whole_assignment(house: House) -> None:
    with house.page() as page:
        assert (page.snapshot["type"], page.snapshot["phase"]) == ("snapshot", "instructions")
        completed = page.whole()
    assert stored(house, "SELECT status, feedback FROM assignment") == [("completed", "Thank you.")]
    assert stored(house, "SELECT status, count(*) FROM conversation GROUP BY status") == [("rated", 4)]
    assert stored(house, "SELECT author, count(*) FROM turn GROUP BY author ORDER BY author") == [
        ("bot", 8),
        ("worker", 8),
    ]
    ratings = stored(house, "SELECT DISTINCT criterion, value FROM rating ORDER BY criterion")
    assert ratings == sorted(RATINGS.items())
    assert stored(house, "SELECT count(*) FROM topic_mark WHERE round = 0 AND ordinal = 0") == [(4,)]
    with house.page() as page:  # the same worker comes back
        assert page.snapshot["phase"] == "done"
        assert page.snapshot["code"] == completed["code"]


def test_what_a_message_leads_to_comes_before_its_acceptance(either: House, someone: str) -> None:
    with either.page(someone) as page:
        page.ask("agree")
        page.ask("topic", text="the sea", opinion="like")
        types = [message["type"] for message in page.heard]
        frames = len(page.frames)
    assert types == ["snapshot", "topic_due", "accepted", "conversation_started", "accepted"]
    assert frames == 3  # one at the start, one for each message


def test_an_icebreaker_study(url: str, serve: Serve) -> None:
    house = serve(url, make_run(url, study_text(topic_mode="icebreaker")))
    sentences = {sentence for persona in PERSONAS for sentence in persona}
    with house.page() as page:
        due = page.agree()
        assert due["icebreaker"] in sentences
        assert page.ask("topic", text="mine", opinion="like")["code"] == "topic_fixed"
        assert page.open_topic(None)["topic"] == due["icebreaker"]
        assert stored(house, "SELECT topic, how, bot_opinion FROM topic_mark") == [
            (due["icebreaker"], None, None)
        ]


def test_leaving_gives_the_place_to_the_next_worker(house: House) -> None:
    with house.page("ann") as ann:
        ann.agree()
        ann.send("leave")
        assert ann.until("ended")["phase"] == "returned"
        assert ann.ask("agree")["code"] == "wrong_phase"
    with house.page("bob") as bob:
        bob.agree()
    assert stored(house, "SELECT place, status FROM assignment ORDER BY created_at, status DESC") == [
        (0, "returned"),
        (0, "active"),
    ]


def test_a_worker_who_lost_the_place_is_told(url: str, serve: Serve) -> None:
    house = serve(url, make_run(url, study_text(timeouts={"idle": 0.05})))
    with house.page("slow") as slow:
        slow.agree()
        wait_until(lambda: _displaced(house), "the time-out")
        assert slow.until("ended")["phase"] == "expired"
    with house.page("slow") as again:
        assert again.snapshot["phase"] == "expired"


def _displaced(house: House) -> bool:
    """Let somebody new arrive; tell whether they were given the first place."""
    with house.open(house.join().json()["token"]) as page:
        page.agree()
    return stored(house, "SELECT count(*) FROM assignment WHERE status = 'expired'") != [(0,)]


# ---- refresh and second tab ------------------------------------------------------------------


def test_a_refresh_comes_back_to_the_chat_with_every_word(either: House, someone: str) -> None:
    with either.page(someone) as page:
        page.agree()
        page.open_topic()
        page.say("first")
        page.ask("topic_change", how="bot change", topic="ships", opinion="like", bot_opinion="dislike")
    plain = {"right": None, "pace": None, "shown_for": None, "value": None}
    with either.page(someone) as page:
        assert page.snapshot["phase"] == "chat"
        assert page.snapshot["conversation"] == {
            "conversation": 1,
            "attempt": 1,
            "icebreaker": None,
            "topic": "ships",
            "opinion": "like",
            "bot_opinion": "dislike",
            "turns": [
                {"turn": 0, "author": "worker", "text": "first", **plain},
                {"turn": 1, "author": "bot", "text": "Reply 0 to: first", **plain},
            ],
            "inputs": 1,
            "typing": False,
            "item": None,
            "choice_due": None,
            "side": None,
            "scenario": None,
            "reports": [],
        }
        page.say("second")
        page.send("end_conversation")
        page.until("rating_due")
    with either.page(someone) as page:
        assert page.snapshot["phase"] == "rating"
        page.rate()
    with either.page(someone) as page:
        assert page.snapshot["phase"] == "topic"
        assert page.snapshot["conversation"]["conversation"] == 2


def test_an_input_that_was_never_acknowledged_is_sent_again_and_stored_once(house: House) -> None:
    token = house.token("ann")
    with house.open(token) as page:
        page.agree()
        page.open_topic()
    # The line goes out and the network is lost at once: nobody knows whether it arrived.
    with house.open(token) as lost:
        lost.send("say", "mine", text="only once")
    with house.open(token) as page:
        for _ in range(3):
            assert page.ask("say", "mine", turn=0, text="only once")["type"] == "accepted"
    texts = [text for (text,) in stored(house, "SELECT text FROM turn WHERE author = 'worker'")]
    assert texts == ["only once"]


def test_a_reply_that_came_while_nobody_was_there_is_in_the_snapshot(url: str, serve: Serve) -> None:
    bot = Gated()
    house = serve(url, make_run(url, bots=bot))
    with house.page() as page:
        page.agree()
        page.open_topic()
        page.ask("say", text="Are you there?")
    bot.gate.set()
    wait_until(lambda: stored(house, "SELECT count(*) FROM turn") == [(2,)], "the reply")
    with house.page() as page:
        turns = page.snapshot["conversation"]["turns"]
        assert [turn["text"] for turn in turns] == ["Are you there?", "Reply 0 to: Are you there?"]


def test_a_reply_is_neither_told_nor_in_a_snapshot_before_its_time(url: str, serve: Serve) -> None:
    never = {"median": 60, "spread": 0, "longest": 60}  # within this test
    house = serve(url, make_run(url, study_text(reply_time=never)))
    with house.page() as page:
        page.agree()
        page.open_topic()
        page.ask("say", text="Are you there?")
        wait_until(lambda: stored(house, "SELECT count(*) FROM turn") == [(2,)], "the reply")
        error = page.ask("say", text="Hello?")
        assert (error["code"], error["retry"]) == ("reply_pending", True)
        assert not any("Reply 0" in frame for frame in page.frames)
    with house.page() as page:
        assert page.snapshot["conversation"]["typing"]
        assert len(page.snapshot["conversation"]["turns"]) == 1


def test_a_second_tab_takes_over(either: House, someone: str) -> None:
    token = either.token(someone)
    with either.open(token) as first:
        first.agree()
        with either.open(token) as second:
            assert second.snapshot["phase"] == "topic"
            assert [m["type"] for m in first.closed() if m["type"] != "accepted"] == ["taken_over"]
            second.open_topic()
            with either.open(token) as third:
                assert third.snapshot["phase"] == "chat"
                assert second.closed()[-1]["type"] == "taken_over"


# ---- restarts --------------------------------------------------------------------------------


def test_a_restart_in_the_middle_of_a_reply_asks_again_and_loses_nothing(url: str, serve: Serve) -> None:
    bot = Gated()
    house = serve(url, make_run(url, bots=bot))
    token = house.token("ann")
    with house.open(token) as page:
        page.agree()
        page.open_topic()
        page.ask("say", "mine", text="Are you there?")
        house.stop()
        assert page.closed() == []
    house.start()
    bot.gate.set()
    with house.open(token) as page:
        assert page.snapshot["conversation"]["typing"]
        assert page.until("said")["text"] == "Reply 0 to: Are you there?"
        assert page.ask("say", "mine", turn=0, text="Are you there?")["type"] == "accepted"
        page.say("Good.")
    assert bot.calls == 3  # before the restart, after it, and for the second line
    assert stored(house, "SELECT turn_index, author FROM turn ORDER BY 1") == [
        (0, "worker"),
        (1, "bot"),
        (2, "worker"),
        (3, "bot"),
    ]


def test_a_reply_that_waited_to_be_shown_is_shown_after_a_restart(url: str, serve: Serve) -> None:
    soon = {"median": 1, "spread": 0, "longest": 1}
    house = serve(url, make_run(url, study_text(reply_time=soon)))
    with house.page() as page:
        page.agree()
        page.open_topic()
        page.ask("say", text="Hello?")
        wait_until(lambda: stored(house, "SELECT count(*) FROM turn") == [(2,)], "the reply")
    house.stop()
    house.start()
    with house.page() as page:
        if page.snapshot["conversation"]["typing"]:
            page.until("said")
        page.say("Fine.")
    assert stored(house, "SELECT count(*) FROM turn") == [(4,)]


def test_every_phase_survives_a_restart(url: str, run: OpenRun, serve: Serve) -> None:
    house = serve(url, run)
    token = house.token("ann")
    steps: list[tuple[str, Callable[[Page], object]]] = [
        ("instructions", lambda page: page.agree()),
        ("topic", lambda page: page.open_topic()),
        ("chat", lambda page: [page.say("a"), page.say("b"), page.ask("end_conversation")]),
        ("rating", lambda page: page.rate()),
        ("topic", lambda page: None),
    ]
    for phase, step in steps:
        with house.open(token) as page:
            assert page.snapshot["phase"] == phase
            step(page)
        house.stop()
        house.start()
