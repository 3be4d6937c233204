"""Sections of a study: systems, quality control, people as partners, time-outs, retention, texts."""

from datetime import datetime, timedelta
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from server.session.instrument import Consent, Lab, Label, Statement
from server.session.partner import WhenLeft
from server.session.texts import Text

Sentence = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]
Persona = Annotated[list[Sentence], Field(min_length=1, max_length=20)]
# A system whose items are rated may have any name without spaces; one that chats has a label.
SystemName = Annotated[str, StringConstraints(pattern=r"^\S+$", max_length=200)]
_HOUR, _DAY = 3_600.0, 86_400.0


class StudySection(BaseModel):
    """A mapping of a study file. It refuses unknown settings."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class SystemSpec(StudySection):
    """A system under evaluation: a bot, with or without a persona."""

    name: Label = Field(description="Its name in the data. Workers never see it.")
    family: Label = Field(description="Variants of one system share a family.")
    bot: Statement = Field(description="A builtin bot, one of this study’s own bots, or a registered bot.")
    persona: Literal["none", "random"] | Persona = Field(
        "none",
        description="Sentences of its own, or one of the study’s personas.",
        json_schema_extra={"x-words": {"none": "None", "random": "Drawn anew for each conversation"}},
    )
    prompt: Statement | None = Field(
        None,
        title="Instructions for the bot",
        description="Besides the bot’s own prompt. Workers never see them.",
    )


class QcSpec(StudySection):
    """The quality-control bot and the lines that it distorts (METHOD section 3).

    With `draw: systems`, the corpus is used until there are enough replies to other workers of the run.
    """

    bot: Statement = "qc"
    corpus: Statement = Field(
        "builtin:smalltalk",
        description=(
            "Its lines are cut up and mixed. Another one is a file in the folder corpora of the "
            "server’s data."
        ),
    )
    draw: Literal["corpus", "systems"] = Field(
        "corpus",
        title="Where its lines come from",
        json_schema_extra={"x-words": {"corpus": "From the corpus", "systems": "From the systems’ replies"}},
    )


class Timeouts(StudySection):
    """Timeouts in seconds."""

    bot_try: Annotated[float, Field(gt=0, le=_HOUR, strict=True)] = Field(20.0, title="One attempt of a bot")
    bot_total: Annotated[float, Field(gt=0, le=_HOUR, strict=True)] = Field(
        60.0, title="All attempts of a bot"
    )
    idle: Annotated[float, Field(gt=0, le=30 * _DAY, strict=True)] = Field(
        _HOUR / 2, title="Inactivity until a slot is free"
    )
    assignment: Annotated[float, Field(gt=0, le=30 * _DAY, strict=True)] = Field(
        3 * _HOUR, title="The whole assignment"
    )


Days = Annotated[int, Field(ge=0, le=36_500, strict=True)]


class Retention(StudySection):
    """Days from the end of a run until its workers' texts, and ids, are removed; without days they stay."""

    words: Days | None = Field(None, title="Days until workers’ texts are removed")
    ids: Days | None = Field(None, title="Days until workers’ IDs are removed")

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


class Simulate(StudySection):
    """The simulated workers' opinion of every system's quality, from 0 (bad) to 1 (good)."""

    quality: dict[SystemName, Annotated[float, Field(ge=0, le=1, strict=True)]] = Field(
        title="Quality by system"
    )


PARTNER = "human:partner"  # a bot that is another worker of the run
WIZARD = "human:wizard"  # a bot for whom a researcher answers at the desk
PEOPLE = (PARTNER, WIZARD)


class PeopleSpec(StudySection):
    """Settings for a study in which some chat partners are people."""

    take_over: Statement = Field(
        title="Bot that takes over",
        description="It replies if nobody comes, or if the partner leaves or is silent.",
    )
    wait: Annotated[float, Field(gt=0, le=_HOUR / 4, strict=True)] = Field(
        120.0, title="Seconds to wait for a partner"
    )
    reply: Annotated[float, Field(gt=0, le=_HOUR / 4, strict=True)] = Field(
        120.0, title="Seconds to wait for a reply"
    )
    when_left: WhenLeft = Field(
        "take_over",
        title="When the partner stops replying",
        json_schema_extra={"x-words": {"take_over": "A bot takes over", "end": "The conversation ends"}},
    )
    consent_says_so: bool = Field(default=False, title="The consent says that partners may be people")


class Texts(StudySection):
    """Texts for workers besides the shipped texts of the study's language, `texts/en.yaml` and so on."""

    consent: Consent | None = Field(None, title="Consent form")
    debriefing: Literal["standard"] | Statement | None = Field(
        None,
        description="Shown at the end. The standard text says that one chatbot was bad on purpose.",
        json_schema_extra={"x-words": {"standard": "The standard text"}},
    )
    contact: Statement | None = Field(None, description="Where workers can write to.")
    lab: Lab | None = Field(
        None, title="Name and logo of your lab", description="At the top of the worker’s page."
    )
    words: dict[str, Text] = Field(
        {},
        title="Texts of the page",
        description="Texts of the worker’s page that you word differently, by their names.",
    )
