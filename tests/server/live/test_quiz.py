"""The quiz after a conversation, over a real server: whose lines it has, and what a page sees of it."""

import asyncio
import random
from collections.abc import Callable

import pytest

from bots import load_corpus, open_bot
from bots.crowd.crowd import PatientClient
from bots.crowd.profile import PROFILES, ProfileName
from bots.crowd.talk import Retrieved
from bots.crowd.worker import Diary, SimulatedWorker
from bots.researcher_api import ResearcherClient, access
from qc.loading import load
from server.db.engine import open_engine
from server.db.sessions.quizzes import lines_of_others
from tests.server.support.bots import Babbles
from tests.server.support.database import execute, make_run, query
from tests.server.support.page import Message, Page
from tests.server.support.server import House
from tests.server.support.study import PERSONAS, RATINGS, RUN, study_text
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.databases("sqlite", in_soak=["postgresql"])

QUIZ = {"quiz": {"choices": 3}, "minimum_inputs": 3}


@pytest.fixture
def house(url: str, serve: Callable[..., House]) -> House:
    return serve(url, make_run(url, study_text(**QUIZ), Babbles()))


def hold(page: Page) -> Message:
    """Hold a conversation and rate it; return what is next."""
    page.converse(inputs=3)
    page.send("rate", ratings=RATINGS)
    kind = page.until_any("quiz_due", "topic_due", "feedback_due")
    return next(message for message in reversed(page.heard) if message["type"] == kind)


def assignment(house: House, worker: str) -> str:
    sql = "SELECT assignment.id FROM assignment JOIN worker ON worker.id = worker_id WHERE external_id = ?"
    return str(query(house.url, sql, house.kept(worker))[0][0])


def quiz_of(house: House, worker: str) -> list[tuple[object, ...]]:
    """Return what the database says of the quizzes of a worker: as analysts read it."""
    sql = "SELECT choices, why_not, choice, is_right FROM v1_quiz WHERE assignment_id = ?"
    return query(house.url, sql, assignment(house, worker))


def test_the_first_worker_is_asked_nothing_and_the_second_what_their_partner_said(house: House) -> None:
    with house.page("ann") as ann:
        ann.agree()
        assert hold(ann)["type"] == "topic_due"
    assert quiz_of(house, "ann") == [(0, "few_lines", None, None)]
    with house.page("bob") as bob:
        bob.agree()
        quiz = hold(bob)["quiz"]
        said = [m["text"] for m in bob.heard if m["type"] == "said"]
    (right,) = [n for n, line in enumerate(quiz["lines"], start=1) if line in said]
    assert quiz["lines"][right - 1] == said[1]  # of three, the one in the middle
    told = {text for (text,) in query(house.url, "SELECT text FROM v1_turn WHERE author = 'bot'")}
    assert len(quiz["lines"]) == 3
    assert set(quiz["lines"]) <= told
    house.stop()  # what is shown then is what is stored
    house.start()
    with house.open(house.token("bob")) as again:
        shown = again.snapshot
        (_, row) = house.desk(f"/runs/{RUN}").json()["workers"][::-1]
        assert (row["step"], row["position"]) == ("quiz", 1)
        assert (shown["phase"], shown["quiz"], shown["conversation"]) == ("quiz", quiz, None)
        again.send("answer_quiz", "mine", choice=right)
        again.until("topic_due")
        again.conversation = 1
        assert again.ask("answer_quiz", "mine", choice=right % 3 + 1)["type"] == "accepted"  # sent once more
    assert quiz_of(house, "bob") == [(3, None, right, True)]
    told_of = house.desk(f"/assignments/{assignment(house, 'bob')}").json()["conversations"][0]["answers"]
    assert [row["answers"] for row in told_of] == [[f"Right: {quiz['lines'][right - 1]}"]]
    steps = [step["step"] for step in house.desk(f"/runs/{RUN}").json()["funnel"]]
    assert steps[:9] == ["instructions", *["topic", "chat", "rating", "quiz"] * 2]
    lines = "SELECT choice, is_right FROM v1_quiz_line ORDER BY choice"
    assert query(house.url, lines) == [(n, n == right) for n in (1, 2, 3)]


def test_lines_come_from_other_workers_of_the_same_kind_and_from_the_same_kind_of_chatbot(
    house: House,
) -> None:
    with house.page("ann") as ann:
        ann.agree()
        for _ in range(4):
            hold(ann)
    house.enrolled("bob")
    held = "SELECT conversation_id, is_qc FROM v1_conversation WHERE assignment_id = ?"
    mine = {is_qc: name for name, is_qc in query(house.url, held, assignment(house, "bob"))}
    of_ann = "SELECT text FROM v1_turn WHERE author = 'bot' AND conversation_id IN ({})"
    engine = open_engine(house.url)

    def found(conversation: str) -> set[str]:
        with engine.connect() as connection:
            return {line.text for line in lines_of_others(connection, conversation, 1)}

    for is_qc in (False, True):
        same = "SELECT conversation_id FROM v1_conversation WHERE is_qc = ?"
        said = {text for (text,) in query(house.url, of_ann.format(same), is_qc)}
        assert found(mine[is_qc]) == said
        assert len(said) == (3 if is_qc else 9)
    anns = [name for name, _ in query(house.url, held, assignment(house, "ann"))]
    assert {text for name in anns for text in found(name)} == set()  # nobody else has heard anything
    # A line by which a bot said what it is would tell this worker, too.
    where, text = query(house.url, "SELECT conversation_id, text FROM v1_turn WHERE author = 'bot'")[0]
    at = "2026-01-01 12:00:00"
    note = "INSERT INTO note (conversation_id, kind, text, created_at) VALUES (?, 'gave_itself_away', ?, ?)"
    execute(house.url, note, where, text[:9], at)
    assert text not in found(mine[False]) | found(mine[True])
    # What simulated workers were told stays among themselves.
    simulate = "UPDATE assignment SET simulated = ? WHERE id = ?"
    execute(house.url, simulate, True, assignment(house, "ann"))
    assert found(mine[False]) == set()
    execute(house.url, simulate, False, assignment(house, "ann"))
    engine.dispose()


