"""FastAPI dependencies for the server's parts, which `create_app` holds in `app.state.parts`."""

from functools import cache
from typing import Annotated, Any, TypeVar, cast

from fastapi import Depends
from starlette.requests import HTTPConnection

from server.access.auth import Auth
from server.access.rate_limit import RateLimits
from server.config import Settings
from server.db.store.store import Store

T = TypeVar("T")


class Parts:
    """The parts of a server, one of each type."""

    def __init__(self, *parts: object) -> None:
        self._parts = {type(part): part for part in parts}

    def __getitem__(self, kind: type[T]) -> T:
        return cast("T", self._parts[kind])


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
