"""Read items from a JSONL file: any texts or conversations of systems."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator
from pydantic_core import from_json

from candor.common.files import read_text
from server.db.runs.items import Form, NewItem
from server.errors import StudyInvalid
from server.session.item import ItemContent, ItemLine
from server.session.protocol import plain

_MOST_PROBLEMS = 20  # reported at once
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=20_000)]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class _Turn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    author: Literal["worker", "bot"]
    text: Text


class _Line(BaseModel):
    """A line of the file: a text, or the turns of a conversation, with the system that made it."""

    model_config = ConfigDict(extra="forbid")

    item: Name
    system: Annotated[Name, StringConstraints(pattern=r"^\S+$")]
    family: Name | None = None
    context: Text | None = None
    text: Text | None = None
    turns: Annotated[list[_Turn], Field(min_length=1, max_length=2_000)] | None = None
    reference: Text | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.text is None) == (self.turns is None):
            raise ValueError("give either `text` or `turns`")
        if self.turns is not None and all(turn.author == "worker" for turn in self.turns):
            raise ValueError("none of the turns is the system's: say `author: bot`")
        if self.turns is not None and self.reference is not None:
            raise ValueError("only texts can have a reference, not conversations")
        return self


def read_items(path: Path) -> list[NewItem]:
    """Return the items of a JSONL file, in its order.

    The key of an item is its `item` and its `system` together, so several systems may answer the same item.

    Raises:
        StudyInvalid: There are mistakes; the message has all of them, with their lines.
    """
    try:
        content = read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise StudyInvalid(f"{path}: cannot be read: {error}") from error
    problems: list[str] = []
    lines = list(_lines(path, content, problems))
    items = {(line.item, line.system): _item(line) for line in lines}
    times = Counter((line.item, line.system) for line in lines)
    problems += [
        f"{path}: the item `{item}` of `{system}` is there twice"
        for (item, system), number in times.items()
        if number > 1
    ]
    if not lines and not problems:
        problems.append(f"{path}: there are no items in it")
    if problems:
        raise StudyInvalid("\n".join(problems[:_MOST_PROBLEMS]))
    return list(items.values())


def _lines(path: Path, content: str, problems: list[str]) -> Iterator[_Line]:
    for number, line in enumerate(content.splitlines(), start=1):
        if line.strip():
            try:
                yield _Line.model_validate(from_json(line))
            except ValidationError as error:
                problems += [
                    f"{path}:{number}: {''.join(f'{key}: ' for key in found['loc'])}{found['msg']}"
                    for found in error.errors()
                ]
            except ValueError as error:
                problems.append(f"{path}:{number}: not JSON: {error}. Write one JSON object per line.")


def _item(line: _Line) -> NewItem:
    context = plain(line.context) if line.context is not None else None

    def shown(text: str) -> ItemContent:
        return ItemContent(context=context, text=plain(text))

    forms: dict[Form, ItemContent] = {}
    if line.text is not None:
        forms["ordinary"] = shown(line.text)
    else:
        turns = tuple(ItemLine(author=turn.author, text=plain(turn.text)) for turn in line.turns or ())
        forms["ordinary"] = ItemContent(context=context, lines=turns)
    if line.reference is not None:
        forms["reference"] = shown(line.reference)
    return NewItem(f"{line.item} {line.system}", line.system, line.family or line.system, forms)
