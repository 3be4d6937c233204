"""Tests of loading the words of a run: the same frames from each kind of source, and every fault reported."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from qc.loading import load
from qc.run import CHANGES, OPINIONS, Words
from qc.signature import signature
from tests.qc.support.database import Database

Json = dict[str, Any]
Rows = list[dict[str, str]]
Refused = Callable[..., str]

# Two exchanges, of which the second had no reply; an opening topic, and two changes of which one has a topic.
DIALOGUE = [{"round": 1, "user": "Hello", "bot": "hi ."}, {"round": 2, "user": "Do you cook?", "bot": ""}]
TOPICS = [
    {"round": 0, "topic": "weather", "attitude": "like"},
    {"round": 2, "topic": "cooking", "attitude": "dislike"},
]
CHANGED = [
    {"round": 1, "action": "No topic change.", "attitude": "ambivalent"},
    {"round": 2, "action": "The user changed the topic the last input.", "attitude": "like"},
]
EXCHANGE_ROWS = [(0, 1, "Hello", "hi ."), (0, 2, "Do you cook?", None)]
TOPIC_ROWS = [(0, 0, "weather", "like"), (0, 2, "cooking", "dislike")]
CHANGE_ROWS = [(0, 1, "no change", "ambivalent"), (0, 2, "user change last", "like")]


def rows(frame: pd.DataFrame) -> list[tuple[Any, ...]]:
    """Return the rows of a frame, None for what is missing."""
    return [
        tuple(None if pd.isna(value) else value for value in row) for row in frame.itertuples(index=False)
    ]


def as_expected(words: Words | None) -> None:
    assert words is not None
    assert rows(words.exchanges) == EXCHANGE_ROWS
    assert rows(words.topics) == TOPIC_ROWS
    assert rows(words.changes) == CHANGE_ROWS
    assert [str(kind) for kind in words.exchanges.dtypes] == ["int32", "int32", "str", "str"]
    for frame, column, known in (
        (words.topics, "opinion", OPINIONS),
        (words.changes, "how", CHANGES),
        (words.changes, "bot_opinion", OPINIONS),
    ):
        assert tuple(frame[column].cat.categories) == known


@pytest.fixture
def spoken_hits(small_hits: Json) -> Json:
    """The small data set with words in the first conversation only."""
    small_hits["data"][0]["result"][0] |= {
        "dialogue": DIALOGUE,
        "topic": TOPICS,
        "change of topic": CHANGED,
        "persona": ["I am a cook.", "I have two dogs."],
    }
    return small_hits


def test_words_of_a_hits_file(spoken_hits: Json, hits_file: Callable[[object], Path]) -> None:
    run = load(str(hits_file(spoken_hits)))
    as_expected(run.words)
    assert run.conversations["persona"].to_list()[0] == "I am a cook.\nI have two dogs."
    assert run.conversations["persona"].isna().sum() == 14


def test_words_are_read_only_if_wanted(spoken_hits: Json, hits_file: Callable[[object], Path]) -> None:
    assert load(str(hits_file(spoken_hits)), words=False).words is None
    spoken_hits["data"][0]["result"][0]["dialogue"] = "nobody looks at it"
    assert len(load(str(hits_file(spoken_hits)), words=False).conversations) == 15


def test_a_file_without_words_has_none(small_hits: Json, hits_file: Callable[[object], Path]) -> None:
    assert load(str(hits_file(small_hits))).words is None
    for assignment in small_hits["data"]:
        for conversation in assignment["result"]:
            del conversation["dialogue"]
        del assignment["feedback"]
    run = load(str(hits_file(small_hits)))
    assert run.words is None
    assert run.assignments["feedback"].isna().all()


def test_words_follow_their_conversation_wherever_it_stands(
    spoken_hits: Json, hits_file: Callable[[object], Path]
) -> None:
    spoken_hits["data"].reverse()
    as_expected(load(str(hits_file(spoken_hits))).words)


def test_feedback_none_is_no_feedback(small_hits: Json, hits_file: Callable[[object], Path]) -> None:
    small_hits["data"][1]["feedback"] = "Fun!"
    feedback = load(str(hits_file(small_hits))).assignments["feedback"]
    assert rows(feedback.to_frame()) == [(None,), ("Fun!",), (None,), (None,), (None,)]


HITS_FAULTS: dict[str, tuple[dict[str, object], list[str]]] = {
    "dialogue is no list": ({"dialogue": "Hello"}, ["result[0].dialogue", "is not a list"]),
    "round missing": (
        {"dialogue": [{"user": "a", "bot": "b"}]},
        ["dialogue[0].round", "the field is missing"],
    ),
    "round of a topic as text": (
        {"topic": [{**TOPICS[0], "round": "0"}]},
        ["result[0].topic[0].round", "'0' is not a whole number"],
    ),
    "round below 0": (
        {"topic": [{**TOPICS[0], "round": -1}]},
        ["topic[0].round", "-1 is below the lowest allowed value"],
    ),
    "input is a number": (
        {"dialogue": [{**DIALOGUE[0], "user": 7}]},
        ["dialogue[0].user", "7 is not a text"],
    ),
    "unknown attitude": ({"topic": [{**TOPICS[0], "attitude": "love"}]}, ["result[0]", "'love' is none of"]),
    "unknown action": (
        {"change of topic": [{**CHANGED[0], "action": "It changed."}]},
        ["result[0]", "'It changed.' is none of"],
    ),
    "persona is a text": ({"persona": "I cook."}, ["result[0].persona", "is not a list"]),
}


@pytest.mark.parametrize("case", HITS_FAULTS)
def test_faults_of_a_hits_file(
    case: str, spoken_hits: Json, hits_file: Callable[[object], Path], refused: Refused
) -> None:
    change, expected = HITS_FAULTS[case]
    spoken_hits["data"][0]["result"][0] |= change
    message = refused(hits_file(spoken_hits))
    assert "1 problem\n" in message
    for part in ["data[0]", *expected]:
        assert part in message


SPOKEN: dict[str, object] = {
    "dialogue0": "u: Hello###b: hi .###u: Do you cook?###",
    "topic0": "#0@weather#2@cooking",
    "topic_opinion0": "#0@like#2@dislike",
    "topic_change_opinion0": "#1@no change#2@user change last",
    "topic_chatbot_opinion0": "#1@ambivalent#2@like",
}


def test_words_of_a_batch(edited_answer: Callable[..., Rows], batch_file: Callable[[Rows], Path]) -> None:
    run = load(str(batch_file(edited_answer(**SPOKEN))))
    as_expected(run.words)
    # The first assignment said "fine", like the second; neither was paid, as far as the batch says.
    assert list(run.assignments["feedback"]) == ["fine", "fine"]
    assert run.assignments["reward"].isna().all()


def test_the_separators_may_stand_in_the_words(
    edited_answer: Callable[..., Rows], batch_file: Callable[[Rows], Path]
) -> None:
    run = load(
        str(
            batch_file(
                edited_answer(
                    dialogue0="u: me@home ### #1###b: so be it###u: u: or b:####b: #2@###",
                    topic0="#0@me@home#12@topic #4",
                    topic_opinion0="#0@like#12@",
                )
            )
        )
    )
    assert run.words is not None
    assert rows(run.words.exchanges) == [(0, 1, "me@home ### #1", "so be it"), (0, 2, "u: or b:#", "#2@")]
    assert rows(run.words.topics) == [(0, 0, "me@home", "like"), (0, 12, "topic #4", None)]


@pytest.mark.parametrize(
    ("given", "reward"), [("$0.99", 0.99), ("$1", 1), ("2.5", 2.5), ("", None), ("$0", 0)]
)
def test_the_reward_of_a_batch(
    given: str, reward: float | None, batch: Rows, batch_file: Callable[[Rows], Path]
) -> None:
    # The fixture's columns have no reward; HITTypeId takes no part, so its place can be taken.
    text = batch_file(batch).read_text().replace("AssignmentStatus", "Reward").replace("Submitted", given)
    path = batch_file(batch)
    path.write_text(text)
    assert rows(load(str(path)).assignments[["reward"]]) == [(reward,), (reward,)]


@pytest.mark.parametrize("given", ["$", "free", "$-1", "nan", "$inf"])
def test_a_reward_that_is_none(
    given: str, batch: Rows, batch_file: Callable[[Rows], Path], refused: Refused
) -> None:
    path = batch_file(batch)
    path.write_text(path.read_text().replace("AssignmentStatus", "Reward").replace("Submitted", given))
    message = refused(path)
    assert "2 problems" in message
    assert f"row 2 (assignment A1): Reward is '{given}', which is not an amount of dollars" in message


def test_feedback_of_a_batch_is_stripped(
    edited_answer: Callable[..., Rows], batch_file: Callable[[Rows], Path]
) -> None:
    run = load(str(batch_file(edited_answer(feedback=" good \n"))))
    assert list(run.assignments["feedback"]) == ["good", "fine"]
    for given in ("None", " ", None):
        run = load(str(batch_file(edited_answer(feedback=given))))
        assert rows(run.assignments[["feedback"]]) == [(None,), ("fine",)]


BATCH_FAULTS: dict[str, tuple[dict[str, object], str]] = {
    "dialogue is no text": ({"dialogue0": ["u: a"]}, "dialogue0 is ['u: a'], which is not a text"),
    "reply before an input": ({"dialogue0": "b: hi###u: a###"}, "do not take turns"),
    "two replies": ({"dialogue0": "u: a###b: b###b: c###"}, "do not take turns"),
    "no author": ({"dialogue0": "hello###"}, "do not take turns"),
    "topic without round": ({"topic0": "weather"}, "topic: does not begin with a mark"),
    "opinion missing": ({"topic_opinion0": "#0@like"}, "topic and topic_opinion are not of the same rounds"),
    "bot's opinion of another round": (
        {"topic_chatbot_opinion0": "#1@ambivalent#3@like"},
        "topic_change_opinion and topic_chatbot_opinion are not of the same rounds",
    ),
    "unknown opinion": (
        {"topic_opinion0": "#0@love#2@dislike"},
        "'love' is none of like, ambivalent, dislike",
    ),
    "unknown change": (
        {"topic_change_opinion0": "#1@why not#2@no change"},
        "'why not' is none of bot change, user change last",
    ),
    "feedback is no text": ({"feedback": 7}, "feedback is 7, which is not a text"),
}


@pytest.mark.parametrize("case", BATCH_FAULTS)
def test_faults_of_a_batch(
    case: str, edited_answer: Callable[..., Rows], batch_file: Callable[[Rows], Path], refused: Refused
) -> None:
    parts, expected = BATCH_FAULTS[case]
    message = refused(batch_file(edited_answer(**{**SPOKEN, **parts})))
    assert "1 problem\n" in message
    assert "row 2 (assignment A1)" in message
    assert expected in message


def test_all_faults_of_the_words_are_told_at_once(
    edited_answer: Callable[..., Rows], batch_file: Callable[[Rows], Path], refused: Refused
) -> None:
    faulty = {
        "dialogue0": "hello",
        "topic0": 7,
        "topic_change_opinion0": None,
        "feedback": [],
        "score1": "1#",
    }
    message = refused(batch_file(edited_answer(**{**SPOKEN, **faulty})))
    for part in ("feedback is []", "topic0 is 7", "do not take turns", "score1 has 1 rating where"):
        assert part in message


def test_words_of_a_database(spoken_database: Any) -> None:
    spoken_database.execute(
        "UPDATE v1_assignment SET feedback = CASE worker WHEN 'anna' THEN 'Fun!' ELSE '' END"
    )
    run = load(spoken_database.url)
    as_expected(run.words)
    assert rows(run.assignments[["feedback"]]) == [("Fun!",), (None,), (None,), (None,), (None,)]
    assert run.assignments["reward"].isna().all()
    assert load(spoken_database.url, words=False).words is None


def test_turns_and_marks_are_taken_by_their_number(spoken_database: Any) -> None:
    for view in ("v1_turn", "v1_topic_mark"):
        spoken_database.execute(f"UPDATE {view} SET rowid = -rowid")  # noqa: S608  # a table is read by rowid
    as_expected(load(spoken_database.url).words)


def test_a_database_in_which_nothing_was_said_has_no_words(database: Any) -> None:
    assert load(database.url).words is None


def test_words_of_a_conversation_that_does_not_count_are_left_out(spoken_database: Any) -> None:
    spoken_database.execute(
        "UPDATE v1_conversation SET status = 'failed' WHERE conversation_id = 'r1-anna-1'"
    )
    assert load(spoken_database.url).words is None


def test_the_persona_of_a_conversation_and_of_its_system(database: Any) -> None:
    run = load(database.url)
    personas = run.conversations.set_index("conversation")["persona"]
    assert personas["r1-anna-4"] == "I am a cook.\nI have two dogs."
    assert personas[[name for name in personas.index if name[-1] != "4"]].isna().all()
    assert dict(zip(run.systems["system"], run.systems["has_persona"], strict=True)) == {
        "alpha": False,
        "alpha_p": True,
        "beta": False,
        "qc": False,
    }


DATABASE_FAULTS = {
    "reply first": ("UPDATE v1_turn SET turn_index = -1 WHERE author = 'bot'", "does not answer an input"),
    "unknown author": ("UPDATE v1_turn SET author = 'cat' WHERE turn_index = 1", "turn 1 of 'cat'"),
    "number of a turn": ("UPDATE v1_turn SET turn_index = 'x'", "turn_index is 'x', which is not a number"),
    "text empty": ("UPDATE v1_turn SET text = NULL", "view v1_turn: the column 'text' is empty in 3 rows"),
    "round": ("UPDATE v1_topic_mark SET round = 1.5 WHERE ordinal = 1", "the round of a topic is 1.5"),
    "round too large": ("UPDATE v1_topic_mark SET round = 4294967296", "the round of a topic is 4294967296"),
    "opinion": ("UPDATE v1_topic_mark SET opinion = 'love' WHERE ordinal = 0", "'love' is none of like"),
    "change": ("UPDATE v1_topic_mark SET how = 'why' WHERE ordinal = 1", "'why' is none of bot change"),
}


@pytest.mark.parametrize("case", DATABASE_FAULTS)
def test_faults_of_a_database(case: str, spoken_database: Any, refused: Refused) -> None:
    statement, expected = DATABASE_FAULTS[case]
    spoken_database.execute(statement)
    assert expected in refused(spoken_database.url)


def test_a_wait_is_the_mean_time_from_a_message_to_its_reply(database: Database) -> None:
    assert load(database.url).waits is None
    database.execute("ALTER TABLE v1_turn ADD COLUMN show_at")
    lines = [  # the reply to the first message is shown after 4 s, that to the third after 2 s
        ("worker", "10:00:00", "10:00:00"),
        ("bot", "10:00:01", "10:00:04"),
        ("worker", "10:00:20", "10:00:20"),
        ("worker", "10:00:30", "10:00:30"),
        ("bot", "10:00:32", "10:00:32"),
    ]
    for index, (author, sent, shown) in enumerate(lines):
        database.insert(
            "v1_turn",
            run_id="r1",
            conversation_id="r1-anna-1",
            turn_index=index,
            author=author,
            text="x",
            overran=0,
            created_at=f"2025-03-01 {sent}.000000",
            show_at=f"2025-03-01 {shown}.000000",
        )
    run = load(database.url)
    assert run.waits is not None
    known = run.waits.notna()
    assert run.conversations.loc[known, "conversation"].tolist() == ["r1-anna-1"]
    assert run.waits[known].tolist() == [3.0]
    assert "waits=" in signature(run, alpha=0.05)
