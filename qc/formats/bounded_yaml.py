"""Read YAML from untrusted sources within limits: with aliases, a short text can encode many values."""

from typing import Any

import yaml

MOST_BYTES = 1_000_000
MOST_VALUES = 50_000  # with all aliases expanded
MOST_DIGITS = 100
_NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")


def read_yaml(content: bytes) -> Any:
    """Parse `content` as YAML.

    Raises:
        YAMLError: it is not YAML, or exceeds a limit.
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
    except ValueError as error:  # an invalid date
        raise yaml.YAMLError(str(error)) from error


def _count(node: yaml.Node, known: dict[yaml.Node, int]) -> int:
    """Count the values in a node, with aliases expanded; `known`: counts of nodes so far."""
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
