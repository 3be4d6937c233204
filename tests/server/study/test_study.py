"""Study files: every mistake has its file, its line, its path and its reason; all are told at once."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import StringConstraints, ValidationError, create_model

from bots import BotError, Chat, Turn
from bots.corpus import Persona
from bots.serving import Corpus
from qc.run import RESERVED_LABELS
from server.bots.lineup import open_lineup, session_rules
from server.bots.opened_bots import OpenedBots
from server.db.runs.runs import RunEntry
from server.errors import StudyInvalid
from server.session.plan import QC
from server.study import DEMO, load_study, parse_study, problems, read_document, study_hash, study_schema
from server.study.reading import wrong_values
from tests.server.support.study import AT, NOBODY, study_text

# Numbered by hand: the expected lines below are the lines of this text.
GOOD = """\
name: lighthouse
title: A few chats
payment: Nothing is paid.
systems_per_assignment: 2
qc_per_assignment: 1
criteria:
  - label: fun
    statement: It was fun.
  - label: dull
    statement: It was dull.
    negative: true
    qc: false
systems:
  - {name: one, family: a, bot: "builtin:retrieval"}
  - name: two
    family: b
    bot: builtin:retrieval
    persona: random
simulate:
  quality:
    one: 0.5
    two: 0.7
"""


def mistakes(text: str) -> list[str]:
    with pytest.raises(StudyInvalid) as refused:
        parse_study(text, "my.yaml")
    return refused.value.message.splitlines()


def test_a_good_study_is_read() -> None:
    study = parse_study(GOOD)
    assert (study.conversations, study.minimum_inputs, study.topic_mode) == (3, 10, "free")
    assert [criterion.qc for criterion in study.criteria] == [True, False]


def test_the_demo_loads_and_its_bots_open() -> None:
    study, text = load_study(DEMO)
    run = open_lineup(RunEntry(1, "demo", 1, "open", AT, text), OpenedBots(refuse_private=False))
    assert set(run.bots) == {*(spec.name for spec in study.systems), QC}
    assert len({spec.family for spec in study.systems}) > study.systems_per_assignment  # one to spare
    assert (study.conversations, study.minimum_inputs) == (6, 10)
    assert run.rules.lineup.personas


def test_the_demos_statements_are_the_instruments_word_for_word() -> None:
    study, _ = load_study(DEMO)
    # METHOD section 1.
    assert [(c.label, c.statement, c.negative, c.qc) for c in study.criteria] == [
        (
            "robotic",
            "It was obvious that I was talking to a chatbot as opposed to another human user.",
            True,
            False,
        ),
        ("interesting", "The conversation with the chatbot was interesting.", False, True),
        ("fun", "The conversation with the chatbot was fun/enjoyable.", False, True),
        ("consistent", "The chatbot was consistent throughout the conversation.", False, True),
        (
            "fluent",
            "The chatbot's English was fluent and natural throughout the conversation.",
            False,
            True,
        ),
        (
            "repetitive",
            "I felt that the chatbot kept being repetitive during the conversation.",
            True,
            False,
        ),
        ("topic", "The chatbot stays on topic.", False, True),
    ]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "name: lighthouse",
            "name: The Lighthouse",
            "my.yaml:1: name: Enter a name: lowercase letters, digits or _, starting with a letter",
        ),
        ("name: lighthouse\n", "", "my.yaml:1: name: This is required"),
        ("title: A few chats", "title: ''", "my.yaml:2: title: This must not be empty"),
        ("title: A few chats", "title: [a]", "my.yaml:2: title: Enter text"),
        (
            "title: A few chats",
            "titel: A few chats",
            "my.yaml:2: titel: There is no such setting; did you mean “title”?",
        ),
        (
            "assignment: 2",
            "assignment: two",
            "my.yaml:4: systems_per_assignment: Enter a whole number from 1 to 20",
        ),
        (
            "assignment: 2",
            "assignment: 0",
            "my.yaml:4: systems_per_assignment: Enter a whole number from 1 to 20",
        ),
        (
            "systems_per_assignment: 2",
            "systems_per_assignment: 3",
            "my.yaml:4: systems_per_assignment: A worker meets at most one system of each family,",
        ),
        ("qc_per_assignment: 1", "qc_per_assignment: 2", None),  # four conversations: both inner ones
        (
            "qc_per_assignment: 1",
            "qc_per_assignment: 6",
            "my.yaml:5: qc_per_assignment: Enter a whole number from 0 to 5",
        ),
        (
            "systems_per_assignment: 2\nqc_per_assignment: 1",
            "systems_per_assignment: 1\nqc_per_assignment: 1",
            "my.yaml:5: qc_per_assignment: QC conversations are never first or last: add conversations, or",
        ),
        (
            "qc_per_assignment: 1",
            "qc_per_assignment: 1\nminimum_inputs: 7\nmaximum_inputs: 6",
            "my.yaml:7: maximum_inputs: Enter at least 7, the messages that a conversation needs",
        ),
        (
            "qc_per_assignment: 1",
            "qc_per_assignment: 1\nminimum_inputs: 2\nquiz: {choices: 4}",
            "my.yaml:7: quiz: The quiz asks about a reply between the first and the last: ask for at least 3",
        ),
        (
            "qc_per_assignment: 1",
            "qc_per_assignment: 1\nquiz: {choices: 7}",
            "my.yaml:6: quiz.choices: Enter a whole number from 2 to 6",
        ),
        (
            "    persona: random\n",
            "quiz: {about: personas}\n",
            "my.yaml:18: quiz.about: The quiz asks about personas, and no system has one: give one to a",
        ),
        (
            "label: fun",
            "label: Fun!",
            "my.yaml:7: criteria.0.label: Enter a name: lowercase letters, digits or _, starting with a",
        ),
        (
            "statement: It was fun.",
            "statment: It was fun.",
            "my.yaml:8: criteria.0.statment: There is no such setting; did you mean “statement”?",
        ),
        ("label: dull", "label: fun", "my.yaml:9: criteria.1.label: Choose another label: “fun” is in use"),
        (
            "negative: true",
            "negative: perhaps",
            "my.yaml:11: criteria.1.negative: Enter true or false",
        ),
        (
            "label: fun\n    statement: It was fun.",
            "label: fun\n    statement: It was fun.\n    qc: false",
            "my.yaml:6: criteria: At least one criterion must count for quality control",
        ),
        (
            "name: one",
            "name: qc",
            "my.yaml:14: systems.0.name: “qc” is the name of the quality-control bot: choose another",
        ),
        ("name: two", "name: one", "my.yaml:15: systems.1.name: Choose another name: “one” is in use"),
        ("    family: b\n", "", "my.yaml:15: systems.1.family: This is required"),
        (
            "persona: random",
            "persona: always",
            "my.yaml:18: systems.1.persona: Enter “none”, “random” or a list",
        ),
        ("persona: random", "persona: []", "my.yaml:18: systems.1.persona: Give at least 1"),
        (
            "persona: random",
            "persona: [I am, 5]",
            "my.yaml:18: systems.1.persona.1: Enter text",
        ),
        (
            "one: 0.5",
            "one: 1.5",
            "my.yaml:21: simulate.quality.one: Enter a number from 0 to 1",
        ),
        ("    two: 0.7\n", "", "my.yaml:20: simulate.quality: The system “two” needs a quality"),
        (
            "two: 0.7",
            "two: 0.7\n    six: 0.1",
            "my.yaml:23: simulate.quality.six: There is no system “six”: remove this",
        ),
        (
            "title: A few chats",
            "title: A few chats\ntitle: Again",
            "my.yaml:3: title: This setting is given twice: remove one",
        ),
        (
            "    negative: true",
            "    negative: true\n    negative: true",
            "my.yaml:12: criteria.1.negative: This setting is given twice: remove one",
        ),
    ],
)
def test_a_mistake_has_its_line_its_path_and_its_reason(old: str, new: str, expected: str | None) -> None:
    assert GOOD.count(old) == 1
    text = GOOD.replace(old, new)
    if expected is None:
        parse_study(text)
        return
    assert any(line.startswith(expected) for line in mistakes(text)), mistakes(text)


def test_every_mistake_is_told_at_once_and_once() -> None:
    text = (
        GOOD.replace("name: lighthouse", "name: 5")
        .replace("label: fun", "label: F")
        .replace("one: 0.5", "one: x")
    )
    lines = mistakes(text)
    assert [line.split(" ")[0] for line in lines] == ["my.yaml:1:", "my.yaml:7:", "my.yaml:21:"]
    assert len(set(lines)) == 3


def test_contradictions_are_told_at_once_too() -> None:
    text = GOOD.replace("name: two", "name: one").replace("label: dull", "label: fun")
    assert [line.split(" ")[0] for line in mistakes(text)] == ["my.yaml:9:", "my.yaml:15:", "my.yaml:22:"]


def test_a_file_that_grows_without_end_when_its_aliases_are_followed() -> None:
    laughs = "\n".join(f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]" for a, b in pairwise("abcdefghijklm"))
    lines = mistakes(f"a: &a [ha]\n{laughs}\n")
    assert lines == ["my.yaml:7: This is not valid YAML: more than 200,000 values"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "my.yaml:1: A study is a list of settings, each as “name: value”"),
        ("# nothing but a remark\n", "my.yaml:1: A study is a list of settings, each as “name: value”"),
        ("- a\n- b\n", "my.yaml:1: A study is a list of settings, each as “name: value”"),
        ("just words", "my.yaml:1: A study is a list of settings, each as “name: value”"),
        (
            "a: 1\nb: [1,\n",
            "my.yaml:3: This is not valid YAML: expected the node content, but found '<stream end>'",
        ),
        ("a: 1\n  b: 2\n", "my.yaml:2: This is not valid YAML: mapping values are not allowed here"),
        ("a: 'open\n", "my.yaml:2: This is not valid YAML: found unexpected end of stream"),
        ("a: 1\nb: *unknown\n", "my.yaml:2: This is not valid YAML: found undefined alias 'unknown'"),
        (
            "a: !!python/object:os.system x\n",
            "my.yaml:1: This is not valid YAML: could not determine a constructor for the tag",
        ),
        ("a: 1\n? [b]\n: 2\n", "my.yaml:2: This is not valid YAML: found unhashable key"),
        (
            "a: \x00",
            "my.yaml: This is not valid YAML: unacceptable character #x0000: special characters are not",
        ),
        ("title: 2020-13-45\n", "my.yaml: This is not valid YAML: month must be in 1..12"),
        ("title: !!int x\n", "my.yaml: This is not valid YAML: invalid literal for int() with base 10: 'x'"),
        ("title: &x [*x]\n", "my.yaml:1: This is not valid YAML: a part refers to itself"),
        ("&x {title: *x}\n", "my.yaml:1: This is not valid YAML: a part refers to itself"),
        ("{" * 5000, "my.yaml:1: This is not valid YAML: nested more than 50 levels deep"),
        ("a: " + "[" * 29_000, "my.yaml:1: This is not valid YAML: nested more than 50 levels deep"),
        (
            "".join(f"{' ' * n}a:\n" for n in range(340)),
            "my.yaml:50: This is not valid YAML: nested more than 50 levels deep",
        ),
        (
            "a0: &a0 x\n" + "".join(f"a{n + 1}: &a{n + 1} [*a{n}]\n" for n in range(60)),
            "my.yaml:51: This is not valid YAML: nested more than 50 levels deep",
        ),
        # Merged, 2 settings become 10 times as many with each line.
        (
            "a0: &a0 {x: 1, y: 2}\n"
            + "".join(f"a{n + 1}: &a{n + 1} {{<<: [{', '.join([f'*a{n}'] * 10)}]}}\n" for n in range(8)),
            "my.yaml:6: This is not valid YAML: more than 200,000 values",
        ),
        (
            "minimum_inputs: 0x" + "f" * 4_000,
            "my.yaml:1: This is not valid YAML: a number of more than 100 digits",
        ),
        (
            "minimum_inputs: 1" + ":59" * 5_000,
            "my.yaml:1: This is not valid YAML: a number of more than 100 digits",
        ),
        (
            "minimum_inputs: 1" + ":59" * 5_000 + ".5",
            "my.yaml:1: This is not valid YAML: a number of more than 100 digits",
        ),
        ('title: "\\U00110000"', "my.yaml: This is not valid YAML: chr() arg not in range(0x110000)"),
        ("a: 1\n---\nb: 2\n", "my.yaml:2: This is not valid YAML: but found another document"),
        ('title: "\\ud800"\n', "my.yaml:1: title: Enter text"),
    ],
)
def test_a_file_that_is_no_mapping_of_settings(text: str, expected: str) -> None:
    assert any(line.startswith(expected) for line in mistakes(text)), mistakes(text)


def test_of_thousands_of_mistakes_a_hundred_are_told() -> None:
    lines = mistakes("".join(f"k{n}: 1\n" for n in range(3_000)))
    assert len(lines) == 101
    assert lines[-1] == "my.yaml: There are more than 100 problems; fix these first"


@given(st.text(st.sampled_from("abc:-[]{}#&*!|>'\"%@` \n\t0123.~?,\x00é"), max_size=60))
def test_any_text_is_a_study_or_a_clear_error(text: str) -> None:
    lines = mistakes(text)  # so short a text is never a whole study
    assert lines
    assert lines[0].startswith("my.yaml")


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda path: None, "cannot be read"),
        (lambda path: path.mkdir(), "cannot be read"),
        (lambda path: path.write_bytes(b"name: \xff\xfe"), "cannot be read"),
    ],
    ids=["missing", "a folder", "not UTF-8"],
)
def test_a_file_that_cannot_be_read(tmp_path: Path, make: Callable[[Path], object], reason: str) -> None:
    path = tmp_path / "study.yaml"
    make(path)
    with pytest.raises(StudyInvalid, match=reason) as refused:
        load_study(path)
    assert str(path) in refused.value.message


def entry(text: str) -> RunEntry:
    return RunEntry(1, "harbour", 1, "open", AT, text)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (
            'bot: "builtin:retrieval"',
            'bot: "builtin:nobody"',
            "systems.0.bot: There is no bot “builtin:nobody”; did you mean “builtin:memory”?",
        ),
        (
            "name: lighthouse",
            "name: lighthouse\ncorpus: builtin:nothing",
            "The corpus “builtin:nothing” cannot be opened: builtin:nothing: there is no such shipped",
        ),
        ("name: lighthouse", "name: lighthouse\nqc: {bot: nobody}", "qc.bot: There is no bot “nobody”"),
        (
            "name: lighthouse",
            "name: lighthouse\nqc: {corpus: no/such.txt}",
            "The QC bot's corpus “no/such.txt” cannot be opened: no/such.txt: no such file. Check the",
        ),
    ],
)
def test_what_cannot_be_opened_is_named(old: str, new: str, reason: str) -> None:
    with pytest.raises(StudyInvalid, match=reason):
        open_lineup(entry(GOOD.replace(old, new)), OpenedBots(refuse_private=False))


@pytest.mark.parametrize("changes", [{"topic_mode": "icebreaker"}, {}])
def test_a_study_that_needs_personas_needs_a_corpus_with_some(changes: dict[str, str]) -> None:
    study = parse_study(study_text(personas="corpus", **changes))
    with pytest.raises(StudyInvalid, match="no personas"):
        session_rules(study, NOBODY)
    some = Corpus("some", (Persona("p", ("I am here.",)),), ())
    assert session_rules(study, some).lineup.personas == (("I am here.",),)


def test_a_quiz_about_personas_needs_as_many_as_it_shows() -> None:
    study = parse_study(study_text(quiz={"about": "personas"}))
    with pytest.raises(StudyInvalid, match="The quiz shows 4 personas, but the study has only 2"):
        session_rules(study, NOBODY)


def test_a_persona_is_kept_as_whole_sentences() -> None:
    """Personas are stored as lines, so a sentence is one line however it was written."""
    study = parse_study(study_text(personas=[["I am\n  here.", "I\tstay."]]))
    assert session_rules(study, NOBODY).lineup.personas == (("I am here.", "I stay."),)
    corpus = Corpus("some", (Persona("p", ("I am\nhere.",)),), ())
    study = parse_study(study_text(personas="corpus"))
    assert session_rules(study, corpus).lineup.personas == (("I am here.",),)


def test_the_fingerprint_is_of_the_very_text() -> None:
    assert study_hash(GOOD) != study_hash(GOOD + "\n")
    assert len(study_hash(GOOD)) == 16


async def test_a_study_names_bots_that_run_elsewhere_and_its_systems_use_them() -> None:
    elsewhere = GOOD.replace(
        "systems:", 'bots:\n  far: {kind: http, urls: ["http://127.0.0.1:1/far"]}\nsystems:', 1
    )
    text = elsewhere.replace('bot: "builtin:retrieval"', "bot: far", 1)
    run = open_lineup(entry(text), OpenedBots(refuse_private=False))
    far = next(spec for spec in run.study.systems if spec.bot == "far")
    with pytest.raises(BotError, match=r"^http://127\.0\.0\.1:1/far: no connection"):
        await run.bots[far.name].reply(Chat("c", 1, (), (Turn("worker", "Hello?"),)))


@pytest.mark.parametrize(
    ("bots", "reason"),
    [
        (
            'qc: {kind: http, urls: ["http://a.example"]}',
            "“qc” is the name of the quality-control bot: choose another",
        ),
        ("far: {kind: http, urls: []}", "Give at least 1"),
        (
            'far: {kind: carrier-pigeon, urls: ["http://a.example"]}',
            "Choose its kind: “http”, “openai”, “anthropic”, “gemini”, “bedrock” or “parlai-web”",
        ),
    ],
)
def test_a_bot_that_cannot_be_is_refused_with_its_line(bots: str, reason: str) -> None:
    with pytest.raises(StudyInvalid, match=r"^study:\d+: bots\.") as caught:
        parse_study(GOOD.replace("systems:", f"bots:\n  {bots}\nsystems:", 1))
    assert reason in caught.value.message


def test_a_criterion_cannot_have_a_name_that_reports_use_otherwise() -> None:
    assert {label for label in RESERVED_LABELS if label.islower()} <= problems.RESERVED_LABELS
    with pytest.raises(StudyInvalid, match="Reports use “overall” for something else"):
        parse_study(GOOD.replace("label: fun", "label: overall", 1))


@pytest.mark.parametrize(
    ("added", "expected"),
    [
        (
            "completion_url: javascript:alert(1)",
            "completion_url: Enter an address that begins with https:// or http://",
        ),
        ("completion_url: /thanks", "completion_url: Enter an address that begins with https:// or http://"),
        ("completion_url: https://", "completion_url: Enter an address that begins with https:// or http://"),
        ("recruiter: {kind: mturk}", "recruiter: Choose its kind: “prolific”, “connect” or “sona”"),
        (
            "recruiter: {kind: connect}",
            "recruiter: Give a completion code, an address at the end, or both: otherwise nobody can",
        ),
        (
            "completion_url: https://lab.example\nrecruiter: {kind: prolific, completion_code: C1}",
            "completion_url: The platform sets where workers go at the end: remove this address",
        ),
        ("draw: systems", "draw: There is no such setting here, but in “qc”"),
        ("qc: {corpsu: builtin:smalltalk}", "qc.corpsu: There is no such setting; did you mean “corpus”?"),
        (
            "qc: {draw: system}",
            "qc.draw: Choose “corpus” or “systems”; did you mean “systems”?",
        ),
        ("reply_time: 3", "reply_time: Enter settings, each as “name: value”"),
        ("listed: maybe", "listed: Enter true or false"),
        ("minimum_inputs: 2.5", "minimum_inputs: Enter a whole number from 1 to 100"),
        ("minimum_inputs:", "minimum_inputs: Enter a whole number from 1 to 100"),
        ("timeouts: {idle: .inf}", "timeouts.idle: Enter a number, more than 0 and at most 2,592,000"),
        ("bots: {far: {urls: [x]}}", "bots.far: Choose its kind"),
        (
            "bots: {far: {kind: htp, urls: [x]}}",
            "bots.far: Choose its kind: “http”, “openai”, “anthropic”, “gemini”, “bedrock” or",
        ),
        (
            "bots: {far: {kind: http, urls: [far.example]}}",
            "bots.far.urls.0: Enter an address that begins with http:// or https://",
        ),
        (
            "bots: {far: {kind: http, urls: ['http://a.example'], modle: x}}",
            "bots.far.modle: There is no such setting here. Use “kind”, “urls”, “key”",
        ),
        (
            "composition: {ordnary: 4}",
            "composition.ordnary: There is no such setting; did you mean “ordinary”?",
        ),
        ("1: one", "1: The name of a setting must be text"),
    ],
)
def test_a_mistake_is_told_in_the_words_of_a_study(added: str, expected: str) -> None:
    """Neither pydantic's words nor its address: "Input should be …", "For further information visit …"."""
    lines = mistakes(f"{GOOD}{added}\n")
    assert any(line.startswith(f"my.yaml:23: {expected}") for line in lines), lines
    assert not any(raw in line for line in lines for raw in ("Input", "Value error", "pydantic", "literal["))


