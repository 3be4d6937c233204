"""The tables. Times are UTC; a text id is made by the server and says nothing."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Column, Index, UniqueConstraint, text
from sqlalchemy.sql.base import ReadOnlyColumnCollection
from sqlmodel import Field, SQLModel


def _index_where(condition: str, name: str, *columns: str, unique: bool = False) -> Index:
    """Return an index of the rows that `condition` holds for, on every kind of database."""
    where = text(condition)
    return Index(name, *columns, unique=unique, sqlite_where=where, postgresql_where=where)


CHOICE_SEPARATOR = "\n"  # of the choices of a question


class Study(SQLModel, table=True):
    """A study file as it was given. `turn_points`: on how many points replies are rated, if they are."""

    __table_args__ = (UniqueConstraint("name", "hash"),)
    id: int | None = Field(default=None, primary_key=True)
    name: str
    hash: str
    yaml: str
    created_at: datetime
    task: str = Field(default="chat", sa_column_kwargs={"server_default": "chat"})
    turn_points: int | None = None


class Draft(SQLModel, table=True):
    """A study as researchers write it, by its name. `archived_at`: since when it is out of the way."""

    name: str = Field(primary_key=True)
    archived_at: datetime | None = None


class DraftVersion(SQLModel, table=True):
    """A study as it was saved once. It stays; what was opened as a run has the same hash in `study`."""

    __tablename__ = "draft_version"
    name: str = Field(foreign_key="draft.name", primary_key=True)
    number: int = Field(primary_key=True)
    yaml: str
    hash: str
    saved_at: datetime
    saved_by: str


class Criterion(SQLModel, table=True):
    """A statement of a study, in the order in which workers see it."""

    study_id: int = Field(foreign_key="study.id", primary_key=True)
    label: str = Field(primary_key=True)
    position: int
    statement: str
    negative: bool
    counts_for_qc: bool


class Question(SQLModel, table=True):
    """A question of a study's questionnaires, or a criterion that is answered and not rated.

    `part`: `before`, `conversation` or `after`. `choices`: one a line. `points`: of a Likert scale.
    """

    study_id: int = Field(foreign_key="study.id", primary_key=True)
    part: str = Field(primary_key=True)
    label: str = Field(primary_key=True)
    position: int
    question: str
    kind: str
    choices: str
    points: int | None


class Bot(SQLModel, table=True):
    """Something that can answer, by the spec it is opened with."""

    id: int | None = Field(default=None, primary_key=True)
    spec: str = Field(unique=True)


class System(SQLModel, table=True):
    """What a study evaluates: a bot, its family, its persona policy."""

    __table_args__ = (UniqueConstraint("study_id", "name"),)
    id: int | None = Field(default=None, primary_key=True)
    study_id: int = Field(foreign_key="study.id", index=True)
    bot_id: int = Field(foreign_key="bot.id")
    name: str
    family: str
    persona_policy: str
    is_qc: bool


class Run(SQLModel, table=True):
    """One run of a study; a second one is its replication.

    `kind`: `study`, or `rehearsal` where simulated workers try the study out.
    `cause` and `reason` say why it has its `status`: for programs what has led to it, for people a sentence.
    `rules`: JSON of its `RunRules`, save who may not come.
    """

    id: int | None = Field(default=None, primary_key=True)
    study_id: int = Field(foreign_key="study.id")
    slug: str = Field(unique=True)
    seed: int = Field(sa_type=BigInteger)
    status: str
    created_at: datetime
    kind: str = Field(default="study", sa_column_kwargs={"server_default": "study"})
    cause: str = Field(default="researcher", sa_column_kwargs={"server_default": "researcher"})
    reason: str = Field(default="", sa_column_kwargs={"server_default": text("''")})
    rules: str = Field(default="{}", sa_column_kwargs={"server_default": "{}"})
    closed_at: datetime | None = None


class ExcludedRun(SQLModel, table=True):
    """A run whose workers may not come to the run `run_id`."""

    __tablename__ = "excluded_run"
    run_id: int = Field(foreign_key="run.id", primary_key=True)
    other_id: int = Field(foreign_key="run.id", primary_key=True)


class ExcludedWorker(SQLModel, table=True):
    """A worker, by the id of their link, who may not come to a run."""

    __tablename__ = "excluded_worker"
    run_id: int = Field(foreign_key="run.id", primary_key=True)
    external_id: str = Field(primary_key=True)


class Worker(SQLModel, table=True):
    """A person, or a simulated one, as a platform names them. Exports show the pseudonym only."""

    __table_args__ = (UniqueConstraint("platform", "external_id"),)
    id: int | None = Field(default=None, primary_key=True)
    platform: str
    external_id: str
    pseudonym: str = Field(unique=True)


class WorkerIdKey(SQLModel, table=True):
    """One row: what tells the key under which workers' ids are encrypted from others. It is not the key."""

    __tablename__ = "worker_id_key"
    id: int = Field(primary_key=True)
    mark: str


