"""PersonaChat as one JSON document, the form in which Hugging Face distributes it."""

import json
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, ValidationError

from bots.core.mistakes import mistakes
from bots.corpus.cast import Cast, taking_turns
from bots.corpus.model import Corpus, CorpusError, Dialogue


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

    The last utterance of an entry holds the whole dialogue: its history and its true reply.

    Raises:
        CorpusError: the document does not have PersonaChat's fields.
    """
    try:
        splits = Splits.model_validate(json.loads(text))
    except ValidationError as error:
        remedy = 'Write {"train": [{"personality": [...], "utterances": [...]}], "valid": [...]}.'
        raise CorpusError(path, None, mistakes(error, most=1), remedy) from error
    cast = Cast()
    dialogues: list[Dialogue] = []
    for entry in [*splits.train, *splits.valid]:
        last = entry.utterances[-1]
        said = [*last.history, last.candidates[-1]]
        # The personality is that of whoever says the true reply, the last line.
        lines = [(1 - (len(said) - 1 - at) % 2, line.strip()) for at, line in enumerate(said)]
        dialogue = taking_turns(f"d{len(dialogues) + 1}", lines, (None, cast.persona(entry.personality)))
        if dialogue is not None:
            dialogues.append(dialogue)
    return Corpus(str(path), cast.personas(), tuple(dialogues))
