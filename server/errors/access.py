"""Errors of permissions and rate limits."""

from typing import Literal

from server.errors.error import CandorError
from server.errors.run import NotAvailable

Refusal = Literal[
    "state",
    "denied",
    "unreachable",
    "code",
    "signature",
    "expired",
    "audience",
    "nonce",
    "unverified",
    "unknown",
]
_REFUSALS: dict[Refusal, str] = {
    "state": "This sign-in was started in another browser, or more than ten minutes ago",
    "denied": "The sign-in was cancelled at the provider",
    "unreachable": "The provider cannot be reached, or does not publish its sign-in settings",
    "code": "The provider does not accept its own code",
    "signature": "The provider's answer has no valid signature",
    "expired": "The provider's answer has expired",
    "audience": "The provider's answer is meant for another application",
    "nonce": "The provider's answer belongs to another sign-in",
    "unverified": "The provider has not verified your e-mail address",
    "unknown": "No account here has the e-mail address that the provider gives",
}


class NotAuthorised(CandorError):
    """The caller has not proved the right to do this."""

    code = "not_authorised"
    status = 401


class TokenMissing(NotAuthorised):
    """No token was sent."""

    code = "token_missing"
    hint = "Send a header Authorization: Bearer TOKEN. To create a token: candor token new."


class TokenInvalid(NotAuthorised):
    """The token was not made by this server."""

    code = "token_invalid"
    hint = "Open the study's link again."


class TokenExpired(NotAuthorised):
    """The token is too old."""

    code = "token_expired"
    hint = "Open the study's link again to continue. If that fails, ask the researchers."


class TokenRevoked(NotAuthorised):
    """The token was revoked."""

    code = "token_revoked"
    hint = "Ask the operator of this server for a new one (candor token new --name NAME)."


class OutOfScope(NotAuthorised):
    """The token is valid, but for something else."""

    code = "out_of_scope"
    status = 403
    hint = "Use a researcher's token (candor token new --name NAME)."


class NotAllowed(NotAuthorised):
    """The caller's role does not permit this."""

    code = "not_allowed"
    status = 403
    hint = "Ask an owner of this installation for that role."


class NotSignedIn(NotAuthorised):
    """The browser's sign-in is over, or there was none."""

    code = "not_signed_in"
    hint = "Sign in again."


class WrongPassword(NotAuthorised):
    """No account has this name and this password."""

    code = "wrong_password"
    status = 403
    hint = "Try again, or ask an owner of this installation for a link to a new password."


class NoPassword(CandorError):
    """An account that only signs in with the provider has no password to change."""

    code = "no_password"
    status = 409
    hint = "Ask an owner of this installation for a link to set one."


class ProviderRefused(NotAuthorised):
    """Signing in with an OpenID provider failed; `reason` is the cause, for programs."""

    code = "provider_refused"
    status = 403
    hint = "Try again, or sign in with a password."

    def __init__(self, reason: Refusal) -> None:
        hint = "Ask an owner to invite that address." if reason == "unknown" else None
        super().__init__(_REFUSALS[reason], hint)
        self.reason: Refusal = reason


class ForeignOrigin(NotAuthorised):
    """Another site's page made a signed-in browser send this request."""

    code = "foreign_origin"
    status = 403
    hint = "Use the desk's own page. Programs send a token instead of a cookie."


class LinkUsed(NotAuthorised):
    """A one-time link is invalid, or was used."""

    code = "link_used"
    status = 403
    hint = "Ask an owner of this installation for a new one. On the server: candor people link NAME."


class LinkUnsigned(NotAuthorised):
    """The server admits only workers with a personal link, and this link is not personal."""

    code = "link_unsigned"
    status = 403
    hint = "Open the complete link that you were sent, or ask the researchers for a personal one."


class LinkAltered(NotAuthorised):
    """The link's signature does not fit its worker and its run."""

    code = "link_altered"
    status = 403
    hint = "Copy the whole link again from where you found it, or ask the researchers for another."


class LinkUnfilled(NotAuthorised):
    """The address has a placeholder instead of a worker's id."""

    code = "link_unfilled"
    status = 403
    hint = "Set up the survey or platform with the link so that it fills in each worker's id."


class LinkAmbiguous(NotAuthorised):
    """The address has a parameter twice, with two values."""

    code = "link_ambiguous"
    status = 403
    hint = "Keep only one of the two in the link."


class LinkExpired(NotAuthorised):
    """The platform's signature of an arrival has expired."""

    code = "link_expired"
    status = 403
    hint = "Open the study on the platform again."


class TokenNotFound(NotAvailable):
    """There is no token of that name, or it was revoked."""

    code = "token_not_found"
    hint = "Check the name: candor token list shows every token."


class TokenExists(CandorError):
    """A token of that name is in use."""

    code = "token_exists"
    status = 409
    hint = "Choose another name, or revoke that token first (candor token revoke NAME)."


class PersonNotFound(NotAvailable):
    """No account for the desk has this name."""

    code = "person_not_found"
    hint = "Check the name on the desk's page People, or with candor people list."


class NotYours(CandorError):
    """The account has roles in other studies too, so the caller must not change its password."""

    code = "not_yours"
    status = 403
    hint = "Ask an owner of the whole installation for the link."


class NoMail(CandorError):
    """The server cannot send e-mails."""

    code = "no_mail"
    status = 409
    hint = "Copy the link and send it yourself, or set CANDOR_SMTP_URL and CANDOR_MAIL_FROM."


class PersonExists(CandorError):
    """An account for the desk has this name already."""

    code = "person_exists"
    status = 409
    hint = "Choose another name, or change the role of the existing account."


class LastOwner(CandorError):
    """An installation must have at least one owner."""

    code = "last_owner"
    status = 409
    hint = "Make someone else an owner first."


class TooMany(CandorError):
    """The caller is over a limit."""

    code = "rate_limited"
    status = 429
    retry = True
    hint = "Wait a little and try again."
