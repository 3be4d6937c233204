"""Corpora of dialogues between two people, from which the builtin systems and the QC bot learn.

A corpus is personas and dialogues. It is opened by name or path, in Candor's own format (one JSON object per
line), in ParlAI's two text formats (numbered lines, or fields like `text:...` and `labels:...` with a tab
between them), or in PersonaChat's JSON.
"""

import hashlib
import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any
from unicodedata import east_asian_width

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from pydantic_core import from_json

from candor.common.files import mistakes, read_file


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
        remedy = "Correct this field; docs/reference/corpora.md describes the format."
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


@dataclass
class Episode:
    """A dialogue while it is read: `personas` describes speakers 0 and 1, `lines` are (speaker, text)."""

    personas: tuple[list[str], list[str]] = field(default_factory=lambda: ([], []))
    lines: list[tuple[int, str]] = field(default_factory=list)


def corpus_of(path: str | Path, episodes: Iterable[Episode]) -> Corpus:
    """Return the corpus of `episodes`, without those of fewer than two turns.

    Each distinct description of a speaker is one persona, numbered in order of appearance.
    """
    personas: dict[tuple[str, ...], Persona] = {}
    dialogues: list[Dialogue] = []
    for episode in episodes:
        first, second = (_persona(tuple(sentences), personas) for sentences in episode.personas)
        dialogue = _taking_turns(f"d{len(dialogues) + 1}", episode.lines, (first, second))
        if dialogue is not None:
            dialogues.append(dialogue)
    return Corpus(str(path), tuple(personas.values()), tuple(dialogues))


def _persona(sentences: tuple[str, ...], known: dict[tuple[str, ...], Persona]) -> Persona | None:
    """Return the persona with these sentences, the same one each time; None for no sentences."""
    return known.setdefault(sentences, Persona(f"p{len(known) + 1}", sentences)) if sentences else None


def _taking_turns(
    dialogue_id: str, lines: Iterable[tuple[int, str]], personas: tuple[Persona | None, Persona | None]
) -> Dialogue | None:
    """Return the dialogue of speakers 0 and 1, None if fewer than two turns are left.

    Silence is left out. Consecutive lines of one speaker are joined into one turn. The speaker of the first
    turn becomes the dialogue's first speaker.
    """
    spoken: list[tuple[int, str]] = []
    for speaker, text in lines:
        if not text or text.replace(" ", "").upper() == "__SILENCE__":
            continue
        if spoken and spoken[-1][0] == speaker:
            spoken[-1] = (speaker, _continued(spoken[-1][1], text))
        else:
            spoken.append((speaker, text))
    if len(spoken) < 2:
        return None
    first = spoken[0][0]
    return Dialogue(dialogue_id, (personas[first], personas[1 - first]), tuple(text for _, text in spoken))


def _continued(line: str, more: str) -> str:
    """Join two lines, without a blank between Chinese or Japanese characters."""
    return f"{line}{'' if east_asian_width(line[-1]) in 'WF' else ' '}{more}"


PARTNER, SELF = 0, 1  # a line's speaker; ParlAI's "your persona" is that of the speaker of the replies
_PERSONA = re.compile(r"(your|partner's) persona:\s*(.*)", re.IGNORECASE)
_NUMBERED = re.compile(r"(\d{1,9}) (.*)")


class _Episode(Episode):
    """One dialogue in ParlAI's format."""

    def takes_persona(self, line: str) -> bool:
        """Keep `line` and return True if it describes a speaker."""
        found = _PERSONA.fullmatch(line.strip())
        if found is None:
            return False
        whose = SELF if found[1].lower() == "your" else PARTNER
        self.personas[whose].append(found[2].strip())
        return True

    def say(self, text: str, label: str) -> None:
        """Add a line and its reply; persona lines at the head of the line are extracted."""
        said = [line for line in text.split("\n") if not self.takes_persona(line)]
        self.lines.append((PARTNER, " ".join(said).strip()))
        self.lines.append((SELF, label.strip()))


def read_numbered(path: str | Path, text: str) -> Corpus:
    r"""Return the corpus written as `1 your persona: ...` and `2 said\treply`; 1 starts a dialogue.

    Both forms of PersonaChat are read: with the replier's persona alone (`self`), and with both.
    Columns after the reply (reward, candidates) are left out.

    Raises:
        CorpusError: a line has no number, or is neither a persona nor an exchange.
    """
    return corpus_of(path, _numbered_episodes(path, text))


def _numbered_episodes(path: str | Path, text: str) -> Iterator[_Episode]:
    episode, last = _Episode(), 0
    for at, line in lines(text):
        found = _NUMBERED.match(line)
        if found is None:
            remedy = "Start each line with its number in the dialogue and a space."
            raise CorpusError(path, at, "no line number at its start", remedy)
        if int(found[1]) <= last and episode.lines:
            yield episode
            episode = _Episode()
        last = int(found[1])
        if episode.takes_persona(found[2]):
            continue
        said, *answers = found[2].split("\t")
        if not answers or not answers[0].strip():
            remedy = "Write what was said, a tab, and the reply."
            raise CorpusError(path, at, "an exchange without a reply", remedy)
        episode.say(said, answers[0])
    if episode.lines:
        yield episode


def read_fields(path: str | Path, text: str) -> Corpus:
    r"""Return the corpus written as `text:...\tlabels:...\tepisode_done:True`, one exchange a line.

    Persona lines at the head of `text` (separated by a written `\n`) are read as personas, and of
    several labels (separated by `|`) the first is the reply.

    Raises:
        CorpusError: a line lacks `text` or `labels`.
    """
    return corpus_of(path, _field_episodes(path, text))


