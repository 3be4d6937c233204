"""Find mistakes in a study's own texts, and notes on them."""

from collections.abc import Iterator
from difflib import get_close_matches
from functools import lru_cache

import yaml

from server.session.texts import Text, places_in
from server.settings_file import Location
from server.study.study import DEMO, Study
from server.study.texts import ENGLISH, LANGUAGES, instrument_of

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
            f"no texts ship for `{study.language}`: bring your own in `texts.words`, "
            f"or choose one of {', '.join(LANGUAGES)}"
        )
        yield ("language",), reason
    labels = [box.label for box in study.consent.boxes] if study.consent else []
    for i, label in enumerate(labels):
        if label in labels[:i]:
            yield ("texts", "consent", "boxes", i, "label"), f"`{label}` is there already"


def text_notes(study: Study) -> Iterator[str]:
    """Yield notes for researchers on the language of workers' texts."""
    instrument = instrument_of(study.language)
    if instrument is None:
        missing = len(ENGLISH.words.keys() - study.texts.words.keys())
        if missing:
            total = len(ENGLISH.words)
            yield f"{missing} of the page's {total} texts are not in `texts.words`: these stay English."
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
            f"The study is in `{study.language}`, but these texts are still the English ones of a template: "
            f"{', '.join(left)}. Write them in `{study.language}`, unless you want workers to read English."
        )
    if builtin := builtin_elsewhere(study):
        named = ", ".join(builtin)
        yield f"Builtin bots speak English only, and the study is in `{study.language}`: {named}."
    if study.bots_of_systems and instrument is not ENGLISH and study.qc.corpus.startswith("builtin:"):
        remedy = f"give one in `{study.language}` (`qc: {{corpus: FILE}}`)"
        yield f"The qc bot's corpus `{study.qc.corpus}` is English: {remedy}."
    if _draws_personas(study) and instrument is not ENGLISH and study.corpus.startswith("builtin:"):
        readers = "bots and workers read them" if study.topic_mode == "icebreaker" else "bots read them"
        yield (
            f"Personas come from the corpus `{study.corpus}`, which is English, and {readers}: "
            f"write `personas`, or give a corpus in `{study.language}` (`corpus: FILE`)."
        )


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
    shown = [("title", study.title), ("payment", study.payment)]
    shown += [
        (f"criteria.{criterion.label}", criterion.statement)
        for criterion in study.criteria
        if criterion.statement not in ENGLISH.statements.values()
    ]
    return [f"`{name}`" for name, text in shown if text in _of_templates()]


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
            f"`criteria.{criterion.label}`"
            for criterion in study.criteria
            if criterion.statement in other.statements.values() and criterion.statement not in own_statements
        ]
        found += [
            f"`texts.words.{name}`"
            for name, text in study.texts.words.items()
            if text == other.words.get(name) and text not in own_words
        ]
        found += ["`texts.debriefing`"] if study.debriefing == other.debriefing else []
        if found:
            remedy = f"Remove them to use the {own.name} ones" if own else f"Write them in `{study.language}`"
            yield (
                f"The study is in `{study.language}`, but these texts are the {other.name} ones: "
                f"{', '.join(found)}. {remedy}, unless you want workers to read {other.name}."
            )


def _unfit(name: str, text: Text) -> str | None:
    english = ENGLISH.words.get(name)
    if english is None:
        close = get_close_matches(name, ENGLISH.words, n=1)
        guess = f"; did you mean `{close[0]}`?" if close else ""
        return f"the page has no text of this name{guess}"
    unknown = sorted(places_in(text) - places_in(english))
    if unknown:
        known = ", ".join(f"{{{place}}}" for place in sorted(places_in(english))) or "nothing"
        return f"{{{unknown[0]}}} cannot be put in here; what can: {known}"
    if not isinstance(text, str) and "n" not in places_in(english):
        return "there is no number in this text: give one form of it"
    return None


def study_notes(study: Study) -> Iterator[str]:
    """Yield notes for researchers on a study's texts, its reply times, and the use of its data."""
    yield from text_notes(study)
    pace = study.reply_time
    # Not a mistake, because there are runs with such settings, and they go on.
    if pace.longest < pace.median:
        yield (
            f"`reply_time: longest` is {pace.longest:g} s and lies below the `median` of {pace.median:g} s: "
            f"most replies are shown after exactly {pace.longest:g} s. Raise `longest`, or lower `median`."
        )
    # Transcript studies have control items of their own, and comparisons need no QC bot.
    if study.task_type.is_published and not study.qc_per_assignment:
        yield (
            "No worker can be tested: there is no conversation with the quality-control bot "
            "(`qc_per_assignment: 0`), and without one no report can be made, and no rehearsal."
        )
