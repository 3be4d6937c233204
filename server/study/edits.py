"""Change one setting in a study file's text, and leave comments, order and layout as they are.

The change is made in the text, and the new text is read again. If it does not have the wanted content
(because of anchors, merged keys, or an unforeseen layout), the section around the setting is rewritten.
"""

import copy
import json
from dataclasses import dataclass
from typing import Any

import yaml
from pydantic import TypeAdapter, ValidationError

from server.errors import StudyInvalid, StudyNameDiffers
from server.session.instrument import Label
from server.settings_file import Location
from server.study.document import Document, Unreadable, read_document
from server.study.settings import is_within, value_of


@dataclass(frozen=True, slots=True)
class EditedSetting:
    """A change of the setting at `path`: set it to `value`, or remove it.

    An index equal to the length of a list appends to it. Missing mappings on the path are created.
    """

    path: Location
    value: Any = None
    remove: bool = False


@dataclass(frozen=True, slots=True)
class Edited:
    """A text after a change. `rewritten`: the section that lost its comments and layout, if any."""

    text: str
    rewritten: str | None = None


class NotEditable(ValueError):
    """The change is not possible; the message tells why."""


def edited(text: str, change: EditedSetting) -> Edited:
    """Return `text` with one change.

    Raises:
        Unreadable: The text is no mapping of settings.
        NotEditable: The path leads nowhere, or settings refer to each other by anchors.
    """
    document = read_document(text)
    if document.has_aliases():
        raise NotEditable("its settings refer to each other by anchors (& and *): change it in the YAML tab")
    wanted = _changed(document.content, change)
    if wanted == document.content:
        return Edited(text)
    in_place = _in_place(document, _nearest(document.content, change))
    if in_place is not None and _reads_as(in_place, wanted):
        return Edited(in_place)
    section = str(change.path[0])
    for name in (section, None):
        anew = _written_anew(document, wanted, name)
        if _reads_as(anew, wanted):
            return Edited(anew, section)
    raise NotEditable(f"{section} cannot be written")


def _changed(content: dict[Any, Any], change: EditedSetting) -> dict[Any, Any]:
    """Return the settings after the change. Raises NotEditable."""
    wanted: Any = copy.deepcopy(content)
    holder = wanted
    for key, after in zip(change.path, change.path[1:], strict=False):
        if not is_within(holder, key) or holder[key] is None:
            _put(holder, key, [] if isinstance(after, int) else {})
        holder = holder[key]
    _put(holder, change.path[-1], change.value, remove=change.remove)
    result: dict[Any, Any] = wanted
    return result


def _put(holder: Any, key: int | str, value: Any, *, remove: bool = False) -> None:
    if isinstance(holder, dict):
        if remove:
            holder.pop(key, None)
        else:
            holder[key] = value
    elif isinstance(holder, list) and isinstance(key, int) and 0 <= key <= len(holder):
        if key == len(holder):
            holder += [] if remove else [value]
        elif remove:
            del holder[key]
        else:
            holder[key] = value
    else:
        raise NotEditable(f"“{key}” is within something that has no settings")


def _nearest(content: object, change: EditedSetting) -> EditedSetting:
    """Return the change applied to the deepest part of its path that exists in the file."""
    for i, key in enumerate(change.path[:-1]):
        after = value_of(content, key)
        if after is None or after in ({}, []):
            value: Any = change.value
            for missing in reversed(change.path[i + 1 :]):
                value = [value] if isinstance(missing, int) else {missing: value}
            return EditedSetting(change.path[: i + 1], value)
        content = after
    is_last = isinstance(content, dict | list) and len(content) == 1 and is_within(content, change.path[-1])
    if change.remove and is_last and len(change.path) > 1:
        return EditedSetting(change.path[:-1], [] if isinstance(content, list) else {})
    return change


