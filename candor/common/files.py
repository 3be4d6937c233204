"""Read files and YAML from people within limits, and describe what is wrong in them.

A short YAML text can cost minutes or all memory: numbers with thousands of digits, thousands of levels,
aliases of aliases. `YamlSettings` and `YamlTexts` refuse such a text while they read it.
"""

import errno
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError
from yaml.composer import Composer, ComposerError
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.scanner import Scanner, ScannerError

MOST_BYTES = 200 * 1024 * 1024  # ten times the largest published corpora of dialogues


def read_file(path: Path) -> bytes:
    """Return the content of a file. Raises OSError if it cannot be read, or has more than MOST_BYTES."""
    with path.open("rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise OSError(errno.EFBIG, f"it has more than {MOST_BYTES // 1024**2} MB", str(path))
    return content


def read_text(path: Path) -> str:
    r"""Return the text in a file in UTF-8, with `\n` at the ends of lines. Raises as `read_file` does.

    Raises:
        UnicodeDecodeError: it is not UTF-8.
    """
    return read_file(path).decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")


_MOST_YAML_BYTES = 1_000_000
_MOST_LEVELS = 50
_MOST_VALUES = 200_000  # with every alias expanded; rules may exclude 100,000 workers
_MOST_DIGITS = 100
_TOO_DEEP = f"nested more than {_MOST_LEVELS} levels deep"
_NUMBERS = frozenset({"tag:yaml.org,2002:int", "tag:yaml.org,2002:float"})


class _Bounded(Reader, Scanner, Parser, Composer):
    """Refuse documents that would cost too much to read or to use."""

    def compose_document(self) -> yaml.Node | None:
        """Return the document as nodes. Raises YAMLError if it is invalid or beyond a limit."""
        self._open = 0
        self._sizes: dict[yaml.Node, tuple[int, int]] = {}  # levels and values of each node
        return super().compose_document()

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Return the next node, with everything in it. Raises YAMLError."""
        mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]  # in PyYAML's stubs
        is_alias = self.check_event(yaml.AliasEvent)
        if self._open >= _MOST_LEVELS:
            raise ComposerError(None, None, _TOO_DEEP, mark)
        self._open += 1
        node = super().compose_node(parent, index)
        self._open -= 1
        if node is not None and is_alias and node not in self._sizes:
            raise ComposerError(None, None, "a part refers to itself", mark)
        if node is not None and not is_alias:
            self._measure(node)
        return node

    def _measure(self, node: yaml.Node) -> None:
        parts: list[yaml.Node] = []
        match node:
            case yaml.SequenceNode():
                parts = node.value
            case yaml.MappingNode():
                parts = [part for pair in node.value for part in pair]
            case yaml.ScalarNode() if node.tag in _NUMBERS and len(node.value) > _MOST_DIGITS:
                problem = f"a number of more than {_MOST_DIGITS} digits"
                raise ComposerError(None, None, problem, node.start_mark)
        sizes = [self._sizes[part] for part in parts]
        levels = 1 + max((levels for levels, _ in sizes), default=0)
        values = 1 + sum(values for _, values in sizes)
        if levels > _MOST_LEVELS:
            raise ComposerError(None, None, _TOO_DEEP, node.start_mark)
        if values > _MOST_VALUES:
            raise ComposerError(None, None, f"more than {_MOST_VALUES:,} values", node.start_mark)
        self._sizes[node] = levels, values

    def fetch_flow_collection_start(self, token: type[yaml.Token]) -> None:
        """Begin a list or mapping in brackets; finding its end takes the square of the levels."""
        if self.flow_level >= _MOST_LEVELS:
            raise ScannerError(None, None, _TOO_DEEP, self.get_mark())
        super().fetch_flow_collection_start(token)


class YamlSettings(_Bounded, yaml.SafeLoader):
    """Read values by YAML 1.1: numbers, dates, booleans, texts."""


class YamlTexts(_Bounded, yaml.BaseLoader):
    """Read every value as the text that is written."""


def read_yaml(content: bytes) -> Any:
    """Return the value of a whole file.

    Raises:
        YAMLError: it is not YAML, or exceeds a limit; the message is one line.
    """
    if len(content) > _MOST_YAML_BYTES:
        raise yaml.YAMLError(f"more than {_MOST_YAML_BYTES:,} bytes")
    try:
        return yaml.load(content, Loader=YamlSettings)  # noqa: S506 - a SafeLoader
    except yaml.MarkedYAMLError as error:  # whose message repeats the line, of any length
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise yaml.YAMLError(f"{line}{error.problem}") from error
    except ValueError as error:  # an invalid date
        raise yaml.YAMLError(str(error)) from error


def mistakes(error: ValidationError, whole: str = "the whole", most: int = 3) -> str:
    """Return the first `most` mistakes in `error`, each with its place; `whole` names the document.

    The input is not quoted: it may be long, or binary.
    """
    found = error.errors(include_url=False, include_input=False)[:most]
    return "; ".join(f"{'.'.join(map(str, each['loc'])) or whole}: {each['msg']}" for each in found)
