"""An assignment with all that a study may ask beside the published instrument, as the desk tells it."""

from collections.abc import Callable
from typing import Any

from server.db.engine import open_engine
from server.db.runs.analyses import outdated
from tests.server.support.database import make_run
from tests.server.support.questions import ANSWERS, ASKED, POINTS, SCALES
from tests.server.support.server import House, stored
from tests.server.support.study import RUN, pairs_text, study_text

Serve = Callable[..., House]
SCENARIO = {"label": "ferry", "text": "You have missed the ferry.", "prompt": "You sell tickets."}


def assignment(house: House) -> dict[str, Any]:
    ((name,),) = stored(house, "SELECT id FROM assignment")
    answer: dict[str, Any] = house.desk(f"/assignments/{name}").json()
    return answer


def where(house: House) -> tuple[str, int | None]:
    (row,) = house.desk(f"/runs/{RUN}").json()["workers"]
    return row["step"], row["position"]


def steps(house: House) -> list[tuple[str, int | None]]:
    return [(step["step"], step["position"]) for step in house.desk(f"/runs/{RUN}").json()["funnel"]]


def test_answers_scenario_and_ratings_of_replies_are_told(url: str, serve: Serve) -> None:
    asks: dict[str, Any] = {"questionnaires": ASKED, "criteria": SCALES, "scenarios": [SCENARIO]}
    size = {"systems_per_assignment": 1, "qc_per_assignment": 0, "turn_ratings": "thumbs"}
    house = serve(url, make_run(url, study_text(**asks, **size)))
    with house.page() as page:
        page.send("agree")
        page.until("questionnaire_due")
        assert where(house) == ("questions_before", None)
        page.send("questionnaire", part="before", answers=ANSWERS["before"])
        page.until("topic_due")
        page.open_topic()
        page.say("one")
        page.say("two")
        here = {"conversation": 1, "attempt": 1, "turn": 1}
        assert page.ask("rate_turn", **here, value=1)["type"] == "accepted"
        assert page.ask("rate_turn", **here, value=2)["type"] == "accepted"  # the last one counts
        page.send("end_conversation")
        page.until("rating_due")
        page.send("rate", ratings=POINTS, answers=ANSWERS["conversation"])
        page.until("questionnaire_due")
        assert where(house) == ("questions_after", None)
        page.send("questionnaire", part="after", answers=ANSWERS["after"])
        page.until("feedback_due")
        assert where(house) == ("feedback", None)
    of_one = [("topic", 1), ("chat", 1), ("rating", 1)]
    ends = [("questions_after", None), ("feedback", None), ("done", None)]
    assert steps(house) == [("instructions", None), ("questions_before", None), *of_one, *ends]
    told = assignment(house)
    assert [(row["label"], row["answers"]) for row in told["before"]] == [
        ("age", ["31"]),
        ("often", ["Daily"]),
    ]
    after = [(row["question"], row["answers"]) for row in told["after"]]
    assert after == [("Which do you use?", ["Tablet", "Phone"]), ("How tiring?", ["20 of 100"])]
    (held,) = told["conversations"]
    assert held["scenario"] == {"label": "ferry", "text": "You have missed the ferry."}
    assert [turn["rating"] for turn in held["turns"]] == [None, {"point": 2, "points": 2}, None, None]
    answers = {row["label"]: row["answers"] for row in held["answers"]}
    assert answers == {"human": ["4 of 5"], "why": ["It knew the sea."]}  # `note` was left empty


def test_two_side_by_side_are_one_conversation_with_a_choice(url: str, serve: Serve) -> None:
    house = serve(url, make_run(url, pairs_text({"pairs": 1}, qc_per_assignment=0)))
    with house.page() as page:
        page.agree()
        page.open_topic()
        for text in ("one", "two"):
            page.send("say", text=text)
            page.turn = page.until("said_by_both")["turn"] + 1
        assert where(house) == ("chat", 1)
        page.send("end_conversation")
        due = page.until("choice_due")
        assert where(house) == ("choice", 1)
        page.send("choose", conversation=1, attempt=1, turn=due.get("turn", 3), preference="right")
        page.until("feedback_due")
        assert where(house) == ("feedback", None)
    assert steps(house)[1:4] == [("topic", 1), ("chat", 1), ("choice", 1)]
    left, right = assignment(house)["conversations"]
    assert (left["number"], right["number"]) == (1, 1)
    assert [choice["preference"] for choice in left["choices"]] == ["right"]
    engine = open_engine(house.url)
    with engine.connect() as connection:
        assert outdated(connection, 1) is None  # choices are no ratings, and are not analysed as they come in
    engine.dispose()
