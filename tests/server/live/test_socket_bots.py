"""Tests of messages to a worker's page when a bot fails."""

from collections.abc import Callable

from bots import BotError
from tests.server.support.bots import BROKEN, Raises
from tests.server.support.database import make_run
from tests.server.support.server import House, stored
from tests.server.support.study import study_text

Serve = Callable[..., House]


def test_a_bot_that_stumbles_is_asked_again_without_a_word_to_the_worker(url: str, serve: Serve) -> None:
    house = serve(url, make_run(url, bots=Raises(BotError("out of order"), times=1)))
    with house.page() as page:
        page.agree()
        page.open_topic()
        assert page.say("Hello?")["text"] == "Reply 0 to: Hello?"
        types = [message["type"] for message in page.heard]
    assert types[:6] == ["snapshot", "topic_due", "accepted", "conversation_started", "accepted", "typing"]
    assert sorted(types[6:]) == ["accepted", "said"]
    assert stored(house, "SELECT kind FROM note") == [("bot_error",)]


def test_a_bot_that_gives_up_is_replaced_and_the_way_goes_on(url: str, serve: Serve) -> None:
    quick = {"bot_try": 0.2, "bot_total": 0.2}
    broken = dict.fromkeys(("quokka_plain", "quokka_warm"), BROKEN)
    house = serve(url, make_run(url, study_text(timeouts=quick), broken))
    replaced = 0
    with house.page() as page:
        page.agree()
        rated = 0
        while rated < 4:
            page.open_topic()
            page.send("say", text="Hello?")
            while (message := page.receive())["type"] not in {"said", "replaced"}:
                assert message["type"] != "error"
            if message["type"] == "replaced":
                named = {"conversation": rated + 1, "attempt": page.attempt + 1}
                assert message == {"type": "replaced", **named}
                assert named.items() <= page.until("topic_due").items()
                replaced += 1
                continue
            page.say("And you?")
            page.send("end_conversation")
            page.until("rating_due")
            rated += 1
            page.rate("topic_due" if rated < 4 else "feedback_due")
        page.send("feedback", text="")
        page.until("completed")
    # An assignment meets three of the four families, so quokka three times out of four.
    failed = stored(
        house,
        "SELECT name FROM conversation JOIN system ON system.id = system_id "
        "WHERE conversation.status = 'failed'",
    )
    assert len(failed) == replaced
    assert {name for (name,) in failed} <= set(broken)


def test_a_refresh_after_a_replacement_says_so(url: str, serve: Serve) -> None:
    house = serve(url, make_run(url, study_text(timeouts={"bot_try": 0.2, "bot_total": 0.2}), BROKEN))
    with house.page() as page:
        page.agree()
        page.open_topic()
        page.send("say", text="Hello?")
        page.until("replaced")
    with house.page() as page:
        card = page.snapshot["conversation"]
        assert (page.snapshot["phase"], card["turns"]) == ("topic", [])
        assert (card["conversation"], card["attempt"]) == (1, 2)


def test_a_line_of_a_failed_attempt_does_not_land_in_its_replacement(url: str, serve: Serve) -> None:
    """One device was away with a line; on another the attempt failed and its replacement has begun."""
    quick = {"bot_try": 0.2, "bot_total": 0.2}
    house = serve(url, make_run(url, study_text(timeouts=quick), BROKEN))
    token = house.token("ann")
    with house.open(token) as phone:
        phone.agree()
        phone.open_topic()
    with house.open(token) as desktop:
        desktop.send("say", text="Hello?")
        desktop.until("replaced")
        desktop.until("topic_due")
        desktop.open_topic()
    with house.open(token) as back:
        held = {"conversation": 1, "attempt": 1, "turn": 0}
        error = back.ask("say", "held", **held, text="Held back.")
        assert (error["code"], error["retry"], error["id"]) == ("wrong_phase", False, "held")
    assert stored(house, "SELECT conversation_id LIKE '%-1.1', text FROM turn") == [(1, "Hello?")]
