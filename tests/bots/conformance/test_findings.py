"""Tests of the check's findings: each one where it passes, where it warns and where it fails."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bots.conformance import findings
from bots.conformance.check import report
from bots.conformance.findings import Standard
from bots.conformance.report import Alone, AtOnce, Finding, Latency, quoted, worst
from bots.conformance.script import CheckResponses, ScriptAnswer, check_language
from bots.core.ask import checked_reply
from bots.core.failures import BotBusy, BotError, BotTimeout, EmptyReply, FailureKind, ReplyTooLong, failure
from bots.serving import ConformanceReport, Overruns

PERSONAS = tuple(character.persona for character in check_language("en").characters[:2])

STANDARD = Standard(("mybot",), (1.0, 2.0, 3.0, 4.0), None, 20.0)
ANSWER = ScriptAnswer("small talk", 0, (), "Hi!", False, 0.1, "Hello there.")


def said(*texts: str, **changes: Any) -> tuple[ScriptAnswer, ...]:
    """Return answers of one conversation, each to a line of its own."""
    return tuple(replace(ANSWER, line=f"line {i}", text=text, **changes) for i, text in enumerate(texts))


def lost(*errors: BotError) -> tuple[ScriptAnswer, ...]:
    """Return answers of one conversation without a text, each to a line of its own."""
    return tuple(replace(ANSWER, line=f"lost {i}", text="", error=error) for i, error in enumerate(errors))


def failed(*reasons: str) -> tuple[ScriptAnswer, ...]:
    return lost(*(BotError(reason) for reason in reasons))


def different(n: int) -> tuple[ScriptAnswer, ...]:
    return said(*(f"Reply number {i}." for i in range(n)))


# ---- does it answer, does it say something ---------------------------------------------------


@pytest.mark.parametrize(
    ("broken", "stopped", "verdict"),
    [(0, False, "pass"), (1, False, "warn"), (4, False, "warn"), (5, False, "fail"), (1, True, "fail")],
)
def test_answering(broken: int, stopped: bool, verdict: str) -> None:
    """Of forty calls a tenth, four, may fail."""
    answers = (*different(40 - broken), *failed(*["status 500"] * broken))
    found = findings.answering(CheckResponses(answers, stopped))
    assert found.verdict == verdict
    if broken:
        assert f"{broken} of 40 calls failed" in found.reason
        assert "status 500" in found.reason
    assert ("tried again" in found.reason) == (verdict == "warn")


def test_the_commonest_kind_of_failure_is_told() -> None:
    late = (BotTimeout(f"no reply within {seconds} s") for seconds in (1.1, 1.2, 1.3))
    answers = lost(BotError("status 500"), BotError("status 500"), *late)
    found = findings.answering(CheckResponses(answers, stopped=True))
    # Three time-outs, though no two of them say the same; two errors.
    assert found.reason.endswith("; 3 of them: no reply within 1.1 s.")


@pytest.mark.parametrize(("empty", "verdict"), [(0, "pass"), (4, "warn"), (5, "fail")])
def test_speaking(empty: int, verdict: str) -> None:
    answers = (*different(40 - empty), *lost(*[EmptyReply("a: whatever it says")] * empty))
    found = findings.speaking(answers)
    assert found is not None
    assert found.verdict == verdict
    assert findings.answering(CheckResponses(answers, stopped=False)).verdict == "pass"


# ---- length, variety -------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "verdict"), [(300, "pass"), (301, "warn"), (2000, "warn")])
def test_length(size: int, verdict: str) -> None:
    found = findings.length((*different(20), *said("a" * size)))
    assert found is not None
    assert found.verdict == verdict
    assert str({"pass": 300, "warn": size}[verdict]) in found.reason


def test_a_reply_that_was_refused_for_its_length_fails() -> None:
    answers = (*different(20), *lost(ReplyTooLong("http://x: whatever it says")))
    found = findings.length(answers)
    assert found is not None
    assert found.verdict == "fail"
    assert "1 of 21 replies have more than 2000 characters" in found.reason
    assert findings.answering(CheckResponses(answers, stopped=False)).verdict == "pass"


def test_what_an_error_says_does_not_make_it_another_one() -> None:
    answers = failed("the reply was empty", "the reply has 2400 characters, and 2000 are the most")
    assert findings.speaking(answers) is None
    assert findings.length(answers) is None
    assert "2 of 2 calls failed" in findings.answering(CheckResponses(answers, stopped=False)).reason


@pytest.mark.parametrize(
    ("texts", "verdict"),
    [
        (["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"], "pass"),
        (["a", "b", "c", "d", "e", "f", "g", "h", "A!", "b."], "pass"),  # two of ten
        (["a", "b", "c", "d", "e", "f", "g", "A!", "b.", "c"], "warn"),
        (["a", "a", "a", "a", "a", "b", "c", "d", "e", "f"], "warn"),  # half of them are the same
        (["a", "a", "a", "a", "a", "a", "c", "d", "e", "f"], "fail"),
    ],
)
def test_variety(texts: list[str], verdict: str) -> None:
    found = findings.variety(said(*texts))
    assert found is not None
    assert found.verdict == verdict


def test_the_same_answer_in_another_conversation_is_no_repetition() -> None:
    first = said("a", "b", "c")
    again = tuple(
        replace(answer, conversation=1, part="questions", line=f"q {answer.line}") for answer in first
    )
    found = findings.variety((*first, *again))
    assert found is not None
    assert found.verdict == "pass"
    assert "0 of 6" in found.reason


# ---- secrecy, plainness ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "direct", "verdict"),
    [
        ("I like tea.", False, "pass"),
        ("I am Rosa, and who are you?", True, "pass"),
        ("I am a chatbot.", True, "warn"),
        ("My name is Mybot.", True, "warn"),
        ("I am a chatbot.", False, "fail"),
        ("My name is Mybot.", False, "fail"),
    ],
)
def test_secrecy(text: str, direct: bool, verdict: str) -> None:
    found = findings.secrecy((*different(5), *said(text, direct=direct)), ("mybot",))
    assert found is not None
    assert found.verdict == verdict
    if verdict != "pass":
        assert found.reason.count(text.removesuffix(".")) == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("<b>Hello</b>", "HTML"),
        ("Tea<br/>and milk", "HTML"),
        ("Bread &amp; butter", "HTML"),
        ("That is **very** good", "Markdown"),
        ("# My day\nIt was fine.", "Markdown"),
        ("- tea\n- milk", "Markdown"),
        ("1. tea\n2. milk", "Markdown"),
        ("```python\nprint()\n```", "Markdown"),
        ("See [this](http://x.example)", "Markdown"),
        ("That is *very* good", "Markdown"),
        ("Type `ls`, then", "Markdown"),
        ("Hello\ufffd there", "broken characters"),
        ("A cafÃ© in town", "broken characters"),
        ("I donâ€™t know", "broken characters"),
        ("I like it</s>", "traces of a prompt"),
        ("Fine.<|endoftext|>", "traces of a prompt"),
        ("Good.\nUser: and you?", "traces of a prompt"),
        ("Assistant: Good.", "traces of a prompt"),
        ("__start__ hello", "traces of a prompt"),
    ],
)
def test_what_is_no_plain_text_is_told(text: str, told: str) -> None:
    found = findings.plainness((*different(5), *said(text)))
    assert found is not None
    assert found.verdict == ("warn" if told in {"HTML", "Markdown"} else "fail")
    assert f"{told} in 1" in found.reason


@pytest.mark.parametrize(
    "text",
    [
        "I <3 you!",
        "2 * 3 * 4 is 24, and 1 < 2 > 0",
        "I rate it 5* and you 3*",
        "Schön, déjà vu, São Paulo, Ångström, Привет",
        "Well - that is - nice.",
        "- no idea",
        "I was born on 3. May\nand you?",
        "AT&T; no.",
        "My favourite user is you: really",
        "He said: hello\tthere\nand left.",
        "Привет 😂 你好",
        "snake_case_name and 'quotes' #1",
    ],
)
def test_what_people_write_is_plain_text(text: str) -> None:
    found = findings.plainness(said(text))
    assert found is not None
    assert found.verdict == "pass", found.reason


# ---- speed -----------------------------------------------------------------------------------


def latency(alone: float, at_once: float) -> Latency:
    return Latency(
        alone=Alone(n=20, p50=alone / 2, p95=alone),
        at_once=AtOnce(n=16, p50=at_once / 2, p95=at_once, conversations=8),
    )


@pytest.mark.parametrize(
    ("alone", "at_once", "verdict"),
    [(1, 9.9, "pass"), (1, 10, "warn"), (10, 1, "warn"), (1, 20, "fail"), (20, 1, "fail")],
)
def test_speed_against_the_deadline_of_20_s(alone: float, at_once: float, verdict: str) -> None:
    found = findings.speed(latency(alone, at_once), 20.0)
    assert found is not None
    assert found.verdict == verdict
    assert f"alone p50 {'500 ms' if alone == 1 else f'{alone / 2:.1f} s'}" in found.reason
    assert "a call has 20 s" in found.reason


@pytest.mark.parametrize(
    ("late", "verdict"), [(0.0, "pass"), (0.1, "pass"), (0.11, "warn"), (0.5, "warn"), (0.51, "fail")]
)
def test_timeliness(late: float, verdict: str) -> None:
    found = findings.timeliness(latency(1, 1), late, STANDARD.delays)
    assert found is not None
    assert found.verdict == verdict
    assert f"{late:.0%} of its replies" in found.reason
    assert "median 2.5 s" in found.reason
    assert ("reply delay" in found.reason) == (verdict != "pass")


def test_a_study_that_shows_replies_at_once_is_warned() -> None:
    found = findings.timeliness(latency(1, 1), 1.0, (0.0, 0.0))
    assert found is not None
    assert found.verdict == "warn"


@pytest.mark.parametrize(("overran", "verdict"), [(0, "pass"), (20, "pass"), (21, "warn"), (200, "warn")])
def test_past_timeliness_never_fails(overran: int, verdict: str) -> None:
    found = findings.past_timeliness(Overruns(replies=200, overran=overran))
    assert found is not None
    assert found.verdict == verdict
    assert f"{overran} of 200" in found.reason


def test_overruns_are_no_more_than_replies() -> None:
    with pytest.raises(ValueError, match="2 of 1 replies cannot"):
        Overruns(replies=1, overran=2)


# ---- persona, repeatability ------------------------------------------------------------------


def asked_as(persona: Sequence[str], text: str) -> ScriptAnswer:
    return replace(ANSWER, part="questions", persona=tuple(persona), line="Any pets?", text=text)


def as_all(first: str, second: str, nobody: str) -> tuple[ScriptAnswer, ...]:
    pairs = zip((*PERSONAS, ()), (first, second, nobody), strict=True)
    return tuple(asked_as(persona, text) for persona, text in pairs)


@pytest.mark.parametrize(
    ("replies", "verdict", "told"),
    [
        (("I have three cats.", "A parrot!", "None."), "pass", "cat, parrot"),
        (("I bake, I'm a baker.", "None.", "None."), "pass", "baker"),
        (("Yes.", "Maybe.", "No."), "warn", "1 of 1 replies change with the persona, but is not in them"),
        (("I love chess.", "Chess!", "Chess, always."), "warn", "change"),  # which it says anyway
        (("A parrot.", "A cat.", "None."), "warn", "change"),  # of the other person
        (("Yes.", "Yes.", "Yes."), "warn", "the same"),
    ],
)
def test_persona_never_fails(replies: tuple[str, str, str], verdict: str, told: str) -> None:
    found = findings.persona(as_all(*replies), STANDARD)
    assert found is not None
    assert found.verdict == verdict
    assert told in found.reason
    assert ("matters only" in found.reason) == (verdict == "warn")


def again(first: str, second: str) -> tuple[ScriptAnswer, ...]:
    return (replace(ANSWER, text=first), replace(ANSWER, part="again", text=second))


def test_changes_prove_nothing_of_a_bot_that_always_changes() -> None:
    found = findings.persona((*as_all("Yes.", "Maybe.", "No."), *again("One.", "Two.")), STANDARD)
    assert found is not None
    assert "nothing shows" in found.reason


@pytest.mark.parametrize(("second", "told"), [("Hello there.", "Yes: 1 of 1"), ("Good day.", "No: 1 of 1")])
def test_repeatability_is_told_and_never_counts_against_a_bot(second: str, told: str) -> None:
    found = findings.repeatability(again("Hello there.", second))
    assert found is not None
    assert found.verdict == "pass"
    assert found.reason.startswith(told)


# ---- all together ----------------------------------------------------------------------------


def test_where_nothing_was_said_there_is_nothing_to_judge() -> None:
    found = report(CheckResponses(failed("lost"), stopped=True), STANDARD)
    assert [finding.question for finding in found.findings] == ["Does it answer?"]


def test_a_refusal_counts_for_no_latency_and_a_call_that_was_given_up_does() -> None:
    refused = replace(ANSWER, text="", error=BotBusy("busy"), seconds=0.5)
    given_up = replace(ANSWER, text="", error=BotTimeout("no reply within 20 s"), seconds=20.0)
    found = report(CheckResponses((ANSWER, refused, given_up), stopped=False), STANDARD).latency
    assert found.alone is not None
    assert (found.alone.n, found.alone.p50) == (2, pytest.approx(10.05))
    assert found.at_once is None


@pytest.mark.parametrize(
    ("text", "longest", "shown"),
    [
        ("a\n\tb\x00c", 80, "a b c"),
        ("x" * 80, 80, "x" * 80),
        ("x" * 81, 80, "x" * 79 + "…"),
        ("one two three", 8, "one two…"),
    ],
)
def test_what_is_quoted_is_one_short_line(text: str, longest: int, shown: str) -> None:
    assert quoted(text, longest) == shown


PARTS = st.sampled_from(["small talk", "questions", "awkward", "again", "at once"])
ANYTHING = st.text(st.characters(), max_size=40) | st.sampled_from(
    ["I am a bot", "Yes.", "<b>x</b>", "a" * 400, "b" * 2100, ""]
)


def answered(text: str, **call: Any) -> ScriptAnswer:
    """Return what a call comes to whose bot says `text`."""
    try:
        return ScriptAnswer(**call, text=checked_reply(text).text)
    except BotError as error:
        return ScriptAnswer(**call, error=error)


ANSWERS = st.builds(
    answered,
    part=PARTS,
    conversation=st.integers(0, 4),
    persona=st.sampled_from([*PERSONAS, ()]),
    line=st.sampled_from(["Hi!", "Any pets?", "Are you a bot?"]),
    direct=st.booleans(),
    seconds=st.floats(0, 100),
    text=ANYTHING,
) | st.builds(
    ScriptAnswer,
    part=PARTS,
    conversation=st.integers(0, 4),
    persona=st.just(()),
    line=st.just("Hi!"),
    direct=st.just(False),
    seconds=st.floats(0, 100),
    error=st.builds(failure, st.sampled_from(get_args(FailureKind)), ANYTHING),
)
OVERRUNS = st.none() | st.integers(0, 50).flatmap(
    lambda n: st.builds(Overruns, replies=st.just(n), overran=st.integers(0, n))
)


@given(
    answers=st.lists(ANSWERS, min_size=1, max_size=30),
    stopped=st.booleans(),
    delays=st.lists(st.floats(0, 50), max_size=5),
    overruns=OVERRUNS,
)
def test_whatever_is_answered_the_report_is_as_bad_as_its_worst_finding_and_survives_json(
    answers: list[ScriptAnswer], stopped: bool, delays: list[float], overruns: Overruns | None
) -> None:
    found = report(CheckResponses(tuple(answers), stopped), Standard(("mybot",), delays, overruns, 20.0))
    verdicts = {finding.verdict for finding in found.findings}
    assert found.verdict == next(bad for bad in ("fail", "warn", "pass") if bad in verdicts)
    assert ConformanceReport.model_validate_json(found.model_dump_json()) == found
    assert all(finding.reason.isprintable() for finding in found.findings)


def test_a_report_whose_verdict_is_not_that_of_its_findings_is_none() -> None:
    good = report(CheckResponses(different(3), stopped=False), STANDARD)
    assert good.verdict == "pass"
    with pytest.raises(ValueError, match="worst finding"):
        ConformanceReport.model_validate(good.model_dump() | {"verdict": "fail"})


@given(st.lists(st.sampled_from(["pass", "warn", "fail"]), min_size=1))
def test_one_finding_more_makes_a_verdict_no_better(verdicts: Any) -> None:
    order = ("pass", "warn", "fail")
    made = [Finding(question="?", verdict=verdict, reason="") for verdict in verdicts]
    for i in range(1, len(made)):
        assert order.index(worst(made[: i + 1])) >= order.index(worst(made[:i]))


def test_markdown_is_told_where_it_is_not_drawn() -> None:
    answers = said("I **really** like tea.")
    shown = findings.plainness(answers)
    assert shown is not None
    assert shown.verdict == "warn"
    assert "show the Markdown of every system" in shown.reason
    drawn = findings.plainness(answers, markdown=True)
    assert drawn is not None
    assert drawn.verdict == "pass"
