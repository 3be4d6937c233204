"""The settings of a study: its systems, criteria and rules."""

import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal, assert_never

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, model_validator

from bots import UrlEndpoint
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
from server.session.partner import WhenLeft
from server.session.plan import QC
from server.session.reply_time import ReplyTime
from server.session.texts import Text, TextsCard, direction_of
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

Sentence = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]
Persona = Annotated[list[Sentence], Field(min_length=1, max_length=20)]
# A system whose items are rated may have any name without spaces; one that chats has a label.
SystemName = Annotated[str, StringConstraints(pattern=r"^\S+$", max_length=200)]


DEMO = Path(__file__).parent.parent / "studies" / "demo.yaml"
BLANK = DEMO.with_name("blank.yaml")
# The version of the settings. A file that needs a later one has a `version`; most files leave it out.
VERSION = 1
_HOUR, _DAY = 3_600.0, 86_400.0
# The form of the name of a bot that is registered with the server.
REGISTERED = re.compile(r"(?!qc\Z)[a-z0-9][a-z0-9_-]{0,63}")


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


_SITE = re.compile(r"https?://(\*\.)?[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*(:([0-9]{1,5}|\*))?")


def _site(text: str) -> str:
    """Check that `text` is a scheme and a host, as in the header Content-Security-Policy."""
    if not _SITE.fullmatch(text):
        raise ValueError("Enter a site without a path, for example https://*.qualtrics.com")
    return text


Site = Annotated[str, StringConstraints(max_length=300), AfterValidator(_site)]


class SystemSpec(_Section):
    """A system under evaluation: a bot, with or without a persona.

    `bot`: "builtin:NAME", a name of the study's `bots`, or the name of a bot registered with the server.
    `persona`: "none", "random" (drawn per conversation from the study's pool), or fixed sentences. `prompt`:
    for bots that take instructions.
    """

    name: Label
    family: Label
    bot: Statement
    persona: Literal["none", "random"] | Persona = "none"
    prompt: Statement | None = None


class QcSpec(_Section):
    """The quality-control bot and its corpus (METHOD section 3).

    `draw`: the lines that it distorts are from the `corpus`, as published, or from the `systems`: replies to
    other workers of the run. The corpus is used until there are enough replies.
    """

    bot: Statement = "qc"
    corpus: Statement = "builtin:smalltalk"
    draw: Literal["corpus", "systems"] = "corpus"


class Timeouts(_Section):
    """Timeouts in seconds. A bot has `bot_try` per try and `bot_total` in all. An assignment's slot becomes
    free after `idle` without a message, or after `assignment` in all.
    """

    bot_try: Annotated[float, Field(gt=0, le=_HOUR, strict=True)] = 20.0
    bot_total: Annotated[float, Field(gt=0, le=_HOUR, strict=True)] = 60.0
    idle: Annotated[float, Field(gt=0, le=30 * _DAY, strict=True)] = _HOUR / 2
    assignment: Annotated[float, Field(gt=0, le=30 * _DAY, strict=True)] = 3 * _HOUR


Days = Annotated[int, Field(ge=0, le=36_500, strict=True)]


class Retention(_Section):
    """Days from the end of a run until its workers' texts, and ids, are removed; without days they stay."""

    words: Days | None = None
    ids: Days | None = None

    def words_end(self, closed_at: datetime | None) -> datetime | None:
        """Return when the texts of a run are removed; None if never, or if it is not known yet."""
        return _end(closed_at, self.words)

    def ids_end(self, closed_at: datetime | None) -> datetime | None:
        """Return when the ids of a run's workers are removed; None if never, or if it is not known yet."""
        return _end(closed_at, self.ids)

    def in_words(self, closed_at: datetime | None) -> str:
        """Return the retention in sentences: with dates for a closed run, and empty if all is kept."""
        kept = [("Words", self.words), ("Ids", self.ids)]
        said = [_said(what, days, closed_at) for what, days in kept if days is not None]
        return " ".join(said)


def _said(what: str, days: int, closed_at: datetime | None) -> str:
    end = _end(closed_at, days)
    if end is not None:
        return f"{what} of workers are removed on {end:%Y-%m-%d}."
    return f"{what} of workers are removed {days} day{'' if days == 1 else 's'} after the run was closed."


def _end(closed_at: datetime | None, days: int | None) -> datetime | None:
    return None if closed_at is None or days is None else closed_at + timedelta(days=days)


class Simulate(_Section):
    """The simulated workers' opinion of every system's quality, from 0 (bad) to 1 (good)."""

    quality: dict[SystemName, Annotated[float, Field(ge=0, le=1, strict=True)]]


PARTNER = "human:partner"  # a bot that is another worker of the run
WIZARD = "human:wizard"  # a bot for whom a researcher answers at the desk
PEOPLE = (PARTNER, WIZARD)


