"""Write the messages of a simulated worker with one of our bots, on the worker's side."""

from dataclasses import dataclass
from typing import Literal, Protocol

from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt

from bots.core.ask import ask
from bots.core.backoff import backoff
from bots.core.chat import Bot, Chat, Turn
from bots.core.failures import BotError
from bots.core.persona_prompt import persona_prompt

Manner = Literal["plain", "careless", "disguised"]
TRIES = 2  # of one line: each may cost money
_PATIENCE = 120.0  # seconds for one try

INSTRUCTIONS = """\
You take part in a study for which you chat with a stranger in a text box. Write your own next message and \
nothing else: no quotation marks, no name in front.

This is who you are:
{persona}"""
_MANNERS: dict[Manner, str] = {
    "plain": "Write as people type in a chat: one or two short sentences. Answer what the other one said, and"
    " sometimes ask something yourself.",
    "careless": "You are paid for this and want to be done. Write three words at most, with no capitals and"
    " no full stop.",
    "disguised": "Write two or three complete, well-formed sentences.",
}
_OPENING = "(The chat begins, and you write first.)"


@dataclass(frozen=True, slots=True)
class OwnChat:
    """A conversation as the simulated worker who is to write the next line has it.

    `turns` is the history as the server knows it, the worker's own lines by "worker". `is_new_topic`:
    nothing has been said about `topic` yet. `language`: the tag of the study's.
    """

    name: str
    seed: int
    persona: tuple[str, ...]
    topic: str
    is_new_topic: bool
    turns: tuple[Turn, ...]
    manner: Manner
    language: str = "en"


class Speaker(Protocol):
    """Whoever finds the words for a simulated worker."""

    async def say(self, chat: OwnChat) -> str:
        """Return the worker's next line. Raises BotError where there is none."""
        ...


class Prompted:
    """Speaks by a language model that is told who it is and what to talk about."""

    def __init__(self, bot: Bot) -> None:
        """Ask `bot`, which takes instructions of a conversation, and has none of its own."""
        self._bot = bot

    async def say(self, chat: OwnChat) -> str:
        """Return what the model writes; it is asked twice at most."""
        turns = other_side(chat.turns)
        if not turns or turns[0].author == "bot":  # models want the other one to begin
            turns = (Turn("worker", _OPENING), *turns)
        return await _asked(self._bot, Chat(chat.name, chat.seed, (), turns, instructions(chat)))


class Retrieved:
    """Speaks by a bot that answers from a corpus; a topic is brought up in words of our own."""

    def __init__(self, bot: Bot) -> None:
        """Ask `bot`."""
        self._bot = bot

    async def say(self, chat: OwnChat) -> str:
        """Return the bot's answer to what was said, or what brings up a new topic."""
        if chat.is_new_topic:
            return f"{'By the way, what' if chat.turns else 'Hi! What'} do you think about {chat.topic}?"
        said = await _asked(self._bot, Chat(chat.name, chat.seed, chat.persona, other_side(chat.turns)))
        return " ".join(said.lower().split()[:3]).rstrip(".,;:!?") if chat.manner == "careless" else said


def instructions(chat: OwnChat) -> str:
    """Return what a model is told of the worker for whom it speaks."""
    topic = (
        f"Bring up a new topic now: {chat.topic}" if chat.is_new_topic else f"You talk about: {chat.topic}"
    )
    tongue = "" if chat.language == "en" else f"\n\nWrite in the language with the tag {chat.language}."
    return persona_prompt(INSTRUCTIONS, chat.persona, f"{_MANNERS[chat.manner]}\n\n{topic}{tongue}")


def other_side(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """Return a conversation as the bot that speaks for the worker sees it: who wrote what is exchanged."""
    return tuple(Turn("bot" if turn.author == "worker" else "worker", turn.text) for turn in turns)


async def _asked(bot: Bot, chat: Chat) -> str:
    tries = AsyncRetrying(
        retry=retry_if_exception(lambda error: isinstance(error, BotError) and error.retry),
        stop=stop_after_attempt(TRIES),
        wait=backoff(0.5, longest=2.0, growth=2.0),
        reraise=True,
    )
    return (await tries(ask, bot, chat, _PATIENCE)).text
