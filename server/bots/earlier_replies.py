"""Read earlier replies of a run's systems, for a QC bot that draws from them."""

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from itertools import count
from typing import NamedTuple

import structlog
from sqlalchemy import Connection, select

from bots.serving import NumberedReply
from server.db.sessions.quizzes import shown_lines
from server.db.store import Store
from server.db.tables import AssignmentTable, ConversationTable, SystemTable
from server.errors import StorageFailed

REFRESH = 10.0  # seconds
_MOST_CONVERSATIONS, _MOST_REPLIES = 100, 2_000
_MOST_ASKING = 50_000  # active conversations of the QC bot
log = structlog.get_logger()


class _Reply(NamedTuple):
    conversation: str
    turn: int
    assignment: str
    text: str


class EarlierReplies:
    """Replies in the latest conversations of a run, read again at most every `refresh` seconds.

    There are none before `read_through`. If the database cannot be read, the earlier result stays. `replies`
    has them by number, in a new mapping whenever they have changed.
    """

    def __init__(self, run_id: int, refresh: float = REFRESH) -> None:
        self.replies: Mapping[int, NumberedReply] = {}
        self._run_id = run_id
        self._refresh = refresh
        self._store: Store | None = None
        self._numbers: dict[tuple[str, int], int] = {}  # of the turns that are there
        self._next_number = count(1)
        self._assignments: OrderedDict[str, str] = OrderedDict()
        self._read_at = -math.inf  # by the monotonic clock, in seconds
        self._reading = asyncio.Lock()

    def read_through(self, store: Store) -> None:
        """Read from `store`, which must be started, from now on."""
        self._store = store

    def belongs(self, conversation_id: str, assignment: str) -> None:
        """Remember the assignment of a conversation. `conversation_id` is its id for bots."""
        self._assignments[conversation_id] = assignment
        self._assignments.move_to_end(conversation_id)
        if len(self._assignments) > _MOST_ASKING:
            self._assignments.popitem(last=False)

    def assignment_of(self, conversation_id: str) -> str:
        """Return the assignment of a conversation. Raises KeyError if it was not set with `belongs`."""
        return self._assignments[conversation_id]

    async def refresh(self) -> None:
        """Update `replies`, unless that was done less than `refresh` seconds ago."""
        async with self._reading:
            if self._store is not None and time.monotonic() - self._read_at >= self._refresh:
                await self._fetch(self._store)

    async def _fetch(self, store: Store) -> None:
        try:
            self._take(await store.read(lambda connection: _replies(connection, self._run_id)))
        except StorageFailed as error:
            log.warning("earlier replies not read", run=self._run_id, error=error.message)
        self._read_at = time.monotonic()

    def _take(self, said: Sequence[_Reply]) -> None:
        """Assign numbers to new replies, and drop removed ones."""
        turns = {(reply.conversation, reply.turn): reply for reply in said}
        if turns.keys() == self._numbers.keys():
            return
        known = self._numbers
        self._numbers = {turn: known.get(turn) or next(self._next_number) for turn in turns}
        self.replies = {
            number: NumberedReply(
                number=number,
                conversation=turns[turn].conversation,
                assignment=turns[turn].assignment,
                text=turns[turn].text,
            )
            for turn, number in self._numbers.items()
        }


def _replies(connection: Connection, run_id: int) -> list[_Reply]:
    """Return systems' replies in the latest conversations of a run, without replies that revealed a bot."""
    latest = (
        select(ConversationTable.c.id, ConversationTable.c.assignment_id)
        .join(AssignmentTable, AssignmentTable.c.id == ConversationTable.c.assignment_id)
        .join(SystemTable, SystemTable.c.id == ConversationTable.c.system_id)
        .where(
            AssignmentTable.c.run_id == run_id,
            SystemTable.c.is_qc.is_(False),
            ConversationTable.c.started_at.is_not(None),
        )
        .order_by(ConversationTable.c.started_at.desc(), ConversationTable.c.id)
        .limit(_MOST_CONVERSATIONS)
    )
    conversations = {row.id: row.assignment_id for row in connection.execute(latest)}
    return [
        _Reply(line.conversation, line.turn, conversations[line.conversation], line.text)
        for line in shown_lines(connection, conversations, most=_MOST_REPLIES)
    ]
