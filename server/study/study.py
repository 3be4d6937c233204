"""The settings of a study: its systems, criteria and rules."""

import re
from pathlib import Path
from typing import Annotated, Any, Literal, assert_never

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from bots.serving import UrlEndpoint
from server.recruiters.recruiter import Recruiter, WebAddress
from server.session.correctness import COMPUTED
from server.session.correctness import QUESTIONS as CORRECTNESS
from server.session.instrument import (
    AskedQuestion,
    Comparison,
    Consent,
    Criterion,
    Display,
    Lab,
    Label,
    PostEdit,
    Questionnaires,
    Quiz,
    Scenario,
    Statement,
    Task,
    TopicMode,
    Tutorial,
)
from server.session.plan import QC
from server.session.reply_time import ReplyTime
from server.session.texts import TextsCard, direction_of
from server.study.sections import (
    PeopleSpec,
    Persona,
    QcSpec,
    Retention,
    Simulate,
    StudySection,
    SystemSpec,
    Texts,
    Timeouts,
)
from server.study.tasks import (
    COMPOSITIONS,
    TASKS,
    Composition,
    CompositionName,
    ItemsSpec,
    TaskType,
    task_type,
)
from server.study.texts import ENGLISH, instrument_of

DEMO = Path(__file__).parent.parent / "studies" / "demo.yaml"
BLANK = DEMO.with_name("blank.yaml")
# The version of the settings. A file that needs a later one has a `version`; most files leave it out.
VERSION = 1
# The form of the name of a bot that is registered with the server.
REGISTERED = re.compile(r"(?!qc\Z)[a-z0-9][a-z0-9_-]{0,63}")


def _task_in(content: Any) -> TaskType | None:
    """Return the task of a study file's content, not validated; None if it names none that there is."""
    task = content.get("task", "chat") if isinstance(content, dict) else None
    return task_type(task) if task in TASKS else None


def shipped_statements(content: Any) -> dict[int, str]:
    """Return the shipped statements of a study's criteria, by the criteria's numbers.

    The content is that of a study file, not validated. A criterion has a shipped statement if its label is a
    published one and the task is a chat; its own statement takes precedence.
    """
    task = _task_in(content)
    if not isinstance(content, dict) or (task is not None and not task.chats):
        return {}
    criteria = content.get("criteria")
    instrument = instrument_of(str(content.get("language", "en"))) or ENGLISH
    labels = {
        i: criterion.get("label")
        for i, criterion in enumerate(criteria if isinstance(criteria, list) else [])
        if isinstance(criterion, dict)
    }
    return {
        i: instrument.statements[label]
        for i, label in labels.items()
        if isinstance(label, str) and label in instrument.statements
    }


_SITE = re.compile(r"https?://(\*\.)?[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*(:([0-9]{1,5}|\*))?")


def _site(text: str) -> str:
    """Check that `text` is a scheme and a host, as in the header Content-Security-Policy."""
    if not _SITE.fullmatch(text):
        raise ValueError("Enter a site without a path, for example https://*.qualtrics.com")
    return text


Site = Annotated[str, StringConstraints(max_length=300), AfterValidator(_site)]