def test_what_is_misspelt_is_not_missing_as_well() -> None:
    assert mistakes(GOOD.replace("title:", "titel:")) == [
        "my.yaml:2: titel: There is no such setting; did you mean “title”?"
    ]


def test_a_file_of_a_later_version_says_so_before_all_else() -> None:
    assert parse_study("version: 1\n" + GOOD).version == 1
    lines = mistakes(f"version: 7\n{GOOD}holograms: true\n")
    assert lines[0].startswith(
        "my.yaml:1: version: This study is written for a later version of Candor (settings 7;"
    )
    assert [line.split(" ")[0] for line in lines] == ["my.yaml:1:", "my.yaml:24:"]


def _patterns(schema: object) -> Iterator[str]:
    if isinstance(schema, dict):
        yield from [schema["pattern"]] if isinstance(schema.get("pattern"), str) else []
        yield from schema.get("patternProperties", {})
    for part in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from _patterns(part)


@pytest.mark.parametrize("pattern", sorted(set(_patterns(study_schema()))))
def test_no_regular_expression_is_shown_to_people(pattern: str) -> None:
    """Every pattern of a study's settings is told in words of its own."""
    model = create_model("Model", setting=(Annotated[str, StringConstraints(pattern=pattern)], ...))
    with pytest.raises(ValidationError) as caught:
        model.model_validate({"setting": "¤\n"})
    document = read_document("setting: ¤")
    ((_, reason),) = wrong_values(caught.value, document)
    assert reason.startswith("Enter ")
    assert "another form" not in reason
    assert pattern not in reason
