"""Open a corpus by name or path in any known format."""

import re
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, ValidationError
from pydantic_core import from_json

from bots.core.mistakes import mistakes
from bots.corpus.episode import Episode, corpus_of
from bots.corpus.jsonl import read_jsonl
from bots.corpus.model import Corpus, CorpusError
from bots.corpus.parlai import read_fields, read_numbered
from candor.common.files import read_file


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


SHIPPED = ("smalltalk",)
_BUILTIN = "builtin:"
_FORMATS = "one of the formats in docs/bots.md: JSONL, ParlAI text, or PersonaChat JSON"


def load_corpus(spec: str, language: str = "en") -> Corpus:
    """Return the corpus that `spec` names: "builtin:smalltalk", or the path of a file.

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
        content = resources.files("bots").joinpath("data", f"{name}.jsonl").read_text(encoding="utf-8")
        return replace(read_jsonl(spec, content), language=language)
    text = _text(Path(spec))
    corpus = _read(spec, text)
    if not corpus.dialogues:
        raise CorpusError(
            spec, None, "holds no dialogue", "Give a file with at least one dialogue of two turns."
        )
    return replace(corpus, language=language)


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
