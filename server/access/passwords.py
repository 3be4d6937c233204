"""Hash passwords with Argon2id, and check them at the same cost whether or not the account exists."""

import asyncio
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from server.errors import InvalidField

SHORTEST, LONGEST = (
    12,
    200,
)  # characters: only length counts (NIST SP 800-63B, 3.1.1)
_AT_ONCE = 2  # each takes 64 MiB for some 50 ms
_hasher = PasswordHasher()
_turns = asyncio.Semaphore(_AT_ONCE)


def require_good(password: str) -> None:
    """Check that a password may be chosen. Raises InvalidField."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise InvalidField(
            f"a password must have {SHORTEST} to {LONGEST} characters",
            "Choose several words: they are easy to remember and hard to guess.",
        )


def hashed_now(password: str) -> str:
    """Return the hash of a password. Takes tens of milliseconds."""
    return _hasher.hash(password)


async def hashed(password: str) -> str:
    """Return the hash of a password, computed in a thread."""
    async with _turns:
        return await asyncio.to_thread(hashed_now, password)


async def is_right(stored: str | None, password: str) -> bool:
    """Return whether `stored` is the hash of a password. None (no account) takes as long, and is wrong."""
    async with _turns:
        return await asyncio.to_thread(_verified, stored, password)


def _verified(stored: str | None, password: str) -> bool:
    try:
        _hasher.verify(stored or _nobodys(), password[:LONGEST])
    except (VerificationError, InvalidHashError):
        return False
    return stored is not None


@cache
def _nobodys() -> str:
    return _hasher.hash("the password of nobody")