class Assignment(SQLModel, table=True):
    """One worker's way through a run. `place` is the number of the plan that it has in the balanced design;
    a later assignment may fill the same place once this one has expired or was returned.

    `consent_ticked` has the labels of the boxes that were ticked, with commas between them.

    `fence` counts how often a process has taken its session over. Who writes names the number under which it
    took over: a process that has lost the session cannot write to it, whatever it believes.
    """

    __table_args__ = (
        UniqueConstraint("run_id", "worker_id"),
        _index_where(
            "status IN ('active', 'completed')",
            "one_holder_of_a_place",
            "run_id",
            "simulated",
            "place",
            unique=True,
        ),
        Index("place_of_a_run", "run_id", "simulated", "place"),
        # Who has fallen silent, or takes too long, when a place is needed.
        _index_where("status = 'active'", "silent_since", "run_id", "simulated", "active_at"),
        _index_where("status = 'active'", "under_way_since", "run_id", "simulated", "created_at"),
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
    fence: int = Field(default=0, sa_column_kwargs={"server_default": "0"})


class Visit(SQLModel, table=True):
    """A coming of an assignment's worker, as their platform calls it: of Prolific a submission."""

    assignment_id: str = Field(foreign_key="assignment.id", primary_key=True)
    visit: str = Field(primary_key=True)
    at: datetime


class PlanCount(SQLModel, table=True):
    """How many conversations the held places of a run have with a system at a position: `plan_counts`."""

    __tablename__ = "plan_count"
    run_id: int = Field(foreign_key="run.id", primary_key=True)
    simulated: bool = Field(primary_key=True)
    system_id: int = Field(foreign_key="system.id", primary_key=True)
    position: int = Field(primary_key=True)
    number: int


class PairCount(SQLModel, table=True):
    """How often two systems stood side by side, and which was preferred: `pair_counts`."""

    __tablename__ = "pair_count"
    run_id: int = Field(foreign_key="run.id", primary_key=True)
    simulated: bool = Field(primary_key=True)
    left_id: int = Field(foreign_key="system.id", primary_key=True)
    right_id: int = Field(foreign_key="system.id", primary_key=True)
    placed: int
    lefts: int
    ties: int
    rights: int


class AssignmentCount(SQLModel, table=True):
    """How many assignments of a run have a status: `run_counts`."""

    __tablename__ = "assignment_count"
    run_id: int = Field(foreign_key="run.id", primary_key=True)
    simulated: bool = Field(primary_key=True)
    status: str = Field(primary_key=True)
    number: int


class RatedCount(SQLModel, table=True):
    """How many rated conversations with a system the completed assignments of a run have: `run_counts`."""

    __tablename__ = "rated_count"
    run_id: int = Field(foreign_key="run.id", primary_key=True)
    simulated: bool = Field(primary_key=True)
    system_id: int = Field(foreign_key="system.id", primary_key=True)
    number: int


class FreePlace(SQLModel, table=True):
    """A place of a run that was given back, and that nobody holds."""

    __tablename__ = "free_place"
    run_id: int = Field(foreign_key="run.id", primary_key=True)
    simulated: bool = Field(primary_key=True)
    place: int = Field(primary_key=True)


class Conversation(SQLModel, table=True):
    """The `attempt`-th conversation at a position of an assignment; a failed one is followed by another.

    `side`: of two that stand beside each other, `left` (an odd position) or `right` (the one after it).
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


class Choice(SQLModel, table=True):
    """Which of two conversations a worker has preferred after a line of both; named by the left one."""

    conversation_id: str = Field(foreign_key="conversation.id", primary_key=True)
    turn_index: int = Field(primary_key=True)
    preference: str
    client_id: str
    created_at: datetime


class Item(SQLModel, table=True):
    """What a run of a transcript study shows, fixed when the run is opened.

    `form`: the item itself (`ordinary`), its distorted twin (`bad`), or its `reference`; all have one `name`.
    `content` is JSON, an `ItemContent`. `source` is `conversation` or `text`.
    """

    __table_args__ = (UniqueConstraint("run_id", "name", "form"),)
    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key="run.id")
    name: str = Field(index=True)
    form: str
    system_id: int = Field(foreign_key="system.id")
    source: str
    source_conversation_id: str | None = Field(default=None, foreign_key="conversation.id", index=True)
    content: str


class ShownItem(SQLModel, table=True):
    """What is read at a position of an assignment, where nothing is chatted. `twin_of`: a position."""

    __tablename__ = "shown_item"
    conversation_id: str = Field(foreign_key="conversation.id", primary_key=True)
    item_id: int = Field(foreign_key="item.id", index=True)
    kind: str
    twin_of: int | None


class ItemEdit(SQLModel, table=True):
    """How a worker has improved the text of an item."""

    __tablename__ = "item_edit"
    conversation_id: str = Field(foreign_key="conversation.id", primary_key=True)
    text: str
    share: float
    created_at: datetime


class TutorialAnswer(SQLModel, table=True):
    """An answer to a test question, right or wrong."""

    __tablename__ = "tutorial_answer"
    id: int | None = Field(default=None, primary_key=True)
    assignment_id: str = Field(foreign_key="assignment.id", index=True)
    question: int
    answer: int
    is_right: bool
    created_at: datetime
    client_id: str


class Questionnaire(SQLModel, table=True):
    """A worker has handed in what they were asked before, or after, all conversations."""

    assignment_id: str = Field(foreign_key="assignment.id", primary_key=True)
    part: str = Field(primary_key=True)
    created_at: datetime
    client_id: str


class Answer(SQLModel, table=True):
    """An answer to a question: a text or a number. Each of several choices is an answer by itself.

    `conversation_id`: which one it is about; null before and after all of them.
    """

    id: int | None = Field(default=None, primary_key=True)
    assignment_id: str = Field(foreign_key="assignment.id", index=True)
    conversation_id: str | None = Field(default=None, foreign_key="conversation.id", index=True)
    part: str
    label: str
    text: str | None
    number: float | None
    created_at: datetime


class Turn(SQLModel, table=True):
    """One line of a conversation. `show_at`: a bot's line is not shown earlier."""

    conversation_id: str = Field(foreign_key="conversation.id", primary_key=True)
    turn_index: int = Field(primary_key=True)
    author: str
    text: str
    client_id: str | None
    created_at: datetime
    show_at: datetime
    latency_ms: int | None


class Writing(SQLModel, table=True):
    """How a worker has written an input, as their page counts it: `session.writing`."""

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


class ModeratedLine(SQLModel, table=True):
    """What the moderation service says of a line; a line without a row was not asked about.

    `flagged`: null where the service would not judge the line. `categories`: those for which it is flagged,
    separated by commas. `score`: the highest of all categories. `model`: what judged, by the service's name.
    """

    __tablename__ = "moderated_line"
    conversation_id: str = Field(foreign_key="conversation.id", primary_key=True)
    turn_index: int = Field(primary_key=True)
    flagged: bool | None
    categories: str
    score: float | None
    model: str | None
    judged_at: datetime


class ReplyOutput(SQLModel, table=True):
    """What a bot's model wrote, where the reply that was shown is not all of it, and in what they differ.

    A table of its own: what reads a conversation for its worker cannot come upon it. `changes`: words of
    `bots.shown`, separated by commas.
    """

    __tablename__ = "reply_output"
    conversation_id: str = Field(foreign_key="conversation.id", primary_key=True)
    turn_index: int = Field(primary_key=True)
    output: str
    changes: str


class HumanConversation(SQLModel, table=True):
    """A conversation whose chat partner is another worker.

    `partner_id`: the other worker's conversation; `came_first`: this one waited for it. `taken_over_by`: the
    bot that answers from line `taken_over_from` on, because of `nobody_came`, `silent` or `left`.
    """

    __tablename__ = "human_conversation"
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


class WizardLine(SQLModel, table=True):
    """A line for which a worker waits while a researcher answers in a chatbot's place.

    `answered_by`: the pseudonym of who answered, at `answered_at`. Without a `text` a bot took over, or the
    conversation ended.
    """

    __tablename__ = "wizard_line"
    conversation_id: str = Field(foreign_key="conversation.id", primary_key=True)
    turn_index: int = Field(primary_key=True)
    asked_at: datetime
    text: str | None = None
    answered_by: str | None = None
    answered_at: datetime | None = None


class BotCall(SQLModel, table=True):
    """A call by which a bot was asked for a line, and which was answered: see `server.session.call`.

    `failure` is null where the answer is the line; `output` is kept where it is not.
    """

    __tablename__ = "bot_call"
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


class Spending(SQLModel, table=True):
    """What the calls of a bot have cost in a run: `spending`."""

    run_id: int = Field(foreign_key="run.id", primary_key=True)
    bot_id: int = Field(foreign_key="bot.id", primary_key=True)
    cost: float


class TopicMark(SQLModel, table=True):
    """A topic as the worker recorded it, after `round` inputs; the opening topic has round 0, ordinal 0."""

    __tablename__ = "topic_mark"
    conversation_id: str = Field(foreign_key="conversation.id", primary_key=True)
    ordinal: int = Field(primary_key=True)
    round: int
    topic: str
    opinion: str
    how: str | None
    bot_opinion: str | None
    client_id: str
    created_at: datetime


class Rating(SQLModel, table=True):
    """One value from 0 to 100, as the worker gave it."""

    conversation_id: str = Field(foreign_key="conversation.id", primary_key=True)
    criterion: str = Field(primary_key=True)
    value: int
    created_at: datetime


class TurnRating(SQLModel, table=True):
    """What a worker thought of a reply, from 0 to 100; of several the last one counts."""

    __tablename__ = "turn_rating"
    id: int | None = Field(default=None, primary_key=True)
    conversation_id: str = Field(foreign_key="conversation.id", index=True)
    turn_index: int
    value: int
    created_at: datetime
    client_id: str


class Quiz(SQLModel, table=True):
    """The quiz after a conversation: what was chosen, and whether that is what its partner said.

    `why_not`: why it was not asked, `few_replies` or `few_lines`; then there are no lines.
    """

    conversation_id: str = Field(foreign_key="conversation.id", primary_key=True)
    why_not: str | None = None
    asked_at: datetime
    choice: int | None = None
    is_right: bool | None = None
    answered_at: datetime | None = None
    client_id: str | None = None


class QuizLine(SQLModel, table=True):
    """Line number `choice` of a quiz, from 1, and where it was said: the partner's in the conversation."""

    __tablename__ = "quiz_line"
    conversation_id: str = Field(foreign_key="quiz.conversation_id", primary_key=True)
    choice: int = Field(primary_key=True)
    text: str
    said_in_id: str = Field(foreign_key="conversation.id")
    turn_index: int


class Note(SQLModel, table=True):
    """An incident in a conversation: a bot that failed, gave up, was replaced, or gave itself away.

    `failure`: of a try that failed, its kind; null of everything else, and of what was stored before 0.2.
    """

    id: int | None = Field(default=None, primary_key=True)
    conversation_id: str = Field(foreign_key="conversation.id", index=True)
    kind: str
    text: str
    created_at: datetime
    failure: str | None = None


class Registration(SQLModel, table=True):
    """A bot that is registered with the server. `endpoint`: canonical JSON of where and how it is asked;
    it names the environment variable of a key, never the key.
    """

    name: str = Field(primary_key=True)
    endpoint: str
    enabled: bool
    created_at: datetime


class BotCheck(SQLModel, table=True):
    """A conformance check of a registered bot, and its whole report as JSON."""

    __tablename__ = "bot_check"
    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(index=True)
    at: datetime
    verdict: str
    report: str


class StudyNotice(SQLModel, table=True):
    """Words of the researchers to one worker of a run; `assignment_id` None: to all who are under way."""

    __tablename__ = "notice"
    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key="run.id", index=True)
    assignment_id: str | None = Field(default=None, foreign_key="assignment.id")
    text: str
    created_at: datetime


