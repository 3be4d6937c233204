"""The caller of an endpoint, their permissions and the size of their request, as FastAPI dependencies.

    api.add_api_route("/runs/{run}/close", self.close, methods=["POST"],
                      dependencies=[Depends(Allowed(auth, "change_runs"))])

    async def close(self, run: str, actor: Caller) -> RunSummary: ...

The study is known by what the path names: `{study}`, `{run}` or `{assignment}`. A path that names none is
open to whoever may do this in any study; such an endpoint answers with what `actor.may` shows, and asks
`actor.require` about a study that a body names, and `require_in_runs` about runs.
"""

from collections.abc import Iterable
from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.openapi.models import HTTPBearer
from fastapi.security.base import SecurityBase
from pydantic import BaseModel, ConfigDict

from server.access.auth import Auth
from server.access.cookie import require_own_page, sign_in_secret
from server.access.roles import Actor, Permission


class RequestBody(BaseModel):
    """What a call sends. A field that is not known is refused, and not passed over."""

    model_config = ConfigDict(extra="forbid", frozen=True)


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


__all__ = ["Actor", "Allowed", "Caller", "require_in_runs"]


class Allowed:
    """The dependency of an endpoint for those who hold `permission`."""

    def __init__(self, auth: Auth, permission: Permission) -> None:
        self._auth = auth
        self.permission = permission

    async def __call__(self, request: Request, authorization: Authorization) -> None:
        """Let the call through.

        Raises:
            NotAuthorised: whoever calls has shown no right to do so; see `Auth.caller`.
            NotAllowed: their role does not reach.
            ForeignOrigin: another site's page has sent it.
            StorageFailed: it could not be looked up.
        """
        actor = await self._auth.caller(authorization, sign_in_secret(request))
        if authorization is None:
            require_own_page(request)
        study = None
        if request.path_params and not actor.may_in_all(self.permission):
            study = await self._auth.directory.study_of(request.path_params)
        actor.require(self.permission, study)
        request.state.actor = actor


async def require_in_runs(auth: Auth, actor: Actor, permission: Permission, runs: Iterable[str]) -> None:
    """Check that `actor` may do that with runs that a call names beside the one of its path.

    To be asked before anything is said of them: a run that may not be seen is refused like one that there is
    not.

    Raises:
        NotAllowed: their role does not reach in the study of one of them, or there is no such run; of whoever
            may do this in all studies nothing is asked.
        StorageFailed: it could not be looked up.
    """
    if not actor.may_in_all(permission):
        for run in runs:
            actor.require(permission, await auth.directory.study_of({"run": run}))


def _caller(request: Request) -> Actor:
    actor: Actor = request.state.actor
    return actor


# In the signature of an endpoint that has `Allowed` among its dependencies: who calls it.
Caller = Annotated[Actor, Depends(_caller)]
