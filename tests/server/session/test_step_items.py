"""Sessions without a chat: items are shown one by one and rated, the same decisions otherwise."""

from dataclasses import replace
from typing import Any

import pytest

from server.errors import EditMissing, EditSenseless, IncompleteRating, WrongPhase
from server.session import protocol as wire
from server.session.plan import is_left_unrated, plan_conversation
from server.session.records import (
    Closed,
    ConversationEnded,
    ConversationLeftUnrated,
    ConversationRated,
    ItemEdited,
    ItemShown,
    QuestionAnswered,
)
from server.session.state import Phase, WaysOut
from server.session.steps.step import resume
from server.session.steps.worker_view import snapshot
from server.study import parse_study
from tests.server.support.items import QUESTIONS, RATED, items_text, new_items_state, planned
from tests.server.support.study import AT, new_state, study_text
from tests.server.support.walk import Walk, told

TOP = {"clear": 95, "dull": 0}


def reader(**changes: Any) -> Walk:
    return Walk(new_items_state(**changes))


def rate(walk: Walk, ratings: dict[str, int] = RATED, **fields: Any) -> Any:
    current = walk.state.current
    assert current is not None
    return walk.send("rate", None, conversation=current.plan.position, attempt=1, ratings=ratings, **fields)


def test_the_way_of_a_whole_assignment() -> None:
    walk = reader()
    outcome = walk.send("agree")
    assert [type(record).__name__ for record in outcome.records] == ["Agreed", "ItemShown"]
    (due,) = told(outcome)
    assert isinstance(due, wire.ItemDue)
    assert (due.conversation, due.attempt, due.conversations) == (1, 1, 6)  # the study's, not this state's
    assert due.item.text == "This is one."
    assert walk.state.phase is Phase.RATING
    outcome = rate(walk)
    assert [type(record) for record in outcome.records] == [ConversationRated, ItemShown]
    (due,) = told(outcome)
    assert [line.text for line in due.item.lines] == ["Hello."]
    (feedback,) = told(rate(walk))
    assert isinstance(feedback, wire.FeedbackDue)
    walk.send("feedback", text="")
    assert walk.state.phase is Phase.DONE
    assert [c.status for c in walk.state.conversations] == ["rated", "rated"]


def test_an_item_takes_nothing_but_its_rating() -> None:
    walk = reader().to(Phase.RATING)
    for type_ in ("topic", "say", "topic_change", "end_conversation", "feedback", "answer"):
        with pytest.raises(WrongPhase):
            walk.send(type_)
    with pytest.raises(IncompleteRating):
        rate(walk, {"clear": 60})


def test_there_is_no_way_back() -> None:
    walk = reader().to(Phase.RATING)
    rate(walk)
    with pytest.raises(WrongPhase, match="Expected conversation 2"):
        walk.send("rate", None, conversation=1, attempt=1, ratings=RATED)


def test_a_refreshed_page_is_on_the_same_item() -> None:
    walk = reader().to(Phase.RATING)
    rate(walk)
    drawn = snapshot(
        walk.state, wire.StudyCard.model_validate(parse_study(items_text()), from_attributes=True), AT
    )
    assert drawn.phase is Phase.RATING
    assert drawn.conversation is not None
    assert drawn.conversation.conversation == 2
    assert drawn.conversation.item is not None
    assert drawn.conversation.item.lines[0].text == "Hello."
    assert drawn.study.task == "transcripts"
    assert resume(walk.state, AT) == ()


def test_nothing_that_is_sent_tells_a_twin_from_its_item() -> None:
    walk = Walk(new_items_state(planned("a"), planned("a", "bad", 1), planned("a", "repeat", 1)))
    sent = [told(walk.send("agree"))[0], told(rate(walk))[0], told(rate(walk))[0]]
    for message in sent:
        fields = message.model_dump()
        assert fields.keys() == {"type", "conversation", "attempt", "conversations", "item"}
        assert fields["item"].keys() == {"context", "highlight", "paragraphs", "text", "lines", "topics"}


# ---- improving texts ---------------------------------------------------------------------------

IMPROVED = {"post_edit": {"criterion": "clear", "top": 90}}


def test_a_text_below_the_top_has_to_be_improved() -> None:
    walk = Walk(new_items_state(planned("one"), **IMPROVED)).to(Phase.RATING)
    with pytest.raises(EditMissing):
        rate(walk)
    with pytest.raises(EditSenseless, match="fewer than 5"):
        rate(walk, edit="This is one")
    outcome = rate(walk, edit="This is not the first one.")
    (edited,) = [record for record in outcome.records if isinstance(record, ItemEdited)]
    assert (edited.text, edited.share) == ("This is not the first one.", 3 / 3)


