"""Dialogues from files that describe their speakers without naming them."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from unicodedata import east_asian_width

from bots.corpus.model import Corpus, Dialogue, Persona


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
