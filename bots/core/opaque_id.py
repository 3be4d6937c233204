"""Under which name a bot knows a conversation: it tells nothing of whose it is, nor which of how many."""

from hashlib import blake2b


def opaque_id(seed: int, conversation: str) -> str:
    """Return another name for `conversation`, always the same for the same `seed`, which no bot may know."""
    return blake2b(conversation.encode(), key=str(seed).encode(), digest_size=12).hexdigest()
