"""An event of Prolific as it arrives: whether it is genuine, and what it is about.

Source: Prolific's documents on webhooks, "Verifying": the signature is base64 of HMAC-SHA256(secret,
timestamp + body as it was sent), and the timestamp is in seconds since 1970.
"""

import base64
import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from pydantic import ValidationError

from server.recruiters.prolific.connection import Answer

SIGNATURE, TIMESTAMP, EVENT = (
    "X-Prolific-Request-Signature",
    "X-Prolific-Request-Timestamp",
    "X-Event-ID",
)
_SECONDS = 300  # by which an event's time may differ from ours
_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")


class NotGenuine(Exception):
    """An event is forged, altered, too old, or none at all; the message says which, and names nobody."""


@dataclass(frozen=True, slots=True)
class ArrivedEvent:
    """An event that Prolific has sent. `study` or `submission`: what it is about, where it says so."""

    id: str
    signature: str
    study: str | None
    submission: str | None


class _Payload(Answer):
    event_type: str
    resource_id: str
    study_id: str | None = None


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """Return what an event is signed with."""
    return base64.b64encode(
        hmac.new(secret.encode(), timestamp.encode() + body, hashlib.sha256).digest()
    ).decode()


def genuine(secret: str, headers: Mapping[str, str], body: bytes, at: datetime) -> ArrivedEvent:
    """Return the event that has arrived with `headers` and `body` at the time `at`.

    Raises:
        NotGenuine: the secret has not signed it, it is too old, or it is no event.
    """
    given, timestamp = headers.get(SIGNATURE, ""), headers.get(TIMESTAMP, "")
    # Compared as bytes: `compare_digest` refuses text beyond ASCII.
    if not hmac.compare_digest(given.encode(), signature(secret, timestamp, body).encode()):
        raise NotGenuine("its signature is not that of our secret")
    if not re.fullmatch(r"[0-9]{1,11}", timestamp):
        raise NotGenuine(f"{TIMESTAMP} is no time in seconds")
    age = round(at.timestamp()) - int(timestamp)
    if abs(age) > _SECONDS:
        raise NotGenuine(
            f"it was sent {abs(age)} seconds {'ago' if age > 0 else 'from now'}; {_SECONDS} are allowed"
        )
    event = headers.get(EVENT, "")
    if not _ID.fullmatch(event):
        raise NotGenuine(f"{EVENT} is missing, or no id")
    try:
        payload = _Payload.model_validate_json(body)
    except ValidationError as error:
        raise NotGenuine("it does not say what it is about") from error
    if payload.event_type.startswith("study."):
        return ArrivedEvent(event, given, payload.resource_id, None)
    return ArrivedEvent(event, given, payload.study_id, payload.resource_id)
