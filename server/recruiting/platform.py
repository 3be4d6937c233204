"""Access to the platforms that recruit and pay, with their errors translated into those of this server."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from server.config import Settings
from server.errors import NotConnected, PlatformFailed, PlatformUnsure
from server.recruiters.pay_platform import OutcomeUnknown, PayPlatform, RecruiterFailure
from server.recruiters.recruiter import PAYING, title_of


class Platform:
    """The recruiters with pay, accessed with the server's tokens. All recruiting uses one workspace of each.

    Tokens are read from the environment, like the keys of bots. They have all permissions and never expire,
    so they are never stored in the database or a backup, and never shown on a page.
    """

    def __init__(self, access: Mapping[str, tuple[str, str]]) -> None:
        """Create it. `access`: the token and the API's address of each recruiter, by its kind."""
        self._access = access

    @property
    def connected(self) -> bool:
        """Whether there is a token of any recruiter."""
        return bool(self._access)

    def has(self, kind: str) -> bool:
        """Return whether there is a token of this recruiter."""
        return kind in self._access

    @asynccontextmanager
    async def asked(self, kind: str) -> AsyncIterator[PayPlatform]:
        """Yield a client of a recruiter for some calls.

        Raises:
            NotConnected: the server has no token.
            PlatformFailed: a call failed.
            PlatformUnsure: it is unknown whether a call succeeded.
        """
        title = title_of(kind)
        if kind not in self._access:
            raise NotConnected(
                f"This server has no access to {title}",
                f"Start the server with {token_variable(kind)}, a token of your workspace there.",
            )
        try:
            async with PAYING[kind].client(*self._access[kind]) as client:
                yield client
        except OutcomeUnknown as error:
            raise PlatformUnsure(f"{title}: {error}", error.remedy_at(title)) from error
        except RecruiterFailure as error:
            raise PlatformFailed(f"{title}: {error}", error.remedy_at(title)) from error


def token_variable(kind: str) -> str:
    """Return the environment variable with the token of a recruiter with pay."""
    return f"CANDOR_{kind.upper()}_TOKEN"


def platform_of(settings: Settings) -> Platform:
    """Return the recruiters with pay for a server's settings."""
    return Platform(settings.recruiter_access)
