"""Candor's own corpus format: one JSON object per line, a persona or a dialogue."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from pydantic_core import from_json

from bots.core.mistakes import mistakes
from bots.corpus.model import Corpus, CorpusError, Dialogue, Persona, lines

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class PersonaLine(BaseModel):
    """`{"persona": "p01", "sentences": ["I have two cats.", ...]}`."""

    model_config = ConfigDict(extra="forbid", strict=True)
    persona: Text
    sentences: Annotated[list[Text], Field(min_length=1)]


class DialogueLine(BaseModel):
    """`{"dialogue": "d001", "speakers": ["p01", "p02"], "turns": ["Hi!", ...]}`; speakers may be left out."""

    model_config = ConfigDict(extra="forbid", strict=True)
    dialogue: Text
    speakers: Annotated[list[Text], Field(min_length=2, max_length=2)] | None = None
    turns: Annotated[list[Text], Field(min_length=2)]


def read_jsonl(path: str | Path, text: str) -> Corpus:
    """Return the corpus written in `text`, the content of `path`.

    Raises:
        CorpusError: a line is not JSON or not a persona or dialogue, an id occurs twice, or a
            dialogue names a speaker that no line describes.
    """
    personas: dict[str, Persona] = {}
    dialogues: dict[str, tuple[int, DialogueLine]] = {}
    for number, line in lines(text):
        entry = _entry(path, number, line)
        if isinstance(entry, PersonaLine):
            _refuse_twice(path, number, "persona", entry.persona, personas)
            personas[entry.persona] = Persona(entry.persona, tuple(entry.sentences))
        else:
            _refuse_twice(path, number, "dialogue", entry.dialogue, dialogues)
            dialogues[entry.dialogue] = (number, entry)
    cast = tuple(_dialogue(path, number, entry, personas) for number, entry in dialogues.values())
    return Corpus(str(path), tuple(personas.values()), cast)


def _entry(path: str | Path, number: int, line: str) -> PersonaLine | DialogueLine:
    try:
        value: Any = from_json(line)
    except ValueError as error:
        reason = f"not valid JSON ({error})"
        raise CorpusError(path, number, reason, "Write one JSON object per line.") from error
    kinds: dict[str, type[PersonaLine | DialogueLine]] = {"persona": PersonaLine, "dialogue": DialogueLine}
    named = [kind for kind in kinds if isinstance(value, dict) and kind in value]
    if len(named) != 1:
        reason = 'neither a persona nor a dialogue (no single key "persona" or "dialogue")'
        remedy = 'Write {"persona": id, "sentences": [...]} or {"dialogue": id, "turns": [...]}.'
        raise CorpusError(path, number, reason, remedy)
    try:
        return kinds[named[0]].model_validate(value)
    except ValidationError as error:
        remedy = "Correct this field; docs/bots.md describes the format."
        raise CorpusError(path, number, mistakes(error, most=1), remedy) from error


def _refuse_twice(path: str | Path, number: int, kind: str, name: str, known: dict[str, Any]) -> None:
    if name in known:
        raise CorpusError(path, number, f'{kind} id "{name}" occurs twice', "Give each its own id.")


def _dialogue(path: str | Path, number: int, entry: DialogueLine, personas: dict[str, Persona]) -> Dialogue:
    if entry.speakers is None:
        return Dialogue(entry.dialogue, (None, None), tuple(entry.turns))
    for name in entry.speakers:
        if name not in personas:
            reason = f'dialogue "{entry.dialogue}" names the speaker "{name}", whom no line describes'
            remedy = f'Add a line {{"persona": "{name}", "sentences": [...]}}, or leave "speakers" out.'
            raise CorpusError(path, number, reason, remedy)
    first, second = (personas[name] for name in entry.speakers)
    return Dialogue(entry.dialogue, (first, second), tuple(entry.turns))
