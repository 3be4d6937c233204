"""FastAPI dependencies for the caller of an endpoint and their permissions.

    @router.post("/runs/{run}/close", dependencies=[Depends(Allowed("change_runs"))])
    async def close(run: str, actor: Caller) -> RunSummary: ...

The study is found from the path parameters `{study}`, `{run}` or `{assignment}`. A path without them is open
to callers with the permission in any study. Such an endpoint must filter its response with `actor.may`, and
check studies in the body with `actor.require`, and runs with `require_in_runs`.
"""

from collections.abc import Iterable
from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.openapi.models import HTTPBearer
from fastapi.security.base import SecurityBase
from pydantic import BaseModel, ConfigDict

from server.access.auth import Auth
from server.access.cookie import require_own_page, sign_in_secret
from server.access.parts import Secrets
from server.access.roles import Actor, Permission


class RequestBody(BaseModel):
    """The body of a request. Unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class BearerToken(SecurityBase):
    """Provides the `Authorization` header unchanged; None if there is none.

    FastAPI's own class cannot distinguish a missing token from another scheme, as `Auth` does.
    """

    def __init__(self) -> None:
        self.model = HTTPBearer(description="A researcher's token. Create one with `candor token new`.")
        self.scheme_name = "researcher"

    async def __call__(self, request: Request) -> str | None:
        """Return the header."""
        return request.headers.get("Authorization")


Authorization = Annotated[str | None, Security(BearerToken())]


__all__ = ["Actor", "Allowed", "Caller", "require_in_runs"]


class Allowed:
    """The dependency of an endpoint that requires `permission`."""

    def __init__(self, permission: Permission) -> None:
        self.permission = permission

    async def __call__(self, request: Request, authorization: Authorization, auth: Secrets) -> None:
        """Check the caller's permission, and store the caller in the request.

        Raises:
            NotAuthorised: the caller is not authenticated; see `Auth.caller`.
            NotAllowed: the caller's role is not sufficient.
            ForeignOrigin: another site's page has sent the request.
            StorageFailed: the database could not be read.
        """
        actor = await auth.caller(authorization, sign_in_secret(request))
        if authorization is None:
            require_own_page(request)
        study = None
        if request.path_params and not actor.may_in_all(self.permission):
            study = await auth.directory.study_of(request.path_params)
        actor.require(self.permission, study)
        request.state.actor = actor


async def require_in_runs(auth: Auth, actor: Actor, permission: Permission, runs: Iterable[str]) -> None:
    """Check that `actor` has the permission for runs that a request names outside its path.

    Call it before any other check of the runs: a missing run must be refused like a run that the actor may
    not see.

    Raises:
        NotAllowed: the actor's role is not sufficient in the study of one of the runs, or the run does not
            exist. Actors with the permission in all studies are not checked.
        StorageFailed: the database could not be read.
    """
    if not actor.may_in_all(permission):
        for run in runs:
            actor.require(permission, await auth.directory.study_of({"run": run}))


async def _caller(request: Request) -> Actor:
    actor: Actor = request.state.actor
    return actor


# The caller, as a parameter of an endpoint that has `Allowed` among its dependencies.
Caller = Annotated[Actor, Depends(_caller)]
