"""A study file as text: its content, the line of each setting, and the form without secrets."""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import yaml

from candor.common.files import YamlSettings
from server.settings_file import Location, child, line_of

LEFT_OUT = "REMOVED"
_ADDRESS = "https://removed.invalid/"  # where an address is expected (RFC 2606)
_CODES = ("completion_code", "credit_token")
_ADDRESSES = ("completion_url", "partial_url")  # these contain codes, too
SENT = ("headers", "query")  # settings of bots that are sent with a request, and may be secret
_WHY = f"# Codes, tokens, and what is sent to services beside a request, are left out ({LEFT_OUT}).\n"


class Unreadable(ValueError):
    """The text is no YAML, or has no settings. `line`: the line of the mistake, from 1, if known."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


# PyYAML, not ruamel.yaml, although that knows lines and repeated keys too. It stops at the first repeated key
# without naming the setting, and reads texts of stored studies differently: by YAML 1.1 it takes `y` and `n`
# for booleans, and by YAML 1.2 it reads `010` and `1:30` as other values.
@dataclass(frozen=True)
class Document:
    """A mapping of settings. `content`: as Python values; `root`: as nodes, which know their lines."""

    text: str
    content: dict[Any, Any]
    root: yaml.MappingNode

    def line_of(self, location: Location) -> int:
        """Return the line of a setting, from 1; for a missing setting, the line of the part that lacks it."""
        return line_of(self.root, location)

    def node_at(self, location: Location) -> yaml.Node | None:
        """Return the node of a setting's value, or None if there is none."""
        node: yaml.Node = self.root
        for key in location:
            found = child(node, key)
            if found is None:
                return None
            node = found[0]
        return node

    def has_aliases(self) -> bool:
        """Return whether a part refers to another (`&` and `*`); such content can have any length."""
        seen: set[int] = set()
        nodes: list[yaml.Node] = [self.root]
        while nodes:
            node = nodes.pop()
            if id(node) in seen:
                return True
            seen.add(id(node))
            if isinstance(node, yaml.SequenceNode):
                nodes += node.value
            if isinstance(node, yaml.MappingNode):
                nodes += [part for pair in node.value for part in pair]
        return False

    def given_twice(self) -> list[tuple[int, Location]]:
        """Return settings that are given twice in one mapping, which YAML allows, by line."""
        found: list[tuple[int, Location]] = []
        seen: set[int] = set()  # aliases can make a node its own child
        nodes: list[tuple[yaml.Node, Location]] = [(self.root, ())]
        while nodes:
            node, path = nodes.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            if isinstance(node, yaml.SequenceNode):
                nodes += [(item, (*path, i)) for i, item in enumerate(node.value)]
            if isinstance(node, yaml.MappingNode):
                names: set[str] = set()
                for key, value in node.value:
                    name = str(key.value)
                    nodes.append((value, (*path, name)))
                    if name in names:
                        found.append((key.start_mark.line + 1, (*path, name)))
                    names.add(name)
        return sorted(found, key=lambda twice: twice[0])


@lru_cache(maxsize=32)
def read_document(text: str) -> Document:
    """Parse `text`. Raises Unreadable. The result is cached and shared: do not change it.

    PyYAML reads about 100,000 characters a second, and a text that is being edited is read again and again.
    """
    try:
        loader = YamlSettings(text)
        root = loader.get_single_node()
        content = None if root is None else loader.construct_document(root)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        reason = getattr(error, "problem", None) or str(error)
        raise Unreadable(f"This is not valid YAML: {reason}", mark.line + 1 if mark else None) from error
    except ValueError as error:  # a value that looks like a date or a number, and is none
        raise Unreadable(f"This is not valid YAML: {error}") from error
    if not isinstance(content, dict) or not isinstance(root, yaml.MappingNode):
        raise Unreadable("A study is a list of settings, each as “name: value”", 1)
    return Document(text, content, root)


def published(text: str) -> str:
    """Return the text of a study without its secrets; unchanged, with comments, if it has none.

    A text with secrets is written again without comments, because these may contain secrets as well. Bots'
    addresses stay: they contain neither keys nor passwords (`bots.endpoints`).

    Raises:
        Unreadable: It is no study file.
    """
    content = deepcopy(read_document(text).content)
    secret = list(_secrets(content))
    if not secret:
        return text
    for holder, key, instead in secret:
        holder[key] = instead
    return _WHY + yaml.safe_dump(content, allow_unicode=True, sort_keys=False)


def _secrets(content: dict[Any, Any]) -> Iterator[tuple[dict[Any, Any], Any, str]]:
    """Yield each secret's mapping and key, and its replacement."""
    for holder in (content, content.get("recruiter")):
        if isinstance(holder, dict):
            instead = dict.fromkeys(_CODES, LEFT_OUT) | {name: _ADDRESS + name for name in _ADDRESSES}
            yield from ((holder, name, text) for name, text in instead.items() if holder.get(name))
    bots = content.get("bots")
    for bot in bots.values() if isinstance(bots, dict) else ():
        for name in SENT if isinstance(bot, dict) else ():
            sent = bot.get(name)
            if isinstance(sent, dict):
                yield from ((sent, key, LEFT_OUT) for key in sent)