def test_a_quiz_about_personas_is_stored_and_read_with_the_partners_one(
    url: str, serve: Callable[..., House]
) -> None:
    fixed = [
        {"name": "quokka_warm", "family": "quokka", "bot": "quokka://spec", "persona": PERSONAS[0]},
        {"name": "marmot_plain", "family": "marmot", "bot": "marmot://spec"},
    ]
    study = {"quiz": {"choices": 2, "about": "personas"}, "systems": fixed, "systems_per_assignment": 2}
    study["simulate"] = {"quality": {"quokka_warm": 0.5, "marmot_plain": 0.5}}
    house = serve(url, make_run(url, study_text(**study), Babbles()))
    with house.page("ann") as ann:
        ann.agree()
        while "quiz_due" not in [message["type"] for message in ann.heard]:
            ann.converse()
            ann.send("rate", ratings=RATINGS)
            ann.until_any("quiz_due", "topic_due", "feedback_due")
        (quiz,) = [message["quiz"] for message in ann.heard if message["type"] == "quiz_due"]
    assert set(quiz["lines"]) == {"\n".join(persona) for persona in PERSONAS}
    right = 1 + quiz["lines"].index("\n".join(PERSONAS[0]))
    house.stop()
    house.start()
    with house.open(house.token("ann")) as again:
        assert again.snapshot["quiz"] == quiz
        again.send("answer_quiz", "mine", conversation=quiz["conversation"], choice=right)
        again.until_any("topic_due", "feedback_due")
    sql = "SELECT about, choice, is_right FROM v1_quiz WHERE choices = 2"
    assert query(house.url, sql) == [("personas", right, True)]
    lines = "SELECT choice, is_right, turn_index FROM v1_quiz_line ORDER BY choice"
    assert query(house.url, lines) == [(n, n == right, None) for n in (1, 2)]
    shown = house.desk(f"/assignments/{assignment(house, 'ann')}").json()["conversations"]
    (told,) = [c["answers"][0] for c in shown if c["answers"] and "Right" in c["answers"][0]["answers"][0]]
    assert told["question"] == "Quiz: which of these describes your chat partner?"


@pytest.mark.databases("sqlite")
async def test_simulated_workers_answer_mostly_right_if_they_were_there(house: House) -> None:
    profiles: list[ProfileName] = [*["honest"] * 6, *["flat"] * 3]
    speaker = Retrieved(open_bot("builtin:retrieval", load_corpus("builtin:smalltalk")))
    arrival_state = access(f"http://127.0.0.1:{house.port}", house.auth.researcher_token)
    with ResearcherClient(arrival_state) as client, PatientClient(client, PATIENCE) as patient:
        crowd = [
            SimulatedWorker(
                name=f"{profile}-{number}",
                profile=PROFILES[profile](random.Random(number)),
                rng=random.Random(number),
                speaker=speaker,
                client=patient,
                socket_url=f"ws://127.0.0.1:{house.port}/ws",
                patience=PATIENCE,
                diary=Diary(lambda *_: None),
            )
            for number, profile in enumerate(profiles)
        ]
        await asyncio.gather(*(worker.run(house.runs[0].slug, 0.0) for worker in crowd))
    assert [worker.diary.failure for worker in crowd] == [None] * len(crowd)
    answers: dict[str, list[bool]] = {"honest": [], "flat": []}
    for worker in crowd:
        for choices, why_not, choice, is_right in quiz_of(house, worker.name):
            assert (choices, why_not) in {(3, None), (0, "few_lines")}
            assert (choice is None) == (choices == 0)
            answers[worker.name.partition("-")[0]] += [] if is_right is None else [bool(is_right)]
    # Four conversations each, the first ones perhaps without a quiz.
    assert len(answers["honest"]) >= 12
    assert sum(answers["honest"]) >= 0.7 * len(answers["honest"])  # expected: 0.9 + 0.1 / 3
    run = load(house.url)  # as an analyst reads it
    assert run.quizzes is not None
    assert len(run.quizzes) == 4 * len(crowd)
    expected = (sum(answers["honest"]) + sum(answers["flat"]), len(answers["honest"]) + len(answers["flat"]))
    assert (run.quizzes["is_right"].sum(), run.quizzes["is_right"].notna().sum()) == expected
    assert (run.quizzes["why_not"].notna() == (run.quizzes["choices"] == 0)).all()
    assert sum(answers["flat"]) <= 0.8 * len(answers["flat"])  # expected: 1 / 3
