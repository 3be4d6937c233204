"""The shipped instruments: all texts of the worker's page, one file for each language."""

from functools import lru_cache
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict

from server.session.instrument import Label
from server.session.texts import Text, Words

_FOLDER = Path(__file__).parent
LANGUAGES = tuple(sorted(path.stem for path in _FOLDER.glob("*.yaml")))


class Instrument(BaseModel):
    """The texts for workers in one language.

    `name`: the language in English. `validated`: whether ratings with these statements were validated, as
    those with the published English ones were; each translation needs its own validation. `statements`: those
    of the published criteria, by label. `debriefing`: it says that one of the chatbots was bad on purpose.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    validated: bool
    statements: dict[Label, Words]
    debriefing: Words
    words: dict[str, Text]


def instrument_of(language: str) -> Instrument | None:
    """Return the instrument for a language's tag, with `de` for `de-AT`; None if none is shipped."""
    first = language.lower().partition("-")[0]
    return _read(first) if first in LANGUAGES else None


def language_names() -> dict[str, str]:
    """Return the names of the languages that texts are shipped in, by their tags."""
    return {tag: _read(tag).name for tag in LANGUAGES}


@lru_cache(maxsize=len(LANGUAGES))
def _read(name: str) -> Instrument:
    # Every process reads these at its start; libyaml is ten times as fast as PyYAML's own loader.
    content = yaml.load((_FOLDER / f"{name}.yaml").read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    return Instrument.model_validate(content)


ENGLISH = _read("en")
