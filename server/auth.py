"""Who may do what: workers' tokens, the researcher's token, pseudonyms and completion codes.

Everything is derived from one secret, kept beside the database and readable by its owner only.
"""

import base64
import hashlib
import hmac
import json
import secrets
from dataclasses import dataclass
from pathlib import Path

from itsdangerous import BadSignature, SignatureExpired, URLSafeTimedSerializer

from server.errors import CandorError, TokenExpired, TokenInvalid, TokenMissing

_FILE = "secrets.json"


@dataclass(frozen=True)
class Auth:
    """Makes and checks the tokens of one installation."""

    secret: str
    researcher_token: str
    token_seconds: int

    def worker_token(self, assignment_id: str) -> str:
        """Return the token that opens this assignment's session."""
        return self._serializer().dumps(assignment_id)

    def assignment_of(self, token: str) -> str:
        """Return the id of the assignment that a worker's token opens.

        Raises:
            TokenExpired: the token is older than the installation allows.
            TokenInvalid: the token was not made here, or was altered.
        """
        try:
            assignment_id = self._serializer().loads(token, max_age=self.token_seconds)
        except SignatureExpired as error:
            raise TokenExpired("this session's link has expired") from error
        except BadSignature as error:
            raise TokenInvalid("this session's link is not valid here") from error
        return str(assignment_id)

    def require_researcher(self, authorization: str | None) -> None:
        """Check an `Authorization` header.

        Raises:
            TokenMissing: there is none.
            TokenInvalid: it is not the researcher's.
        """
        scheme, _, token = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise TokenMissing("the researcher's token is needed here")
        if not hmac.compare_digest(token.encode(), self.researcher_token.encode()):
            raise TokenInvalid(
                "this is not the researcher's token",
                "The server prints its link with the token when it starts.",
            )

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


def load_auth(folder: Path, token_days: int) -> Auth:
    """Return the installation's secrets from `folder`; make them on the first start.

    Raises:
        CandorError: they cannot be made or read. They are never made anew: links given out and
            pseudonyms depend on them.
    """
    path = folder / _FILE
    try:
        if not path.exists():
            _make_secrets(path)
        stored = json.loads(path.read_text(encoding="utf-8"))
        secret, token = str(stored["secret"]), str(stored["researcher_token"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = f"{path} cannot be used: {error}"
        raise CandorError(
            reason, "Restore the file from a backup, or choose another --data folder."
        ) from error
    return Auth(secret, token, token_days * 86_400)


def _make_secrets(path: Path) -> None:
    """Write new secrets, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"secret": secrets.token_urlsafe(32), "researcher_token": secrets.token_urlsafe(18)}
    draft = path.with_suffix(".new")
    draft.touch(mode=0o600)
    draft.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    draft.replace(path)
