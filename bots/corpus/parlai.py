r"""ParlAI's two text formats: numbered lines, and fields like `text:...\tlabels:...`."""

import re
from collections.abc import Iterator
from pathlib import Path

from bots.corpus.episode import Episode, corpus_of
from bots.corpus.model import Corpus, CorpusError, lines

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
