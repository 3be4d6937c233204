"""Questions of a study's own, and scales of its own, as the session takes them."""

import json
from typing import Any

import pytest

from server.bots.lineup import study_card
from server.errors import AnswersUnfit, IncompleteRating, StudyInvalid, WrongPhase
from server.session import protocol as wire
from server.session.answer_kinds import MAX_POINTS, ShownTexts, point_to_rating
from server.session.instrument import AskedQuestion, Questionnaires, checked_answers
from server.session.records import AnswerGiven, ConversationRated, QuestionnaireSubmitted, TurnRated
from server.session.state import Phase
from server.session.steps.step import Outcome
from server.session.steps.worker_view import snapshot
from server.study import parse_study
from tests.server.support.questions import ANSWERS, ASKED, POINTS, SCALES
from tests.server.support.study import new_state, study_text
from tests.server.support.walk import Walk, told


def walk() -> Walk:
    return Walk(new_state(("quokka_plain",), questionnaires=ASKED, criteria=SCALES))


def rated(one: Walk, **changes: Any) -> Outcome:
    return one.send("rate", **{"ratings": POINTS, "answers": ANSWERS["conversation"]} | changes)


def test_a_whole_assignment_asks_before_with_each_rating_and_after() -> None:
    one = walk()
    assert told(one.send("agree")) == [wire.QuestionnaireDue(part="before")]
    assert one.state.phase is Phase.QUESTIONS_BEFORE
    submitted = one.send("questionnaire", "mine", part="before", answers=ANSWERS["before"])
    assert submitted.records == (
        AnswerGiven(None, "before", "age", 31.0, one.now),
        AnswerGiven(None, "before", "often", "Daily", one.now),
        QuestionnaireSubmitted("before", one.now, "mine"),
    )
    assert one.to(Phase.RATING).state.phase is Phase.RATING
    given = rated(one).records
    assert given[:2] == (
        AnswerGiven("a1-1.1", "conversation", "human", 4.0, one.now),
        AnswerGiven("a1-1.1", "conversation", "why", "It knew the sea.", one.now),
    )
    rating = given[2]
    assert isinstance(rating, ConversationRated)
    # Point 7 of 7 is the top of the scale; what is answered in words is no rating.
    assert dict(rating.ratings) == {"robotic": 10, "fun": 100, "fluent": 100}
    assert told(one.last) == [wire.QuestionnaireDue(part="after")]
    assert one.state.phase is Phase.QUESTIONS_AFTER
    after = one.send("questionnaire", part="after", answers=ANSWERS["after"])
    # Several choices are several answers, as they were given.
    assert [record.value for record in after.records if isinstance(record, AnswerGiven)] == [
        "Tablet",
        "Phone",
        20.0,
    ]
    assert told(after) == [wire.FeedbackDue()]


def test_a_study_without_questions_knows_no_such_phase() -> None:
    plain = Walk(new_state(("quokka_plain",)))
    assert told(plain.send("agree"))[0].type == "topic_due"
    assert plain.to(Phase.FEEDBACK).state.submitted == frozenset()


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        ({"often": "Daily"}, "“age” has no answer"),
        ({"age": 31, "often": "Weekly"}, "“often”: choose one of the answers"),
        ({"age": 17, "often": "Daily"}, "“age”: give a number from 18 to 120"),
        ({"age": "31", "often": "Daily"}, "“age”: give a number from 18 to 120"),
        ({"age": 31, "often": ["Daily", "Never"]}, "“often”: give one answer"),
        ({"age": 31, "often": "Daily", "name": "Ann"}, "“name” is not asked here"),
        ({"age": 31, "often": "  "}, "“often” has no answer"),
    ],
)
def test_what_is_no_answer_is_refused_by_name(answers: dict[str, Any], why: str) -> None:
    one = walk()
    one.send("agree")
    before = one.state
    with pytest.raises(AnswersUnfit) as refused:
        one.send("questionnaire", part="before", answers=answers)
    assert refused.value.message == why
    assert one.state == before


def test_the_other_part_is_not_due() -> None:
    one = walk()
    one.send("agree")
    with pytest.raises(WrongPhase, match="Expected the questions before all conversations"):
        one.send("questionnaire", part="after", answers=ANSWERS["after"])


def test_a_point_that_is_not_on_the_scale_is_refused() -> None:
    one = walk()
    one.send("agree")
    one.send("questionnaire", part="before", answers=ANSWERS["before"])
    one.to(Phase.RATING)
    with pytest.raises(IncompleteRating, match="fun is rated from 1 to 7"):
        rated(one, ratings=POINTS | {"fun": 8})
    with pytest.raises(IncompleteRating, match="fun is rated from 1 to 7"):
        rated(one, ratings=POINTS | {"fun": 0})
    with pytest.raises(AnswersUnfit, match="“human”: give a whole number from 1 to 5"):
        rated(one, answers=ANSWERS["conversation"] | {"human": 2.5})
    assert rated(one).records