class Exclusion(SQLModel, table=True):
    """An assignment that analyses leave out, and why."""

    assignment_id: str = Field(foreign_key="assignment.id", primary_key=True)
    reason: str
    excluded_at: datetime


class Removal(SQLModel, table=True):
    """What was removed of an assignment: `removal`. `extent`: `words` or `all`; `cause`: why."""

    assignment_id: str = Field(foreign_key="assignment.id", primary_key=True)
    extent: str
    cause: str
    at: datetime


class AnalysisPoint(SQLModel, table=True):
    """How the scores of a run stood at a number of ratings, so that their intervals are seen to narrow.

    `scores`: as in `Analysis.content`, JSON.
    """

    __tablename__ = "analysis_point"
    run_id: int = Field(foreign_key="run.id", primary_key=True)
    ratings: int = Field(primary_key=True)
    scores: str


class Revision(SQLModel, table=True):
    """How often a subject, bots or runs, has changed: `revisions`."""

    subject: str = Field(primary_key=True)
    number: int


class Token(SQLModel, table=True):
    """The right to use the researcher's API or to dial in. Of the token itself the SHA-256 is kept.

    `scope`: a role, or `host`; `study`: the one that the role is for; null: all.
    """

    __table_args__ = (_index_where("revoked_at IS NULL", "one_token_of_a_name", "name", unique=True),)
    id: int | None = Field(default=None, primary_key=True)
    name: str
    scope: str
    hash: str = Field(unique=True)
    created_at: datetime
    revoked_at: datetime | None = None
    study: str | None = None


