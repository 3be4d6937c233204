"""Holds requests and answers against an OpenAPI description: whatever is not as described is written down."""

import copy
import json
import re
from typing import Any
from urllib.parse import parse_qs

from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Statuses that the description leaves out because they can come from anywhere.
_ANYWHERE = frozenset({401, 403, 404, 429, 500})
Json = dict[str, Any]


class Contract:
    """An OpenAPI 3.1 description. `broken` says what was not as described, as answers end.

    Requests may have no fields but those described; answers may have more.
    """

    def __init__(self, description: Json) -> None:
        self._paths: Json = description["paths"]
        self._lenient = _registry(description)
        self._strict = _registry(_closed(description))
        self.broken: list[str] = []

    def around(self, app: ASGIApp) -> ASGIApp:
        """Return `app`, with all that it is asked and answers held against the description."""

        async def checked(scope: Scope, receive: Receive, send: Send) -> None:
            operation = self._operation(scope["method"], scope["path"])
            if operation is None:
                if scope["path"].startswith("/api/"):
                    self.broken.append(f"{scope['method']} {scope['path']} is no operation")
                await app(scope, receive, send)
                return
            asked, said = await _body(receive), bytearray()
            status, is_read = 0, False
            self._check_request(operation, scope, asked)

            async def received() -> Message:
                nonlocal is_read
                if is_read:
                    return await receive()
                is_read = True
                return {"type": "http.request", "body": asked}

            async def sent(message: Message) -> None:
                nonlocal status
                if message["type"] == "http.response.start":
                    status = message["status"]
                said.extend(message.get("body", b""))
                if message["type"] == "http.response.body" and not message.get("more_body"):
                    self._check_answer(operation, status, bytes(said))
                await send(message)

            await app(scope, received, sent)

        return checked

    def _operation(self, method: str, path: str) -> Json | None:
        for pattern, operations in self._paths.items():
            if re.fullmatch(re.sub(r"\{[^}]+\}", "[^/]+", pattern), path) and method.lower() in operations:
                # `/submissions/{id}/` fits `/submissions/bonus-payments/` too, which has other methods.
                found: Json = operations[method.lower()]
                return found
        return None

    def _check_request(self, operation: Json, scope: Scope, body: bytes) -> None:
        name = operation["operationId"]
        query = {key: values[0] for key, values in parse_qs(scope["query_string"].decode()).items()}
        headers = {key.decode().lower(): value.decode() for key, value in scope["headers"]}
        described = {one["name"]: one for one in operation.get("parameters", [])}
        for parameter in described.values():
            given = query if parameter["in"] == "query" else headers
            key = parameter["name"] if parameter["in"] == "query" else parameter["name"].lower()
            if parameter["required"] and parameter["in"] != "path" and key not in given:
                self.broken.append(f"{name}: no {parameter['name']}")
        for key, value in query.items():
            if key not in described:
                self.broken.append(f"{name}: {key} is no parameter")
                continue
            schema = described[key]["schema"]
            self._hold(f"{name}: {key}", self._strict, schema, _typed(value, schema.get("type")))
        content = operation.get("requestBody", {}).get("content", {})
        if content:
            schema = _closed(content["application/json"]["schema"])
            self._hold(f"{name}: request", self._strict, schema, json.loads(body or b"null"))
        elif body:
            self.broken.append(f"{name}: takes no body")

    def _check_answer(self, operation: Json, status: int, body: bytes) -> None:
        name, described = operation["operationId"], operation["responses"].get(str(status))
        if described is None:
            if status not in _ANYWHERE:
                self.broken.append(f"{name}: answers {status}")
            return
        if status == 204:
            return
        schema = described["content"]["application/json"]["schema"]
        self._hold(f"{name}: answer {status}", self._lenient, schema, json.loads(body))

    def _hold(self, what: str, registry: "Registry[Any]", schema: Json, value: object) -> None:
        for error in Draft202012Validator(_rooted(schema), registry=registry).iter_errors(value):
            self.broken.append(f"{what}: {error.json_path}: {error.message}")


def _typed(value: str, kind: object) -> object:
    """Return the value of a query's parameter, of the type that the specification gives it."""
    if kind == "integer" and value.isdecimal():
        return int(value)
    return value == "true" if kind == "boolean" and value in {"true", "false"} else value


async def _body(receive: Receive) -> bytes:
    read = bytearray()
    while True:
        message = await receive()
        read.extend(message.get("body", b""))
        if not message.get("more_body"):
            return bytes(read)


def _registry(description: Json) -> "Registry[Any]":
    resource = Resource.from_contents(description, default_specification=DRAFT202012)
    return Registry().with_resource("urn:description", resource)


def _rooted(schema: Json) -> Json:
    """Return `schema` with references that lead into the description."""
    text = json.dumps(schema).replace('"#/components/', '"urn:description#/components/')
    rooted: Json = json.loads(text)
    return rooted


def _closed(part: Any) -> Any:
    """Return a description whose objects have no fields but those that they name."""
    if isinstance(part, list):
        return [_closed(one) for one in part]
    if not isinstance(part, dict):
        return copy.copy(part)
    closed = {name: _closed(one) for name, one in part.items()}
    if isinstance(part.get("properties"), dict) and part.get("type") == "object":
        closed.setdefault("additionalProperties", False)
    return closed
