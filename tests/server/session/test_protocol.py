"""The wire: what a page may say, how long it may be, and one schema for both sides."""

import json
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter, ValidationError

from server.bots.lineup import study_card
from server.cli.schema import page_schema
from server.errors import InvalidMessage, MessageTooLong
from server.live.converse.socket import parse
from server.session import protocol
from server.session.instrument import Opinion, TopicChangeKind
from server.session.protocol import (
    MAX_FEEDBACK,
    MAX_FRAME_BYTES,
    MAX_SAY,
    MAX_TOPIC,
    Accepted,
    Error,
    SaidByBot,
    SaidByBoth,
    Say,
    ServerMessage,
    Typing,
    WayBackCard,
    client_messages,
    frame_of,
    json_schema,
    plain,
)
from server.session.state import Phase
from server.session.steps.worker_view import snapshot
from server.study import parse_study
from tests.server.support.study import AT, new_state, study_text
from tests.server.support.writing import WRITING

REPOSITORY = Path(__file__).parents[3]
MESSAGES: list[dict[str, Any]] = [
    {"type": "hello", "id": "m1", "token": "t", "protocol": 2},
    {"type": "hello", "id": "m1", "token": "t", "protocol": None},
    {"type": "agree", "id": "m1", "consent": None, "ticked": []},
    {"type": "agree", "id": "m1", "consent": "1.2", "ticked": ["data"]},
    {"type": "topic", "id": "m1", "conversation": 1, "attempt": 1, "text": "the sea", "opinion": "like"},
    {"type": "topic", "id": "m1", "conversation": 1, "attempt": 1, "text": None, "opinion": "ambivalent"},
    {"type": "say", "id": "m1", "conversation": 6, "attempt": 2, "turn": 18, "text": "Hi.", "writing": None},
    {
        "type": "say",
        "id": "m1",
        "conversation": 1,
        "attempt": 1,
        "turn": 0,
        "text": "Hi.",
        "writing": WRITING,
    },
    *(
        {
            "type": "topic_change",
            "id": "m1",
            "conversation": 1,
            "attempt": 1,
            "how": how,
            "topic": "ships",
            "opinion": "dislike",
            "bot_opinion": "like",
        }
        for how in (
            "bot change",
            "user change last",
            "user change next",
            "user wants bot change",
            "no change",
        )
    ),
    {"type": "end_conversation", "id": "m1", "conversation": 1, "attempt": 1},
    *(
        {
            "type": "rate",
            "id": "m1",
            "conversation": 1,
            "attempt": 1,
            "ratings": {"fun": 0, "fluent": 100},
            "answers": {},
            "edit": edit,
            "side": side,
        }
        for edit, side in ((None, None), ("A better text.", None), (None, "right"))
    ),
    {"type": "choose", "id": "m1", "conversation": 1, "attempt": 1, "turn": 3, "preference": "tie"},
    {
        "type": "questionnaire",
        "id": "m1",
        "part": "before",
        "answers": {"age": 31.0, "why": "To see.", "tools": ["a", "b"]},
    },
    {"type": "rate_turn", "id": "m1", "conversation": 1, "attempt": 1, "turn": 3, "value": 2},
    {
        "type": "report",
        "id": "m1",
        "conversation": 1,
        "attempt": 1,
        "turn": 3,
        "side": "right",
        "reason": "personal",
        "note": "It wants my address.",
        "leave": True,
    },
    {"type": "take_back_report", "id": "m1", "conversation": 1, "attempt": 1, "turn": 3, "side": None},
    {"type": "answer_quiz", "id": "m1", "conversation": 1, "attempt": 1, "choice": 4},
    {"type": "answer", "id": "m1", "question": 1, "answer": 2},
    {"type": "feedback", "id": "m1", "text": ""},
    {"type": "leave", "id": "m1"},
]


def test_the_pages_schema_is_this_protocols() -> None:
    """The pages speak the protocol that `candor data schema` prints."""
    schema = REPOSITORY / "frontend/src/worker/session/protocol.schema.json"
    stored = json.loads(schema.read_text(encoding="utf-8"))
    assert stored == page_schema()


