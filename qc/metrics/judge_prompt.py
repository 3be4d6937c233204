"""Write the prompt for a model that judges a conversation, and parse its answer. Pure functions.

The prompt is `judge_prompt.txt`, the statements are `statements.toml`, both in this folder. The judge rates
the same criteria as workers, on their scale, and does not know the system.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from string import Template

from pydantic_core import from_json

from candor.common.files import read_file
from qc.errors import OptionError, SourceError, joined
from qc.metrics.transcripts import Transcript

SCALE = 100.0
WHO = {"person": "Person", "system": "Chatbot"}
_OBJECT = re.compile(r"\{[^{}]*\}")


def statements(labels: Sequence[str], path: Path | None) -> dict[str, str]:
    """Return the statement of each criterion, in the order of `labels`.

    Args:
        labels: labels of the run's criteria.
        path: TOML file with a statement for each label; None for the seven statements of the instrument.

    Raises:
        SourceError: the file cannot be read.
        OptionError: a criterion has no statement.
    """
    known = _known(path)
    missing = [label for label in labels if not isinstance(known.get(label), str)]
    if missing:
        where = path or "the instrument, whose statements the judge is asked"
        raise OptionError(
            f"--judge: there is no statement for {joined(missing)} in {where}. Give a TOML file with "
            'lines such as `label = "The statement."` by --statements.'
        )
    return {label: str(known[label]) for label in labels}


def _known(path: Path | None) -> Mapping[str, object]:
    if path is None:
        return tomllib.loads(_text("statements.toml"))
    try:
        return tomllib.loads(read_file(path).decode("utf-8"))
    except (OSError, ValueError) as error:
        raise SourceError(f"{path}: the statements cannot be read ({error}). Give a TOML file.") from None


def prompt(spoken: Transcript, asked: Sequence[str]) -> str:
    """Return the prompt for a conversation, with the statements `asked` numbered from 1."""
    return Template(_text("judge_prompt.txt")).substitute(
        conversation="\n".join(f"{WHO[who]}: {' '.join(text.split())}" for who, text in spoken.said),
        statements="\n".join(f"{number}. {statement}" for number, statement in enumerate(asked, start=1)),
    )


def ratings_in(answer: str, count: int) -> list[float] | None:
    """Return the ratings of `count` statements, 0 to 100, in `answer`; None if it lacks any."""
    for found in reversed(_OBJECT.findall(answer)):
        try:
            given = from_json(found)
            ratings = [float(given[str(number)]) for number in range(1, count + 1)]
        except (ValueError, KeyError, TypeError, OverflowError):
            continue
        if len(given) == count and all(0 <= rating <= SCALE for rating in ratings):
            return ratings
    return None


def _text(name: str) -> str:
    return resources.files("qc.metrics").joinpath(name).read_text(encoding="utf-8")
