"""People in place of bots: another worker of the run, or a researcher at the desk.

A person's replies are read from the database and returned like a bot's. So sessions treat them like bots, and
another process can repeat a call.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from functools import partial

import structlog

from bots import Bot, BotError, Chat, Provenance, Reply
from bots.serving import BotGone, ChatEnded, ask
from server.clock import utc_now
from server.db import partners
from server.db.partners import Found
from server.db.store import Store
from server.errors import StorageFailed
from server.session.partner import (
    BotAnswers,
    PartnerEnd,
    PartnerRules,
    PartnerSay,
    Reason,
    TakeOver,
    what_next,
)
from server.study import WIZARD, Study

_EVERY = 0.5  # seconds between queries, less than any natural reply time
_KEPT = 10_000  # remembered conversations: more than a process has sessions
log = structlog.get_logger()


class People:
    """Polls the database for replies of people, with one query for all waiting conversations.

    Use it in one event loop only. It does not poll while nobody waits.
    """

    def __init__(self) -> None:
        self._store: Store | None = None
        self._names: OrderedDict[str, str] = OrderedDict()
        self._asked: dict[str, asyncio.Future[Found]] = {}
        self._looking: asyncio.Task[None] | None = None

    def start(self, store: Store) -> None:
        """Use this store from now on."""
        self._store = store

    async def close(self) -> None:
        """Stop polling."""
        if self._looking is not None:
            self._looking.cancel()
            with suppress(asyncio.CancelledError):
                await self._looking

    @property
    def store(self) -> Store:
        """The store. Raises BotError if this process is not a server."""
        if self._store is None:
            raise BotError("people answer on a server only")
        return self._store

    def belongs(self, name: str, conversation: str) -> None:
        """Remember that `name` is the id of `conversation` for bots."""
        self._names[name] = conversation
        self._names.move_to_end(name)
        if len(self._names) > _KEPT:
            self._names.popitem(last=False)

    def conversation(self, name: str) -> str:
        """Return the conversation whose id for bots is `name`."""
        return self._names[name]

    async def look(self, conversation: str) -> Found:
        """Return the state of a chat with a person at the next query. Raises StorageFailed."""
        future = self._asked.get(conversation)
        if future is None:
            future = self._asked[conversation] = asyncio.get_running_loop().create_future()
        if self._looking is None or self._looking.done():
            self._looking = asyncio.get_running_loop().create_task(self._look_while_asked())
        return await asyncio.shield(future)

    async def _look_while_asked(self) -> None:
        while self._asked:
            await asyncio.sleep(_EVERY)
            asked, self._asked = self._asked, {}
            try:
                found = await self.store.look_up(partial(partners.find_partners, conversations=tuple(asked)))
            except StorageFailed as error:
                _refuse(asked, error)
                continue
            for conversation, future in asked.items():
                if not future.done():
                    future.set_result(found[conversation])


def _refuse(asked: Mapping[str, asyncio.Future[Found]], error: Exception) -> None:
    for future in asked.values():
        if not future.done():
            future.set_exception(error)
            future.exception()  # mark as retrieved, because the waiting call may be gone


class HumanBot:
    """A person in place of a bot, with a bot that takes over if they do not answer.

    Args:
        study: sets the time-outs, and what follows them.
        take_over: the bot that takes over.
        people: the poller of this process.
    """

    _note_take_over = staticmethod(partners.give_up_partner)  # returns whether the bot takes over

    def __init__(self, study: Study, take_over: Bot, people: People) -> None:
        if study.people is None:
            raise ValueError("The study does not say what happens where nobody answers in time")
        self._settings = study.people
        self._bot_try = study.timeouts.bot_try
        self._take_over = take_over
        self._people = people
        self._rules = PartnerRules(
            wait=study.people.wait,
            reply=study.people.reply,
            when_left=study.people.when_left,
            minimum_inputs=study.minimum_inputs,
        )

    def belongs(self, name: str, conversation: str) -> None:
        """Remember that `name` is the id of `conversation` for bots."""
        self._people.belongs(name, conversation)

    @property
    def patience(self) -> float:
        """Seconds after which there is certainly a reply, of the person or of the bot."""
        return max(self._rules.wait, self._rules.reply) + 2 * self._bot_try

    async def reply(self, chat: Chat) -> Reply:
        """Return the person's reply, or that of the bot that has taken over.

        Raises:
            ChatEnded: the person has left, and the worker has written enough for the chat to end.
            BotGone: the person has left too early, and no bot may take over.
            BotError: the database could not be read, or the bot failed.
        """
        conversation, index = self._people.conversation(chat.conversation_id), len(chat.turns)
        try:
            said = await self._person(conversation, index)
        except StorageFailed as error:
            raise BotError("the database did not answer") from error
        return said or await ask(self._take_over, chat, self._bot_try)

    async def _person(self, conversation: str, index: int) -> Reply | None:
        """Return the person's reply; None if a bot has taken over."""
        loop = asyncio.get_running_loop()
        since = loop.time()
        await self._enter(conversation, index)
        while True:
            found = await self._look(conversation, index)
            following = what_next(found.standing, index, found.inputs, loop.time() - since, self._rules)
            match following:
                case PartnerSay(text):
                    return Reply(text, provenance=_made_by(found.by))
                case BotAnswers():
                    return None
                case PartnerEnd(why, in_order=True):
                    raise ChatEnded(f"the chat partner is gone: {why}")
                case PartnerEnd(why):
                    raise BotGone(f"the chat partner is gone: {why}")
                case TakeOver(why):
                    await self._give_up(conversation, index, why)

    async def _give_up(self, conversation: str, index: int, why: Reason) -> None:
        """Let the bot take over, unless the person has answered meanwhile. The next query shows which."""
        bot, now = self._settings.take_over, utc_now()
        if await self._people.store.submit(
            lambda connection: self._note_take_over(connection, conversation, index, why, bot, now)
        ):
            log.info("a bot takes over", conversation=conversation, turn=index, because=why)

    async def _look(self, conversation: str, _index: int) -> Found:
        """Return the state of the chat at the next query."""
        return await self._people.look(conversation)

    async def _enter(self, conversation: str, index: int) -> None:
        """Store that a worker waits for a partner."""
        if index > 1:
            return
        now = utc_now()
        latest = now - timedelta(seconds=self._rules.wait)
        await self._people.store.submit(
            lambda connection: partners.enter(connection, conversation, now, latest)
        )


class WizardBot(HumanBot):
    """A researcher in place of a bot, who replies at the desk, with a bot that takes over."""

    _note_take_over = staticmethod(partners.give_up_wizard)

    async def _look(self, conversation: str, index: int) -> Found:
        await asyncio.sleep(_EVERY)
        return await self._people.store.look_up(
            lambda connection: partners.find_wizard(connection, conversation, index)
        )

    async def _enter(self, conversation: str, index: int) -> None:
        now = utc_now()
        await self._people.store.submit(lambda connection: partners.ask(connection, conversation, index, now))


def _made_by(researcher: str | None) -> Provenance | None:
    """Return the provenance of a researcher's reply; None for another worker's."""
    return None if researcher is None else Provenance(model=WIZARD, replica=researcher)