def test_points_lie_evenly_between_0_and_100() -> None:
    # 100 x (k - 1) / 6, rounded.
    assert [point_to_rating(point, 7) for point in range(1, 8)] == [0, 17, 33, 50, 67, 83, 100]
    for points in range(2, MAX_POINTS + 1):
        assert len({point_to_rating(point, points) for point in range(1, points + 1)}) == points


def test_what_need_not_be_answered_may_be_left_out() -> None:
    asked = [AskedQuestion.model_validate(question) for question in ASKED["conversation"]]
    assert checked_answers(asked, {"human": 5, "note": " "}) == [("human", 5)]
    with pytest.raises(AnswersUnfit, match="write a text of at most 2000 characters"):
        checked_answers(asked, {"human": 5, "note": "x" * 2001})
    several = Questionnaires.model_validate(ASKED).after[:1]
    with pytest.raises(AnswersUnfit, match="choose each answer once"):
        checked_answers(several, {"tools": ["Phone", "Phone"]})


ERRORS = {
    "label": "errors",
    "kind": "span",
    "text": "output",
    "question": "Mark the errors.",
    "categories": ["Form", "Sense"],
}


def test_marks_lie_in_what_the_system_said() -> None:
    one = Walk(new_state(("quokka_plain",), questionnaires={"conversation": [ERRORS]})).to(Phase.RATING)
    reply = one.state.conversations[0].turns[1].text
    scored: dict[str, Any] = {"ratings": dict.fromkeys(one.state.rules.criteria, 50)}
    mark = {"line": 1, "start": 0, "end": len(reply), "category": "Form"}
    for wrong, why in (
        (mark | {"line": 0}, "mark words of the text"),  # the worker's own line
        (mark | {"end": len(reply) + 1}, "mark words of the text"),
        (mark | {"end": 0}, "mark words of the text"),
        (mark | {"category": "Other"}, "give each mark a category of the list"),
        (mark | {"severity": "minor"}, "marks have no severity here"),
    ):
        with pytest.raises(AnswersUnfit, match=f"“errors”: {why}"):
            one.send("rate", **scored, answers={"errors": [wrong]})
    with pytest.raises(AnswersUnfit, match="“errors”: mark each span once"):
        one.send("rate", **scored, answers={"errors": [mark, mark]})
    records = one.send("rate", **scored, answers={"errors": [mark]}).records
    (given,) = (record for record in records if isinstance(record, AnswerGiven))
    assert json.loads(str(given.value)) == mark


def test_a_text_that_is_not_there_is_not_asked_about() -> None:
    asked = [AskedQuestion.model_validate(ERRORS)]
    assert checked_answers(asked, {}) == []
    with pytest.raises(AnswersUnfit, match="“errors” has no answer"):
        checked_answers(asked, {}, ShownTexts({1: "Hello."}))


@pytest.mark.parametrize(
    ("part", "changes", "why"),
    [
        ("after", {}, "No conversation is read here"),
        ("conversation", {"text": "context"}, "Only the items of a file have a context"),
        ("conversation", {"text": None}, "This is required"),
        ("conversation", {"categories": ["Form", "Form"]}, "“Form” is there twice"),
    ],
)
def test_a_study_whose_workers_have_nothing_to_mark_is_refused(
    part: str, changes: dict[str, Any], why: str
) -> None:
    question = {name: value for name, value in (ERRORS | changes).items() if value is not None}
    with pytest.raises(StudyInvalid, match=why):
        parse_study(study_text(questionnaires={part: [question]}))


def test_a_reply_is_rated_and_rated_anew_until_the_conversation_is() -> None:
    one = Walk(new_state(("quokka_plain",), turn_ratings=5)).to(Phase.CHAT)
    here = {"conversation": 1, "attempt": 1}
    one.send("say")
    with pytest.raises(WrongPhase, match="Expected a reply that is shown, got line 1"):
        one.send("rate_turn", **here, turn=1, value=2)
    one.reply()
    one.send("rate_turn", "first", **here, turn=1, value=2)
    assert one.send("rate_turn", "second", **here, turn=1, value=5).records == (
        TurnRated("a1-1.1", 1, 100, one.now, "second"),
    )
    assert one.state.conversations[0].values == ((1, 100),)
    assert one.send("rate_turn", "first", **here, turn=1, value=2).records == ()  # it comes once more
    for turn, value in ((0, 1), (1, 6), (7, 1)):
        with pytest.raises(WrongPhase):
            one.send("rate_turn", **here, turn=turn, value=value)
    one.to(Phase.RATING)
    one.send("rate_turn", **here, turn=1, value=1)
    card = snapshot(one.state, study_card(parse_study(study_text(turn_ratings=5))), one.now).conversation
    assert card is not None
    assert [line.value for line in card.turns] == [None, 1, None, None]
    one.send("rate")
    with pytest.raises(WrongPhase):
        one.send("rate_turn", **here, turn=1, value=3)


def test_without_the_setting_no_reply_is_rated() -> None:
    one = Walk(new_state(("quokka_plain",))).to(Phase.CHAT).chat(1)
    with pytest.raises(WrongPhase, match=r"or `leave` \(chat phase\), got `rate_turn`"):
        one.send("rate_turn", conversation=1, attempt=1, turn=1, value=1)
