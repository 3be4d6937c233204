"""Read YAML from other people within limits: a short text can stand for any number of values."""

from typing import Any

import yaml

MOST_BYTES = 1_000_000
MOST_VALUES = 50_000  # with every alias written out
MOST_DIGITS = 100
_NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")


def read_yaml(content: bytes) -> Any:
    """Return the value that `content` is YAML of.

    Raises:
        YAMLError: it is no YAML, or beyond a limit.
    """
    if len(content) > MOST_BYTES:
        raise yaml.YAMLError(f"the file has more than {MOST_BYTES:,} bytes")
    try:
        root = yaml.compose(content, Loader=yaml.SafeLoader)
        if root is not None:
            _count(root, {})
        return yaml.safe_load(content)
    except RecursionError:
        raise yaml.YAMLError("the levels are too deep") from None
    except ValueError as error:  # a date that is none
        raise yaml.YAMLError(str(error)) from error


def _count(node: yaml.Node, known: dict[yaml.Node, int]) -> int:
    """Return how many values a node holds, aliases written out; `known`: of those that were counted."""
    if node in known:
        if known[node] == 0:
            raise yaml.YAMLError("a part refers to itself")
        return known[node]
    known[node] = 0  # under way
    match node:
        case yaml.MappingNode():
            parts = [part for pair in node.value for part in pair]
        case yaml.SequenceNode():
            parts = node.value
        case _:
            parts = []
            if node.tag in _NUMBERS and len(node.value) > MOST_DIGITS:
                raise yaml.YAMLError(f"a number has more than {MOST_DIGITS} digits")
    known[node] = 1 + sum(_count(part, known) for part in parts)
    if known[node] > MOST_VALUES:
        raise yaml.YAMLError(f"there are more than {MOST_VALUES:,} values in it")
    return known[node]
