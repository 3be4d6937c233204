"""The quiz after a conversation, as the session asks it: which line, or persona, is the partner's?"""

from typing import Any

import pytest

from server.bots.lineup import study_card
from server.errors import WrongPhase
from server.session import protocol as wire
from server.session.events import Accept, EndedByResearcher, FromWorker
from server.session.records import QuizAnswered, QuizAsked, QuizLine, QuizNotAsked
from server.session.state import Phase, fold
from server.session.steps.step import Outcome, resume
from server.session.steps.worker_view import snapshot
from server.study import parse_study
from tests.server.support.quiz import ELSEWHERE, SAID, others
from tests.server.support.study import new_state, study_text
from tests.server.support.walk import SAMPLES, Walk, message, told

STUDY: dict[str, Any] = {"quiz": {"choices": 4}, "minimum_inputs": 3}


def talked(*said: str, walk: Walk | None = None, **changes: Any) -> Walk:
    """Return a walk whose conversation is to be rated, after these replies."""
    walk = walk or Walk(new_state(("quokka_plain", "marmot_warm"), **(STUDY | changes)))
    walk.to(Phase.CHAT)
    for text in said:
        walk.send("say")
        walk.reply(text)
    walk.send("end_conversation")
    return walk


def rate(walk: Walk, heard: tuple[QuizLine, ...], id_: str | None = None) -> Outcome:
    plan = walk.state.conversation(walk.current()).plan
    fields = SAMPLES["rate"] | {"conversation": plan.number, "attempt": plan.attempt}
    return walk.event(FromWorker(message("rate", id_, **fields), walk.now, heard))


def asked(walk: Walk, *heard: str) -> QuizAsked:
    record = rate(walk, others(*heard)).records[-1]
    assert isinstance(record, QuizAsked)
    return record


def quiz_walk() -> Walk:
    walk = talked(*SAID)
    rate(walk, others())
    return walk


