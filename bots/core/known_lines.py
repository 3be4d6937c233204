"""Leave out lines that the other end of a connection already has."""

from collections import OrderedDict

from bots.core.chat import Chat, Turn

MOST = 4_096  # conversations


class KnownLines:
    """The lines of the latest conversations that were asked about, as both ends of a connection know them.

    Each end keeps what it sends or receives, in the same order, and so both forget the same.
    """

    def __init__(self, most: int = MOST) -> None:
        """Know nothing yet; keep the lines of `most` conversations."""
        self._most = most
        self._lines: OrderedDict[str, tuple[Turn, ...]] = OrderedDict()

    def count(self, chat: Chat) -> int:
        """Return how many lines of `chat`, from the first, are known; never all of them."""
        before = self._lines.get(chat.conversation_id, ())[: len(chat.turns) - 1]
        return len(before) if chat.turns[: len(before)] == before else 0  # mostly the same objects

    def first(self, conversation_id: str, count: int) -> tuple[Turn, ...]:
        """Return the first `count` lines of a conversation. Raises KeyError: they are not known."""
        before = self._lines.get(conversation_id, ())
        if len(before) < count:
            raise KeyError(conversation_id)
        return before[:count]

    def keep(self, chat: Chat) -> None:
        """Know the lines of `chat` from now on."""
        self._lines[chat.conversation_id] = chat.turns
        self._lines.move_to_end(chat.conversation_id)
        if len(self._lines) > self._most:
            self._lines.popitem(last=False)
