"""Tests of the texts that workers read: shipped instruments, a study's own texts, and mistakes in them."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from server.bots.lineup import study_card
from server.errors import StudyInvalid
from server.session.texts import direction_of, places_in
from server.study import BLANK, DEMO, Study, parse_study, study_notes
from server.study.problems import text_notes
from server.study.texts import ENGLISH, LANGUAGES, instrument_of
from tests.server.support.items import items_text
from tests.server.support.study import pairs_text, study_text
from tests.server.support.templates import completed

# The statements of METHOD section 1, to the letter.
PUBLISHED = {
    "robotic": "It was obvious that I was talking to a chatbot as opposed to another human user.",
    "interesting": "The conversation with the chatbot was interesting.",
    "fun": "The conversation with the chatbot was fun/enjoyable.",
    "consistent": "The chatbot was consistent throughout the conversation.",
    "fluent": "The chatbot's English was fluent and natural throughout the conversation.",
    "repetitive": "I felt that the chatbot kept being repetitive during the conversation.",
    "topic": "The chatbot stays on topic.",
}
# Unicode's plural rules: the forms that whole numbers take in the languages that ship. French, Spanish and
# others have `many` for millions only.
FORMS = {"en": {"one", "other"}, "de": {"one", "other"}, "fr": {"one", "other"}, "es": {"one", "other"}}


# What a study of one system has.
ALONE = {"systems_per_assignment": 1, "qc_per_assignment": 0, "simulate": None}


def study(**changes: Any) -> Study:
    return parse_study(study_text(**changes))


def test_the_published_instrument_is_the_default_to_the_letter() -> None:
    content = yaml.safe_load(study_text())
    del content["criteria"]
    plain = parse_study(yaml.safe_dump(content))
    assert {c.label: c.statement for c in plain.criteria} == PUBLISHED
    assert [c.label for c in plain.criteria if c.negative] == ["robotic", "repetitive"]
    assert [c.label for c in plain.criteria if not c.qc] == ["robotic", "repetitive"]
    assert study_card(plain).words is None
    assert ENGLISH.validated


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_instrument_is_whole(language: str) -> None:
    instrument = instrument_of(language)
    assert instrument is not None
    assert instrument.validated == (language == "en")
    assert instrument.statements.keys() == PUBLISHED.keys()
    assert instrument.words.keys() == ENGLISH.words.keys()
    for name, text in instrument.words.items():
        english = ENGLISH.words[name]
        assert places_in(text) <= places_in(english), name
        if isinstance(text, str):
            assert places_in(text) == places_in(english), name
            # What is stressed in English is stressed in every language.
            assert isinstance(english, dict) or text.count("**") == english.count("**"), name
        else:
            assert set(text) == FORMS.get(language, {"other"}), name


def test_a_language_brings_its_statements_and_a_study_may_have_its_own() -> None:
    german = study(
        language="de-AT", criteria=[{"label": "fun"}, {"label": "topic", "statement": "Beim Thema?"}]
    )
    instrument = instrument_of("de")
    assert instrument is not None
    assert [c.statement for c in german.criteria] == [instrument.statements["fun"], "Beim Thema?"]
    words = study_card(german).words
    assert words is not None
    assert (words.language, words.direction) == ("de-AT", "ltr")
    assert words.words == instrument.words
    assert next(text_notes(german)).startswith(
        "The German statements are a translation that has not been validated"
    )
    criteria = [{"label": "fun", "statement": "Es war lustig."}]
    own = study(language="de", criteria=criteria, qc={"corpus": "reden.jsonl"})
    assert list(text_notes(own)) == []


@pytest.mark.parametrize("language", [tag for tag in LANGUAGES if tag != "en"])
@pytest.mark.parametrize("template", sorted(DEMO.parent.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_text_that_a_template_leaves_in_english_is_noted(template: Path, language: str) -> None:
    instrument = instrument_of(language)
    assert instrument is not None
    content = yaml.safe_load(template.read_text(encoding="utf-8"))
    english = {f"the statement of “{one['label']}”" for one in content["criteria"] if "statement" in one}
    english |= {f"the {name}" for name in ("title", "payment") if content[name]}
    content |= {name: content[name] or "eigen" for name in ("title", "payment")}
    content["language"] = language
    made = parse_study(completed(yaml.safe_dump(content)))
    noted = [note for note in text_notes(made) if "but these texts are" in note]
    assert set(re.findall("the (?:title|payment|statement of “[a-z_]+”)", " ".join(noted))) == english


def test_personas_of_an_english_corpus_are_noted() -> None:
    spec = {"name": "a", "family": "a", "bot": "mine", "persona": "random"}
    english: dict[str, Any] = {"language": "de", "corpus": "builtin:smalltalk", "personas": "corpus"}
    drawn = study(**english, systems=[spec], **ALONE)
    (note,) = [note for note in text_notes(drawn) if "Personas" in note]
    assert note.startswith(
        "Personas come from the corpus “builtin:smalltalk”, which is English, and bots read"
    )
    shown = study(**english, topic_mode="icebreaker")
    assert any("and bots and workers read them" in note for note in text_notes(shown))
    for changes in ({"language": "en"}, {"personas": [["Ich mag Bienen."]]}, {"corpus": "reden.jsonl"}):
        fine = study(**{**english, "systems": [spec], **ALONE, **changes})
        assert not [note for note in text_notes(fine) if "Personas" in note]


@pytest.mark.parametrize("template", [BLANK, DEMO], ids=["blank", "demo"])
@pytest.mark.parametrize("task", ["chat", "side_by_side"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_template_has_the_statements_of_its_language(template: Path, task: str, language: str) -> None:
    instrument = instrument_of(language)
    assert instrument is not None
    systems = [{"name": name, "family": name, "bot": "builtin:reflect"} for name in ("a", "b")]
    content = yaml.safe_load(template.read_text(encoding="utf-8"))
    content |= {"title": "T", "payment": "P", "language": language, "task": task, "systems": systems}
    content |= {"qc_per_assignment": 1, "simulate": None, "systems_per_assignment": 2}
    if task == "side_by_side":
        content |= {"comparison": {"pairs": 3}}
        del content["topic_mode"], content["systems_per_assignment"]
    made = parse_study(yaml.safe_dump({key: value for key, value in content.items() if value is not None}))
    assert {c.label: c.statement for c in made.criteria} == instrument.statements
    assert not [note for note in text_notes(made) if "but these texts are" in note]


def test_texts_of_another_language_are_noted() -> None:
    german = instrument_of("de")
    assert german is not None
    criteria = [
        {"label": "fun", "statement": PUBLISHED["fun"]},
        {"label": "own", "statement": "Es war lustig."},
        {"label": "topic"},
    ]
    words = {"chat.send": german.words["chat.send"], "chat.finish": "Finish"}
    copied = study(language="de", criteria=criteria, texts={"words": words})
    (note,) = [note for note in text_notes(copied) if "but these texts are" in note]
    assert note == (
        "The study is in German, but these texts are the English ones: "
        "the statement of “fun”, “chat.finish” of the page's words. Remove them to use the German ones, "
        "unless you want workers to read English."
    )
    none_ships = study(
        language="it",
        criteria=[{"label": "fun"}],
        texts={"debriefing": "standard", "words": {"chat.send": "Invia"}},
    )
    (note,) = [note for note in text_notes(none_ships) if "but these texts are" in note]
    assert "the English ones: the statement of “fun”, the debriefing. Translate them" in note


def test_builtin_bots_and_the_shipped_corpus_are_english_and_it_is_said() -> None:
    alone: dict[str, Any] = {
        "systems": [{"name": "a", "family": "a", "bot": "builtin:reflect"}],
        "systems_per_assignment": 1,
        "qc_per_assignment": 0,
        "simulate": None,
    }
    assert list(text_notes(study(language="de", **alone)))[-2:] == [
        "Builtin bots speak English only, and the study is in German: builtin:reflect.",
        "The QC bot's corpus “builtin:smalltalk” is English: choose a corpus in German.",
    ]
    assert not list(text_notes(study(**alone)))


def test_a_study_that_tests_no_worker_is_told_so() -> None:
    none: dict[str, Any] = {"systems_per_assignment": 2, "qc_per_assignment": 0, "simulate": None}
    (note,) = study_notes(study(**none))
    assert note.startswith("No worker can be tested")
    assert "no report and no rehearsal can be made" in note
    assert not list(study_notes(study()))
    assert not list(study_notes(parse_study(pairs_text(qc_per_assignment=0))))
    assert not [note for note in study_notes(parse_study(items_text())) if "No worker" in note]


def test_a_study_whose_filter_nobody_can_pass_is_told_so() -> None:
    two = [{"label": label, "statement": "Fine.", "qc": True} for label in ("fun", "clear")]
    # Two ratings of the QC bot and four of two systems: 1 of C(6, 2) = 15 orders has the two lowest.
    (note,) = study_notes(study(systems_per_assignment=2, simulate=None, criteria=two))
    assert "the smallest p is 0.067, and p has to be below 0.05" in note
    # Of three systems: 1 of C(8, 2) = 28.
    assert not list(study_notes(study(systems_per_assignment=3, simulate=None, criteria=two)))


def test_a_list_with_too_few_bad_twins_is_told_so() -> None:
    criteria = [{"label": "fun", "statement": "Fun.", "qc": True}]
    counts = {"ordinary": 6, "repeat": 0, "reference": 0}
    # The signed-rank test of k pairs has 2 ** k equally likely orders of signs.
    (note,) = study_notes(parse_study(items_text(criteria=criteria, composition={**counts, "bad": 4})))
    assert "the smallest p is 0.062" in note
    assert "more bad twins" in note
    assert not list(study_notes(parse_study(items_text(criteria=criteria, composition={**counts, "bad": 5}))))


def test_a_median_that_no_reply_reaches_is_told() -> None:
    (note,) = study_notes(study(reply_time={"median": 10}))  # `longest` stays 8
    assert note.startswith("The longest reply delay (8 s) is below the median (10 s)")
    assert not list(study_notes(study(reply_time={"median": 8})))


def test_a_study_may_bring_a_language_of_its_own() -> None:
    arabic = study(language="ar", texts={"words": {"chat.send": "إرسال"}}, qc={"corpus": "ar.jsonl"})
    words = study_card(arabic).words
    assert words is not None
    assert (words.direction, words.words) == ("rtl", {"chat.send": "إرسال"})
    total = len(ENGLISH.words)
    assert list(text_notes(arabic)) == [
        f"{total - 1} of the page's {total} texts have no words of yours: these stay English."
    ]
    english = study_card(study(texts={"words": {"chat.send": "Off it goes"}})).words
    assert english is not None
    assert english.words == {"chat.send": "Off it goes"}


@pytest.mark.parametrize(
    ("tag", "direction"),
    [("en", "ltr"), ("ar", "rtl"), ("he-IL", "rtl"), ("az", "ltr"), ("az-Arab", "rtl"), ("ur-Latn", "ltr")],
)
def test_the_direction_is_that_of_the_script(tag: str, direction: str) -> None:
    assert direction_of(tag) == direction


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {"language": "eo"},
            "language: Candor has no texts in “eo”: write your own, or choose de, en, es, fr, ja, zh",
        ),
        ({"language": "German"}, "Enter the code of a language, such as “de” or “pt-BR”"),
        (
            {"texts": {"words": {"chat.sent": "Off"}}},
            "The page has no text of this name; did you mean “chat.send”?",
        ),
        (
            {"texts": {"words": {"rating.to_answer": "{count} more"}}},
            "texts.words.rating.to_answer: {count} has no meaning here. Use {n}",
        ),
        (
            {"texts": {"words": {"chat.send": {"one": "a", "other": "b"}}}},
            "texts.words.chat.send: This text has no number: give only one form of it",
        ),
        (
            {"texts": {"words": {"rating.to_answer": {"one": "one more"}}}},
            "Give the form “other”, for every number that has no form of its own",
        ),
        ({"texts": {"consent": {"version": "1"}}}, "texts.consent.text: This is required"),
        (
            {"texts": {"consent": {"version": "1", "text": "?", "boxes": [{"label": "a", "text": "A"}] * 2}}},
            "texts.consent.boxes.1.label: Choose another label: “a” is in use",
        ),
    ],
)
def test_a_mistake_in_texts_is_named(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(StudyInvalid) as caught:
        study(**changes)
    assert reason in str(caught.value)


def test_workers_are_told_how_long_it_takes() -> None:
    # By the published run 1: 4 conversations of 15 inputs, at 6.7 minutes for ten, are 40.2 minutes.
    assert study(systems_per_assignment=3, qc_per_assignment=1, minimum_inputs=15).duration == 40
    assert study(minutes=12).duration == 12
    assert study(systems_per_assignment=1, qc_per_assignment=0, minimum_inputs=1).duration == 5


def test_the_debriefing_is_the_languages_or_the_studys() -> None:
    assert study().debriefing is None
    assert study(texts={"debriefing": "standard"}).debriefing == ENGLISH.debriefing
    assert study(texts={"debriefing": "It was all made up."}).debriefing == "It was all made up."


LOGO = "data:image/png;base64,iVBORw0KGgo="


def test_a_lab_has_a_name_and_a_logo_of_its_own_on_the_page() -> None:
    assert study_card(study()).lab is None
    shown = study_card(study(texts={"lab": {"name": "Lab of Light", "logo": LOGO}})).lab
    assert shown is not None
    assert (shown.name, shown.logo) == ("Lab of Light", LOGO)
    named = study_card(study(texts={"lab": {"name": "Lab of Light"}})).lab
    assert named is not None
    assert named.logo is None


@pytest.mark.parametrize(
    ("logo", "reason"),
    [
        (
            "https://lab.example/logo.png",
            "texts.lab.logo: Enter an image",
        ),
        (
            "data:text/html;base64,AAAA",
            "texts.lab.logo: Enter an image",
        ),
        (f"data:image/png;base64,{'A' * 40_000}", "texts.lab.logo: Enter at most 40,000 characters"),
    ],
)
def test_a_logo_stands_within_the_study_and_is_small(logo: str, reason: str) -> None:
    with pytest.raises(StudyInvalid, match=reason):
        study(texts={"lab": {"name": "Lab of Light", "logo": logo}})


def test_a_study_may_keep_words_that_the_page_had_before() -> None:
    assert "chat.more" not in ENGLISH.words
    assert study(texts={"words": {"chat.more": "{n} left"}}).texts.words