class Study(StudySection):
    """A whole study. Each field's title and description are those of the desk, the schema and the reference.

    `TaskType.unused` lists the settings that a task does not use. With `correctness`, the criteria
    `any_correct` and `avg_correct` are computed.
    """

    version: Annotated[int, Field(ge=1, le=VERSION, strict=True)] = VERSION
    name: Label
    title: Statement
    payment: Statement = Field(description="What workers are paid, in words.")
    task: Task = Field(
        "chat",
        description="Settings that the chosen task does not use are removed.",
        json_schema_extra={
            "x-words": {
                "chat": "Chat with one bot at a time",
                "side_by_side": "Chat with two bots side by side, and choose one",
                "transcripts": "Read and rate conversations or texts",
            }
        },
    )
    listed: bool = Field(
        default=False,
        title="List on the start page",
        description="The server’s own page announces the study while a run of it is open.",
    )
    topic_mode: TopicMode = Field(
        "free",
        title="Topic",
        json_schema_extra={
            "x-words": {"free": "The worker chooses it", "icebreaker": "A sentence of the persona"}
        },
    )
    systems_per_assignment: Annotated[int, Field(ge=1, le=20, strict=True)] = Field(
        5, title="Systems per worker"
    )
    qc_per_assignment: Annotated[int, Field(ge=0, le=5, strict=True)] = Field(
        1, title="Quality-control conversations per worker", description="They are never first or last."
    )
    minimum_inputs: Annotated[int, Field(ge=1, le=100, strict=True)] = Field(
        10,
        title="Minimum messages",
        description="How many messages a worker must write before a conversation can end.",
    )
    maximum_inputs: Annotated[int, Field(ge=1, le=1_000, strict=True)] = Field(
        100, title="Maximum messages", description="After this many, the conversation has to be rated."
    )
    maximum_topic_changes: Annotated[int, Field(ge=0, le=1_000, strict=True)] = Field(
        50,
        title="Maximum topic changes",
        description="How often a worker can mark another topic in a conversation.",
    )
    assignments: Annotated[int, Field(ge=1, le=1_000_000, strict=True)] | None = Field(
        None,
        title="Workers",
        description="How many can take part; empty: no limit, or as many as the judgments of items need.",
    )
    criteria: Annotated[list[Criterion], Field(max_length=30)]
    questionnaires: Questionnaires = Questionnaires()
    corpus: Statement = Field("builtin:smalltalk", description="The source of builtin bots and of personas.")
    personas: Literal["corpus"] | Annotated[list[Persona], Field(min_length=1)] = Field(
        "corpus",
        description="Sentences that a bot says of itself.",
        json_schema_extra={"x-words": {"corpus": "From the corpus"}},
    )
    bots: dict[Label, UrlEndpoint] = Field(
        {}, title="This study’s own bots", description="Bots at an address, which only this study uses."
    )
    systems: list[SystemSpec] = Field(
        [], description="What is compared. A worker meets at most one of each family."
    )
    qc: QcSpec = Field(QcSpec(), title="Quality-control bot")
    people: PeopleSpec | None = Field(
        None,
        title="People in a bot’s place",
        description="For systems whose bot is human:partner, another worker, or human:wizard, a researcher.",
    )
    scenarios: list[Scenario] = Field(
        [],
        description=(
            "What a conversation is about, shown to the worker. Every system gets each equally often."
        ),
    )
    rate_share: Annotated[float, Field(gt=0, le=1, strict=True)] = Field(
        1.0,
        title="Share of rated conversations",
        description=(
            "With 1, workers rate every conversation. Below 1, the others are drawn at random "
            "and left unrated."
        ),
    )
    spending_cap: Annotated[float, Field(gt=0, le=100_000_000, strict=True)] | None = Field(
        None,
        title="Spending cap of all bots",
        description="In the currency of the bots’ prices. A run stops when it is reached.",
    )
    comparison: Comparison | None = None
    items: ItemsSpec | None = Field(None, title="What workers rate", description="A run or a file.")
    composition: CompositionName | Composition = Field(
        "questions",
        title="Items per worker",
        json_schema_extra={
            "x-words": {
                "reading": "100: 70 ordinary, 10 distorted, 10 repeated, 10 references",
                "questions": "20 about one passage: 11 ordinary, 6 distorted, 3 repeated",
            }
        },
    )
    judgments_per_item: Annotated[int, Field(ge=1, le=50, strict=True)] = Field(
        2, title="Judgments per item", description="At least this many workers rate each item."
    )
    degradation: Literal["chapter5", "chapter3"] = Field(
        "chapter5",
        title="How bad items are made",
        description="By a rule of Ji’s PhD thesis; the two differ for texts of 21 to 24 words.",
        json_schema_extra={
            "x-words": {"chapter5": "By the rule of chapter 5", "chapter3": "By the rule of chapter 3"}
        },
    )
    post_edit: PostEdit | None = Field(
        None, title="Improve texts", description="Workers who rate a text low must improve it."
    )
    correctness: bool = Field(
        default=False,
        title="Correctness of answers",
        description="Workers judge each answer by paragraphs, and mark the words that show it.",
    )
    tutorial: Tutorial | None = Field(None, title="Test questions", description="Workers answer them first.")
    recruiter: Recruiter | None = Field(
        None,
        title="Where workers come from",
        description="The platform that sends workers to your study. Without one, workers come by links.",
    )
    completion_url: WebAddress | None = Field(
        None,
        title="Where workers are sent at the end",
        description="An https:// address, for workers who come by links. They also get a code.",
    )
    embedded_in: Annotated[list[Site], Field(max_length=20)] = Field(
        [],
        title="Sites that may show the study in a frame",
        description="For example, https://*.qualtrics.com. Other sites cannot embed the worker’s page.",
    )
    minutes: Annotated[int, Field(ge=1, le=1_000, strict=True)] | None = Field(
        None, description="About how long the study takes. Workers see this."
    )
    transcript_while_rating: bool = Field(default=False, title="Show the conversation while it is rated")
    turn_ratings: Literal["thumbs"] | Annotated[int, Field(ge=3, le=7, strict=True)] | None = Field(
        None,
        title="Ratings of replies",
        description="Workers may rate each reply. It is optional.",
        json_schema_extra={"x-words": {"thumbs": "Thumbs up or down"}},
    )
    quiz: Quiz | None = Field(
        None,
        title="Quiz after each conversation",
        description=(
            "Asks what the worker remembers of the chat partner. It is hidden, and the filter "
            "does not use it."
        ),
    )
    language: Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$")] = Field(
        "en", description="Of the worker’s page and of the published criteria."
    )
    texts: Texts = Texts()
    reply_time: ReplyTime = Field(
        ReplyTime(), title="Reply delay (s)", description="The same distribution for all bots."
    )
    display: Display = Field(Display(), title="How replies are shown")
    timeouts: Timeouts = Field(Timeouts(), title="Time-outs", description="In seconds.")
    retention: Retention | None = Field(
        None,
        title="How long data are kept",
        description="The server removes data this many days after a run is closed. If empty, data are kept.",
    )
    withdrawal_days: Annotated[int, Field(ge=1, le=3_650, strict=True)] | None = Field(
        None,
        title="Days to withdraw",
        description=(
            "For this many days after the end, workers can download or withdraw their data. If "
            "empty, they cannot."
        ),
    )
    records_writing: bool = Field(
        default=False,
        title="Record how workers write",
        description=(
            "Counts of pasted text, writing time and times away from the page. Keys are not "
            "recorded. Workers are told."
        ),
    )
    moderation: Literal["words", "classifier"] = Field(
        "words",
        title="Offensive-language detection",
        description=(
            "Word lists are always used. A classifier is a service that also gets every "
            "message. Workers are told."
        ),
        json_schema_extra={
            "x-words": {"words": "Lists of words", "classifier": "Lists of words, and a classifier"}
        },
    )
    simulate: Simulate | None = Field(
        None,
        title="Simulated workers",
        description=(
            "How good simulated workers find each system, from 0 (bad) to 1 (good). People never see it."
        ),
    )

    @model_validator(mode="before")
    @classmethod
    def _with_comparison(cls, given: Any) -> Any:
        """Give comparison studies default settings for `comparison`, and no criteria."""
        if not isinstance(given, dict) or given.get("task") != "side_by_side":
            return given
        compared: dict[str, Any] = {"comparison": {}} if given.get("comparison") is None else {}
        return {"criteria": []} | given | compared

    @property
    def task_type(self) -> TaskType:
        """What its task is."""
        return task_type(self.task)

    @property
    def conversations(self) -> int:
        """The number of conversations in one assignment, of pairs, or of items in transcript studies."""
        match self.task:
            case "chat":
                return self.systems_per_assignment + self.qc_per_assignment
            case "side_by_side":
                return self.pairs + self.qc_per_assignment
            case "transcripts":
                return self.per_assignment.items
            case _:
                assert_never(self.task)

    @property
    def pairs(self) -> int:
        """The number of pairs in one assignment, without those with the QC bot; 0 if there are no pairs."""
        return 0 if self.comparison is None else self.comparison.pairs

    @property
    def systems_met(self) -> int:
        """The number of an assignment's conversations with systems other than the QC bot.

        A pair has two, or one if the other is the QC bot.
        """
        match self.task:
            case "chat":
                return self.systems_per_assignment
            case "side_by_side":
                return 2 * self.pairs + self.qc_per_assignment
            case "transcripts":
                return 0
            case _:
                assert_never(self.task)

    def prompt_of(self, system: str, scenario: str | None) -> str:
        """Return the prompt for the bot of a conversation: the system's own, then the scenario's."""
        own = [spec.prompt for spec in self.systems if spec.name == system]
        found = [one for one in self.scenarios if one.label == scenario]
        told = [one.text for one in found if one.tell_bot]
        parts = [*own, *told, *(one.prompt for one in found)]
        return "\n\n".join(part for part in parts if part is not None)

    @property
    def turn_points(self) -> int | None:
        """The number of points for rating single replies: 2 for thumbs; None if they are not rated."""
        return 2 if self.turn_ratings == "thumbs" else self.turn_ratings

    @property
    def likert_points(self) -> dict[str, int]:
        """The number of points of each criterion that is rated on a Likert scale, by its label."""
        scales = {c.label: c.scale for c in self.criteria if c.scale is not None and c.is_scored}
        return {label: scale.points for label, scale in scales.items() if scale.points is not None}

    @property
    def asked(self) -> Questionnaires:
        """The questionnaires; those about a conversation end with the criteria that are not rated."""
        answered = tuple(
            AskedQuestion(label=c.label, question=c.statement, **c.scale.model_dump(exclude_unset=True))
            for c in self.criteria
            if c.scale is not None and not c.is_scored
        )
        own = self.questionnaires
        computed_from = CORRECTNESS if self.correctness else ()
        about = (*computed_from, *own.conversation, *answered)
        return Questionnaires(before=own.before, conversation=about, after=own.after)

    @property
    def per_assignment(self) -> Composition:
        """The number of items of each kind in one assignment, also for a named composition."""
        return COMPOSITIONS[self.composition] if isinstance(self.composition, str) else self.composition

    @model_validator(mode="before")
    @classmethod
    def _with_published_criteria(cls, content: Any) -> Any:
        """Fill in published and computed criteria, and the statements of the study's language."""
        if not isinstance(content, dict):
            return content
        task = _task_in(content)
        if task is not None and task.is_published and "criteria" not in content:
            content = content | {"criteria": [dict(criterion) for criterion in _PUBLISHED]}
        if content.get("correctness") is True and isinstance(content.get("criteria", []), list):
            written = content.get("criteria", [])
            labels = {one.get("label") for one in written if isinstance(one, dict)}
            added = [
                {"label": one.label, "statement": one.statement}
                for one in COMPUTED
                if one.label not in labels
            ]
            content = content | {"criteria": [*written, *added]}
        shipped = shipped_statements(content)
        if not shipped:
            return content
        criteria = [
            {"statement": shipped[i]} | given if i in shipped else given
            for i, given in enumerate(content["criteria"])
        ]
        return content | {"criteria": criteria}

    @property
    def duration(self) -> int | None:
        """The duration in minutes that workers are told, rounded to five; None if they are told none.

        Without `minutes`, it is based on published run 1: 6.7 minutes for a rated conversation of ten
        messages.
        """
        if self.minutes is not None or not self.task_type.is_published:
            return self.minutes
        return max(5, 5 * round(0.67 * self.minimum_inputs * self.conversations / 5))

    @property
    def consent(self) -> Consent | None:
        """The consent form."""
        return self.texts.consent

    @property
    def contact(self) -> str | None:
        """The researchers' address for workers."""
        return self.texts.contact

    @property
    def lab(self) -> Lab | None:
        """Whose name and logo workers see."""
        return self.texts.lab

    @property
    def debriefing(self) -> str | None:
        """The text for workers at the end."""
        if self.texts.debriefing == "standard":
            return (instrument_of(self.language) or ENGLISH).debriefing
        return self.texts.debriefing

    @property
    def words(self) -> TextsCard | None:
        """The texts of the worker's page; None if they are the English ones that the page has itself."""
        instrument = instrument_of(self.language)
        shipped = instrument.words if instrument is not None and instrument is not ENGLISH else {}
        if instrument is ENGLISH and not self.texts.words:
            return None
        return TextsCard(
            language=self.language,
            direction=direction_of(self.language),
            words=shipped | self.texts.words,
        )

    @property
    def rates_all(self) -> bool:
        """Whether workers rate every conversation that they hold."""
        return self.rate_share == 1.0

    @property
    def bots_of_systems(self) -> dict[str, str]:
        """The bot of each system, by the system's name; `QC` for the QC bot. Empty for transcript studies."""
        if not self.task_type.chats:
            return {}
        return {spec.name: spec.bot for spec in self.systems} | {QC: self.qc.bot}

    @property
    def registered_bots(self) -> tuple[str, ...]:
        """The names of bots that are registered with the server, each once."""
        bots = dict.fromkeys(self.bots_of_systems.values())
        if self.people is not None:
            bots[self.people.take_over] = None
        return tuple(bot for bot in bots if bot not in self.bots and REGISTERED.fullmatch(bot))


# The criteria of the published instrument (METHOD section 1). Their statements are in each language's texts.
_PUBLISHED: tuple[dict[str, str | bool], ...] = (
    {"label": "robotic", "negative": True, "qc": False},
    {"label": "interesting"},
    {"label": "fun"},
    {"label": "consistent"},
    {"label": "fluent"},
    {"label": "repetitive", "negative": True, "qc": False},
    {"label": "topic"},
)
