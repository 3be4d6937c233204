"""Every field that the client reads is in the schema of the server's responses."""

from typing import Any

import pytest
from pydantic import BaseModel

from bots import researcher_api
from tests.server.support.endpoints import known_schema

SCHEMA = known_schema()
Node = dict[str, Any]
# Each answer that the client reads, and the call that gives it.
ANSWERS: list[tuple[type[BaseModel], str, str, str]] = [
    (researcher_api.RunListAnswer, "/api/desk/runs", "get", "200"),
    (researcher_api.JoinAnswer, "/api/join", "post", "200"),
    (researcher_api.BotListAnswer, "/api/desk/bots", "get", "200"),
    (researcher_api.BotAnswer, "/api/desk/bots", "post", "201"),
    (researcher_api.BotAnswer, "/api/desk/bots/{name}", "get", "200"),
    (researcher_api.BotAnswer, "/api/desk/bots/{name}", "patch", "200"),
    (researcher_api.BotAnswer, "/api/desk/bots/{name}/replicas", "post", "200"),
    (researcher_api.BotAnswer, "/api/desk/bots/{name}/replicas", "delete", "200"),
    (researcher_api.CheckAnswer, "/api/desk/bots/{name}/check", "post", "202"),
    (researcher_api.CheckAnswer, "/api/desk/bots/{name}/check", "get", "200"),
]


def resolved(node: Node, root: Node) -> Node:
    """Return what a node refers to, in a schema of FastAPI's or of pydantic's."""
    while "$ref" in node:
        *_, section, name = node["$ref"].split("/")
        node = (root[section] if section == "$defs" else root["components"][section])[name]
    return node


def choices(node: Node, root: Node) -> list[Node]:
    """Return the types that a value may have, with null as one of them."""
    node = resolved(node, root)
    several = node.get("anyOf") or node.get("oneOf")
    return [leaf for each in several for leaf in choices(each, root)] if several else [node]


def misfits(read: Node, root: Node, sent: Node, path: str) -> list[str]:
    """Return where a reader of `read` could not take something that is sent as `sent`."""
    found = []
    for given in choices(sent, SCHEMA):
        tries = [_misfits(taken, root, given, path) for taken in choices(read, root)]
        found += min(tries, key=len)
    return found


def _misfits(taken: Node, root: Node, given: Node, path: str) -> list[str]:
    if taken.get("type") != given.get("type"):
        return [f"{path}: {given.get('type')} is sent, {taken.get('type')} is read"]
    unknown = set(given.get("enum", [])) - set(taken.get("enum", given.get("enum", [])))
    found = [f"{path}: {value} is not read" for value in sorted(unknown)]
    if "items" in taken:
        found += misfits(taken["items"], root, given["items"], f"{path}[]")
    for name, field in taken.get("properties", {}).items():
        if name in given.get("properties", {}):
            found += misfits(field, root, given["properties"][name], f"{path}.{name}")
        elif name in taken.get("required", []):
            found.append(f"{path}.{name}: is not sent")
    return found


# Of people the assignment is not told; the client joins for simulated workers only.
KNOWN = {"JoinView.assignment: null is sent, string is read"}


@pytest.mark.parametrize(("view", "path", "method", "status"), ANSWERS)
def test_every_field_that_is_read_is_sent(view: type[BaseModel], path: str, method: str, status: str) -> None:
    sent = SCHEMA["paths"][path][method]["responses"][status]["content"]["application/json"]["schema"]
    read = view.model_json_schema()
    assert set(misfits(read, read, sent, view.__name__)) <= KNOWN


@pytest.mark.parametrize(
    ("field", "told"),
    [
        ({"runs": {"type": "string"}}, "X.runs: array is sent, string is read"),
        ({"walks": {"type": "array"}}, "X.walks: is not sent"),
    ],
)
def test_a_view_that_has_drifted_would_be_found(field: Node, told: str) -> None:
    read = {"type": "object", "properties": field, "required": list(field)}
    assert misfits(read, read, {"$ref": "#/components/schemas/RunList"}, "X") == [told]