def test_a_text_at_the_top_is_left_as_it_is() -> None:
    walk = Walk(new_items_state(planned("one"), **IMPROVED)).to(Phase.RATING)
    assert not any(isinstance(record, ItemEdited) for record in rate(walk, TOP).records)


def test_without_the_question_nothing_is_improved() -> None:
    walk = reader().to(Phase.RATING)
    assert not any(
        isinstance(record, ItemEdited) for record in rate(walk, edit="Something else here").records
    )


# ---- the tutorial ------------------------------------------------------------------------------


def answer(walk: Walk, question: int, number: int) -> Any:
    return walk.send("answer", None, question=question, answer=number)


def test_the_tutorial_comes_first_and_is_passed_question_by_question() -> None:
    walk = reader(tutorial=QUESTIONS)
    (due,) = told(walk.send("agree"))
    assert isinstance(due, wire.QuestionDue)
    assert (due.question.question, due.question.questions, due.question.why) == (1, 2, None)
    assert walk.state.phase is Phase.TUTORIAL
    explained, due = told(answer(walk, 1, 2))
    assert explained == wire.AnswerExplained(why="`mat` is there three times.")
    assert due.question.question == 2
    outcome = answer(walk, 2, 1)
    assert [type(record) for record in outcome.records] == [QuestionAnswered, ItemShown]
    assert [type(message) for message in told(outcome)] == [wire.AnswerExplained, wire.ItemDue]
    assert walk.state.phase is Phase.RATING


def test_a_wrong_answer_is_explained_and_asked_again() -> None:
    walk = reader(tutorial=QUESTIONS).to(Phase.TUTORIAL)
    (due,) = told(answer(walk, 1, 1))
    assert (due.question.question, due.question.why) == (1, "`mat` is there three times.")
    _, due = told(answer(walk, 1, 2))
    assert (due.question.question, due.question.why) == (2, None)


def test_too_many_wrong_answers_end_the_assignment() -> None:
    walk = reader(tutorial=QUESTIONS).to(Phase.TUTORIAL)
    ways = WaysOut("/no", "/out", "/fault", "/back")
    walk.state = walk.state._replace(context=replace(walk.state.context, ways_out=ways))
    answer(walk, 1, 1)
    outcome = answer(walk, 1, 1)
    assert outcome.records[-1] == Closed("returned", AT)
    assert told(outcome) == [wire.Ended(phase="returned", return_to="/out")]


@pytest.mark.parametrize(("question", "number"), [(2, 1), (1, 3)])
def test_an_answer_to_something_else_is_refused(question: int, number: int) -> None:
    walk = reader(tutorial=QUESTIONS).to(Phase.TUTORIAL)
    with pytest.raises(WrongPhase):
        answer(walk, question, number)


# ---- conversations that are left unrated --------------------------------------------------------


def test_a_share_of_conversations_is_left_unrated() -> None:
    lineup = new_state().rules.lineup
    plans = [plan_conversation(lineup, "a", seed, 1, 1, "quokka_plain") for seed in range(2_000)]
    left = sum(is_left_unrated(plan, 0.7) for plan in plans)
    assert 0.27 < left / 2_000 < 0.33  # 0.3; three standard errors are 0.031
    assert not any(is_left_unrated(plan, 1.0) for plan in plans)


def test_the_qc_bot_is_always_rated() -> None:
    lineup = new_state().rules.lineup
    assert not any(
        is_left_unrated(plan_conversation(lineup, "a", seed, 2, 1, "qc"), 0.01) for seed in range(200)
    )


def test_an_unrated_conversation_is_followed_by_the_next_one() -> None:
    walk = Walk(new_state(rate_share=1e-9)).to(Phase.CHAT).chat(2)
    outcome = walk.send("end_conversation")
    assert [type(record) for record in outcome.records] == [ConversationEnded, ConversationLeftUnrated]
    (due,) = told(outcome)
    assert isinstance(due, wire.TopicDue)
    assert due.conversation == 2
    assert walk.state.conversations[0].status == "unrated"


def test_a_bot_that_gives_up_late_leaves_it_unrated_too() -> None:
    walk = Walk(new_state(rate_share=1e-9)).to(Phase.CHAT).chat(1)
    walk.send("say")
    outcome = walk.gives_up()
    assert walk.state.conversations[0].status == "unrated"
    assert isinstance(told(outcome)[-1], wire.TopicDue)


def test_pages_are_told_whether_every_conversation_is_rated() -> None:
    for share, expected in ((1.0, True), (0.5, False)):
        assert parse_study(study_text(rate_share=share)).rates_all is expected
