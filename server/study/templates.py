"""Templates of studies: the shipped files that a new study can begin with, in each shipped language."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

import yaml

from bots.serving import shipped_corpora
from server.study.document import read_document
from server.study.edits import EditedSetting, edited, named
from server.study.study import DEMO
from server.study.tasks import task_type
from server.study.texts import ENGLISH, LANGUAGES, instrument_of

TemplateName = Literal[
    "blank",
    "published",
    "llm_baseline",
    "side_by_side",
    "transcripts",
    "reading_comprehension",
    "question_generation",
    "answer_correctness",
    "demo",
]
TEMPLATES: tuple[TemplateName, ...] = get_args(TemplateName)
_TRANSLATIONS = DEMO.parent / "translations"


@dataclass(frozen=True, slots=True)
class Template:
    """A template: its title, a sentence about it, and the languages that it exists in."""

    title: str
    about: str
    languages: tuple[str, ...] = LANGUAGES


_ABOUT: dict[TemplateName, Template] = {
    "blank": Template(
        "Empty study", "The seven published criteria; you add the systems and everything else."
    ),
    "published": Template(
        "Published instrument (Ji et al. 2022)",
        "Six conversations per worker, six systems to replace by yours, seven criteria on sliders.",
    ),
    "llm_baseline": Template(
        "A language model against a baseline",
        "Every worker chats with your model and with a baseline, and rates both.",
    ),
    "side_by_side": Template(
        "Side by side", "Workers write to two systems at once, and choose the better one."
    ),
    "transcripts": Template(
        "Rating transcripts", "Workers read finished conversations of an earlier run, and rate them."
    ),
    "reading_comprehension": Template(
        "Reading comprehension", "Direct assessment of answers to questions about a passage."
    ),
    "question_generation": Template(
        "Question generation", "Direct assessment of questions that systems wrote about a passage."
    ),
    "answer_correctness": Template(
        "Correctness of answers", "Workers judge answers by paragraphs, and mark the words that decide."
    ),
    "demo": Template("Demo study", "The study of the demonstration, with eight builtin bots.", ("en",)),
}


def template(name: TemplateName) -> Template:
    """Return what a template is."""
    return _ABOUT[name]


def template_text(name: TemplateName, study: str, language: str) -> str:
    """Return the text of a new study that begins with a template, in one of the template's languages."""
    text = named(path_of(name).read_text(encoding="utf-8"), study)
    if instrument_of(language) is ENGLISH:
        return text
    content = read_document(text).content
    changes = [EditedSetting(("language",), language)]
    for i, criterion in enumerate(content["criteria"]):
        if "statement" in criterion:
            statement = _translations("statements")[language][criterion["label"]]
            changes.append(EditedSetting(("criteria", i, "statement"), statement))
    if "tutorial" in content:
        changes.append(EditedSetting(("tutorial",), _translations("correctness_tutorial")[language]))
    corpora = [corpus for corpus, spoken in shipped_corpora().items() if spoken == language]
    if corpora and task_type(content.get("task", "chat")).chats:
        changes.append(EditedSetting(("qc",), {**content.get("qc", {}), "corpus": corpora[0]}))
    systems = content.get("systems", [])
    spoken = [system for system in systems if not system["bot"].startswith("builtin:")]
    if spoken != systems:  # builtin bots speak English only
        changes.append(EditedSetting(("systems",), spoken))
    for change in changes:
        text = edited(text, change).text
    return text


def path_of(name: TemplateName) -> Path:
    """Return the file of a template."""
    return DEMO.with_name(f"{name}.yaml")


@cache
def _translations(name: str) -> dict[str, dict[str, Any]]:
    found: dict[str, Any] = yaml.safe_load((_TRANSLATIONS / f"{name}.yaml").read_text(encoding="utf-8"))
    return found
