"""Authenticate callers: tokens of workers, researchers and hosts; pseudonyms; completion codes.

Workers' tokens, pseudonyms and codes are derived from one secret. Its file is in the data folder, readable by
its owner only, and also contains the installation's own researcher token. Further tokens are in the database
(see `tokens`). Workers' ids are encrypted with a key from a separate file or a setting.
"""

import base64
import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from itsdangerous import BadSignature, URLSafeTimedSerializer
from pydantic_core import from_json

from server.access.id_keys import load_id_keys, make_secret_file
from server.access.roles import ALL_STUDIES, Actor
from server.access.tokens import Grant, hashed, is_well_formed
from server.clock import utc_now
from server.errors import CandorError, NotSignedIn, TokenExpired, TokenInvalid, TokenMissing, TokenRevoked
from server.recruiters.arrival import Arrival
from server.recruiters.id_cipher import IdCipher

_FILE = "secrets.json"
_LONGEST_HEADER = 512
_SIGNATURE_BYTES = 12  # 96 bits: 16 characters of a link, impossible to guess


class Directory(Protocol):
    """Looks up tokens, sign-ins and studies in the database of an installation."""

    async def grant(self, digest: str) -> Grant | None:
        """Return the grant whose token has this SHA-256."""
        ...

    async def signed_in(self, digest: str) -> Actor | None:
        """Return the person whose browser has signed in under the secret with this SHA-256."""
        ...

    async def study_of(self, named: Mapping[str, str]) -> str | None:
        """Return the name of the study that the path of a call is about; None where it names none.

        Args:
            named: what the path names, by `study`, `run`, `assignment` or anything else.
        """
        ...


class NobodyKnown:
    """The directory of an installation whose own token is the only one."""

    async def grant(self, _digest: str) -> Grant | None:
        """Find no grant."""
        return None

    async def signed_in(self, _digest: str) -> Actor | None:
        """Find nobody."""
        return None

    async def study_of(self, _named: Mapping[str, str]) -> str | None:
        """Find no study."""
        return None


@dataclass(frozen=True, slots=True)
class Ticket:
    """What somebody holds who may take part in a run and of whom nothing is stored yet.

    `assignment` is the id that their assignment will have, `run` the run's. `is_signed`: their link was, or
    a researcher has let a simulated worker in. `simulated_as` is what the data say of who simulates.
    """

    assignment: str
    run: int
    arrival: Arrival
    simulated: bool
    reply_pace: float
    is_signed: bool
    simulated_as: str = ""


@dataclass(frozen=True, slots=True)
class WorkerToken:
    """What a worker's token says: an assignment by its id, or a ticket."""

    opens: str | Ticket
    has_expired: bool


@dataclass(frozen=True)
class Auth:
    """Makes and checks the tokens of one installation.

    `directory` is asked at every check: a token that is made or revoked is so at once. `id_keys`: of workers'
    ids, the one in use first; without any it is `secret`.
    """

    secret: str
    researcher_token: str
    token_seconds: int
    directory: Directory = field(default_factory=NobodyKnown)
    id_keys: tuple[str, ...] = ()

    @property
    def secrets(self) -> tuple[str, ...]:
        """What nobody may read in a log."""
        return self.secret, self.researcher_token, *self.id_keys

    @property
    def mark(self) -> str:
        """What tells the secret from any other; the secret cannot be computed from it."""
        return self._hmac("mark of the secret").hex()

    @cached_property
    def ids(self) -> IdCipher:
        """What encrypts the ids of workers, as the database keeps them."""
        return IdCipher(self.id_keys or (self.secret,))

    def kept(self, arrival: Arrival) -> Arrival:
        """Return who arrives as the database names them."""
        return replace(arrival, external_id=self.ids.encrypted(arrival.external_id))

    def known(self, kept: Arrival) -> Arrival:
        """Return whom the database names so; of somebody forgotten the id is empty."""
        return replace(kept, external_id=self.ids.decrypted(kept.external_id) or "")

    def worker_token(self, assignment_id: str) -> str:
        """Return the token that opens this assignment's session."""
        return self._serializer().dumps(assignment_id)

    def ticket_token(self, ticket: Ticket) -> str:
        """Return the token that holds a ticket: who it is for can be read from it, and nothing altered."""
        arrival = ticket.arrival
        content: list[Any] = [ticket.assignment, ticket.run, arrival.platform, arrival.external_id]
        content += [ticket.simulated, ticket.reply_pace, ticket.is_signed]
        return self._serializer().dumps([*content, ticket.simulated_as, arrival.visit])

    def opened_by(self, token: str) -> str | Ticket:
        """Return what a worker's token opens: an assignment by its id, or a ticket.

        Raises:
            TokenExpired: the token is older than the installation allows.
            TokenInvalid: the token was not made here, or was altered.
        """
        read = self.read_worker_token(token)
        if read.has_expired:
            raise TokenExpired("this session's link has expired")
        return read.opens

    def read_worker_token(self, token: str) -> WorkerToken:
        """Return what a worker's token says, however old it is. Raises TokenInvalid: it was not made here."""
        try:
            content, made_at = self._serializer().loads(token, return_timestamp=True)
        except BadSignature as error:
            raise TokenInvalid("this session's link is not valid here") from error
        # A token of the future is ours all the same: the clock was set back since it was made.
        has_expired = (utc_now() - made_at).total_seconds() > self.token_seconds
        return WorkerToken(_ticket(content) if isinstance(content, list) else str(content), has_expired)

    def link_signature(self, run: str, worker: str) -> str:
        """Return what shows in a link that a worker's id was written into it by this installation.

        Args:
            run: the name of the run that the link leads to.
            worker: the worker's id.
        """
        return _in_url(self._hmac("link", run, worker)[:_SIGNATURE_BYTES])

    def is_link_signature(self, signature: str, run: str, worker: str) -> bool:
        """Return whether that is the signature of a worker's link to a run."""
        return hmac.compare_digest(signature.encode(), self.link_signature(run, worker).encode())

    async def caller(self, authorization: str | None, sign_in: str | None = None) -> Actor:
        """Return who calls, by the `Authorization` header; without one, by what a browser keeps of a sign-in.

        Raises:
            NotSignedIn: the sign-in is over.
            TokenMissing: there is none, or one that is no `Bearer TOKEN`.
            TokenInvalid: the token is not known here.
            TokenRevoked: it was known here.
            StorageFailed: it could not be looked up.
        """
        if authorization is None and sign_in is not None:
            person = await self.directory.signed_in(hashed(sign_in))
            if person is None:
                raise NotSignedIn("this browser is signed in no longer")
            return person
        token = _bearer(authorization)
        if hmac.compare_digest(token.encode(), self.researcher_token.encode()):
            return Actor("installation", "the installation's token", {ALL_STUDIES: "owner"})
        grant = await self.directory.grant(hashed(token)) if is_well_formed(token) else None
        if grant is None:
            raise TokenInvalid("this token is not known here", "Check that it is whole, and of this server.")
        if grant.revoked_at is not None:
            raise TokenRevoked(f"the token `{grant.name}` was revoked")
        return Actor("token", grant.name, grant.roles)

    async def host(self, authorization: str | None) -> Actor:
        """Return who dials in, by the `Authorization` header: a bot host, or who may change bots.

        Raises:
            TokenMissing, TokenInvalid, TokenRevoked, StorageFailed: as `caller`.
            NotAllowed: it is a token of another scope.
        """
        actor = await self.caller(authorization)
        if actor.roles:
            actor.require("change_bots")
        return actor

    def pseudonym(self, platform: str, external_id: str) -> str:
        """Return the name under which exports show a worker."""
        return "W" + self._hmac("worker", platform, external_id).hex()[:12].upper()

    def completion_code(self, assignment_id: str) -> str:
        """Return the code that proves an assignment was handed in, like `7KQ2-MX4D`."""
        code = base64.b32encode(self._hmac("completion", assignment_id)).decode()[:8]
        return f"{code[:4]}-{code[4:]}"

    def _serializer(self) -> URLSafeTimedSerializer:
        return URLSafeTimedSerializer(self.secret, salt="worker-session")

    def _hmac(self, *parts: str) -> bytes:
        return hmac.new(self.secret.encode(), "\x1f".join(parts).encode(), hashlib.sha256).digest()


