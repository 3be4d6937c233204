"""The platform that workers come from, as the rest of this room asks it: its failures become ours."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from server.config import Settings
from server.errors import NotConnected, PlatformFailed, PlatformUnsure
from server.recruiters.prolific.client import ProlificClient
from server.recruiters.prolific.connection import Connection
from server.recruiters.prolific.failures import OutcomeUnknown, ProlificFailure


class Platform:
    """Prolific, by the token of the server: there is one workspace, and whoever may recruit uses it.

    The token is read from the environment, as the keys of bots are: it may do everything and never expires,
    so it is in no database, no backup and no page.
    """

    def __init__(self, connect: Callable[[], Connection] | None) -> None:
        """Ask over what `connect` returns; None: the server has no token."""
        self._connect = connect

    @property
    def connected(self) -> bool:
        """Whether there is a token."""
        return self._connect is not None

    @asynccontextmanager
    async def asked(self) -> AsyncIterator[ProlificClient]:
        """Yield the client for some calls.

        Raises:
            NotConnected: the server has no token.
            PlatformFailed: what was wanted was not done.
            PlatformUnsure: it is not known whether it was.
        """
        if self._connect is None:
            raise NotConnected("this server has no access to Prolific")
        try:
            async with ProlificClient(self._connect()) as client:
                yield client
        except OutcomeUnknown as error:
            raise PlatformUnsure(str(error), error.remedy) from error
        except ProlificFailure as error:
            raise PlatformFailed(str(error), error.remedy) from error


def platform_of(settings: Settings) -> Platform:
    """Return the platform by a server's settings."""
    token = settings.prolific_token
    return Platform(None if token is None else lambda: Connection(token, settings.prolific_api))
