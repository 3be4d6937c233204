"""The socket at which a bot host takes connections."""

import socket


def listener(address: str, port: int) -> socket.socket:
    """Return a socket that listens on `address`; port 0 is any free one. Raises OSError: it cannot.

    Connections inherit TCP_NODELAY. asyncio does not see that they are TCP, and an answer, which is written
    in two parts, would wait 40 ms for the client's acknowledgement of the first.
    """
    listening = socket.create_server((address, port), backlog=2048)
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening
