"""Authenticate callers: tokens of workers, researchers and hosts; pseudonyms; completion codes; keys.

Workers' tokens, pseudonyms and codes are derived from one secret. Its file is in the data folder, readable by
its owner only, and also contains the installation's own researcher token. Further tokens are in the database
(see `tokens`). Workers' ids are encrypted with keys from a separate file or a setting; the keys are never in
the database.
"""

import base64
import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from itsdangerous import BadSignature, URLSafeTimedSerializer
from pydantic_core import from_json

from server.access.roles import ALL_STUDIES, Actor
from server.access.tokens import Grant, hashed, is_well_formed
from server.clock import utc_now
from server.errors import CandorError, NotSignedIn, TokenExpired, TokenInvalid, TokenMissing, TokenRevoked
from server.recruiters.arrival import Arrival, IdCipher

_FILE = "secrets.json"
_KEY_FILE = "worker-ids.key"
_SHORTEST = 32  # characters of a key
_HOW = "create a key with `openssl rand -base64 48`; earlier keys may follow, separated by spaces"
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
        """Return the name of the study that a request's path belongs to; None if it belongs to none.

        Args:
            named: the path parameters, such as `study`, `run` or `assignment`.
        """
        ...


class NobodyKnown:
    """A directory without entries: only the installation's own token is valid."""

    async def grant(self, _digest: str) -> Grant | None:
        """Return None."""
        return None

    async def signed_in(self, _digest: str) -> Actor | None:
        """Return None."""
        return None

    async def study_of(self, _named: Mapping[str, str]) -> str | None:
        """Return None."""
        return None


@dataclass(frozen=True, slots=True)
class Ticket:
    """The right of a worker to take part in a run, before anything about them is stored.

    `assignment`: the future id of the assignment; `run`: the run's id. `is_signed`: the link was signed, or a
    researcher admitted a simulated worker. `simulated_as`: the name of the simulator in the data.
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
    """The content of a worker's token: the id of an assignment, or a ticket."""

    opens: str | Ticket
    has_expired: bool


@dataclass(frozen=True)
class Auth:
    """Creates and checks the tokens of one installation.

    `directory` is queried at every check, so new and revoked tokens take effect at once. `id_keys`: the keys
    of workers' ids, the current one first; without any, `secret` is the key.
    """

    secret: str
    researcher_token: str
    token_seconds: int
    directory: Directory = field(default_factory=NobodyKnown)
    id_keys: tuple[str, ...] = ()

    @property
    def secrets(self) -> tuple[str, ...]:
        """The secrets, which must not appear in a log."""
        return self.secret, self.researcher_token, *self.id_keys

    @property
    def mark(self) -> str:
        """A fingerprint of the secret. The secret cannot be computed from it."""
        return self._hmac("mark of the secret").hex()

    @cached_property
    def ids(self) -> IdCipher:
        """The cipher of workers' ids in the database."""
        return IdCipher(self.id_keys or (self.secret,))

    def kept(self, arrival: Arrival) -> Arrival:
        """Return an arrival with an encrypted id, as in the database."""
        return replace(arrival, external_id=self.ids.encrypted(arrival.external_id))

    def known(self, kept: Arrival) -> Arrival:
        """Return an arrival from the database with a decrypted id; empty if the id was removed."""
        return replace(kept, external_id=self.ids.decrypted(kept.external_id) or "")

    def worker_token(self, assignment_id: str) -> str:
        """Return the token for the session of an assignment."""
        return self._serializer().dumps(assignment_id)

    def ticket_token(self, ticket: Ticket) -> str:
        """Return the token for a ticket. It is signed but not encrypted, so it reveals the worker's id."""
        arrival = ticket.arrival
        content: list[Any] = [ticket.assignment, ticket.run, arrival.platform, arrival.external_id]
        content += [ticket.simulated, ticket.reply_pace, ticket.is_signed]
        return self._serializer().dumps([*content, ticket.simulated_as, arrival.visit])

    def opened_by(self, token: str) -> str | Ticket:
        """Return the content of a worker's token: the id of an assignment, or a ticket.

        Raises:
            TokenExpired: the token is older than the installation allows.
            TokenInvalid: the token was not created by this installation, or was altered.
        """
        read = self.read_worker_token(token)
        if read.has_expired:
            raise TokenExpired("This session's link has expired")
        return read.opens

    def read_worker_token(self, token: str) -> WorkerToken:
        """Return the content of a worker's token of any age. Raises TokenInvalid if it is not from here."""
        try:
            content, made_at = self._serializer().loads(token, return_timestamp=True)
        except BadSignature as error:
            raise TokenInvalid("This session's link is not valid here") from error
        # A token from the future is accepted: the clock was set back since it was created.
        has_expired = (utc_now() - made_at).total_seconds() > self.token_seconds
        return WorkerToken(_ticket(content) if isinstance(content, list) else str(content), has_expired)

    def link_signature(self, run: str, worker: str) -> str:
        """Return the signature of a worker's link, which proves that this installation created it.

        Args:
            run: the name of the link's run.
            worker: the worker's id.
        """
        return _in_url(self._hmac("link", run, worker)[:_SIGNATURE_BYTES])

    def is_link_signature(self, signature: str, run: str, worker: str) -> bool:
        """Return whether `signature` is valid for a worker's link to a run."""
        return hmac.compare_digest(signature.encode(), self.link_signature(run, worker).encode())

    async def caller(self, authorization: str | None, sign_in: str | None = None) -> Actor:
        """Return the caller from the `Authorization` header, or without one, from a browser's sign-in cookie.

        Raises:
            NotSignedIn: the sign-in has ended.
            TokenMissing: there is no token, or the header is not `Bearer TOKEN`.
            TokenInvalid: the token is unknown.
            TokenRevoked: the token was revoked.
            StorageFailed: the database could not be read.
        """
        if authorization is None and sign_in is not None:
            person = await self.directory.signed_in(hashed(sign_in))
            if person is None:
                raise NotSignedIn("This browser is no longer signed in")
            return person
        token = _bearer(authorization)
        if hmac.compare_digest(token.encode(), self.researcher_token.encode()):
            return Actor("installation", "the installation's token", {ALL_STUDIES: "owner"})
        grant = await self.directory.grant(hashed(token)) if is_well_formed(token) else None
        if grant is None:
            raise TokenInvalid(
                "This token is not known here", "Check that it is complete and of this server."
            )
        if grant.revoked_at is not None:
            raise TokenRevoked(f"The token “{grant.name}” was revoked")
        return Actor("token", grant.name, grant.roles)

    async def host(self, authorization: str | None) -> Actor:
        """Return the caller that connects as a bot host: a host's token, or a caller who may change bots.

        Raises:
            TokenMissing, TokenInvalid, TokenRevoked, StorageFailed: as in `caller`.
            NotAllowed: the token has another scope.
        """
        actor = await self.caller(authorization)
        if actor.roles:
            actor.require("change_bots")
        return actor

    def pseudonym(self, platform: str, external_id: str) -> str:
        """Return the pseudonym of a worker, which exports show."""
        return "W" + self._hmac("worker", platform, external_id).hex()[:12].upper()

    def completion_code(self, assignment_id: str) -> str:
        """Return the code that proves the submission of an assignment, such as `7KQ2-MX4D`."""
        code = base64.b32encode(self._hmac("completion", assignment_id)).decode()[:8]
        return f"{code[:4]}-{code[4:]}"

    def _serializer(self) -> URLSafeTimedSerializer:
        return URLSafeTimedSerializer(self.secret, salt="worker-session")

    def _hmac(self, *parts: str) -> bytes:
        return hmac.new(self.secret.encode(), "\x1f".join(parts).encode(), hashlib.sha256).digest()


def _ticket(content: list[Any]) -> Ticket:
    # Tickets of earlier versions lack the last two fields.
    content = [*content, "", None][:9]
    assignment, run, platform, external_id, simulated, reply_pace, is_signed, simulated_as, visit = content
    arrival = Arrival(platform, external_id, visit)
    return Ticket(assignment, run, arrival, simulated, reply_pace, is_signed, simulated_as)


def _in_url(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def _bearer(authorization: str | None) -> str:
    """Return the token of an `Authorization` header. Raises TokenMissing, TokenInvalid."""
    if not authorization:
        raise TokenMissing("This needs a token")
    if len(authorization) > _LONGEST_HEADER:
        raise TokenInvalid(
            f"An Authorization header may have at most {_LONGEST_HEADER} characters", "Send only the token."
        )
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bearer":
        raise TokenMissing("The scheme of the Authorization header is not Bearer")
    if not token:
        raise TokenMissing("The Authorization header contains no token")
    return token


def token_file(folder: Path) -> Path:
    """Return the path of the secrets' file in the data folder."""
    return folder / _FILE


def load_auth(folder: Path, token_days: int, id_key: str | None = None) -> Auth:
    """Load the installation's secrets, including the keys of workers' ids.

    Args:
        folder: the data folder.
        token_days: for how many days a worker's session can be resumed.
        id_key: the setting with the key of workers' ids, if any.

    Raises:
        CandorError: as `load_signer`, or a key of workers' ids cannot be used.
    """
    return replace(load_signer(folder, token_days), id_keys=load_id_keys(folder, id_key))


def load_signer(folder: Path, token_days: int) -> Auth:
    """Load the secrets that sign links and tokens, without the keys of workers' ids.

    Raises:
        CandorError: the secrets are missing or cannot be read. `make_secrets` creates them.
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
    """Create the secrets of a new installation. Existing ones are not replaced.

    Raises:
        CandorError: the file cannot be written.
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


def make_secret_file(path: Path, content: str) -> None:
    """Write a secret file atomically. If another process was first, its file stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(f".{secrets.token_hex(4)}")
    draft.touch(mode=0o600)
    draft.write_text(content + "\n", encoding="utf-8")
    with suppress(FileExistsError):
        path.hardlink_to(draft)
    draft.unlink()


def key_file(folder: Path) -> Path:
    """Return the path of the keys' file in the data folder, which is used unless a setting has the keys."""
    return folder / _KEY_FILE


def load_id_keys(folder: Path, given: str | None) -> tuple[str, ...]:
    """Return the keys from the setting or from the file in `folder`, the current key first.

    If there is neither, a key is created. If it is the wrong one, that shows as soon as an id is decrypted.

    Raises:
        CandorError: a key is too short, or the file cannot be created or read.
    """
    if given is not None:
        return _keys(given, "CANDOR_WORKER_ID_KEY")
    path = key_file(folder)
    try:
        if not path.exists():
            make_secret_file(path, secrets.token_urlsafe(48))
        return _keys(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise CandorError(
            f"{path} cannot be used: {error}", "Restore the file from where you keep it."
        ) from error


def _keys(text: str, where: str) -> tuple[str, ...]:
    keys = tuple(text.split())
    if not keys or any(len(key) < _SHORTEST for key in keys):
        raise CandorError(f"{where}: a key needs at least {_SHORTEST} characters", f"Correct it: {_HOW}.")
    return keys
