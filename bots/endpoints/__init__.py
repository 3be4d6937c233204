"""Bots that run elsewhere, on servers that are called over HTTP, and the registry of their kinds.

A kind is one class: its settings, their checks and help text, its costs, and the client that it opens.
"""

from typing import Annotated, Literal, get_args

from pydantic import Field

from bots.endpoints.address import EndpointError, host_of
from bots.endpoints.anthropic import AnthropicEndpoint
from bots.endpoints.bedrock import BedrockEndpoint
from bots.endpoints.gemini import GeminiEndpoint
from bots.endpoints.hosted import Estimate, PlannedCalls
from bots.endpoints.http import HttpEndpoint, ParlaiWebEndpoint
from bots.endpoints.kind import PATIENCE, EndpointSettings
from bots.endpoints.openai import OpenAiEndpoint
from bots.endpoints.remote import Remote
from bots.endpoints.replicas import Replica, Replicas

MOST_PAID_CALLS = 3  # for one line of a conversation: a paid call is repeated twice at most


class DialInEndpoint(EndpointSettings):
    """Any number of equivalent bot hosts that connect to the server by themselves."""

    kind: Literal["dial-in"]

    @property
    def may_cost(self) -> bool:
        """False: a host that dials in costs nothing."""
        return False

    def client(self, remote: Remote) -> Replica:
        """Raise EndpointError: the hosts connect by themselves."""
        raise EndpointError("a bot that dials in has no urls: start one more bot host under its name")


_Called = (
    HttpEndpoint | OpenAiEndpoint | AnthropicEndpoint | GeminiEndpoint | BedrockEndpoint | ParlaiWebEndpoint
)
UrlEndpoint = Annotated[_Called, Field(discriminator="kind")]
Endpoint = Annotated[_Called | DialInEndpoint, Field(discriminator="kind")]
KINDS: tuple[str, ...] = tuple(
    get_args(each.model_fields["kind"].annotation)[0] for each in (*get_args(_Called), DialInEndpoint)
)


def open_endpoint(
    endpoint: Endpoint, *, refuse_private: bool = False, patience: float = PATIENCE
) -> Replicas:
    """Return the bot at `endpoint`. Nothing is sent yet.

    Args:
        endpoint: the endpoint to open.
        refuse_private: connect to public addresses only.
        patience: seconds that one replica has for a reply; the caller's own limit holds for all together.

    Raises:
        EndpointError: the environment variable of its key is unset.
    """
    replicas = [
        endpoint.open(url, refuse_private=refuse_private, patience=patience) for url in endpoint.addresses
    ]
    return Replicas(replicas, patience, most_calls=MOST_PAID_CALLS if endpoint.is_paid else None)


def planned_calls(to: str, endpoint: Endpoint, calls: Estimate, occasion: str = "") -> PlannedCalls | None:
    """Return the planned calls of `endpoint`; None if they cost nothing, or there are none."""
    if not endpoint.may_cost or not calls.calls:
        return None
    hosts = tuple(dict.fromkeys(map(host_of, endpoint.addresses)))
    return PlannedCalls(to, hosts, calls, endpoint.token_price, occasion)
