"""Addresses and keys of endpoints.

Authors of a study name the addresses of its bots, and the server connects to them from within its own
network, where it may reach machines that the authors cannot (server-side request forgery). Therefore private
addresses are refused where a server must not connect to them. A key is named in the study, held by the
environment, and never shown.
"""

import asyncio
import os
import re
import socket
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from urllib.parse import urlsplit

import httpx2

from candor.common.network import trusted

# Addresses behind a translator (RFC 6052, well-known prefix): the last 32 bits are an IPv4 address.
_NAT64 = IPv6Network("64:ff9b::/96")


class PrivateAddress(httpx2.ConnectError):
    """A host name resolves to an address that is not public."""


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Return whether `address` is public; an address that embeds another one is judged by that one."""
    inner = _carried(address)
    if inner is not None:
        return is_public(inner)
    return address.is_global and not address.is_multicast


def host_of(url: str) -> str:
    """Return the host that `url` names."""
    return urlsplit(url).hostname or ""


def is_on_this_machine(url: str) -> bool:
    """Return whether `url` names this machine itself."""
    host = host_of(url)
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _carried(address: IPv4Address | IPv6Address) -> IPv4Address | None:
    if isinstance(address, IPv4Address):
        return None
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    teredo = address.teredo
    return address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else None)


class PublicOnly(httpx2.AsyncBaseTransport):
    """A transport that connects to public addresses only.

    It resolves the host name for every request, and connects to the very address that was checked. A name
    that resolves to another address a moment later (DNS rebinding) therefore gains nothing.
    """

    def __init__(self, limits: httpx2.Limits) -> None:
        """Keep connections within `limits`."""
        self._inner = httpx2.AsyncHTTPTransport(verify=trusted(), limits=limits)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send `request` to the first address of its host that accepts the connection.

        Raises:
            PrivateAddress: one of the host's addresses is not public.
            httpx2.TransportError: as every transport does.
        """
        failure: httpx2.TransportError | None = None
        for address in await _resolved(request.url):
            try:
                return await self._inner.handle_async_request(_pinned(request, address))
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                failure = error
        raise failure or httpx2.ConnectError(f"{request.url.host} has no address")

    async def aclose(self) -> None:
        """Close all connections."""
        await self._inner.aclose()


async def _resolved(url: httpx2.URL) -> list[str]:
    try:
        found = await asyncio.get_running_loop().getaddrinfo(url.host, url.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise httpx2.ConnectError(f"{url.host} cannot be resolved: {error}") from error
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    for address in addresses:
        if not is_public(ip_address(address)):
            raise PrivateAddress(
                f"{url.host} is at {address}, a private address; this server connects to public ones only"
            )
    return addresses


def _pinned(request: httpx2.Request, address: str) -> httpx2.Request:
    """Return `request` addressed to `address`; the Host header and the certificate check keep the name."""
    return httpx2.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": request.url.host},
    )


_KEY = re.compile(r"[!-~]+")


class EndpointError(ValueError):
    """An endpoint cannot be opened. The message says what is missing."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key and the environment variable that it came from."""

    variable: str
    value: str = field(repr=False)

    def hidden(self, text: str) -> str:
        """Return `text` with the key replaced by a placeholder."""
        return text.replace(self.value, "[key]")


def key_from(variable: str) -> Key:
    """Return the key in the environment variable `variable`.

    Raises:
        EndpointError: it is unset or empty, or has characters that no key has.
    """
    value = os.environ.get(variable, "").strip()
    if not value:
        raise EndpointError(f"the environment variable {variable}, which should hold its key, is not set")
    if not _KEY.fullmatch(value):
        raise EndpointError(
            f"the environment variable {variable} should hold its key, but has blanks or characters in it"
            " that no key has"
        )
    return Key(variable, value)