def test_one_line_is_the_partners_and_the_others_were_said_to_other_workers() -> None:
    record = asked(talked(*SAID))
    texts = [line.text for line in record.lines]
    assert len(set(texts)) == 4
    mine = [line for line in record.lines if line.said_in == "a1-1.1"]
    # Neither the greeting nor the last reply, which is still in sight; replies are the odd lines.
    assert [line.text for line in mine] == [SAID[((line.turn or 0) - 1) // 2] for line in mine]
    assert mine[0].text in SAID[1:-1]
    assert record.lines[record.right - 1] == mine[0]
    assert {line.text for line in record.lines if line not in mine} < set(ELSEWHERE)


def test_the_page_is_told_the_lines_and_nothing_of_where_they_were_said() -> None:
    walk = talked(*SAID)
    outcome = rate(walk, others(), "mine")
    record = outcome.records[-1]
    assert isinstance(record, QuizAsked)
    card = wire.QuizCard(conversation=1, attempt=1, lines=[line.text for line in record.lines])
    assert told(outcome) == [wire.QuizDue(quiz=card)]
    assert outcome.effects[-1] == Accept("mine")
    assert walk.state.phase is Phase.QUIZ


def test_a_reload_shows_the_same_lines_and_no_word_of_the_conversation() -> None:
    walk = quiz_walk()
    study = study_card(parse_study(study_text(**STUDY)))
    drawn = snapshot(walk.state, study, walk.now)
    assert drawn.quiz is not None
    assert told(walk.last) == [wire.QuizDue(quiz=drawn.quiz)]
    assert (drawn.phase, drawn.conversation) == (Phase.QUIZ, None)
    page = drawn.model_dump_json()
    assert sum(text in page for text in SAID) == 1
    assert resume(walk.state, walk.now) == ()


def test_an_answer_is_taken_once_and_the_worker_is_not_told_whether_it_was_right() -> None:
    right, wrong = quiz_walk(), quiz_walk()
    asked_about = right.state.conversations[0].quiz
    assert asked_about is not None
    other = asked_about.right % 4 + 1
    first = answer(right, asked_about.right, "mine")
    assert first.records[0] == QuizAnswered("a1-1.1", asked_about.right, True, right.now, "mine")
    assert answer(wrong, other, "mine").records[0] == QuizAnswered("a1-1.1", other, False, wrong.now, "mine")
    assert told(first) == told(wrong.last)
    assert right.state.phase is Phase.TOPIC
    assert answer(right, other, "mine").records == ()  # the same message once more
    with pytest.raises(WrongPhase):
        answer(right, other, "second")


def answer(walk: Walk, choice: int, id_: str | None = None) -> Outcome:
    return walk.event(
        FromWorker(message("answer_quiz", id_, conversation=1, attempt=1, choice=choice), walk.now)
    )


@pytest.mark.parametrize("type_", sorted(SAMPLES.keys() - {"answer_quiz", "leave"}))
def test_the_quiz_takes_an_answer_and_nothing_else(type_: str) -> None:
    walk = quiz_walk()
    with pytest.raises(WrongPhase, match=r"Expected `answer_quiz` or `leave` \(quiz phase\)"):
        walk.send(type_)


def test_a_choice_that_was_not_shown_and_another_conversation_are_refused() -> None:
    walk = quiz_walk()
    with pytest.raises(WrongPhase, match="Expected a choice from 1 to 4, got choice 5"):
        answer(walk, 5)
    with pytest.raises(WrongPhase, match="Expected conversation 1, attempt 1, got conversation 2"):
        walk.send("answer_quiz", conversation=2, attempt=1, choice=1)


def test_who_leaves_in_the_quiz_has_left() -> None:
    walk = quiz_walk()
    walk.send("leave")
    assert walk.state.phase is Phase.RETURNED


def test_the_last_conversation_has_its_quiz_too() -> None:
    walk = quiz_walk()
    answer(walk, 1)
    talked(*(f"{text} Really!" for text in reversed(SAID)), walk=walk)
    assert isinstance(rate(walk, others()).records[-1], QuizAsked)
    walk.send("answer_quiz", conversation=2, attempt=1, choice=2)
    assert told(walk.last) == [wire.FeedbackDue()]


def test_a_study_without_a_quiz_asks_none() -> None:
    walk = talked(*SAID, quiz=None)
    assert told(rate(walk, others()))[0].type == "topic_due"


@pytest.mark.parametrize(
    ("said", "heard", "why"),
    [
        # The middle has nothing that anybody could remember.
        ((SAID[0], "I see.", "Oh, really?", SAID[1]), ELSEWHERE, "few_replies"),
        (SAID, ELSEWHERE[:2], "few_lines"),
        # Near-equal to what the partner said: who remembers could take one for the other.
        (SAID[:3], (*ELSEWHERE[:2], "My uncle keeps nine black goats."), "few_lines"),
        # Near-equal to each other.
        (SAID, (*ELSEWHERE[:2], "We moved to Lisbon six years ago!"), "few_lines"),
        # They would stand out by their length.
        (SAID, (*ELSEWHERE[:2], "Short but seen.", "So long. " * 12), "few_lines"),
    ],
)
def test_too_little_to_ask_and_the_worker_goes_on(
    said: tuple[str, ...], heard: tuple[str, ...], why: str
) -> None:
    walk = talked(*said)
    outcome = rate(walk, others(*heard))
    assert outcome.records[-1] == QuizNotAsked("a1-1.1", why, walk.now)  # type: ignore[arg-type]
    assert told(outcome)[0].type == "topic_due"


def test_no_line_that_the_worker_has_read_in_any_conversation_stands_beside_it() -> None:
    walk = talked(ELSEWHERE[0], *SAID[1:4], ELSEWHERE[1], ELSEWHERE[2], SAID[5])
    rate(walk, ())  # nothing to ask with yet
    talked(*(f"{text} Really!" for text in SAID), walk=walk)
    record = asked(walk)
    assert not {line.text for line in record.lines} & set(ELSEWHERE[:3])


def test_which_lines_are_drawn_goes_by_the_conversations_seed() -> None:
    first = asked(talked(*SAID))
    assert asked(talked(*SAID)) == first
    walk = talked(*SAID)
    elsewhere = walk.state.conversations[0]
    state = walk.state._replace(conversations=())
    seeds = []
    for seed in range(40):
        plan = type(elsewhere.plan)(**{**_fields(elsewhere.plan), "seed": seed})
        walk.state = state._replace(conversations=(elsewhere._replace(plan=plan),))
        seeds.append(asked(walk).right)
    assert {1, 2, 3, 4} == set(seeds)  # the right one is at every place


def _fields(plan: Any) -> dict[str, Any]:
    return {name: getattr(plan, name) for name in plan.__slots__}


def test_a_conversation_that_the_researchers_end_is_rated_and_asked_about() -> None:
    walk = Walk(new_state(("quokka_plain",), **STUDY)).to(Phase.CHAT)
    for text in SAID[:3]:
        walk.send("say")
        walk.reply(text)
    walk.event(EndedByResearcher("the bot repeats itself", walk.now))
    assert asked(walk).lines


def test_a_quiz_is_in_the_fold_until_it_is_answered() -> None:
    walk = talked(*SAID)
    before = walk.state
    outcome = rate(walk, others())
    assert fold(before, outcome.records) == outcome.state
    assert outcome.state.current == outcome.state.conversations[0]
    answer(walk, 1)
    assert walk.state.current == walk.state.conversations[1]


PEOPLE = [
    ["I breed narwhals in Wichita.", "I own two left shoes.", "Soup is my favourite food."],
    ["I whittle ukuleles at dawn.", "My aunt is a cartographer.", "Mondays make me sleepy."],
    [
        "I repair lighthouses abroad.",
        "We keep forty bees.",
        "Purple suits me well.",
        "I never learnt to swim.",
    ],
    ["My brother races camels.", "I taste tea for a living.", "Ghosts frighten me badly."],
]


PERSONA_STUDY: dict[str, Any] = {"quiz": {"choices": 3, "about": "personas"}, "personas": PEOPLE}


def persona_walk(first: str = "marmot_warm", personas: list[list[str]] = PEOPLE) -> Walk:
    """Return a walk past the rating of a conversation, whose quiz is about personas."""
    study = PERSONA_STUDY | {"personas": personas}
    walk = talked("Hello.", "Goodbye.", walk=Walk(new_state((first, "quokka_warm"), **study)))
    rate(walk, ())
    return walk


def test_one_persona_is_the_partners_and_the_others_are_the_studys() -> None:
    walk = persona_walk()
    quiz, plan = walk.state.conversations[0].quiz, walk.state.conversations[0].plan
    assert quiz is not None
    personas = [line.text.split("\n") for line in quiz.lines]
    assert set(personas[quiz.right - 1]) <= set(plan.persona)
    assert [line.said_in for line in quiz.lines].count(None) == 2
    # Of a longer persona as many sentences are shown, in their order.
    assert {len(persona) for persona in personas} == {3}
    whole = [next(one for one in PEOPLE if set(persona) <= set(one)) for persona in personas]
    assert [[s for s in one if s in shown] for one, shown in zip(whole, personas, strict=True)] == personas
    assert len({one[0] for one in whole}) == 3
    due = wire.QuizCard(conversation=1, attempt=1, about="personas", lines=[line.text for line in quiz.lines])
    assert told(walk.last) == [wire.QuizDue(quiz=due)]
    assert answer(walk, quiz.right, "mine").records[0] == QuizAnswered(
        "a1-1.1", quiz.right, True, walk.now, "mine"
    )


def test_the_sentence_of_the_ice_breaker_is_in_no_persona() -> None:
    walk = Walk(new_state(("marmot_warm",), topic_mode="icebreaker", **PERSONA_STUDY)).to(Phase.TOPIC)
    walk.send("topic", text=None, opinion="like")
    talked("Hello.", "Goodbye.", walk=walk)
    rate(walk, ())
    quiz, plan = walk.state.conversations[0].quiz, walk.state.conversations[0].plan
    assert quiz is not None
    assert plan.icebreaker in plan.persona
    own = [sentence for sentence in plan.persona if sentence != plan.icebreaker]
    assert set(quiz.lines[quiz.right - 1].text.split("\n")) <= set(own)
    assert {line.text.count("\n") for line in quiz.lines} == {min(len(own), 3) - 1}


@pytest.mark.parametrize(
    ("first", "personas", "why"),
    [
        ("quokka_plain", PEOPLE, "no_persona"),
        # Two of the others say nearly the same, so that only one of them can be shown.
        ("marmot_warm", [["I own two left shoes."], ["I taste tea."], ["I taste teas."]], "few_personas"),
    ],
)
def test_without_a_persona_or_enough_others_nothing_is_asked(
    first: str, personas: list[list[str]], why: str
) -> None:
    walk = persona_walk(first, personas)
    assert walk.last.records[-1] == QuizNotAsked("a1-1.1", why, walk.now, "personas")  # type: ignore[arg-type]
    assert told(walk.last)[0].type == "topic_due"


def test_personas_of_the_workers_other_partners_are_shown_only_if_there_are_too_few_others() -> None:
    walk = persona_walk()
    answer(walk, 1)
    first = walk.state.conversations[0].plan.persona
    talked("Hello.", "Goodbye.", walk=walk)
    record = rate(walk, ()).records[-1]
    assert walk.state.conversations[1].plan.persona != first
    assert isinstance(record, QuizAsked)
    assert not any(set(line.text.split("\n")) & set(first) for line in record.lines)
