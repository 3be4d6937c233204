"""Tables of workers and their assignments, with the conversations and items at the assignments' positions."""

from datetime import datetime
from typing import ClassVar, Final

import sqlalchemy as sa
from sqlalchemy import BigInteger, Index, UniqueConstraint
from sqlmodel import Field

from server.db.tables.table import TableBase, index_where


class WorkerTable(TableBase, table=True):
    """A real or simulated worker, as their platform names them: the id encrypted, and the pseudonym.

    Exports show only the pseudonym.
    """

    removed_with: ClassVar = "id"
    __table_args__ = (UniqueConstraint("platform", "external_id"),)
    id: int | None = Field(default=None, primary_key=True)
    platform: str
    external_id: str
    pseudonym: str = Field(unique=True)


class AssignmentTable(TableBase, table=True):
    """One worker's assignment in a run. `place` is its slot's number in the balanced design; a later
    assignment may fill the same slot once this one has expired or was returned.

    `consent_ticked` has the labels of the ticked boxes, separated by commas.

    `released`: it has expired because a researcher ended it, so the worker did not drop out.

    `fence` counts how often a process has taken the session over. Each write names the number under which its
    process took over, so a process that has lost the session cannot write to it. Before the first take-over
    it is 0, and the session belongs to the process that stored the assignment.
    """

    removed_with: ClassVar = "words: `feedback`"
    __table_args__ = (
        UniqueConstraint("run_id", "worker_id"),
        index_where(
            "status IN ('active', 'completed')",
            "one_holder_of_a_place",
            "run_id",
            "simulated",
            "place",
            unique=True,
        ),
        Index("place_of_a_run", "run_id", "simulated", "place"),
        # Find workers who are silent, or take too long, when a slot is needed.
        index_where("status = 'active'", "silent_since", "run_id", "simulated", "active_at"),
        index_where("status = 'active'", "under_way_since", "run_id", "simulated", "created_at"),
        # Few rows, counted at each arrival.
        index_where("released", "released_of_a_run", "run_id", "simulated"),
    )
    id: str = Field(primary_key=True)
    run_id: int = Field(foreign_key="run.id", index=True)
    worker_id: int = Field(foreign_key="worker.id")
    place: int
    simulated: bool
    reply_pace: float
    status: str
    created_at: datetime
    active_at: datetime
    agreed_at: datetime | None = None
    agreed_by: str | None = None
    consent_version: str | None = None
    consent_ticked: str | None = None
    ended_at: datetime | None = None
    feedback: str | None = None
    feedback_by: str | None = None
    simulated_as: str | None = None
    released: bool = Field(default=False, sa_column_kwargs={"server_default": sa.false()})
    fence: int = Field(default=0, sa_column_kwargs={"server_default": "0"})


class VisitTable(TableBase, table=True):
    """A visit of an assignment's worker, by their platform's id of it.

    Prolific: the submission; Connect: the assignment; SONA and links: nothing.
    """

    removed_with: ClassVar = "id"
    assignment_id: str = Field(foreign_key="assignment.id", primary_key=True)
    visit: str = Field(primary_key=True)
    at: datetime


class TutorialAnswerTable(TableBase, table=True):
    """An answer to a test question, right or wrong."""

    removed_with: ClassVar = "all"
    id: int | None = Field(default=None, primary_key=True)
    assignment_id: str = Field(foreign_key="assignment.id", index=True)
    question: int
    answer: int
    is_right: bool
    created_at: datetime
    client_id: str


class QuestionnaireTable(TableBase, table=True):
    """A worker has submitted the questionnaire before, or after, all conversations."""

    removed_with: ClassVar = "all"
    assignment_id: str = Field(foreign_key="assignment.id", primary_key=True)
    part: str = Field(primary_key=True)
    created_at: datetime
    client_id: str


class AnswerTable(TableBase, table=True):
    """An answer to a question: a text or a number. Each of several choices is a row.

    `conversation_id`: the conversation that it is about; null before and after all of them.
    """

    removed_with: ClassVar = "words: `text` of free answers; all: the row"
    id: int | None = Field(default=None, primary_key=True)
    assignment_id: str = Field(foreign_key="assignment.id", index=True)
    conversation_id: str | None = Field(default=None, foreign_key="conversation.id", index=True)
    part: str
    label: str
    text: str | None
    number: float | None
    created_at: datetime


