"""Every endpoint of a server, and who may call it."""

from functools import cache
from typing import Any

from fastapi.routing import APIRoute, iter_route_contexts

from server.access.auth import Auth
from server.app import api_schema, create_app
from server.bots.opened_bots import OpenedBots
from server.config import Settings

# The least role that may call it: for the study of the path where it names one, for any study where it does
# not; after `all` the role has to be one for all studies. Whom a body names is each endpoint's own affair.
TABLE = {
    "GET /api/desk/runs": "viewer",
    "GET /api/desk/runs/{run}": "viewer",
    "GET /api/desk/watch/runs": "viewer",
    "GET /api/desk/watch/runs/{run}": "viewer",
    "GET /api/desk/watch/runs/{run}/reports": "analyst",
    "GET /api/desk/watch/runs/{run}/rehearsals": "analyst",
    "GET /api/desk/watch/runs/{run}/exports": "analyst",
    "GET /api/desk/watch/studies": "viewer",
    "GET /api/desk/watch/studies/{study}/people": "owner",
    "GET /api/desk/watch/people": "all owner",
    "GET /api/desk/watch/bots": "researcher",
    "POST /api/desk/runs": "researcher",
    "POST /api/desk/runs/{run}/pause": "researcher",
    "POST /api/desk/runs/{run}/resume": "researcher",
    "POST /api/desk/runs/{run}/close": "researcher",
    "POST /api/desk/runs/{run}/replicate": "researcher",
    "GET /api/desk/runs/{run}/recruitment": "researcher",
    "POST /api/desk/runs/{run}/recruitment": "researcher",
    "DELETE /api/desk/runs/{run}/recruitment": "researcher",
    "POST /api/desk/runs/{run}/recruitment/run": "researcher",
    "GET /api/desk/runs/{run}/recruitment/cost": "researcher",
    "POST /api/desk/runs/{run}/recruitment/publish": "researcher",
    "POST /api/desk/runs/{run}/recruitment/pause": "researcher",
    "POST /api/desk/runs/{run}/recruitment/resume": "researcher",
    "POST /api/desk/runs/{run}/recruitment/close": "researcher",
    "PUT /api/desk/runs/{run}/recruitment/places": "researcher",
    "POST /api/desk/runs/{run}/recruitment/refresh": "researcher",
    "POST /api/desk/runs/{run}/recruitment/decisions": "researcher",
    "POST /api/desk/runs/{run}/recruitment/decisions/{submission}/repeat": "researcher",
    "POST /api/desk/runs/{run}/recruitment/messages": "researcher",
    "POST /api/desk/runs/{run}/recruitment/bonuses": "researcher",
    "DELETE /api/desk/runs/{run}/recruitment/bonuses/{batch}": "researcher",
    "POST /api/desk/runs/{run}/recruitment/bonuses/{batch}/pay": "researcher",
    "POST /api/desk/runs/{run}/recruitment/bonuses/{batch}/look": "researcher",
    "GET /api/desk/runs/{run}/credits": "researcher",
    "POST /api/desk/runs/{run}/credits/again": "researcher",
    "GET /api/desk/runs/{run}/analysis": "analyst",
    "GET /api/desk/runs/{run}/narrowing": "analyst",
    "GET /api/desk/runs/{run}/reports": "analyst",
    "POST /api/desk/runs/{run}/reports": "analyst",
    "GET /api/desk/runs/{run}/rehearsals": "analyst",
    "GET /api/desk/runs/{run}/exports": "analyst",
    "POST /api/desk/runs/{run}/exports": "analyst",
    "POST /api/desk/runs/{run}/rehearsals": "researcher",
    "GET /api/desk/runs/{run}/rehearsal-plan": "researcher",
    "GET /api/desk/studies/{study}/rehearsal-plan": "researcher",
    "POST /api/desk/rehearsals": "researcher",
    "GET /api/desk/runs/{run}/jobs/{job}": "analyst",
    "POST /api/desk/runs/{run}/jobs/{job}/cancel": "analyst",
    "GET /api/desk/runs/{run}/conversations": "analyst",
    "GET /api/desk/workers": "viewer",
    "GET /api/desk/runs/{run}/crowd-question": "researcher",
    "POST /api/desk/runs/{run}/message": "researcher",
    "POST /api/desk/assignments/{assignment}/release": "researcher",
    "POST /api/desk/assignments/{assignment}/message": "researcher",
    "POST /api/desk/assignments/{assignment}/end-conversation": "researcher",
    "POST /api/desk/assignments/{assignment}/message-reports/{report}/seen": "researcher",
    "POST /api/desk/assignments/{assignment}/flagged-lines/{position}/{attempt}/{line}/seen": "researcher",
    "PUT /api/desk/assignments/{assignment}/exclusion": "researcher",
    "DELETE /api/desk/assignments/{assignment}/exclusion": "researcher",
    "GET /api/desk/assignments/{assignment}": "analyst",
    "GET /api/desk/assignments/{assignment}/simulation": "researcher",
    "GET /api/desk/studies": "viewer",
    "POST /api/desk/studies": "all researcher",
    "GET /api/desk/studies/{study}": "viewer",
    "PUT /api/desk/studies/{study}": "researcher",
    "PATCH /api/desk/studies/{study}": "researcher",
    "DELETE /api/desk/studies/{study}": "researcher",
    "POST /api/desk/studies/{study}/copy": "all researcher",
    "GET /api/desk/studies/{study}/versions/{version}": "viewer",
    "GET /api/desk/studies/{study}/versions/{version}/changes": "viewer",
    "GET /api/desk/studies/{study}/qc-examination": "viewer",
    "POST /api/desk/studies/{study}/trial": "researcher",
    "POST /api/desk/studies/{study}/bot-check": "researcher",
    "GET /api/desk/study-settings": "viewer",
    "GET /api/desk/study-templates": "viewer",
    "POST /api/desk/study-check": "viewer",
    "POST /api/desk/study-preview": "viewer",
    "GET /api/desk/bots": "researcher",
    "POST /api/desk/bots": "all researcher",
    "GET /api/desk/bots/{name}": "researcher",
    "PATCH /api/desk/bots/{name}": "all researcher",
    "DELETE /api/desk/bots/{name}": "all researcher",
    "POST /api/desk/bots/{name}/replicas": "all researcher",
    "DELETE /api/desk/bots/{name}/replicas": "all researcher",
    "POST /api/desk/bots/{name}/check": "all researcher",
    "GET /api/desk/bots/{name}/check": "researcher",
    "GET /api/account": "viewer",
    "POST /api/account/sign-out": "viewer",
    "POST /api/account/sign-out-everywhere": "viewer",
    "PUT /api/account/password": "viewer",
    "GET /api/desk/people": "all owner",
    "POST /api/desk/people": "all owner",
    "PUT /api/desk/people/{person}/role": "all owner",
    "GET /api/desk/invitation-mail": "owner",
    "POST /api/desk/people/{person}/link": "all owner",
    "DELETE /api/desk/people/{person}/link": "all owner",
    "DELETE /api/desk/people/{person}": "all owner",
    "GET /api/desk/studies/{study}/people": "owner",
    "POST /api/desk/studies/{study}/people": "owner",
    "POST /api/desk/studies/{study}/people/{person}/link": "owner",
    "DELETE /api/desk/studies/{study}/people/{person}/link": "owner",
    "DELETE /api/desk/studies/{study}/people/{person}": "owner",
    "GET /api/desk/tokens": "all owner",
    "POST /api/desk/tokens": "all owner",
    "DELETE /api/desk/tokens/{token}": "all owner",
    "GET /api/desk/runs/{run}/worker-ids": "researcher",
    "GET /api/desk/runs/{run}/worker-ids.csv": "researcher",
    "POST /api/desk/runs/{run}/links.csv": "researcher",
    "POST /api/desk/workers/holdings": "all owner",
    "POST /api/desk/workers/forget": "all owner",
    "GET /api/desk/audit": "all owner",
    "GET /api/desk/audit.csv": "all owner",
    "GET /api/desk/runs/{run}/rules": "researcher",
    "GET /api/desk/runs/{run}/wizard": "researcher",
    "POST /api/desk/runs/{run}/wizard": "researcher",
    "PUT /api/desk/runs/{run}/rules": "researcher",
    "GET /api/openapi.json": "viewer",
    "GET /metrics": "all viewer",
}
# What anybody may call: the pages, what tells that the server lives, and the ways in.
OPEN = {
    "GET /",
    "GET /api/docs",
    "GET /desk",
    "GET /desk/{place:path}",
    "GET /healthz",
    "GET /readyz",
    "GET /preview",
    "GET /exports/{link}/{name}",
    "GET /reports/{link}/{name}",
    "GET /w/{run}",
    "POST /api/join",
    "POST /api/own-data/download",
    "POST /api/recruitment/{kind}/events",
    "POST /api/own-data/withdraw",
    "POST /api/page-trouble",
    "POST /api/account/sign-in",
    "POST /api/account/link",
    "PUT /api/account/link",
    "GET /api/account/ways-in",
    "GET /api/account/openid",
    "GET /api/account/openid/callback",
}


@cache
def known_schema() -> dict[str, Any]:
    """Return the schema of the researcher's API, made once; not to be changed."""
    return api_schema()


@cache
def endpoints() -> dict[str, Any]:
    """Return every endpoint of a server, by its method and path."""
    settings = Settings.model_construct(database_url="sqlite://")
    app = create_app(settings, Auth("", "", 0), {}, OpenedBots(refuse_private=False))
    routes = [
        found for found in iter_route_contexts(app.routes) if isinstance(found.original_route, APIRoute)
    ]
    return {f"{method} {route.path}": route for route in routes for method in route.methods}
