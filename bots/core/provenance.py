"""Provenance of a reply: model, version, settings, tokens and cost."""

from dataclasses import dataclass
from hashlib import sha256


@dataclass(frozen=True, slots=True)
class Provenance:
    """What is known of the making of a reply, or of a try that failed. What nobody told is None.

    `model`: as the server names it, which may be another than was asked for. `revision`: what tells
    versions of it apart: a fingerprint, a commit, a hash of weights. `prompt_hash`: of the instructions,
    without the persona. `sampling`: JSON of the options of the request. `cost`: by the bot's prices.
    `finish_reason`: in the server's own word. `replica`: which server or host answered. `queued_ms`,
    `computed_ms`: how long the chat waited for the model, and how long that took.
    """

    model: str | None = None
    revision: str | None = None
    prompt_hash: str | None = None
    sampling: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    finish_reason: str | None = None
    replica: str | None = None
    queued_ms: int | None = None
    computed_ms: int | None = None


def prompt_hash(*parts: str) -> str:
    """Return 16 digits that tell instructions apart."""
    return sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:16]
