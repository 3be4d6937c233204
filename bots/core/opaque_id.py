"""Under which name a bot knows a conversation: it tells nothing of whose it is, nor which of how many."""

from functools import lru_cache
from hashlib import blake2b

_CONVERSATIONS = 4_096  # whose names are kept: each is asked for at every turn


@lru_cache(maxsize=_CONVERSATIONS)
def opaque_id(seed: int, conversation: str) -> str:
    """Return another name for `conversation`, always the same for the same `seed`, which no bot may know."""
    return blake2b(conversation.encode(), key=str(seed).encode(), digest_size=12).hexdigest()
