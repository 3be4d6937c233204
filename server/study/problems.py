"""Find problems of a study whose settings are each valid: contradictions, unfit texts, and notes on both."""

from collections.abc import Iterator
from difflib import get_close_matches
from functools import lru_cache
from math import comb
from typing import assert_never

import yaml

from bots.serving import shipped_corpora
from server.session.answer_kinds import KINDS, answer_type, misfits
from server.session.correctness import CONFIRMED, EVIDENCE, PLAUSIBLE
from server.session.instrument import PARTS, AskedQuestion, Part
from server.session.plan import QC
from server.session.texts import Text, places_in
from server.settings_file import Location
from server.study.sections import PARTNER, PEOPLE
from server.study.study import DEMO, Study
from server.study.texts import ENGLISH, LANGUAGES, instrument_of

_FEWEST_INPUTS_OF_A_QUIZ = 3
# The names of reports' own columns (qc.run.RESERVED_LABELS, which the server does not import).
RESERVED_LABELS = frozenset({"overall", "system", "n", "model", "z", "raw"})
OF_CORRECTNESS = frozenset({PLAUSIBLE, EVIDENCE, CONFIRMED})


def contradictions(study: Study) -> Iterator[tuple[Location, str]]:
    """Yield contradictions in a study whose settings are each valid."""
    yield from _of_other_tasks(study)
    if study.recruiter is not None and study.completion_url is not None:
        yield ("completion_url",), "The platform sets where workers go at the end: remove this address"
    yield from _repeated("criteria", "label", [c.label for c in study.criteria])
    for i, criterion in enumerate(study.criteria):
        if criterion.label in RESERVED_LABELS:
            reason = f"Reports use “{criterion.label}” for something else: choose another label"
            yield ("criteria", i, "label"), reason
    yield from text_mistakes(study)
    yield from _unfit_scales(study)
    yield from _unfit_questions(study)
    match study.task:
        case "chat":
            yield from _unfit_for_chat(study)
        case "transcripts":
            yield from _unfit_for_transcripts(study)
        case "side_by_side":
            yield from _unfit_for_pairs(study)
        case _:
            assert_never(study.task)


def _of_other_tasks(study: Study) -> Iterator[tuple[Location, str]]:
    for name in sorted(study.model_fields_set & study.task_type.unused):
        yield (name,), f"This does not apply to studies in which workers {study.task_type.doing}: remove it"


def _unfit_scales(study: Study) -> Iterator[tuple[Location, str]]:
    """Yield mistakes in criteria that are not rated on the slider."""
    if study.task_type.needs_ratings and not any(c.is_scored for c in study.criteria):
        yield (
            ("criteria",),
            "Scores need at least one criterion on a slider or a scale of points",
        )
    for i, criterion in enumerate(study.criteria):
        scale = criterion.scale
        if scale is None:
            continue
        if not scale.type.for_criteria:
            kinds = ", ".join(answer_type(kind).words for kind in KINDS if answer_type(kind).for_criteria)
            yield ("criteria", i, "scale", "kind"), f"Choose one of the answers for criteria: {kinds}"
        for name, reason in misfits(scale):
            yield ("criteria", i, "scale", name), reason
        if not scale.type.is_scored:
            for name in sorted(criterion.model_fields_set & {"negative", "qc"}):
                reason = "These answers are counted, not scored: remove this"
                yield ("criteria", i, name), reason


def _unfit_questions(study: Study) -> Iterator[tuple[Location, str]]:
    """Yield mistakes in questionnaires."""
    criteria = [c.label for c in study.criteria]
    for part in PARTS:
        labels = [question.label for question in study.questionnaires.of(part)]
        for i, question in enumerate(study.questionnaires.of(part)):
            where: Location = ("questionnaires", part, i)
            if question.label in labels[:i]:
                yield (*where, "label"), f"Choose another label: “{question.label}” is in use"
            if part == "conversation" and study.correctness and question.label in OF_CORRECTNESS:
                yield (*where, "label"), f"Choose another label: “{question.label}” is about the correctness"
            if part == "conversation" and question.label in criteria:
                yield (*where, "label"), f"Choose another label: “{question.label}” is a criterion"
            if question.type.is_scored and question.ends is None and not question.labels:
                yield (*where, "ends"), "Describe both ends, such as “not at all” and “very”"
            for name, reason in misfits(question):
                yield (*where, name), reason
            if (why := _nothing_to_mark(study, part, question)) is not None:
                yield (*where, "text"), why


