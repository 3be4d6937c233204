"""The layout of a conversation as messages of a user and an assistant.

The chat templates of models differ: some take no system message, or only one by a `developer`; some refuse
two messages of one author in a row, or content that is plain text.
"""

from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

from bots.core.chat import Chat

Instructions = Literal["system", "developer", "first_message"]
Message = dict[str, Any]
_ROLES = {"worker": "user", "bot": "assistant"}


@dataclass(frozen=True, slots=True)
class MessageLayout:
    """How a model takes instructions and messages.

    `instructions`: in a message with this role, or at the head of the first message. `alternating`: messages
    of one author in a row are joined. `parts`: content is a list of parts. `bot_first`: the assistant may
    speak first; otherwise its opening line is left out.
    """

    instructions: Instructions = "system"
    alternating: bool = False
    parts: bool = False
    bot_first: bool = True

    def messages(self, opening: str, chat: Chat) -> list[Message]:
        """Return the messages of a chat, with the instructions `opening`, if any."""
        said = [(_ROLES[turn.author], turn.text) for turn in chat.turns]
        if self.alternating:
            said = [
                (role, "\n".join(text for _, text in each)) for role, each in groupby(said, lambda s: s[0])
            ]
        if not self.bot_first and said[0][0] == "assistant" and len(said) > 1:
            said = said[1:]
        if opening and self.instructions == "first_message":
            (role, text), *rest = said
            said = [(role, f"{opening}\n\n{text}"), *rest]
        elif opening:
            said = [(self.instructions, opening), *said]
        return [self.message(role, text) for role, text in said]

    def message(self, role: str, text: str) -> Message:
        """Return one message."""
        return {"role": role, "content": [{"type": "text", "text": text}] if self.parts else text}


LAYOUTS = tuple(
    MessageLayout(instructions, alternating, parts)
    for parts in (False, True)
    for instructions in ("system", "developer", "first_message")
    for alternating in (False, True)
)
"""The layouts that a check tries, the usual one first."""
