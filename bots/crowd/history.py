"""Lines of a simulated worker's conversation so far: a fold of the server's messages."""

from bots.core.chat import Turn
from bots.crowd.view import Message


class History:
    """The lines of one conversation, by their number. Side by side, only the left bot's lines are kept."""

    def __init__(self) -> None:
        self._lines: dict[int, Turn] = {}

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The lines so far, oldest first."""
        return tuple(self._lines[index] for index in sorted(self._lines))

    def hear(self, message: Message) -> None:
        """Apply a message from the server."""
        match message["type"]:
            case "conversation_started":
                self._lines = {}
            case "said":
                self._lines[message["turn"]] = Turn("bot", message["text"])
            case "said_by_both":
                self._lines[message["turn"]] = Turn("bot", message["left"])
            case "snapshot" if message["conversation"] is not None:
                turns = message["conversation"].get("turns", ())
                self._lines = {index: Turn(turn["author"], turn["text"]) for index, turn in enumerate(turns)}

    def speak(self, say: Message) -> None:
        """Add a line of the worker that the server has accepted."""
        self._lines[say["turn"]] = Turn("worker", say["text"])