def _nothing_to_mark(study: Study, part: Part, question: AskedQuestion) -> str | None:
    """Return why a question marks a text that workers do not have; None if they have it."""
    if question.text not in ("output", "context"):
        return None
    if part != "conversation":
        return "No conversation is read here: write the text to be marked"
    if question.text == "context" and (study.items is None or study.items.file is None):
        return "Only the items of a file have a context: choose the system's output, or write a text"
    if study.comparison is not None and study.comparison.history == "chosen":
        return "Both systems continue with the chosen replies: write a text, or give each its own replies"
    return None


def _unfit_for_transcripts(study: Study) -> Iterator[tuple[Location, str]]:
    if study.items is None or (study.items.run is None) == (study.items.file is None):
        yield ("items",), "Choose where the items come from: a run or a file, not both"
    elif study.items.run is not None:
        yield from _unfit_for_conversations(study)
    parts = study.per_assignment
    if parts.twins > parts.ordinary:
        reason = (
            f"Each bad twin, repeat and reference needs an ordinary item of its own: there are {parts.twins} "
            f"of them and {parts.ordinary} ordinary items"
        )
        yield ("composition",), reason
    if parts.human is not None and not (parts.one_group and parts.bad and parts.repeat):
        reason = (
            "Take all items of one group, with at least one bad twin and one repeat: they belong to the item "
            "that people wrote"
        )
        yield ("composition", "human"), reason
    if parts.bad and not any(c.qc and c.is_scored for c in study.criteria):
        yield ("criteria",), "At least one criterion must count for quality control"
    if study.post_edit is not None:
        found = [c for c in study.criteria if c.label == study.post_edit.criterion]
        if not found:
            yield ("post_edit", "criterion"), f"There is no criterion “{study.post_edit.criterion}”"
        elif found[0].negative:
            yield (
                ("post_edit", "criterion"),
                "Choose a criterion that is not reverse-scored, so that its top is the best",
            )
    for i, question in enumerate(study.tutorial.questions if study.tutorial else ()):
        if question.right > len(question.answers):
            yield (
                ("tutorial", "questions", i, "right"),
                f"Enter a number from 1 to {len(question.answers)}, the number of answers",
            )


def _unfit_for_conversations(study: Study) -> Iterator[tuple[Location, str]]:
    """Yield settings that the conversations of a run cannot have."""
    if study.per_assignment.reference:
        reason = "The conversations of a run have no references: set the number of references to 0"
        yield ("composition",), reason
    if study.correctness:
        reason = (
            "Answers are judged by the paragraphs of a file, and the items of a run have none: remove this"
        )
        yield ("correctness",), reason
    if study.post_edit is not None:
        reason = "Only texts can be improved, and the items of a run are conversations: remove this"
        yield ("post_edit",), reason


def _unfit_for_pairs(study: Study) -> Iterator[tuple[Location, str]]:
    if len(study.systems) < 2:
        yield ("systems",), "Workers compare two systems: add at least two"
    comparison = study.comparison
    if comparison is not None and (comparison.history, comparison.choose) == ("chosen", "end"):
        reason = "To continue with the chosen replies, let workers choose after each turn"
        yield ("comparison", "history"), reason
    if study.qc_per_assignment > max(study.conversations - 2, 0):
        reason = "Pairs with the QC bot are never first or last: add conversations, or remove such pairs"
        yield ("qc_per_assignment",), reason
    for i, spec in enumerate(study.systems):
        if spec.bot in PEOPLE:
            yield (
                ("systems", i, "bot"),
                "A person holds one chat at a time: choose a bot for studies side by side",
            )
    yield from _unfit_inputs(study)
    yield from _unfit_systems(study)


def _unfit_for_chat(study: Study) -> Iterator[tuple[Location, str]]:
    yield from _repeated("scenarios", "label", [s.label for s in study.scenarios])
    if not study.systems:
        yield ("systems",), "Add at least one system"
    yield from _unfit_numbers(study)
    yield from _unfit_people(study)
    yield from _unfit_systems(study)


