"""The shipped instruments, read from their files."""

from functools import lru_cache
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict

from server.session.instrument import Label
from server.session.texts import Text, Words

_FOLDER = Path(__file__).parent
LANGUAGES = tuple(sorted(path.stem for path in _FOLDER.glob("*.yaml")))


class Instrument(BaseModel):
    """What workers read, in one language.

    `name`: the language in English. `validated`: whether ratings of these statements were compared with those
    of others, as the published English ones were; a translation has to earn that anew. `statements`: those of
    the published criteria, by label. `debriefing`: that one of the chatbots was bad on purpose.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    validated: bool
    statements: dict[Label, Words]
    debriefing: Words
    words: dict[str, Text]


def instrument_of(language: str) -> Instrument | None:
    """Return the instrument for a language's tag, `de-AT` falling back to `de`; None where none ships."""
    first = language.lower().partition("-")[0]
    return _read(first) if first in LANGUAGES else None


@lru_cache(maxsize=len(LANGUAGES))
def _read(name: str) -> Instrument:
    # Every process reads these at its start; libyaml does it ten times as fast as yaml's own Python.
    content = yaml.load((_FOLDER / f"{name}.yaml").read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    return Instrument.model_validate(content)


ENGLISH = _read("en")
