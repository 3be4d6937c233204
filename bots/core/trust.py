"""Whom this process trusts over TLS."""

from functools import cache
from ssl import SSLContext

import httpx2


@cache
def trusted() -> SSLContext:
    """Return what the connections of this process check certificates by.

    It is read once: reading takes tens of milliseconds, for which an event loop stands still.
    """
    return httpx2.create_ssl_context()