def _unfit_people(study: Study) -> Iterator[tuple[Location, str]]:
    """Yield mistakes in studies with chat partners who are people."""
    named = [i for i, spec in enumerate(study.systems) if spec.bot in PEOPLE]
    if not named:
        if study.people is not None:
            yield ("people",), f"No system has a person as its bot ({' or '.join(PEOPLE)}): remove this"
        return
    if study.people is None:
        reason = "Where people answer, a bot must take over if they do not: choose that bot"
        yield ("systems", named[0], "bot"), reason
    elif study.consent is None or not study.people.consent_says_so:
        reason = (
            "Workers must consent to chats with people: write a consent form that says that partners may "
            "be people who read what they write, and confirm it here"
        )
        yield ("people", "consent_says_so"), reason
    elif study.people.take_over in PEOPLE:
        yield ("people", "take_over"), "Choose a bot that takes over, not a person"
    elif "wait" in study.people.model_fields_set and not any(s.bot == PARTNER for s in study.systems):
        yield (
            ("people", "wait"),
            "Workers wait only for another worker, not for a researcher: remove this",
        )
    for i in named:
        # Researchers at the desk see the persona, and answer as it; workers have their own.
        unread = ("persona", "prompt") if study.systems[i].bot == PARTNER else ("prompt",)
        for name, empty in (("persona", "none"), ("prompt", None)):
            if name in unread and getattr(study.systems[i], name) != empty:
                yield ("systems", i, name), "A person speaks for themselves: remove this"


def _unfit_systems(study: Study) -> Iterator[tuple[Location, str]]:
    yield from _repeated("systems", "name", [s.name for s in study.systems])
    for i, spec in enumerate(study.systems):
        if spec.name == QC:
            yield ("systems", i, "name"), "“qc” is the name of the quality-control bot: choose another"
    if study.qc.draw == "systems" and study.qc.bot != "qc":
        reason = "Only the standard QC bot draws from the systems: choose it, or draw from the corpus"
        yield ("qc", "draw"), reason
    yield from _unjudged(study)
    if "qc" in study.bots:
        yield ("bots", "qc"), "“qc” is the name of the quality-control bot: choose another"


def _repeated(section: str, key: str, names: list[str]) -> Iterator[tuple[Location, str]]:
    for i, name in enumerate(names):
        if name in names[:i]:
            yield (section, i, key), f"Choose another {key}: “{name}” is in use"


def _unfit_numbers(study: Study) -> Iterator[tuple[Location, str]]:
    families = sorted({spec.family for spec in study.systems})
    if families and len(families) < study.systems_per_assignment:
        counted = "is only one" if len(families) == 1 else f"are only {len(families)}"
        reason = (
            f"A worker meets at most one system of each family, and there {counted} "
            f"({', '.join(families)}): lower this number, or add systems of other families"
        )
        yield ("systems_per_assignment",), reason
    if study.qc_per_assignment > max(study.conversations - 2, 0):
        reason = "QC conversations are never first or last: add conversations, or remove QC ones"
        yield ("qc_per_assignment",), reason
    if study.qc_per_assignment and not any(c.qc and c.is_scored for c in study.criteria):
        yield ("criteria",), "At least one criterion must count for quality control"
    yield from _unfit_inputs(study)


def _unfit_inputs(study: Study) -> Iterator[tuple[Location, str]]:
    asked = study.quiz.about if study.quiz is not None else None
    if asked == "personas" and all(spec.persona == "none" for spec in study.systems):
        reason = (
            "The quiz asks about personas, and no system has one: give one to a system, or ask about lines"
        )
        yield ("quiz", "about"), reason
    if asked == "lines" and study.minimum_inputs < _FEWEST_INPUTS_OF_A_QUIZ:
        reason = (
            "The quiz asks about a reply between the first and the last: ask for at least "
            f"{_FEWEST_INPUTS_OF_A_QUIZ} messages"
        )
        yield ("quiz",), reason
    if study.maximum_inputs < study.minimum_inputs:
        yield (
            ("maximum_inputs",),
            f"Enter at least {study.minimum_inputs}, the messages that a conversation needs",
        )


def _unjudged(study: Study) -> Iterator[tuple[Location, str]]:
    if study.simulate is None:
        return
    names, judged = {spec.name for spec in study.systems}, set(study.simulate.quality)
    for name in sorted(names - judged):
        yield ("simulate", "quality"), f"The system “{name}” needs a quality"
    for name in sorted(judged - names):
        yield ("simulate", "quality", name), f"There is no system “{name}”: remove this"


# Texts that the page no longer has. A study may still bring them: they were valid when it was written.
_FORMER = frozenset({"chat.more", "rating.answers_missing"})


def text_mistakes(study: Study) -> Iterator[tuple[Location, str]]:
    """Yield mistakes in the texts of a study whose settings are each valid."""
    own = study.texts.words
    for name, text in own.items():
        reason = None if name in _FORMER else _unfit(name, text)
        if reason is not None:
            yield ("texts", "words", name), reason
    if instrument_of(study.language) is None and not own:
        reason = (
            f"Candor has no texts in “{study.language}”: write your own, or choose {', '.join(LANGUAGES)}"
        )
        yield ("language",), reason
    labels = [box.label for box in study.consent.boxes] if study.consent else []
    for i, label in enumerate(labels):
        if label in labels[:i]:
            yield ("texts", "consent", "boxes", i, "label"), f"Choose another label: “{label}” is in use"


def text_notes(study: Study) -> Iterator[str]:
    """Yield notes for researchers on the language of workers' texts."""
    instrument = instrument_of(study.language)
    if instrument is None:
        missing = len(ENGLISH.words.keys() - study.texts.words.keys())
        if missing:
            total = len(ENGLISH.words)
            yield f"{missing} of the page's {total} texts have no words of yours: these stay English."
    elif not instrument.validated:
        shown = {criterion.statement for criterion in study.criteria}
        if shown & set(instrument.statements.values()):
            yield (
                f"The {instrument.name} statements are a translation that has not been validated: "
                "only the English ones were tested in the published experiment."
            )
    yield from _of_other_languages(study)
    if left := _left_of_template(study):
        yield (
            f"The study is in {_name_of(study.language)}, but these texts are still the English ones of a "
            f"template: {', '.join(left)}. Translate them, unless you want workers to read English."
        )
    if builtin := builtin_elsewhere(study):
        named = ", ".join(builtin)
        yield f"Builtin bots speak English only, and the study is in {_name_of(study.language)}: {named}."
    spoken = shipped_corpora().get(study.qc.corpus)
    if study.bots_of_systems and spoken and instrument is not instrument_of(spoken):
        remedy = f"choose a corpus in {_name_of(study.language)}"
        yield f"The QC bot's corpus “{study.qc.corpus}” is {_name_of(spoken)}: {remedy}."
    if _draws_personas(study) and instrument is not ENGLISH and study.corpus.startswith("builtin:"):
        readers = "bots and workers read them" if study.topic_mode == "icebreaker" else "bots read them"
        yield (
            f"Personas come from the corpus “{study.corpus}”, which is English, and {readers}: "
            f"write personas, or choose a corpus in {_name_of(study.language)}."
        )


def _name_of(language: str) -> str:
    """Return a language's English name, or its tag if no texts ship for it."""
    instrument = instrument_of(language)
    return f"“{language}”" if instrument is None else instrument.name


def builtin_elsewhere(study: Study) -> tuple[str, ...]:
    """Return the builtin bots of a study that is not in English, the only language of builtin bots."""
    if instrument_of(study.language) is ENGLISH:
        return ()
    bots = dict.fromkeys(study.bots_of_systems.values())
    return tuple(bot for bot in bots if bot.startswith("builtin:"))


def _draws_personas(study: Study) -> bool:
    drawn = study.topic_mode == "icebreaker" or any(spec.persona == "random" for spec in study.systems)
    return study.task_type.chats and study.personas == "corpus" and drawn


def _left_of_template(study: Study) -> list[str]:
    """Return a study's texts that are still those of a shipped study file, if the study is not in English."""
    if instrument_of(study.language) is ENGLISH:
        return []
    shown = [("the title", study.title), ("the payment", study.payment)]
    shown += [
        (f"the statement of “{criterion.label}”", criterion.statement)
        for criterion in study.criteria
        if criterion.statement not in ENGLISH.statements.values()
    ]
    return [name for name, text in shown if text in _of_templates()]