class Person(SQLModel, table=True):
    """Somebody who uses the desk: `people`. `password`: Argon2's hash of it."""

    __table_args__ = (_index_where("removed_at IS NULL", "one_person_of_a_name", "name", unique=True),)
    id: int | None = Field(default=None, primary_key=True)
    name: str
    password: str | None = None
    created_at: datetime
    removed_at: datetime | None = None


class PersonRole(SQLModel, table=True):
    """The role that a person has for a study; an empty name stands for all studies."""

    __tablename__ = "person_role"
    person_id: int = Field(foreign_key="person.id", primary_key=True)
    study: str = Field(primary_key=True)
    role: str


class SignIn(SQLModel, table=True):
    """A browser in which somebody is signed in, by the SHA-256 of its cookie: `sign_ins`."""

    __tablename__ = "sign_in"
    hash: str = Field(primary_key=True)
    person_id: int = Field(foreign_key="person.id")
    created_at: datetime
    expires_at: datetime


class OneTimeLink(SQLModel, table=True):
    """A link that lets a person choose a password, once; without a person, the first owner's."""

    __tablename__ = "one_time_link"
    hash: str = Field(primary_key=True)
    person_id: int | None = Field(default=None, foreign_key="person.id")
    expires_at: datetime


class AuditEntry(SQLModel, table=True):
    """Something that was done, by whom: `audit`. A trigger refuses to update or delete a row."""

    __tablename__ = "audit_entry"
    id: int | None = Field(default=None, primary_key=True)
    at: datetime
    kind: str
    actor: str
    action: str
    subject: str
    detail: str