class ExclusionTable(TableBase, table=True):
    """An assignment that analyses exclude, and the reason."""

    assignment_id: str = Field(foreign_key="assignment.id", primary_key=True)
    reason: str
    excluded_at: datetime


class RemovalTable(TableBase, table=True):
    """The data removed from an assignment. `extent`: `words` or `all`; `cause`: the reason."""

    assignment_id: str = Field(foreign_key="assignment.id", primary_key=True)
    extent: str
    cause: str
    at: datetime


REMOVED: Final = "[removed]"  # replaces a text that was removed
PERSONA_SEPARATOR = "\n"  # between the lines of a persona


class ConversationTable(TableBase, table=True):
    """The `attempt`-th conversation at a position of an assignment; a failed one is followed by another.

    `persona` and `icebreaker` are the bot's. `side`: in a pair, `left` (an odd position) or `right` (the
    position after it).
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

    removed_with: ClassVar = "all"
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

    removed_with: ClassVar = "words: `text`; all: the row"
    conversation_id: str = Field(foreign_key="conversation.id", primary_key=True)
    text: str
    share: float
    created_at: datetime


class TurnTable(TableBase, table=True):
    """One line of a conversation, by a worker or a bot.

    `show_at`: the earliest time at which a bot's line may be shown.
    """

    removed_with: ClassVar = "words: `text`; all: the row"
    conversation_id: str = Field(foreign_key="conversation.id", primary_key=True)
    turn_index: int = Field(primary_key=True)
    author: str
    text: str
    client_id: str | None
    created_at: datetime
    show_at: datetime
    latency_ms: int | None


class WritingTable(TableBase, table=True):
    """Counts of how a worker wrote a message, made by their page."""

    removed_with: ClassVar = "words: the row"
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

    removed_with: ClassVar = "words: `categories`, `score`; all: the row"
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

    removed_with: ClassVar = "words: the row"
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

    removed_with: ClassVar = "words: `text`"
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

    removed_with: ClassVar = "words: `output`"
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

    removed_with: ClassVar = "words: `topic`; all: the row"
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

    removed_with: ClassVar = "all"
    conversation_id: str = Field(foreign_key="conversation.id", primary_key=True)
    criterion: str = Field(primary_key=True)
    value: int
    created_at: datetime


class TurnRatingTable(TableBase, table=True):
    """A worker's rating of a reply, from 0 to 100; of several the last one counts."""

    removed_with: ClassVar = "all"
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

    removed_with: ClassVar = "words: `note`; all: the row, but for who left with it, who is still to be paid"
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

    `about`: `lines` or `personas`. `why_not`: why there was no quiz (`WhyNoQuiz`); then there are no lines.
    """

    removed_with: ClassVar = "all"
    conversation_id: str = Field(foreign_key="conversation.id", primary_key=True)
    why_not: str | None = None
    asked_at: datetime
    choice: int | None = None
    is_right: bool | None = None
    answered_at: datetime | None = None
    client_id: str | None = None
    about: str = Field("lines", sa_column_kwargs={"server_default": "lines"})


class QuizLineTable(TableBase, table=True):
    """Line number `choice` of a quiz, from 1, and where it was said; one in the conversation itself.

    The others were said by chat partners to other workers, or to this one. A persona was said nowhere: it
    has no turn, and only the partner's has a conversation.
    """

    removed_with: ClassVar = "words: `text`; all: the row"
    conversation_id: str = Field(foreign_key="quiz.conversation_id", primary_key=True)
    choice: int = Field(primary_key=True)
    text: str
    said_in_id: str | None = Field(foreign_key="conversation.id")
    turn_index: int | None


class NoteTable(TableBase, table=True):
    """An incident in a conversation, such as a bot that failed, gave up, was replaced or revealed itself.

    `text` can quote. `failure`: the kind of failure of a failed try; null for everything else, and for rows
    from before 0.2.
    """

    removed_with: ClassVar = "words: `text`"
    id: int | None = Field(default=None, primary_key=True)
    conversation_id: str = Field(foreign_key="conversation.id", index=True)
    kind: str
    text: str
    created_at: datetime
    failure: str | None = None