@lru_cache(maxsize=1)
def _of_templates() -> frozenset[str]:
    """Return the English texts for workers in the shipped study files."""
    files = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in DEMO.parent.glob("*.yaml")]
    statements = [each.get("statement") for file in files for each in file["criteria"]]
    texts = [*statements, *(file[name] for file in files for name in ("title", "payment"))]
    return frozenset(text for text in texts if text)


def _of_other_languages(study: Study) -> Iterator[str]:
    """Yield a note for each language whose shipped texts are used in a study of another language."""
    own = instrument_of(study.language)
    own_statements = own.statements.values() if own else ()
    own_words = own.words.values() if own else ()
    for other in (instrument_of(tag) for tag in LANGUAGES):
        if other is None or other is own:
            continue
        found = [
            f"the statement of “{criterion.label}”"
            for criterion in study.criteria
            if criterion.statement in other.statements.values() and criterion.statement not in own_statements
        ]
        found += [
            f"“{name}” of the page's words"
            for name, text in study.texts.words.items()
            if text == other.words.get(name) and text not in own_words
        ]
        found += ["the debriefing"] if study.debriefing == other.debriefing else []
        if found:
            remedy = f"Remove them to use the {own.name} ones" if own else "Translate them"
            yield (
                f"The study is in {_name_of(study.language)}, but these texts are the {other.name} ones: "
                f"{', '.join(found)}. {remedy}, unless you want workers to read {other.name}."
            )


def _unfit(name: str, text: Text) -> str | None:
    english = ENGLISH.words.get(name)
    if english is None:
        close = get_close_matches(name, ENGLISH.words, n=1)
        guess = f"; did you mean “{close[0]}”?" if close else ""
        return f"The page has no text of this name{guess}"
    unknown = sorted(places_in(text) - places_in(english))
    if unknown:
        known = ", ".join(f"{{{place}}}" for place in sorted(places_in(english))) or "no placeholder"
        return f"{{{unknown[0]}}} has no meaning here. Use {known}"
    if not isinstance(text, str) and "n" not in places_in(english):
        return "This text has no number: give only one form of it"
    return None


def study_notes(study: Study) -> Iterator[str]:
    """Yield notes for researchers on a study's texts, its reply times, and the use of its data."""
    yield from text_notes(study)
    pace = study.reply_time
    # Not a mistake, because there are runs with such settings, and they go on.
    if pace.longest < pace.median:
        yield (
            f"The longest reply delay ({pace.longest:g} s) is below the median ({pace.median:g} s), so most "
            f"replies are shown after exactly {pace.longest:g} s. Raise the longest, or lower the median."
        )
    # Transcript studies have control items of their own, and comparisons need no QC bot.
    if study.task_type.is_published and not study.qc_per_assignment:
        yield (
            "No worker can be tested, because there is no conversation with the quality-control bot: no "
            "report and no rehearsal can be made."
        )
    yield from _few_control_ratings(study)


# The report's default level: a worker passes the filter with p below it.
_ALPHA = 0.05


def _few_control_ratings(study: Study) -> Iterator[str]:
    """Yield the note that one assignment cannot show whether its worker is reliable.

    The smallest p, with all control ratings lowest: 1 / C(k + m, k) in the rank-sum test of k ratings of the
    QC bot and m of the systems, 1 / 2ᵏ in the signed-rank test of k pairs (`qc.method.filter`,
    `qc.transcripts.filter`).
    """
    criteria = sum(criterion.qc and criterion.is_scored for criterion in study.criteria)
    match study.task:
        case "chat":
            control = study.qc_per_assignment * criteria
            smallest = 1 / comb(control + study.systems_per_assignment * criteria, control)
            more = "conversations with the quality-control bot"
        case "transcripts":
            control = study.per_assignment.bad * criteria
            smallest = 0.5**control
            more = "bad twins"
        case "side_by_side":
            return
        case _:
            assert_never(study.task)
    if control and smallest >= _ALPHA:
        yield (
            "Workers with one assignment cannot pass the filter: with so few control ratings the smallest p "
            f"is {smallest:.2g}, and p has to be below {_ALPHA:g}. Let more criteria count for quality "
            f"control, or give an assignment more {more}."
        )
