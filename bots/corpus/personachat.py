"""PersonaChat as one JSON document, the form in which Hugging Face distributes it."""

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, ValidationError

from bots.core.mistakes import mistakes
from bots.corpus.episode import Episode, corpus_of
from bots.corpus.model import Corpus, CorpusError


class Utterance(BaseModel):
    """What was said so far and what could be answered; the last candidate is the true reply."""

    history: list[str]
    candidates: Annotated[list[str], Field(min_length=1)]


class Entry(BaseModel):
    """One dialogue, from the side of the speaker who has this personality."""

    personality: list[str] = []
    utterances: Annotated[list[Utterance], Field(min_length=1)]


class Splits(BaseModel):
    """The whole document."""

    train: list[Entry] = []
    valid: list[Entry] = []


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


def _episode(entry: Entry) -> Episode:
    """Return the dialogue of `entry`: its last utterance holds all of it, the history and the true reply."""
    last = entry.utterances[-1]
    said = [*last.history, last.candidates[-1]]
    # The personality is that of whoever says the true reply, the last line.
    lines = [(1 - (len(said) - 1 - at) % 2, line.strip()) for at, line in enumerate(said)]
    return Episode(([], entry.personality), lines)
