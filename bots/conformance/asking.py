"""Ask a bot the lines of the script. Everything else in a check is computed from the answers."""

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from bots.conformance.script import (
    LINES,
    CheckResponses,
    Script,
    ScriptAnswer,
    at_once_scripts,
    calls,
    draw_scripts,
    swapped,
)
from bots.core.ask import ask
from bots.core.chat import Bot, Chat, Reply, Turn, opaque_id
from bots.core.failures import BotError

_IN_A_ROW, _IN_ALL = 3, 6


@dataclass(slots=True)
class _Asking:
    """A check under way."""

    bot: Bot
    patience: float
    progress: Callable[[int], None]
    rng: random.Random
    answers: list[ScriptAnswer] = field(default_factory=list)

    async def hold(self, script: Script, conversation: int) -> list[Chat]:
        """Hold one conversation, and return the chats that the bot was asked.

        Lines without a reply are removed from the history, so that all later lines are asked as in a
        successful conversation.
        """
        turns: tuple[Turn, ...] = ()
        chats = []
        # Ids and seeds look like those of workers' conversations, so that a bot cannot detect the check.
        seed = self.rng.getrandbits(63)
        name = opaque_id(self.rng.getrandbits(63), "check")
        for line in script.lines:
            chat = Chat(name, seed, script.persona, (*turns, Turn("worker", line)))
            chats.append(chat)
            answer = await self.ask(script, conversation, chat)
            if answer is not None and answer.spoke:
                turns = (*chat.turns, Turn("bot", answer.text))
        return chats

    async def ask(self, script: Script, conversation: int, chat: Chat) -> ScriptAnswer | None:
        """Ask once, unless the bot has failed too often."""
        if self.hopeless:
            return None
        line = chat.turns[-1].text
        started = time.perf_counter()
        reply, error = Reply(""), None
        try:
            reply = await ask(self.bot, chat, self.patience)
        except BotError as failure:
            error = failure
        answer = ScriptAnswer(
            part=script.part,
            conversation=conversation,
            persona=script.persona,
            line=line,
            direct=line in script.direct,
            seconds=time.perf_counter() - started,
            text=reply.text,
            error=error,
            output=reply.output or reply.text,
            changes=reply.changes,
            answers=script.answers.get(line, ()),
            earlier=tuple(turn.text for turn in chat.turns[:-1]),
        )
        self.answers.append(answer)
        self.progress(len(self.answers))
        return answer

    @property
    def hopeless(self) -> bool:
        """Whether the bot fails so often that further calls would only take time."""
        failed = [answer.failed for answer in self.answers]
        return sum(failed) >= _IN_ALL or (len(failed) >= _IN_A_ROW and all(failed[-_IN_A_ROW:]))


async def ask_script(
    bot: Bot,
    at_once: int,
    patience: float,
    progress: Callable[[int, int], None],
    rng: random.Random,
    lines: int = LINES,
    language: str = "en",
) -> CheckResponses:
    """Ask `bot` the whole script: conversations one by one, some calls again, then many at once.

    Args:
        bot: the bot.
        at_once: simultaneous conversations in the study; as many are held here, up to MOST_AT_ONCE.
        patience: seconds that a call may take.
        progress: called with the number of calls done, and of all calls.
        rng: draws the lines, and the conversations' names and seeds.
        lines: the least number of a worker's lines in a conversation of the study.
        language: the study's.
    """
    total = calls(at_once, lines)
    progress(0, total)
    asking = _Asking(bot, patience, lambda done: progress(done, total), rng)
    scripts = draw_scripts(rng, lines, language)
    held = [await asking.hold(script, i) for i, script in enumerate(scripts.alone)]
    again = Script("again", scripts.small_talk.lines)
    for at in (0, len(held[0]) - 1):
        await asking.ask(again, at, held[0][at])
    elsewhere = held[-2][-1].turns[:-1]  # the questions without a persona
    for at in swapped(scripts.small_talk):
        chat = held[0][at]
        await asking.ask(Script("swapped", ()), at, replace(chat, turns=(*elsewhere, chat.turns[-1])))
    many = at_once_scripts(at_once, rng, language)
    await asyncio.gather(*(asking.hold(script, i) for i, script in enumerate(many)))
    return CheckResponses(tuple(asking.answers), stopped=len(asking.answers) < total)
