"""Placeholders for the parts of a study that have mistakes, so that the rest can be shown and checked."""

import copy
import json
from collections.abc import Sequence
from typing import Any

from server.settings_file import Location
from server.study import Mistake, Study, SystemSpec, Unreadable, located, read_document, read_study
from server.study.settings import is_within, value_of

# A replaced part can turn out to need another one, such as a list whose last item was left out.
_ROUNDS = 6
_TEXTS = {
    "title": "(The title of the study)",
    "payment": "(What workers get)",
    "statement": "(A statement to rate)",
    "question": "(A question)",
    "text": "(A text)",
    "version": "1",
}
_SYSTEMS = [SystemSpec(name=name, family=name, bot="builtin:reflect") for name in ("one", "other")]


def showable(text: str, valid: str | None) -> Study | None:
    """Return the study in `text`, with other values where it has mistakes; None if it cannot be shown.

    Args:
        text: A study's text, with or without mistakes.
        valid: An earlier text of it without mistakes, if there is one. Its values are used first, then
            placeholders; what has neither is left out. If `text` is no mapping of settings, it is shown.
    """
    content = _content(text)
    if content is None:
        return None if valid is None else read_study(valid)[0]
    study, _ = _filled_in(content, _content(valid or ""))
    return None if study is None else _with_systems(study)


def later_mistakes(text: str, found: Sequence[Mistake]) -> list[Mistake]:
    """Return the contradictions that come to light once the mistakes `found` in a text are corrected.

    A study is checked for contradictions when all its settings are valid; an unfinished one never is.
    """
    content = _content(text)
    if content is None:
        return []
    study, mistakes = _filled_in(content, None)
    sections = {mistake.path[:1] for mistake in found}
    later = [(each.path, each.reason) for each in mistakes if each.path[:1] not in sections]
    return [] if study is None else located(text, later)


def _filled_in(content: dict[Any, Any], earlier: object) -> tuple[Study | None, list[Mistake]]:
    """Replace what is wrong in a study's settings, and return it with the contradictions in it."""
    for _ in range(_ROUNDS):
        study, mistakes = read_study(json.dumps(content, default=str))
        if study is not None:
            return study, mistakes
        # From the last one on: what is left out of a list moves those after it.
        for path in sorted({mistake.path for mistake in mistakes}, key=_order, reverse=True):
            _replace(content, path, earlier)
    return None, []


def _content(text: str) -> dict[Any, Any] | None:
    try:
        return copy.deepcopy(read_document(text).content)
    except Unreadable:
        return None


def _with_systems(study: Study) -> Study:
    """Add systems to a study that has too few to be shown; workers do not see which they are."""
    enough = len(study.systems) >= len(_SYSTEMS) or not study.task_type.chats
    return study if enough else study.model_copy(update={"systems": [*study.systems, *_SYSTEMS]})


def _order(path: Location) -> tuple[tuple[int, str], ...]:
    return tuple((key, "") if isinstance(key, int) else (-1, key) for key in path)


def _replace(content: dict[Any, Any], path: Location, earlier: object) -> None:
    """Replace the value at `path` by the earlier one, or by a placeholder; or leave it out."""
    found: object = content
    for key in path[:-1]:
        found, earlier = value_of(found, key), value_of(earlier, key)
    if not path or not isinstance(found, dict | list):
        return
    holder: Any = found
    key = path[-1]
    now, before = value_of(holder, key), value_of(earlier, key)
    new = before if before not in (None, now) else _TEXTS.get(str(key))
    if new not in (None, now) and (isinstance(holder, dict) or is_within(holder, key)):
        holder[key] = new
    elif is_within(holder, key):
        del holder[key]
    elif len(path) > 1:  # something is missing: leave out what needs it
        _replace(content, path[:-1], {})
