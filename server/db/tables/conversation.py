"""The tables of the conversations and items at the positions of an assignment, and their ratings."""

from datetime import datetime
from typing import Final

from sqlalchemy import BigInteger, Index, UniqueConstraint
from sqlmodel import Field

from server.db.tables.table import TableBase

REMOVED: Final = "[removed]"  # replaces a text that was removed
PERSONA_SEPARATOR = "\n"  # between the lines of a persona


class ConversationTable(TableBase, table=True):
    """The `attempt`-th conversation at a position of an assignment; a failed one is followed by another.

    `side`: in a pair, `left` (an odd position) or `right` (the position after it).
    """

    __table_args__ = (UniqueConstraint("assignment_id", "position", "attempt"),)
    id: str = Field(primary_key=True)
    assignment_id: str = Field(foreign_key="assignment.id")
    position: int
    attempt: int
    system_id: int = Field(foreign_key="system.id", index=True)
    seed: int = Field(sa_type=BigInteger)
    persona: str
    icebreaker: str | None
    status: str
    scenario: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    ended_by: str | None = None
    rated_at: datetime | None = None
    rated_by: str | None = None
    side: str | None = None


class ChoiceTable(TableBase, table=True):
    """A worker's choice between two conversations after a line of both; stored with the left one."""

    conversation_id: str = Field(foreign_key="conversation.id", primary_key=True)
    turn_index: int = Field(primary_key=True)
    preference: str
    client_id: str
    created_at: datetime


class ShownItemTable(TableBase, table=True):
    """An item at a position of an assignment, in place of a chat. `twin_of`: a position."""

    conversation_id: str = Field(foreign_key="conversation.id", primary_key=True)
    item_id: int = Field(foreign_key="item.id", index=True)
    kind: str
    twin_of: int | None


class ItemEditTable(TableBase, table=True):
    """A worker's improved text of an item."""

    conversation_id: str = Field(foreign_key="conversation.id", primary_key=True)
    text: str
    share: float
    created_at: datetime


class TurnTable(TableBase, table=True):
    """One line of a conversation. `show_at`: the earliest time at which a bot's line may be shown."""

    conversation_id: str = Field(foreign_key="conversation.id", primary_key=True)
    turn_index: int = Field(primary_key=True)
    author: str
    text: str
    client_id: str | None
    created_at: datetime
    show_at: datetime
    latency_ms: int | None


class WritingTable(TableBase, table=True):
    """Counts of how a worker wrote a message, made by their page: `session.writing`."""

    conversation_id: str = Field(foreign_key="conversation.id", primary_key=True)
    turn_index: int = Field(primary_key=True)
    typed: int
    composed: int
    pasted: int
    pastes: int
    writing_ms: int
    longest_pause_ms: int
    away: int
    away_ms: int


class ModeratedLineTable(TableBase, table=True):
    """The moderation service's judgement of a line; a line without a row was not sent to it.

    `flagged`: null if the service would not judge the line. `categories`: those for which it is flagged,
    separated by commas. `score`: the highest of all categories. `model`: the service's name of the model.
    `seen_at`, `seen_by`: when and by which researcher a flagged line was marked as seen.
    """

    conversation_id: str = Field(foreign_key="conversation.id", primary_key=True)
    turn_index: int = Field(primary_key=True)
    flagged: bool | None
    categories: str
    score: float | None
    model: str | None
    judged_at: datetime
    seen_at: datetime | None = None
    seen_by: str | None = None


class ReplyOutputTable(TableBase, table=True):
    """A model's full output, if the reply shown differs from it, and the differences.

    It is a table of its own, so that queries for workers never read it. `changes`: as named in `bots.shown`,
    separated by commas.
    """

    conversation_id: str = Field(foreign_key="conversation.id", primary_key=True)
    turn_index: int = Field(primary_key=True)
    output: str
    changes: str


class HumanConversationTable(TableBase, table=True):
    """A conversation whose chat partner is another worker.

    `partner_id`: the other worker's conversation. `came_first`: this worker waited for the other one.
    `taken_over_by`: the bot that answers from line `taken_over_from` on, because of `nobody_came`, `silent`
    or `left`.
    """

    conversation_id: str = Field(foreign_key="conversation.id", primary_key=True)
    run_id: int = Field(foreign_key="run.id", index=True)
    waiting_since: datetime
    partner_id: str | None = Field(default=None, foreign_key="conversation.id", unique=True)
    came_first: bool | None = None
    met_at: datetime | None = None
    taken_over_by: str | None = None
    taken_over_from: int | None = None
    taken_over_because: str | None = None
    taken_over_at: datetime | None = None