def _in_place(document: Document, change: EditedSetting) -> str | None:
    """Return the text with the change made in place, or None if the layout does not allow it."""
    holder = document.node_at(change.path[:-1])
    key = change.path[-1]
    if not isinstance(holder, yaml.CollectionNode):
        return None
    parts = _parts(holder)
    number = next((i for i, (name, _, _) in enumerate(parts) if name == key), None)
    if number is None:
        return None if change.remove else _with_part(document.text, holder, parts, key, change.value)
    if change.remove:
        return _without_part(document.text, holder, parts, number)
    return _with_value(document.text, holder, parts[number], change.value)


# A part of a mapping or of a list: its key or number, its first node, and its value's node.
_Part = tuple[int | str, yaml.Node, yaml.Node]


def _parts(holder: yaml.CollectionNode) -> list[_Part]:
    if isinstance(holder, yaml.MappingNode):
        return [(str(key.value), key, value) for key, value in holder.value]
    return [(i, item, item) for i, item in enumerate(holder.value)]


def _with_value(text: str, holder: yaml.CollectionNode, part: _Part, value: Any) -> str:
    _, first, node = part
    start, end = node.start_mark.index, _end(node)
    if holder.flow_style or not _is_block(value):
        written = _flow(value)
    elif isinstance(holder, yaml.MappingNode):
        written = _block_value(value, first.start_mark.column)
        while text[start - 1] == " ":  # `key:` is followed by the new value, wherever the old one was
            start -= 1
    else:
        written = _block(value, first.start_mark.column)
    if isinstance(holder, yaml.MappingNode) and not _is_block(value) and text[start - 1] != " ":
        colon = text.rindex(":", 0, start + 1)
        start, written = colon + 1, f" {written}"
    return text[:start] + written + text[end:]


def _with_part(
    text: str, holder: yaml.CollectionNode, parts: list[_Part], key: int | str, value: Any
) -> str | None:
    is_mapping = isinstance(holder, yaml.MappingNode)
    if holder.flow_style:
        written = f"{_flow(key)}: {_flow(value)}" if is_mapping else _flow(value)
        at = _end(parts[-1][2]) if parts else holder.start_mark.index + 1
        return text[:at] + (", " if parts else "") + written + text[at:]
    if not parts:
        return None
    column = parts[0][1].start_mark.column if is_mapping else holder.start_mark.column
    indent = " " * column
    if is_mapping:
        written = f"{indent}{_flow(key)}:{_after_colon(value, column)}"
    else:
        flows = isinstance(parts[-1][2], yaml.CollectionNode) and parts[-1][2].flow_style
        written = f"{indent}- {_flow(value) if flows else _block(value, column + 2)}"
    at = _end_of_line(text, _end(parts[-1][2]))
    return f"{text[:at]}\n{written}{text[at:] or chr(10)}"


def _without_part(text: str, holder: yaml.CollectionNode, parts: list[_Part], number: int) -> str | None:
    start, end = parts[number][1].start_mark.index, _end(parts[number][2])
    if holder.flow_style:
        if number + 1 < len(parts):
            end = parts[number + 1][1].start_mark.index
        elif number:
            start = _end(parts[number - 1][2])
        return text[:start] + text[end:]
    line = text.rfind("\n", 0, start) + 1
    before = text[line:start].strip()
    if isinstance(holder, yaml.MappingNode) and before:  # the first setting, after the dash of a list
        if number + 1 == len(parts):
            return None
        return text[:start] + text[parts[number + 1][1].start_mark.index :]
    if before not in ("", "-"):
        return None
    return text[:line] + text[_end_of_line(text, end) + 1 :]