def _field_episodes(path: str | Path, text: str) -> Iterator[_Episode]:
    episode = _Episode()
    for at, line in lines(text):
        fields = dict(part.split(":", 1) for part in line.split("\t") if ":" in part)
        reply = (fields.get("labels") or fields.get("eval_labels") or "").split("|")[0].strip()
        if "text" not in fields or not reply:
            missing = "labels" if "text" in fields else "text"
            remedy = "Write text:...<tab>labels:... on each line."
            raise CorpusError(path, at, f'no field "{missing}"', remedy)
        episode.say(fields["text"].replace("\\n", "\n"), reply.replace("\\n", " "))
        if fields.get("episode_done", "").strip() == "True":
            yield episode
            episode = _Episode()
    if episode.lines:
        yield episode


class Utterance(BaseModel):
    """The history so far and possible replies; the last candidate is the true reply."""

    history: list[str]
    candidates: Annotated[list[str], Field(min_length=1)]


class CorpusEntry(BaseModel):
    """One dialogue, from the side of the speaker who has this personality."""

    personality: list[str] = []
    utterances: Annotated[list[Utterance], Field(min_length=1)]


class Splits(BaseModel):
    """The whole document."""

    train: list[CorpusEntry] = []
    valid: list[CorpusEntry] = []


def read_personachat(path: str | Path, text: str) -> Corpus:
    """Return the corpus written in `text`, the content of `path`: both splits, `train` first.

    Raises:
        CorpusError: the document does not have PersonaChat's fields.
    """
    try:
        splits = Splits.model_validate_json(text)
    except ValidationError as error:
        remedy = 'Write {"train": [{"personality": [...], "utterances": [...]}], "valid": [...]}.'
        raise CorpusError(path, None, mistakes(error, most=1), remedy) from error
    return corpus_of(path, map(_episode, [*splits.train, *splits.valid]))


def _episode(entry: CorpusEntry) -> Episode:
    """Return the dialogue of `entry`. Its last utterance holds all of it: the history and the true reply."""
    last = entry.utterances[-1]
    said = [*last.history, last.candidates[-1]]
    # The personality belongs to the speaker of the true reply, the last line.
    lines = [(1 - (len(said) - 1 - at) % 2, line.strip()) for at, line in enumerate(said)]
    return Episode(([], entry.personality), lines)


# The shipped corpora, and their languages.
SHIPPED = {"smalltalk": "en"} | {f"smalltalk_{tag}": tag for tag in ("de", "es", "fr", "ja", "zh")}
_BUILTIN = "builtin:"
_FORMATS = "one of the formats in docs/reference/corpora.md: JSONL, ParlAI text, or PersonaChat JSON"


def shipped_corpora() -> dict[str, str]:
    """Return the languages of the shipped corpora, by the names that studies give them."""
    return {_BUILTIN + name: language for name, language in SHIPPED.items()}


def load_corpus(spec: str, language: str = "en") -> Corpus:
    """Return the corpus that `spec` names: a shipped one such as "builtin:smalltalk", or the path of a file.

    The format is recognised from the content, not from the name. `language`: a tag; its rules split the
    corpus into words.

    Raises:
        CorpusError: there is no such corpus, or its content is invalid; the message says which file and line,
            why, and what to do.
    """
    if spec.startswith(_BUILTIN):
        name = spec.removeprefix(_BUILTIN)
        if name not in SHIPPED:
            known = ", ".join(_BUILTIN + each for each in SHIPPED)
            raise CorpusError(
                spec, None, "there is no such shipped corpus", f"Known: {known}; or give a path."
            )
        return _shipped(name, language)
    text = _text(Path(spec))
    corpus = _read(spec, text)
    if not corpus.dialogues:
        raise CorpusError(
            spec, None, "holds no dialogue", "Give a file with at least one dialogue of two turns."
        )
    return replace(corpus, language=language)


@lru_cache(maxsize=8)
def _shipped(name: str, language: str) -> Corpus:
    """Return a shipped corpus. The result is cached, so that bots share what they learn from it."""
    content = resources.files("bots").joinpath("data", f"{name}.jsonl").read_text(encoding="utf-8")
    return replace(read_jsonl(_BUILTIN + name, content), language=language)


def _text(path: Path) -> str:
    if path.exists() and not path.is_file():  # a device or a pipe may have no end
        raise CorpusError(path, None, "cannot be read (it is not a regular file)", f"Give {_FORMATS}.")
    try:
        return read_file(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise CorpusError(path, line, "not UTF-8 text", "Save the file as UTF-8.") from error
    except FileNotFoundError as error:
        raise CorpusError(path, None, "no such file", "Check the path, or use builtin:smalltalk.") from error
    except OSError as error:
        raise CorpusError(path, None, f"cannot be read ({error.strerror})", "Check the path.") from error


def _read(path: str, text: str) -> Corpus:
    start = text.lstrip()
    if not start:
        raise CorpusError(path, None, "the file is empty", f"Give {_FORMATS}.")
    if start[0] in "{[":
        return read_personachat(path, text) if _is_one_document(text) else read_jsonl(path, text)
    if re.match(r"\d+ ", start):
        return read_numbered(path, text)
    if re.match(r"(\w+:[^\t\n]*\t)*text:", start):
        return read_fields(path, text)
    raise CorpusError(path, 1, "not a format that is known here", f"Give {_FORMATS}.")


def _is_one_document(text: str) -> bool:
    try:
        value = from_json(text)
    except ValueError:
        return False
    return isinstance(value, dict) and not {"persona", "dialogue"} & set(value)
