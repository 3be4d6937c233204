"""The `Authorization` header as FastAPI takes it: read for `auth`, and described in the API's schema."""

from typing import Annotated

from fastapi import Request, Security
from fastapi.openapi.models import HTTPBearer
from fastapi.security.base import SecurityBase


class BearerToken(SecurityBase):
    """Gives a call the `Authorization` header as it was sent, None where there is none.

    FastAPI's own class cannot tell a missing token from one of another scheme; `Auth` says which.
    """

    def __init__(self) -> None:
        self.model = HTTPBearer(description="A researcher's token: `candor token new` makes one.")
        self.scheme_name = "researcher"

    async def __call__(self, request: Request) -> str | None:
        """Return the header."""
        return request.headers.get("Authorization")


Authorization = Annotated[str | None, Security(BearerToken())]
