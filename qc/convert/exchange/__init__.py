"""Exchange formats: transcripts and votes as other projects write and read them, one module for each format.

A source is read into `Content`, and written from it. The server reads one of the formats itself, items to be
rated (`server/items.py`); the others become such items here, so that it has one reader to trust.
"""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from qc.convert.exchange import arena, convokit, dpo, huggingface, items, openai, parlai, sharegpt
from qc.convert.exchange.content import Content, Naming
from qc.convert.exchange.rows import Json, Reading, SourceRow, first_row, is_simulated, rows
from qc.convert.hits import Loss
from qc.errors import OutputError
from qc.table import counted

__all__ = [
    "FOLDERS",
    "FORMATS",
    "ITEMS",
    "NEEDING_VOTES",
    "WRITTEN",
    "Content",
    "Naming",
    "counted",
    "format_of",
    "losses",
    "read",
    "save",
]


class Written(Protocol):
    """Interface of a module in this package whose format is written.

    HOLDS: the parts that it holds beside the lines: `workers`, `ratings`, `votes`.
    """

    HOLDS: frozenset[str]

    def write(self, content: Content, path: Path, /) -> None:
        """Write the file, or into the empty folder, at `path`."""


class ExchangeFormat(Written, Protocol):
    """Interface of a module in this package whose format is read, too."""

    def holds(self, first: Json, /) -> bool:
        """Return whether a file that begins with the row `first` is of the format."""

    def read(self, rows: Sequence[SourceRow], reading: Reading, /) -> Content:
        """Return what `rows` hold; mistakes and what is left out go to `reading`."""


ITEMS = "items"
# In the order in which a file is compared with them: a row of an arena may have `messages`, too.
FORMATS: dict[str, ExchangeFormat] = {
    ITEMS: items,
    "arena": arena,
    "dpo": dpo,
    "openai": openai,
    "sharegpt": sharegpt,
    "parlai": parlai,
    "convokit": convokit,
}
WRITTEN: dict[str, Written] = {**FORMATS, "huggingface": huggingface}
FOLDERS = frozenset({"convokit", "huggingface"})
NEEDING_VOTES = frozenset({"arena", "dpo"})


def format_of(path: Path) -> str | None:
    """Return the format of a file or folder, one of FORMATS, by its first row; None if it is none of them.

    Raises:
        SourceError: a folder has no file with rows.
    """
    first = first_row(path)
    if first is None:
        return None
    return next((name for name, form in FORMATS.items() if form.holds(first)), None)


def read(path: Path, form: str, naming: Naming) -> Content:
    """Return what a file or folder of the format `form` holds.

    Raises:
        SourceError: it cannot be read.
        DataError: there are mistakes in it; the message has all of them, with their lines.
    """
    found = rows(path)
    reading = Reading(str(path), naming)
    content = FORMATS[form].read(found, reading)
    return reading.checked(content, any(map(is_simulated, found)))


def losses(content: Content, form: str) -> list[Loss]:
    """Return what `content` has and a file of the format `form` does not hold."""
    held = WRITTEN[form].HOLDS
    conversations = list(content.conversations())
    lost = [*content.lost]
    if "workers" not in held:
        lost.append(Loss("names of workers", len({one.worker for one in conversations if one.worker})))
    if "ratings" not in held:
        lost.append(Loss("ratings of conversations", sum(len(one.ratings) for one in conversations)))
    if "votes" not in held:
        lost.append(Loss("votes, of which both conversations are written", len(content.votes)))
    if form == ITEMS:
        lost += items.losses(content)
    if form == "dpo":
        lost += dpo.losses(content)
    return [loss for loss in lost if loss.count]


def size_of(content: Content) -> str:
    """Return the numbers of votes and conversations."""
    conversations = counted(sum(1 for _ in content.conversations()), "conversation")
    return f"{counted(len(content.votes), 'vote')}, {conversations}" if content.votes else conversations


def save(content: Content, path: Path, form: str) -> None:
    """Write `content` to `path`, which appears only when it is complete; an existing file is replaced.

    Raises:
        OutputError: the format needs votes or texts, which there are not, or `path` cannot be written.
    """
    _require(content, path, form)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        if form in FOLDERS:
            unfinished.mkdir(mode=0o700)
        else:
            unfinished.touch(mode=0o600, exist_ok=False)  # private: it holds workers' texts
        WRITTEN[form].write(content, unfinished)
        unfinished.replace(path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise OutputError(f"{path}: it cannot be written ({reason}). Name another one.") from None
    finally:
        if unfinished.is_dir():
            shutil.rmtree(unfinished)
        else:
            unfinished.unlink(missing_ok=True)


def _require(content: Content, path: Path, form: str) -> None:
    if form in NEEDING_VOTES and not content.votes:
        others = ", ".join(name for name in WRITTEN if name not in NEEDING_VOTES)
        raise OutputError(
            f"{path}: the format {form!r} holds votes between two conversations, and {content.name} has "
            f"none. Choose one of {others}."
        )
    if form != "arena" and not any(content.conversations()):
        raise OutputError(
            f"{path}: {content.name} holds votes without texts, and {form!r} needs texts. Choose arena."
        )
