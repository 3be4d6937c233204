"""The items that a run of a transcript study is opened with, checked against what the study asks for."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sqlalchemy import Connection

from server.db.runs.items import NewItem
from server.db.runs.runs import find_run
from server.errors import StudyInvalid
from server.items.bad_twins import bad_twins
from server.items.conversations import read_conversations
from server.items.text_file import read_items
from server.session.plan import derive_seed
from server.session.protocol import MAX_EDIT
from server.study import Study

_ROOM_TO_IMPROVE = MAX_EDIT // 2  # characters of a text that workers may have to improve


def items_of(study: Study, connection: Connection | None, folder: Path = Path()) -> list[NewItem]:
    """Return what workers rate in `study`, with bad twins where it asks for some; nothing where they chat.

    Args:
        study: the study.
        connection: to the database that has the run whose conversations are rated; None: there is none yet.
        folder: where a file of items lies, if its path is not absolute.

    Raises:
        RunNotFound: there is no run of that name.
        StudyInvalid: the items cannot be read, or are not what the study needs.
    """
    if study.items is None:
        return []
    if study.items.file is not None:
        items = read_items(folder / study.items.file)
    elif connection is not None and study.items.run is not None:
        items = read_conversations(connection, find_run(connection, study.items.run))
    else:
        raise StudyInvalid("there is no database yet, and so no run whose conversations could be rated")
    _require_fit(study, items)
    return _with_bad_twins(study, items) if study.per_assignment.bad else items


def _require_fit(study: Study, items: Sequence[NewItem]) -> None:
    parts = study.per_assignment
    if len(items) < parts.ordinary:
        raise StudyInvalid(
            f"an assignment has {parts.ordinary} ordinary items, and there are only {len(items)}",
            "Give more items, or ask for fewer in `composition`.",
        )
    without = [item.name for item in items if "reference" not in item.forms]
    if parts.reference and without:
        raise StudyInvalid(
            f"{len(without)} items have no reference, `{without[0]}` the first of them",
            "Give every item a `reference`, or ask for `reference: 0`.",
        )
    if study.post_edit is not None:
        _require_texts(items)
    if study.simulate is not None:
        unjudged = sorted({item.system for item in items} - set(study.simulate.quality))
        if unjudged:
            raise StudyInvalid(f"simulate: there is no quality for the system `{unjudged[0]}`")


def _require_texts(items: Sequence[NewItem]) -> None:
    for item in items:
        for content in item.forms.values():
            if content.text is None:
                raise StudyInvalid(
                    f"only texts can be improved, and the item `{item.name}` is a conversation",
                    "Leave `post_edit` out, or give texts.",
                )
            if len(content.text) > _ROOM_TO_IMPROVE:
                raise StudyInvalid(
                    f"the item `{item.name}` has {len(content.text)} characters, and a text that is to be "
                    f"improved has at most {_ROOM_TO_IMPROVE}",
                    "Shorten it, or leave `post_edit` out.",
                )


def _with_bad_twins(study: Study, items: Sequence[NewItem]) -> list[NewItem]:
    contents = {item.name: item.forms["ordinary"] for item in items}
    twins = bad_twins(contents, study.degradation, derive_seed("bad twins", study.name), study.language)
    return [replace(item, forms={**item.forms, "bad": twins[item.name]}) for item in items]
