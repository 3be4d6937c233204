"""FastAPI dependencies for the server's parts, which `create_app` holds in `app.state.parts`."""

from functools import cache
from typing import Annotated, Any, TypeVar

from fastapi import Depends
from starlette.requests import HTTPConnection

from server.access.auth import Auth
from server.access.rate_limit import RateLimits
from server.config import Settings
from server.db.store import Store

T = TypeVar("T")


class Parts:
    """The parts of a server, each found by its class or a base class of it."""

    def __init__(self, *parts: object) -> None:
        self._parts: dict[type, Any] = {}
        self.add(*parts)

    def add(self, *parts: object) -> None:
        """Add parts, one of each class."""
        self._parts |= {kind: part for part in parts for kind in type(part).__mro__}

    def __getitem__(self, kind: type[T]) -> T:
        part: T = self._parts[kind]
        return part


@cache
def part(kind: type[object]) -> Any:
    """Return the dependency of an endpoint on the server's part of a type."""

    async def find(connection: HTTPConnection) -> object:
        parts: Parts = connection.app.state.parts
        return parts[kind]

    return Depends(find)


async def _public_url(connection: HTTPConnection) -> str:
    public_url: str = connection.app.state.public_url
    return public_url


Configured = Annotated[Settings, part(Settings)]
Database = Annotated[Store, part(Store)]
Limits = Annotated[RateLimits, part(RateLimits)]
Secrets = Annotated[Auth, part(Auth)]
PublicUrl = Annotated[str, Depends(_public_url)]  # links to pages start with it
