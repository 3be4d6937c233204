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
    "state": "this sign-in was not begun in this browser, or longer ago than ten minutes",
    "denied": "the sign-in was given up with the provider",
    "unreachable": "the provider cannot be asked, or does not say how to sign in with it",
    "code": "the provider does not take back the code that it gave",
    "signature": "what the provider answered is not signed by it",
    "expired": "what the provider answered is valid no longer",
    "audience": "what the provider answered is meant for somebody else",
    "nonce": "what the provider answered belongs to another sign-in",
    "unverified": "the provider has not verified an e-mail address of yours",
    "unknown": "nobody here has the e-mail address that the provider gives",
}


class NotAuthorised(CandorError):
    """The caller has not shown the right to do this."""

    code = "not_authorised"
    status = 401


class TokenMissing(NotAuthorised):
    """No token was shown."""

    code = "token_missing"
    hint = "Send `Authorization: Bearer TOKEN`, with a token that `candor token new` has printed."


class TokenInvalid(NotAuthorised):
    """The token was not made by this server."""

    code = "token_invalid"
    hint = "Open the study's link again."


class TokenExpired(NotAuthorised):
    """The token is too old."""

    code = "token_expired"
    hint = "Open the study's link again: whoever came with an id goes on; else ask the researchers."


class TokenRevoked(NotAuthorised):
    """The token was good once."""

    code = "token_revoked"
    hint = "Ask whoever runs this server for a new one (`candor token new --name NAME`)."


class OutOfScope(NotAuthorised):
    """The token is good, but for something else."""

    code = "out_of_scope"
    status = 403
    hint = "Use a researcher's token (`candor token new --name NAME`)."


class NotAllowed(NotAuthorised):
    """The caller is known, and their role does not reach so far."""

    code = "not_allowed"
    status = 403
    hint = "Ask an owner of this installation for that role."


class NotSignedIn(NotAuthorised):
    """The browser's sign-in is over, or there was none."""

    code = "not_signed_in"
    hint = "Sign in again."


class WrongPassword(NotAuthorised):
    """Nobody has this name and this password."""

    code = "wrong_password"
    status = 403
    hint = "Try again, or ask an owner of this installation for a link to a new password."


class NoPassword(CandorError):
    """Somebody who signs in with the provider only has no password that could be changed."""

    code = "no_password"
    status = 409
    hint = "Ask an owner of this installation for a link by which you choose one."


class ProviderRefused(NotAuthorised):
    """Signing in with an OpenID provider came to nothing; `reason` says why, for programs."""

    code = "provider_refused"
    status = 403
    hint = "Begin again, or sign in with a password."

    def __init__(self, reason: Refusal) -> None:
        hint = "Ask an owner to invite that address." if reason == "unknown" else None
        super().__init__(_REFUSALS[reason], hint)
        self.reason: Refusal = reason


class ForeignOrigin(NotAuthorised):
    """A browser that is signed in was led to this call by another site's page."""

    code = "foreign_origin"
    status = 403
    hint = "Do it on the desk's own page; programs send a token instead of a cookie."


class LinkUsed(NotAuthorised):
    """A one-time link leads nowhere (any more)."""

    code = "link_used"
    status = 403
    hint = "Ask an owner of this installation for another; on its own machine: candor people link NAME."


class LinkUnsigned(NotAuthorised):
    """The server takes personal links only, and this one is nobody's."""

    code = "link_unsigned"
    status = 403
    hint = "Open the whole of the link that you were sent, or ask the researchers for one of your own."


class LinkAltered(NotAuthorised):
    """The link's signature is not that of its worker and its run."""

    code = "link_altered"
    status = 403
    hint = "Copy the whole link again from where you found it, or ask the researchers for another."


class LinkUnfilled(NotAuthorised):
    """The address has a placeholder where the worker's id belongs."""

    code = "link_unfilled"
    status = 403
    hint = "Set up the survey or platform that shows the link to fill in the id of each worker."


class LinkAmbiguous(NotAuthorised):
    """The address has a parameter twice, with two values, and nobody knows which one is meant."""

    code = "link_ambiguous"
    status = 403
    hint = "Leave one of the two in the link."


class LinkExpired(NotAuthorised):
    """What a platform has signed of who comes was good for a short while, which is over."""

    code = "link_expired"
    status = 403
    hint = "Open the study on the platform again."


class TokenNotFound(NotAvailable):
    """There is no token of that name, or it was revoked before."""

    code = "token_not_found"
    hint = "`candor token list` shows every token."


class TokenExists(CandorError):
    """A token of that name is in use."""

    code = "token_exists"
    status = 409
    hint = "Choose another name, or revoke that token first (`candor token revoke NAME`)."


class PersonNotFound(NotAvailable):
    """Nobody of that name uses the desk."""

    code = "person_not_found"
    hint = "`candor people list` shows everybody, and so does the desk's page of people."


class NotYours(CandorError):
    """Somebody has roles in other studies too: their password is not the caller's affair."""

    code = "not_yours"
    status = 403
    hint = "Ask an owner of the whole installation for the link."


class PersonExists(CandorError):
    """Somebody of that name uses the desk."""

    code = "person_exists"
    status = 409
    hint = "Choose another name, or change the role of the person who is there."


class LastOwner(CandorError):
    """An installation keeps one owner at least."""

    code = "last_owner"
    status = 409
    hint = "Make somebody else an owner first."


class TooMany(CandorError):
    """The caller is over a limit."""

    code = "rate_limited"
    status = 429
    retry = True
    hint = "Wait a little and try again."