class PeopleSpec(_Section):
    """Settings for a study in which some chat partners are people.

    A worker waits `wait` seconds for another worker to come, and `reply` seconds for each line. If nobody
    comes, the bot `take_over` takes over. If somebody leaves or is silent, `when_left` decides whether it
    does, or the chat ends. `consent_says_so` confirms that the study's consent tells workers that some
    partners may be people, who read what they write.
    """

    take_over: Statement
    wait: Annotated[float, Field(gt=0, le=_HOUR / 4, strict=True)] = 120.0
    reply: Annotated[float, Field(gt=0, le=_HOUR / 4, strict=True)] = 120.0
    when_left: WhenLeft = "take_over"
    consent_says_so: bool = False


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


class Texts(_Section):
    """Texts for workers besides the shipped texts of the study's language.

    `consent`: the consent form before the beginning. `debriefing`: the text at the end; `standard` says that
    one of the chatbots was bad on purpose. `contact`: the researchers' address. `lab`: the name and the logo
    at the top of the page. `words`: texts of the page by their names, as in `texts/en.yaml`, in place of the
    shipped ones.
    """

    consent: Consent | None = None
    debriefing: Literal["standard"] | Statement | None = None
    contact: Statement | None = None
    lab: Lab | None = None
    words: dict[str, Text] = {}


class Study(_Section):
    """A whole study. `listed`: the server's start page announces it while a run of it is open.

    `rate_share`: the share of a system's conversations that workers rate; the others, drawn at random, are
    left unrated. `judgments_per_item`: how many workers rate each item, at least. `spending_cap`: the most
    that the bots of a run may cost together, in the currency of their prices; then the run stops.

    `retention`: how long workers' texts and ids are kept after a run was closed. `withdrawal_days`: for how
    many days after the end workers can download or withdraw their data. `records_writing`: the page sends how
    messages were written (typed, pasted, how fast, how often it lost the focus), and tells workers so.
    `moderation`: the check of lines; lists of `words` are always used, and with `classifier` also the
    server's moderation service.

    `recruiter`: the platform that workers come from. Without one, they come by links, and go to
    `completion_url`. `embedded_in`: the sites that may show the worker's page in a frame; none by default.

    `minutes`: the duration that workers are told. `transcript_while_rating`: workers can read the
    conversation while they rate it. `language`: that of the worker's page and of the instrument.
    `correctness`: workers say whether an answer is plausible and which paragraphs show that it is correct,
    and the criteria `any_correct` and `avg_correct` are computed.

    `task`: workers chat and rate (`chat`), rate items (`transcripts`), or chat with two systems at once and
    choose one of them (`side_by_side`). `TaskType.unused` lists the settings that a task does not use.
    """

    version: Annotated[int, Field(ge=1, le=VERSION, strict=True)] = VERSION
    name: Label
    title: Statement
    payment: Statement
    task: Task = "chat"
    listed: bool = False
    topic_mode: TopicMode = "free"
    systems_per_assignment: Annotated[int, Field(ge=1, le=20, strict=True)] = 5
    qc_per_assignment: Annotated[int, Field(ge=0, le=5, strict=True)] = 1
    minimum_inputs: Annotated[int, Field(ge=1, le=100, strict=True)] = 10
    maximum_inputs: Annotated[int, Field(ge=1, le=1_000, strict=True)] = 100
    maximum_topic_changes: Annotated[int, Field(ge=0, le=1_000, strict=True)] = 50
    assignments: Annotated[int, Field(ge=1, le=1_000_000, strict=True)] | None = None
    criteria: Annotated[list[Criterion], Field(max_length=30)]
    questionnaires: Questionnaires = Questionnaires()
    corpus: Statement = "builtin:smalltalk"
    personas: Literal["corpus"] | Annotated[list[Persona], Field(min_length=1)] = "corpus"
    bots: dict[Label, UrlEndpoint] = {}
    systems: list[SystemSpec] = []
    qc: QcSpec = QcSpec()
    people: PeopleSpec | None = None
    scenarios: list[Scenario] = []
    rate_share: Annotated[float, Field(gt=0, le=1, strict=True)] = 1.0
    spending_cap: Annotated[float, Field(gt=0, le=100_000_000, strict=True)] | None = None
    comparison: Comparison | None = None
    items: ItemsSpec | None = None
    composition: CompositionName | Composition = "questions"
    judgments_per_item: Annotated[int, Field(ge=1, le=50, strict=True)] = 2
    degradation: Literal["chapter5", "chapter3"] = "chapter5"
    post_edit: PostEdit | None = None
    correctness: bool = False
    tutorial: Tutorial | None = None
    recruiter: Recruiter | None = None
    completion_url: WebAddress | None = None
    embedded_in: Annotated[list[Site], Field(max_length=20)] = []
    minutes: Annotated[int, Field(ge=1, le=1_000, strict=True)] | None = None
    transcript_while_rating: bool = False
    turn_ratings: Literal["thumbs"] | Annotated[int, Field(ge=3, le=7, strict=True)] | None = None
    quiz: Quiz | None = None
    language: Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$")] = "en"
    texts: Texts = Texts()
    reply_time: ReplyTime = ReplyTime()
    display: Display = Display()
    timeouts: Timeouts = Timeouts()
    retention: Retention | None = None
    withdrawal_days: Annotated[int, Field(ge=1, le=3_650, strict=True)] | None = None
    records_writing: bool = False
    moderation: Literal["words", "classifier"] = "words"
    simulate: Simulate | None = None

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
