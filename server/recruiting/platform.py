"""Access to the recruiting platform, which translates its errors into those of this server."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from server.config import Settings
from server.errors import NotConnected, PlatformFailed, PlatformUnsure
from server.recruiters.failures import OutcomeUnknown, RecruiterFailure
from server.recruiters.pay_platform import PayPlatform
from server.recruiters.prolific.client import ProlificClient
from server.recruiters.prolific.connection import PlatformConnection


class Platform:
    """Prolific, accessed with the server's token. All recruiting uses one workspace.

    The token is read from the environment, like the keys of bots. It has all permissions and never expires,
    so it is never stored in the database or a backup, and never shown on a page.
    """

    def __init__(self, connect: Callable[[], PlatformConnection] | None) -> None:
        """Create it. `connect`: opens a connection; None: the server has no token."""
        self._connect = connect

    @property
    def connected(self) -> bool:
        """Whether there is a token."""
        return self._connect is not None

    @asynccontextmanager
    async def asked(self) -> AsyncIterator[PayPlatform]:
        """Yield a client for some calls.

        Raises:
            NotConnected: the server has no token.
            PlatformFailed: a call failed.
            PlatformUnsure: it is unknown whether a call succeeded.
        """
        if self._connect is None:
            raise NotConnected("this server has no access to Prolific")
        try:
            async with ProlificClient(self._connect()) as client:
                yield client
        except OutcomeUnknown as error:
            raise PlatformUnsure(f"Prolific: {error}", error.remedy_at("Prolific")) from error
        except RecruiterFailure as error:
            raise PlatformFailed(f"Prolific: {error}", error.remedy_at("Prolific")) from error


def platform_of(settings: Settings) -> Platform:
    """Return the platform for a server's settings."""
    token = settings.prolific_token
    return Platform(None if token is None else lambda: PlatformConnection(token, settings.prolific_api))
