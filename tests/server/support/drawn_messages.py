"""Messages that a page could send, legal or not, as Hypothesis draws them."""

from unicodedata import category

from hypothesis import strategies as st

from server.session.instrument import Opinion, TopicChangeKind
from server.session.protocol import MAX_FEEDBACK, MAX_NOTE, MAX_SAY, MAX_TOPIC
from tests.server.support.questions import ANSWERS
from tests.server.support.study import CRITERIA
from tests.server.support.writing import WRITING


def _is_drawn(mark: str) -> bool:
    return category(mark) not in {"Cf", "Zs", "Zl", "Zp"} and mark not in "\u115f\u1160\u2800\u3164\uffa0"


# No control characters and no surrogates: the protocol has taken them out before a session sees a text, and
# has refused what has nothing to see in it.
texts = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=40).filter(
    lambda text: text.strip() == text and any(map(_is_drawn, text))
)
ids = st.text("abc01_-", min_size=1, max_size=2)  # so few that ids come again, for other messages too
named = st.fixed_dictionaries(
    {"conversation": st.sampled_from([1, 1, 1, 2, 2, 3, 4]), "attempt": st.sampled_from([1, 1, 1, 2, 3])}
)
reported = st.builds(
    lambda named, turn, side: {**named, "turn": turn, "side": side},
    named,
    st.sampled_from([0, 1, 1, 1, 3]),
    st.sampled_from([None, None, "left", "right"]),
)
opinions = st.sampled_from([o.value for o in Opinion])
messages = st.one_of(
    st.builds(lambda: {"type": "agree"}),
    st.builds(
        lambda named, text, opinion: {"type": "topic", **named, "text": text, "opinion": opinion},
        named,
        texts | st.none(),
        opinions,
    ),
    st.builds(
        lambda named, turn, text, writing: {"type": "say", **named, "turn": turn, "text": text, **writing},
        named,
        st.sampled_from([0, 0, 2, 4]),
        texts | st.just("x" * MAX_SAY),
        st.sampled_from([{}, {"writing": WRITING}]),
    ),
    st.builds(
        lambda named, how, topic, mine, its: {
            "type": "topic_change",
            **named,
            "how": how,
            "topic": topic,
            "opinion": mine,
            "bot_opinion": its,
        },
        named,
        st.sampled_from([kind.value for kind in TopicChangeKind]),
        texts | st.just("t" * MAX_TOPIC),
        opinions,
        opinions,
    ),
    st.builds(lambda named: {"type": "end_conversation", **named}, named),
    st.builds(
        lambda named, labels, value: {"type": "rate", **named, "ratings": dict.fromkeys(labels, value)},
        named,
        st.sampled_from([CRITERIA, CRITERIA[:2], (*CRITERIA, "other")]),
        st.integers(0, 100),
    ),
    st.builds(
        lambda text: {"type": "feedback", "text": text}, texts | st.just("") | st.just("f" * MAX_FEEDBACK)
    ),
    st.builds(
        lambda question, answer: {"type": "answer", "question": question, "answer": answer},
        st.integers(1, 3),
        st.integers(1, 3),
    ),
    st.builds(
        lambda named, turn, preference: {"type": "choose", **named, "turn": turn, "preference": preference},
        named,
        st.sampled_from([1, 1, 3, 5]),
        st.sampled_from(["left", "tie", "right"]),
    ),
    st.builds(
        lambda part, answers: {"type": "questionnaire", "part": part, "answers": answers},
        st.sampled_from(["before", "after"]),
        st.sampled_from([*ANSWERS.values(), {}])
        | st.dictionaries(texts, texts | st.floats(allow_nan=False, allow_infinity=False)),
    ),
    st.builds(
        lambda named, turn, value: {"type": "rate_turn", **named, "turn": turn, "value": value},
        named,
        st.sampled_from([0, 1, 1, 3]),
        st.integers(1, 6),
    ),
    st.builds(
        lambda line, reason, note, chance: {
            "type": "report",
            **line,
            "reason": reason,
            "note": note,
            "leave": chance == 0,
        },
        reported,
        st.sampled_from(["offensive", "personal", "other"]),
        texts | st.just("") | st.just("n" * MAX_NOTE),
        st.integers(0, 19),
    ),
    st.builds(lambda line: {"type": "take_back_report", **line}, reported),
    st.builds(
        lambda named, choice: {"type": "answer_quiz", **named, "choice": choice}, named, st.integers(1, 4)
    ),
    st.builds(lambda: {"type": "hello", "token": "t"}),
)