class Rehearsal(SQLModel, table=True):
    """A run that is a rehearsal. `quality`: JSON, what its simulated workers think of each system, 0 to 1."""

    run_id: int = Field(foreign_key="run.id", primary_key=True)
    quality: str


class Analysis(SQLModel, table=True):
    """How a run stood when it was last looked at: what `python -m qc.watch` printed, as JSON.

    `basis`: what there was to look at; as long as it is the same, so is the analysis.
    """

    run_id: int = Field(foreign_key="run.id", primary_key=True)
    at: datetime
    basis: str
    content: str


class JobLease(SQLModel, table=True):
    """Which process does what may be done by one at a time. Once `until` has passed, another may."""

    __tablename__ = "job_lease"
    name: str = Field(primary_key=True)
    holder: str
    until: datetime


class Job(SQLModel, table=True):
    """Something that the server does in the background for a run: a report, a rehearsal.

    `options` and `result` are JSON. `step`, `done`, `total`: how far it is. `error`: why it failed.
    """

    id: str = Field(primary_key=True)
    kind: str
    run_id: int = Field(foreign_key="run.id", index=True)
    status: str
    options: str
    created_at: datetime
    ended_at: datetime | None = None
    step: str = ""
    done: int = 0
    total: int = 0
    error: str | None = None
    result: str | None = None


def columns(model: type[SQLModel]) -> ReadOnlyColumnCollection[str, Column[Any]]:
    """Return the columns of a table, for expressions in queries."""
    return SQLModel.metadata.tables[str(model.__tablename__)].columns
