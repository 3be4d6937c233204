"""Limit the tries for one line where each call costs money."""

from collections import OrderedDict

from bots.core.chat import Chat
from bots.core.failures import BotBusy, BotError

_REMEMBERED = 10_000  # lines that were asked for in vain


class PaidCalls:
    """Counts the calls for each line, and tells when there were enough."""

    def __init__(self, most: int) -> None:
        """Allow `most` calls for a line."""
        self._most = most
        self._made: OrderedDict[tuple[str, int], int] = OrderedDict()

    def count(self, chat: Chat, error: BotError) -> None:
        """Count a call that has failed; where it was the last that is allowed, `error` is not to be repeated.

        A call that found nobody, or for which there was no time, has cost nothing, and does not count.
        """
        if error.unreached or isinstance(error, BotBusy):
            return
        line = (chat.conversation_id, len(chat.turns))
        made = self._made.pop(line, 0) + 1
        if made >= self._most:
            error.retry = False
            error.args = (f"{error}; asked {made} times, the most for a bot whose calls are paid",)
            return
        self._made[line] = made
        while len(self._made) > _REMEMBERED:
            self._made.popitem(last=False)

    def forget(self, chat: Chat) -> None:
        """Forget a line for which there is a reply."""
        self._made.pop((chat.conversation_id, len(chat.turns)), None)