@pytest.mark.parametrize("message", MESSAGES, ids=lambda m: m["type"])
def test_every_message_is_read_and_says_the_same_when_written(message: dict[str, Any]) -> None:
    read = client_messages.validate_python(message)
    assert json.loads(read.model_dump_json()) == message
    _schema_of(type(read).__name__).validate(message)


@cache
def _schema_of(name: str) -> Draft202012Validator:
    schema = {"$ref": f"#/$defs/{name}", "$defs": json_schema()["$defs"]}
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def test_every_kind_of_message_is_tried_above() -> None:
    kinds = get_args(get_args(protocol.ClientMessage)[0])
    assert {message["type"] for message in MESSAGES} == {
        get_args(kind.model_fields["type"].annotation)[0] for kind in kinds
    }


def test_the_instruments_words() -> None:
    # METHOD section 1.4, and the opinions of 1.3.
    assert [kind.value for kind in TopicChangeKind] == [
        "bot change",
        "user change last",
        "user change next",
        "user wants bot change",
        "no change",
    ]
    assert [opinion.value for opinion in Opinion] == ["like", "ambivalent", "dislike"]


def test_a_snapshot_follows_the_schema() -> None:
    sent = snapshot(new_state(), study_card(parse_study(study_text())), AT)
    content = json.loads(sent.model_dump_json())
    _schema_of("Snapshot").validate(content)
    assert content["phase"] == Phase.INSTRUCTIONS
    assert content["study"]["criteria"][0] == {
        "label": "robotic",
        "statement": "It was a machine.",
        "scale": None,
    }
    # Of a criterion a worker learns neither that it is negative nor whether it counts for quality control.
    assert set(content["study"]) == {
        "title",
        "payment",
        "task",
        "conversations",
        "minimum_inputs",
        "maximum_inputs",
        "topic_mode",
        "rates_all",
        "criteria",
        "post_edit",
        "correctness",
        "comparison",
        "display",
        "duration",
        "transcript_while_rating",
        "consent",
        "contact",
        "lab",
        "words",
        "questionnaires",
        "turn_points",
        "withdrawal_days",
        "records_writing",
        "moderation",
    }
    assert content["study"]["words"] is None  # the page has the English texts by itself


whole = st.integers(0, 10**6)
pace = st.none() | whole
texts = st.text(st.characters(exclude_categories=["Cs"]))  # halves of surrogate pairs are taken out before


@given(
    st.builds(Accepted, id=texts)
    | st.builds(Typing, conversation=whole, attempt=whole)
    | st.builds(SaidByBot, conversation=whole, attempt=whole, turn=whole, text=texts, pace=pace)
    | st.builds(SaidByBoth, conversation=whole, attempt=whole, turn=whole, left=texts, right=texts, pace=pace)
)
def test_a_message_of_every_turn_is_written_by_its_schema(message: ServerMessage) -> None:
    (written,) = json.loads(frame_of([message]))
    _schema_of(type(message).__name__).validate(written)
    assert TypeAdapter(type(message)).validate_python(written) == message


def test_a_frame_holds_messages_as_they_are_written_one_by_one() -> None:
    messages = [
        snapshot(new_state(), study_card(parse_study(study_text())), AT),
        Error(
            code="run_paused",
            message="Later.",
            retry=True,
            again_at=AT,
            way_back=WayBackCard(platform="SONA", to=None),
        ),
    ]
    assert json.loads(frame_of(messages)) == [json.loads(message.model_dump_json()) for message in messages]


@pytest.mark.parametrize(
    ("message", "field", "longest"),
    [
        ({"type": "say", "conversation": 1, "attempt": 1, "turn": 0}, "text", MAX_SAY),
        ({"type": "topic", "conversation": 1, "attempt": 1, "opinion": "like"}, "text", MAX_TOPIC),
        (
            {
                "type": "topic_change",
                "conversation": 1,
                "attempt": 1,
                "how": "no change",
                "opinion": "like",
                "bot_opinion": "like",
            },
            "topic",
            MAX_TOPIC,
        ),
        ({"type": "feedback"}, "text", MAX_FEEDBACK),
    ],
)
def test_a_text_as_long_as_allowed_and_one_longer(message: dict[str, Any], field: str, longest: int) -> None:
    content = {"id": "m1", **message, field: "x" * longest}
    assert getattr(parse(json.dumps(content)), field) == "x" * longest
    with pytest.raises(MessageTooLong, match=f"{field}: String should have at most {longest} characters"):
        parse(json.dumps({**content, field: "x" * (longest + 1)}))


