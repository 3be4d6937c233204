"""Model of a corpus: personas, dialogues, and the error for a malformed file."""

import hashlib
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path


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