class WizardLineTable(TableBase, table=True):
    """A line for which a worker waits while a researcher answers in a chatbot's place.

    `answered_by`: the pseudonym of the researcher who answered. Without a `text`, a bot took over, or the
    conversation ended.
    """

    conversation_id: str = Field(foreign_key="conversation.id", primary_key=True)
    turn_index: int = Field(primary_key=True)
    asked_at: datetime
    text: str | None = None
    answered_by: str | None = None
    answered_at: datetime | None = None


class BotCallTable(TableBase, table=True):
    """A call of a bot for a line, which was answered: see `server.session.records`.

    `failure` is null if the answer is the line; `output` is stored if it is not.
    """

    __table_args__ = (Index("bot_call_of_a_turn", "conversation_id", "turn_index"),)
    id: int | None = Field(default=None, primary_key=True)
    conversation_id: str = Field(foreign_key="conversation.id")
    turn_index: int
    tries: int
    failure: str | None
    output: str | None
    model: str | None
    revision: str | None
    prompt_hash: str | None
    sampling: str | None
    tokens_in: int | None
    tokens_out: int | None
    cost: float | None
    finish_reason: str | None
    replica: str | None
    queued_ms: int | None
    computed_ms: int | None
    created_at: datetime


class TopicMarkTable(TableBase, table=True):
    """A topic as the worker recorded it, after `round` messages; the opening topic has round 0, ordinal 0."""

    conversation_id: str = Field(foreign_key="conversation.id", primary_key=True)
    ordinal: int = Field(primary_key=True)
    round: int
    topic: str
    opinion: str
    how: str | None
    bot_opinion: str | None
    client_id: str
    created_at: datetime


class RatingTable(TableBase, table=True):
    """One value from 0 to 100, as the worker gave it."""

    conversation_id: str = Field(foreign_key="conversation.id", primary_key=True)
    criterion: str = Field(primary_key=True)
    value: int
    created_at: datetime


class TurnRatingTable(TableBase, table=True):
    """A worker's rating of a reply, from 0 to 100; of several the last one counts."""

    id: int | None = Field(default=None, primary_key=True)
    conversation_id: str = Field(foreign_key="conversation.id", index=True)
    turn_index: int
    value: int
    created_at: datetime
    client_id: str


class MessageReportTable(TableBase, table=True):
    """A worker's report of a message: the reason, and a note. `leaves`: they left with the report.

    `taken_back_at`: they took it back, or reported the line again. `seen_by`: the researcher who marked it as
    seen.
    """

    id: int | None = Field(default=None, primary_key=True)
    conversation_id: str = Field(foreign_key="conversation.id", index=True)
    turn_index: int
    reason: str
    note: str | None
    leaves: bool
    created_at: datetime
    client_id: str
    taken_back_at: datetime | None = None
    taken_back_by: str | None = None
    seen_at: datetime | None = None
    seen_by: str | None = None


class QuizTable(TableBase, table=True):
    """The quiz after a conversation: the choice, and whether it is the partner's line.

    `why_not`: why there was no quiz, `few_replies` or `few_lines`; then there are no lines.
    """

    conversation_id: str = Field(foreign_key="conversation.id", primary_key=True)
    why_not: str | None = None
    asked_at: datetime
    choice: int | None = None
    is_right: bool | None = None
    answered_at: datetime | None = None
    client_id: str | None = None


class QuizLineTable(TableBase, table=True):
    """Line number `choice` of a quiz, from 1, and where it was said; one in the conversation itself."""

    conversation_id: str = Field(foreign_key="quiz.conversation_id", primary_key=True)
    choice: int = Field(primary_key=True)
    text: str
    said_in_id: str = Field(foreign_key="conversation.id")
    turn_index: int


class NoteTable(TableBase, table=True):
    """An incident in a conversation, such as a bot that failed, gave up, was replaced or revealed itself.

    `failure`: the kind of failure of a failed try; null for everything else, and for rows from before 0.2.
    """

    id: int | None = Field(default=None, primary_key=True)
    conversation_id: str = Field(foreign_key="conversation.id", index=True)
    kind: str
    text: str
    created_at: datetime
    failure: str | None = None