def test_a_frame_as_large_as_allowed_and_one_larger() -> None:
    def frame(size: int) -> str:
        content = json.dumps({"type": "agree", "id": "m1"})
        return content + " " * (size - len(content))  # white space is no part of a message

    assert parse(frame(MAX_FRAME_BYTES)).type == "agree"
    with pytest.raises(MessageTooLong, match=str(MAX_FRAME_BYTES)):
        parse(frame(MAX_FRAME_BYTES + 1))


def test_every_longest_text_fits_into_a_frame_as_a_browser_sends_it() -> None:
    # Browsers send characters as they are: four bytes at most. Only lone surrogates are escaped.
    longest = {"type": "feedback", "id": "m" * 64, "text": "\U0001f989" * MAX_FEEDBACK}
    frame = json.dumps(longest, ensure_ascii=False)
    assert len(frame.encode()) <= MAX_FRAME_BYTES
    parse(frame)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("  a  b \n", "a  b"),
        ("a\tb\nc", "a\tb\nc"),
        ("a\r\nb", "a\nb"),
        ("a\x00\x1b\x7f\x85\x9fb", "ab"),
        ("a\x00b", "ab"),
        ("a\x7fb", "ab"),
        ("a\ud800b\udfff", "ab"),
        ("日本 🦉 é", "日本 🦉 é"),
        ("\x00", ""),
    ],
)
def test_plain_text(text: str, left: str) -> None:
    assert plain(text) == left


@given(st.text(st.characters()))
def test_plain_text_can_be_stored_and_is_plain_already(text: str) -> None:
    cleaned = plain(text)
    cleaned.encode("utf-8")
    assert plain(cleaned) == cleaned


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    max_leaves=10,
)


@given(st.dictionaries(st.sampled_from(["type", "id", "text", "opinion", "ratings"]), json_values))
def test_whatever_is_sent_is_a_message_or_an_invalid_one(content: dict[str, Any]) -> None:
    try:
        message = parse(json.dumps(content))
    except InvalidMessage as refused:
        assert refused.code in {"malformed_json", "unknown_message", "invalid_field", "too_long"}  # noqa: PT017
        return
    assert message.type == content["type"]


@given(st.text() | st.binary().map(lambda b: b.decode("utf-8", "replace")))
def test_whatever_frame_it_is_it_is_read_or_refused(frame: str) -> None:
    with pytest.raises(InvalidMessage):  # no random text is a message
        parse(frame)


def test_messages_cannot_be_changed() -> None:
    message = client_messages.validate_python(MESSAGES[1])
    with pytest.raises(ValidationError):
        message.id = "other"


def said(text: str) -> str:
    message = client_messages.validate_python(
        {"type": "say", "id": "a", "conversation": 1, "attempt": 1, "turn": 0, "text": text}
    )
    assert isinstance(message, Say)
    return message.text


@pytest.mark.parametrize("text", ["", "  ", "\x00", "\t\n", "\u200d\u2800", "\u202e"])
def test_a_text_with_nothing_to_see_in_it_is_refused(text: str) -> None:
    with pytest.raises(ValidationError, match="no visible characters"):
        said(text)


@pytest.mark.parametrize("text", ["!", "~", "\u200d!", "\u2800~", "é", "\u200fש"])
def test_a_text_with_one_mark_to_see_can_be_said(text: str) -> None:
    assert said(text) == text


def test_overrides_of_direction_are_taken_out_of_what_a_worker_writes() -> None:
    assert said("a\u202ecod\u202c\u2067b") == "acodb"


@pytest.mark.parametrize("text", ["سلام\u200cمن", "👩\u200d🚀", "שלום\u200f!"])
def test_what_joins_letters_and_signs_stays(text: str) -> None:
    assert said(text) == text


def test_what_is_newer_than_pythons_tables_of_characters_can_be_said() -> None:
    said = client_messages.validate_python(
        {"type": "say", "id": "m", "conversation": 1, "attempt": 1, "turn": 0, "text": "\U0001fae9"}
    )
    assert isinstance(said, Say)
    assert said.text == "\U0001fae9"  # a face of Unicode 16