def _ticket(content: list[Any]) -> Ticket:
    # A ticket of an earlier version has neither of the last two.
    content = [*content, "", None][:9]
    assignment, run, platform, external_id, simulated, reply_pace, is_signed, simulated_as, visit = content
    arrival = Arrival(platform, external_id, visit)
    return Ticket(assignment, run, arrival, simulated, reply_pace, is_signed, simulated_as)


def _in_url(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def _bearer(authorization: str | None) -> str:
    """Return the token of an `Authorization` header. Raises TokenMissing, TokenInvalid."""
    if not authorization:
        raise TokenMissing("a token is needed here")
    if len(authorization) > _LONGEST_HEADER:
        raise TokenInvalid(
            f"an Authorization header holds at most {_LONGEST_HEADER} characters", "Send the token alone."
        )
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bearer":
        raise TokenMissing("the Authorization header is of another scheme than Bearer")
    if not token:
        raise TokenMissing("the Authorization header holds no token")
    return token


def token_file(folder: Path) -> Path:
    """Return where the secrets of the installation in `folder` lie, the researcher's token among them."""
    return folder / _FILE


def load_auth(folder: Path, token_days: int, id_key: str | None = None) -> Auth:
    """Return the installation's secrets from `folder`, the keys of workers' ids among them; as `load_signer`.

    Args:
        folder: where they lie.
        token_days: for how long a worker's link can be resumed.
        id_key: the setting of the key of workers' ids.

    Raises:
        CandorError: as `load_signer`, or a key of workers' ids cannot be used.
    """
    return replace(load_signer(folder, token_days), id_keys=load_id_keys(folder, id_key))


def load_signer(folder: Path, token_days: int) -> Auth:
    """Return what signs links and tokens, which reads nobody's id.

    Raises:
        CandorError: the secrets are missing or cannot be read. `make_secrets` makes them.
    """
    path = token_file(folder)
    try:
        stored = from_json(path.read_bytes())
        secret, token = str(stored["secret"]), str(stored["researcher_token"])
        if not secret or not token:
            raise ValueError("a secret in it is empty")
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = f"{path} cannot be used: {error}"
        raise CandorError(
            reason, "Restore the file from a backup, or choose another --data folder."
        ) from error
    return Auth(secret, token, token_days * 86_400)


def make_secrets(folder: Path) -> None:
    """Make the secrets of a new installation; where there are some already, they stay.

    Raises:
        CandorError: they cannot be written.
    """
    path = token_file(folder)
    content = {"secret": secrets.token_urlsafe(32), "researcher_token": secrets.token_urlsafe(18)}
    try:
        if not path.exists():
            make_secret_file(path, json.dumps(content, indent=1))
    except OSError as error:
        raise CandorError(
            f"{path} cannot be written: {error}", "Check the folder, or choose another --data."
        ) from error
