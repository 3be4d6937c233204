"""Who is calling, and may they? As FastAPI takes it: a dependency for every endpoint.

    api.add_api_route("/runs/{run}/close", self.close, methods=["POST"],
                      dependencies=[Depends(Allowed(auth, "change_runs"))])

    async def close(self, run: str, actor: Caller) -> RunSummary: ...

The study is known by what the path names: `{study}`, `{run}` or `{assignment}`. A path that names none is
open to whoever may do this in any study; such an endpoint answers with what `actor.may` shows, and asks
`actor.require` about what a body names.
"""

from typing import Annotated

from fastapi import Depends, Request

from server.access.auth import Auth
from server.access.bearer import Authorization
from server.access.cookie import require_own_page, sign_in_secret
from server.access.roles import Actor, Permission

__all__ = ["Actor", "Allowed", "Caller"]


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


def _caller(request: Request) -> Actor:
    actor: Actor = request.state.actor
    return actor


# In the signature of an endpoint that has `Allowed` among its dependencies: who calls it.
Caller = Annotated[Actor, Depends(_caller)]
