"""Sockets that listen: a bot host's, and the server's."""

import socket


def listener(address: str, port: int) -> socket.socket:
    """Return a socket that listens on `address`, of IPv4 or IPv6; port 0 is any free one.

    A name that has addresses of both is listened on by IPv4. `::` is every address of the machine, those of
    IPv4 too.

    Connections inherit TCP_NODELAY. asyncio does not see that they are TCP, and an answer, which is written
    in two parts, would wait 40 ms for the client's acknowledgement of the first.

    Raises OSError: it cannot.
    """
    found = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)
    families = {family for family, *_ in found}
    family = socket.AF_INET if socket.AF_INET in families else socket.AF_INET6
    both = family == socket.AF_INET6 and address == "::" and socket.has_dualstack_ipv6()
    listening = socket.create_server((address, port), family=family, backlog=2048, dualstack_ipv6=both)
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def in_url(address: str, port: int) -> str:
    """Return an address and a port as they stand in a URL."""
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