def _end(node: yaml.Node) -> int:
    """Return where a node's text ends, without the blanks and comments that PyYAML adds to a block."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last)
    end: int = node.end_mark.index
    if isinstance(node, yaml.ScalarNode) and node.style in ("|", ">"):
        buffer = node.end_mark.buffer
        while end and buffer is not None and buffer[end - 1] in "\n ":
            end -= 1
    return end


def _end_of_line(text: str, index: int) -> int:
    found = text.find("\n", index)
    return len(text) if found == -1 else found


def _is_block(value: Any) -> bool:
    """Return whether a value is written over several lines, unless it is within `{…}` or `[…]`."""
    if isinstance(value, dict | list):
        return bool(value)
    return isinstance(value, str) and _is_literal(value)


def _is_literal(text: str) -> bool:
    """Return whether a text can be written unchanged, line by line, after a `|`."""
    lines = text.split("\n")
    plain = all(line == line.rstrip() and line.replace("\t", "").isprintable() for line in lines)
    return len(lines) > 1 and plain and bool(lines[0]) and not lines[0].startswith(" ") and bool(lines[-1])


def _after_colon(value: Any, column: int) -> str:
    return _block_value(value, column) if _is_block(value) else f" {_flow(value)}"


def _block_value(value: Any, column: int) -> str:
    """Return a value in the form that follows `key:`, with the key at `column`."""
    if isinstance(value, str):
        return " |-\n" + _indented(value, column + 2)
    return f"\n{' ' * (column + 2)}{_block(value, column + 2)}"


def _block(value: Any, column: int) -> str:
    """Return a value over several lines, without the indentation of the first line."""
    indent = "\n" + " " * column
    if isinstance(value, dict) and value:
        return indent.join(f"{_flow(key)}:{_after_colon(each, column)}" for key, each in value.items())
    if isinstance(value, list) and value:
        return indent.join(f"- {_block(each, column + 2)}" for each in value)
    if isinstance(value, str) and _is_literal(value):
        return "|-\n" + _indented(value, column)
    return _flow(value)


def _indented(text: str, column: int) -> str:
    return "\n".join(" " * column + line if line else "" for line in text.split("\n"))


def _flow(value: Any) -> str:
    """Return a value on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_flow(key)}: {_flow(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(_flow, value))}]"
    if isinstance(value, str) and ("\n" in value or not value.isprintable()):
        return json.dumps(value)  # which is valid YAML
    written = yaml.safe_dump([value], default_flow_style=True, allow_unicode=True, width=10**9)
    return written.strip()[1:-1]


def _written_anew(document: Document, wanted: dict[Any, Any], section: str | None) -> str:
    """Return the text with one section, or all of it, written again."""
    if section is not None:
        removed = section not in wanted
        change = EditedSetting((section,), wanted.get(section), remove=removed)
        text = _in_place(document, change)
        if text is not None:
            return text
    return _block(wanted, 0) + "\n"


def _reads_as(text: str, wanted: dict[Any, Any]) -> bool:
    try:
        return bool(read_document(text).content == wanted)
    except Unreadable:
        return False


_NAME = TypeAdapter(Label)


def require_study_name(name: str) -> None:
    """Check that a study may have this name; one with an invalid name could be stored but never opened.

    Raises:
        StudyInvalid: The name is invalid.
    """
    try:
        _NAME.validate_python(name)
    except ValidationError as error:
        raise StudyInvalid(
            f"“{name}” cannot be the name of a study",
            "Use lowercase letters, digits and _, starting with a letter, at most 40 characters.",
        ) from error


def named(text: str, name: str) -> str:
    """Return a study's text under another name. Raises StudyInvalid if the text cannot be read."""
    try:
        return edited(text, EditedSetting(("name",), name)).text
    except (Unreadable, NotEditable) as error:
        raise StudyInvalid(f"The study cannot be given another name: {error}") from error


def require_name(text: str, name: str) -> None:
    """Check that a text has no name of another study. A text that cannot be read passes.

    Raises:
        StudyNameDiffers: It has another name.
    """
    try:
        written = read_document(text).content.get("name")
    except Unreadable:
        return
    if isinstance(written, str) and written != name:
        raise StudyNameDiffers(f"The text has the name “{written}”, and this study is “{name}”")
