"""A study file read: the study, or its mistakes with their lines."""

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from server.errors import StudyInvalid
from server.study.contradictions import contradictions
from server.study.study import Location, Study


def load_study(path: Path) -> tuple[Study, str]:
    """Read a study file; return the study and the file's text.

    Raises:
        StudyInvalid: with every mistake, each on its line.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise StudyInvalid(f"{path}: cannot be read: {error}") from error
    return parse_study(text, str(path)), text


@lru_cache(maxsize=64)
def parse_study(text: str, source: str = "study") -> Study:
    """Return the study that `text` describes. Raises StudyInvalid as `load_study` does.

    Kept in memory: the texts of runs do not change, and every look at a run needs its study.
    """
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{source}:{mark.line + 1}" if mark else source
        reason = getattr(error, "problem", None) or str(error)
        raise StudyInvalid(f"{where}: not valid YAML: {reason}") from error
    except ValueError as error:  # a value that looks like a date or a number, and is none
        raise StudyInvalid(f"{source}: not valid YAML: {error}") from error
    except RecursionError as error:
        raise StudyInvalid(f"{source}: not valid YAML: it is nested too deeply") from error
    if not isinstance(content, dict) or root is None:
        raise StudyInvalid(f"{source}:1: a study is a mapping of settings; this file holds none")
    try:
        study = Study.model_validate(content)
        problems = list(contradictions(study))
    except ValidationError as error:
        problems = [(e["loc"], e["msg"]) for e in error.errors()]
    lines = [f"{source}:{line}: {_path(where)}is given twice" for line, where in _given_twice(root)]
    lines += [f"{source}:{_line_of(root, where)}: {_path(where)}{reason}" for where, reason in problems]
    if lines:
        raise StudyInvalid("\n".join(dict.fromkeys(lines)))
    return study


def study_hash(text: str) -> str:
    """Return a short fingerprint of a study file's text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _path(location: Location) -> str:
    keys = [str(key) for key in location if not (isinstance(key, str) and "[" in key)]
    return ".".join(keys) + ": " if keys else ""


# PyYAML and not ruamel.yaml, which knows lines and repeated keys, too: that stops at the first repeated key,
# does not say of which setting it is, and reads texts of studies that are stored in another way: as YAML 1.1
# `y` and `n` are booleans to it, as YAML 1.2 `010` and `1:30` are other values.
def _given_twice(root: yaml.Node) -> list[tuple[int, Location]]:
    """Return the settings that stand twice in one mapping, which YAML itself lets pass, with their lines."""
    found: list[tuple[int, Location]] = []
    seen: set[int] = set()  # aliases can make a node its own child
    nodes: list[tuple[yaml.Node, Location]] = [(root, ())]
    while nodes:
        node, path = nodes.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            nodes += [(child, (*path, i)) for i, child in enumerate(node.value)]
        if isinstance(node, yaml.MappingNode):
            names = [str(key.value) for key, _ in node.value]
            for i, (key, child) in enumerate(node.value):
                nodes.append((child, (*path, names[i])))
                if names[i] in names[:i]:
                    found.append((key.start_mark.line + 1, (*path, names[i])))
    return sorted(found, key=lambda twice: twice[0])


def _line_of(root: yaml.Node, location: Location) -> int:
    node, line = root, 1
    for key in location:
        found = _child(node, key)
        if found is None:
            break
        node, line = found
    return line


def _child(node: yaml.Node, key: int | str) -> tuple[yaml.Node, int] | None:
    if isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            if name.value == str(key):
                return value, name.start_mark.line + 1
    if isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
        child: Any = node.value[key]
        return child, child.start_mark.line + 1
    return None
