"""Model of a corpus (personas and dialogues), and Candor's own format: one JSON object per line."""

import hashlib
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from pydantic_core import from_json

from candor.common.files import mistakes


def lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield every line of `text` that is not blank, with its number from 1."""
    return ((number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip())


class CorpusError(Exception):
    """A corpus cannot be used. The message says which file, which line if known, why, and what to do."""

    def __init__(self, source: str | Path, line: int | None, reason: str, remedy: str) -> None:
        where = f"{source}, line {line}" if line is not None else str(source)
        super().__init__(f"{where}: {reason}. {remedy}")
        self.source = str(source)
        self.line = line


@dataclass(frozen=True, slots=True)
class Persona:
    """A speaker's description of themselves, in sentences that they could say."""

    id: str
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Dialogue:
    """Two people taking turns: `speakers[0]` says `turns[0]`, `speakers[1]` says `turns[1]`, and so on."""

    id: str
    speakers: tuple[Persona | None, Persona | None]
    turns: tuple[str, ...]

    def speaker(self, index: int) -> Persona | None:
        """Return the persona of the speaker of turn `index`, None if the corpus does not tell."""
        return self.speakers[index % 2]


@dataclass(frozen=True, eq=False)
class Corpus:
    """Personas and dialogues.

    Corpora are compared and hashed by identity, so that an index over a corpus can be cached without reading
    the corpus again. `language`: the tag of its language.
    """

    name: str
    personas: tuple[Persona, ...]
    dialogues: tuple[Dialogue, ...]
    language: str = "en"

    def fingerprint(self) -> str:
        """Return a hash of 16 digits of its content, whatever its name."""
        content = hashlib.sha256(self.language.encode())
        for part in (*self.personas, *self.dialogues):
            content.update(repr(part).encode())
        return content.hexdigest()[:16]

    def split(self, held_out: float, seed: int) -> tuple["Corpus", "Corpus"]:
        """Return two corpora, (kept, held out), with whole dialogues assigned at random.

        Both keep every persona. `held_out` is the share of dialogues in the second. Both get at least one
        dialogue.

        Raises:
            ValueError: `held_out` is not between 0 and 1, or there are fewer than two dialogues.
        """
        if not 0 < held_out < 1:
            raise ValueError(f"held_out must lie between 0 and 1, not {held_out}")
        if len(self.dialogues) < 2:
            raise ValueError(f"cannot split a corpus of {len(self.dialogues)} dialogue(s); two are needed")
        count = min(max(round(held_out * len(self.dialogues)), 1), len(self.dialogues) - 1)
        chosen = set(random.Random(f"split {seed}").sample(range(len(self.dialogues)), count))
        kept = (d for i, d in enumerate(self.dialogues) if i not in chosen)
        held = (d for i, d in enumerate(self.dialogues) if i in chosen)
        return self._with(kept), self._with(held)

    def _with(self, dialogues: Iterable[Dialogue]) -> "Corpus":
        return Corpus(self.name, self.personas, tuple(dialogues), self.language)


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
