"""FastAPI dependencies for the server's parts, which `create_app` holds in `app.state.parts`."""

from typing import Annotated

from fastapi import Depends
from starlette.requests import HTTPConnection

from server.access.auth import Auth
from server.db.store.store import Store


async def _auth(connection: HTTPConnection) -> Auth:
    auth: Auth = connection.app.state.parts.auth
    return auth


async def _store(connection: HTTPConnection) -> Store:
    store: Store = connection.app.state.parts.store
    return store


async def _public_url(connection: HTTPConnection) -> str:
    public_url: str = connection.app.state.parts.public_url
    return public_url


Secrets = Annotated[Auth, Depends(_auth)]
Database = Annotated[Store, Depends(_store)]
PublicUrl = Annotated[str, Depends(_public_url)]  # links to pages start with it
