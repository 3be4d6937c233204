"""Access to the platforms that recruit and pay, with their errors translated into those of this server."""

import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from server.config import RecruiterAccess, Settings
from server.errors import NotConnected, NotRecruiting, PlatformFailed, PlatformUnsure, StudyInvalid
from server.recruiters.pay_platform import OutcomeUnknown, PayPlatform, RecruiterFailure
from server.recruiters.recruiter import PAYING, title_of
from server.study import EditedSetting, NotEditable, edited


class Platform:
    """The recruiters with pay, accessed with the server's tokens. All recruiting uses one workspace of each.

    Tokens are read from the environment, like the keys of bots. They have all permissions and never expire,
    so they are never stored in the database or a backup, and never shown on a page.
    """

    def __init__(self, access: Mapping[str, RecruiterAccess]) -> None:
        """Create it. `access`: the access to each recruiter, by its kind."""
        self._access = access

    @property
    def connected(self) -> bool:
        """Whether there is a token of any recruiter."""
        return any(self.has(kind) for kind in self._access)

    def has(self, kind: str) -> bool:
        """Return whether there is a token of this recruiter."""
        return self._of(kind).token is not None

    def hook_secret(self, kind: str) -> str | None:
        """Return the secret that signs the events of a recruiter; None if its events are refused."""
        return self._of(kind).hook_secret

    def workspace(self, kind: str) -> str | None:
        """Return the workspace in which this server subscribes to events; None if it does not."""
        return self._of(kind).workspace

    @property
    def listened_to(self) -> list[str]:
        """The recruiters whose events are accepted and can be looked up, by their kinds."""
        return [kind for kind in self._access if self.has(kind) and self.hook_secret(kind) is not None]

    def _of(self, kind: str) -> RecruiterAccess:
        return self._access.get(kind, RecruiterAccess(""))

    @asynccontextmanager
    async def asked(self, kind: str) -> AsyncIterator[PayPlatform]:
        """Yield a client of a recruiter for some calls.

        Raises:
            NotConnected: the server has no token.
            PlatformFailed: a call failed.
            PlatformUnsure: it is unknown whether a call succeeded.
        """
        title, access = title_of(kind), self._of(kind)
        if access.token is None:
            raise NotConnected(
                f"This server has no access to {title}",
                f"Start the server with {token_variable(kind)}, a token of your workspace there.",
            )
        try:
            async with PAYING[kind].client(access.token, access.api) as client:
                yield client
        except OutcomeUnknown as error:
            raise PlatformUnsure(f"{title}: {error}", error.remedy_at(title)) from error
        except RecruiterFailure as error:
            raise PlatformFailed(f"{title}: {error}", error.remedy_at(title)) from error


def token_variable(kind: str) -> str:
    """Return the environment variable with the token of a recruiter with pay."""
    return f"CANDOR_{kind.upper()}_TOKEN"


def hook_secret_variable(kind: str) -> str:
    """Return the environment variable with the secret that signs a recruiter's events."""
    return f"CANDOR_{kind.upper()}_HOOK_SECRET"


def recruiting_at(text: str, kind: str) -> str:
    """Return a study's text with a recruiter with pay, and a new completion code.

    Raises:
        NotRecruiting: there is no such recruiter.
        StudyInvalid: the text cannot be changed, because its settings refer to each other.
    """
    if kind not in PAYING:
        raise NotRecruiting(f"“{kind}” is no platform with pay", f"Choose one of {', '.join(PAYING)}.")
    recruiter = {"kind": kind, "completion_code": new_code()}
    try:
        return edited(text, EditedSetting(("recruiter",), recruiter)).text
    except NotEditable as error:
        raise StudyInvalid(
            f"The platform cannot be added to the study: {error}",
            "Say in its text where workers come from, and open a run.",
        ) from error


def new_code() -> str:
    """Return a new completion code."""
    return f"C{secrets.token_hex(4).upper()}"


def platform_of(settings: Settings) -> Platform:
    """Return the recruiters with pay for a server's settings."""
    return Platform(settings.recruiter_access)
