"""Read a study file: return the study, or its mistakes with their lines."""

import asyncio
import hashlib
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from candor.common.files import read_text
from server.errors import StudyInvalid
from server.settings_file import Location
from server.study.contradictions import contradictions
from server.study.document import Document, Unreadable, read_document
from server.study.mistakes import Mistake, on_their_lines, wrong_values
from server.study.study import VERSION, Study

T = TypeVar("T")
# Reading a text of 60 kB takes most of a second. With threads of their own, any number of texts delays
# nothing else that needs a thread, such as signing in.
_THREADS = ThreadPoolExecutor(2, "study-texts")


def load_study(path: Path) -> tuple[Study, str]:
    """Read a study file; return the study and the file's text.

    Raises:
        StudyInvalid: It has mistakes; the message has all of them, with their lines.
    """
    try:
        text = read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise StudyInvalid(f"{path}: cannot be read: {error}") from error
    return parse_study(text, str(path)), text


@lru_cache(maxsize=64)
def parse_study(text: str, source: str = "study") -> Study:
    """Return the study in `text`. Raises StudyInvalid as `load_study` does.

    The result is cached: the texts of runs do not change, and everything about a run needs its study.
    """
    study, mistakes = read_study(text)
    if study is None or mistakes:
        raise StudyInvalid("\n".join(dict.fromkeys(mistake.at(source) for mistake in mistakes)))
    return study


def read_study(text: str) -> tuple[Study | None, list[Mistake]]:
    """Return the study in `text`, and its mistakes, by line; the study is None if a setting is invalid."""
    try:
        document = read_document(text)
    except Unreadable as error:
        return None, [Mistake(error.line, (), error.reason)]
    study, problems = _validated(document)
    return study, on_their_lines(document, problems)


async def in_thread(read: Callable[[], T]) -> T:
    """Run `read` in a thread while the event loop goes on, and return its result. Raises what it raises."""
    return await asyncio.get_running_loop().run_in_executor(_THREADS, read)


def located(text: str, problems: Iterable[tuple[Location, str]]) -> list[Mistake]:
    """Return further problems of a study that has been read as mistakes, with the lines of its `text`."""
    found = list(problems)
    return on_their_lines(read_document(text), found) if found else []


def study_hash(text: str) -> str:
    """Return a short fingerprint of a study file's text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _validated(document: Document) -> tuple[Study | None, Iterable[tuple[Location, str]]]:
    later = _of_later_version(document)
    try:
        study = Study.model_validate({**document.content, "version": VERSION} if later else document.content)
    except ValidationError as error:
        return None, chain(later, wrong_values(error, document))
    return study, [*later, *contradictions(study)]


def _of_later_version(document: Document) -> list[tuple[Location, str]]:
    """Return a problem if the file was written for a later version of Candor."""
    version = document.content.get("version")
    if not isinstance(version, int) or version <= VERSION:
        return []
    reason = f"it is written in version {version} of the settings; this server knows those up to {VERSION}"
    return [(("version",), f"{reason}: what it calls unknown below may be new. Update Candor")]
