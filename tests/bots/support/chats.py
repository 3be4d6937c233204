"""Chats as requests have them."""

from typing import Any

from bots import Chat


def as_request(chat: Chat) -> dict[str, Any]:
    """Return the body of a request for the next reply of a chat, by Candor's own contract."""
    return {
        "conversation_id": chat.conversation_id,
        "seed": chat.seed,
        "persona": list(chat.persona),
        "turns": [{"author": turn.author, "text": turn.text} for turn in chat.turns],
    }
