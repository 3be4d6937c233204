"""Rating profiles of simulated workers.

An honest worker's rating is the sum of the system's mean, the worker's own bias, the conversation's effect
("mood") and noise, cut off at both ends of the scale. The constants are the variance components of the passed
workers of the published run 1, on the criteria that count for quality control
(`benchmarks/crowd_calibration.py` prints them). A random bot's latent mean is below zero: more than half of
its real ratings are exactly 0, which the cut-off then reproduces.

With a model that `candor plan workers --model` has fitted (`FittedRaterModel`), the constants and the
systems' means are those of another run, such as a pilot.
"""

import math
import random
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Annotated, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from candor.common.api_models import CriterionSigns
from candor.common.files import mistakes, read_file

ProfileName = Literal["honest", "random", "flat", "careless", "disguised"]
Preference = Literal["left", "tie", "right"]
Manner = Literal["plain", "careless", "disguised"]
Criteria = Sequence[CriterionSigns]

LOWEST, PER_QUALITY = -4.0, 100.0
WORKER_SD, CONVERSATION_SD, RATING_SD = 15.6, 15.8, 17.5
# On the criteria that do not count for quality control, the QC bot (36.6) lies among the systems (17.3 to
# 42.1): these criteria say little about quality.
WEAK_LOWEST, WEAK_PER_QUALITY = 15.0, 30.0


# The share of a conversation's effect on which all its readers agree. It is assumed: the published runs, in
# which each conversation was rated once, cannot tell it from the reader's own part.
SHARED_BY_READERS = 0.5
# Points of the scale by which two conversations must differ for one of them to be preferred. Assumed, not
# measured.
BARELY_DIFFERENT = 10.0
# How often a worker recognises a partner's line that they have read. Assumed, not measured.
REMEMBERED = 0.9


Points = Annotated[float, Field(ge=-1000, le=1000, strict=True)]
Spread = Annotated[float, Field(ge=0, le=1000, strict=True)]
Name = Annotated[str, Field(max_length=1000)]


class ModelRefused(Exception):
    """The file is not a rater model. The message says why, and what to do."""


class FittedRaterModel(BaseModel):
    """A model of workers' ratings, in points from 0 to 100, before they are cut off at both ends.

    `systems`: by name, the mean rating on each criterion, by label. A high number is good, even on a negative
    criterion; the quality-control bot is `qc`. `worker_sd`, `conversation_sd`, `rating_sd`: standard
    deviations of a worker's bias, of a conversation's effect, and of noise. `random_share`: share of workers
    who rate at random.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    format: Literal["candor-rater-model"]
    version: Literal[1]
    systems: Annotated[
        dict[Name, Annotated[dict[Name, Points], Field(max_length=100)]], Field(max_length=500)
    ]
    worker_sd: Spread
    conversation_sd: Spread
    rating_sd: Spread
    random_share: Annotated[float, Field(ge=0, le=1, strict=True)]

    def deserved(self, system: str, criterion: str) -> float | None:
        """Return a system's mean rating on a criterion; None if the run did not have both."""
        return self.systems.get(system, {}).get(criterion)


def read_rater_model(path: Path) -> FittedRaterModel:
    """Read a rater model from a file. Raises ModelRefused."""
    try:
        return FittedRaterModel.model_validate_json(read_file(path))
    except OSError as error:
        raise ModelRefused(f"{path} cannot be read: {error.strerror}. Check the path.") from error
    except ValidationError as error:
        raise ModelRefused(
            f"{path} is not a rater model: {mistakes(error)}. Give a file of `candor plan workers --model`."
        ) from error


class Profile(Protocol):
    """A way of rating. `quality` of the conversation's system runs from 0 to 1.

    `system` names the chat partner, if there is one. `item` names the item that is read and rated without a
    chat: its readers partly agree on it, and a reader who sees it again judges it the same way.
    """

    def rate(
        self, quality: float, criteria: Criteria, item: str | None = None, system: str | None = None
    ) -> dict[str, int]:
        """Return a value from 0 to 100 per criterion, as the worker would set the slider."""
        ...

    def prefer(self, left: float, right: float, *, ties: bool) -> Preference:
        """Return which of two conversations is preferred, given the qualities of their systems."""
        ...

    def recognise(self, lines: Sequence[str], heard: Collection[str]) -> int:
        """Return the number, from 1, of the line that the worker takes for one of the partner's, `heard`.

        In a quiz about personas each line is a persona, with a sentence on each line of its text.
        """
        ...


class Honest:
    """Rates by quality, with the bias and the noise of a real worker.

    Args:
        rng: source of all that is drawn.
        model: of a run's workers, which replaces that of the published run. Systems and criteria that it does
            not contain are rated by quality.
    """

    def __init__(self, rng: random.Random, model: FittedRaterModel | None = None) -> None:
        self._rng = rng
        self._model = model
        worker_sd = WORKER_SD if model is None else model.worker_sd
        self._conversation_sd = CONVERSATION_SD if model is None else model.conversation_sd
        self._rating_sd = RATING_SD if model is None else model.rating_sd
        self._bias = rng.gauss(0.0, worker_sd)
        self._found: dict[str, float] = {}  # the effect of each item that was read before

    def rate(
        self, quality: float, criteria: Criteria, item: str | None = None, system: str | None = None
    ) -> dict[str, int]:
        """Return ratings around the quality; negative criteria are reversed."""
        found = self._rng.gauss(0.0, self._conversation_sd) if item is None else self._find(item)
        mood = self._bias + found
        return {c.label: self._value(self._deserved(quality, c, system), c, mood) for c in criteria}

    def prefer(self, left: float, right: float, *, ties: bool) -> Preference:
        """Return the better one in the worker's judgement, or a tie if the two hardly differ."""
        sd = math.hypot(self._conversation_sd, self._rating_sd)
        ahead = PER_QUALITY * (left - right) + self._rng.gauss(0.0, sd) - self._rng.gauss(0.0, sd)
        if ties and abs(ahead) < BARELY_DIFFERENT:
            return "tie"
        return "left" if ahead > 0 else "right"

    def recognise(self, lines: Sequence[str], heard: Collection[str]) -> int:
        """Usually return a line that was heard, or a persona with a sentence that was; else a random one."""
        known = [
            number
            for number, line in enumerate(lines, start=1)
            if any(part in reply for part in line.splitlines() for reply in heard)
        ]
        if known and self._rng.random() < REMEMBERED:
            return known[0]
        return self._rng.randint(1, len(lines))

    def _find(self, item: str) -> float:
        """Return an item's effect for this worker: partly shared by all readers, and the same every time."""
        if item not in self._found:
            sd = self._conversation_sd
            shared = random.Random(f"item {item}").gauss(0.0, sd * math.sqrt(SHARED_BY_READERS))
            own = self._rng.gauss(0.0, sd * math.sqrt(1 - SHARED_BY_READERS))
            self._found[item] = shared + own
        return self._found[item]

    def _deserved(self, quality: float, criterion: CriterionSigns, system: str | None) -> float:
        """Return the mean of all workers' ratings before they are cut off: from the model, or by quality."""
        if self._model is not None and system is not None:
            known = self._model.deserved(system, criterion.label)
            if known is not None:
                return known
        return LOWEST + PER_QUALITY * quality if criterion.qc else WEAK_LOWEST + WEAK_PER_QUALITY * quality

    def _value(self, deserved: float, criterion: CriterionSigns, mood: float) -> int:
        latent = deserved + mood + self._rng.gauss(0.0, self._rating_sd)
        value = min(max(round(latent), 0), 100)
        return 100 - value if criterion.negative else value


class Random:
    """Sets every slider at random."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def rate(
        self, quality: float, criteria: Criteria, item: str | None = None, system: str | None = None
    ) -> dict[str, int]:
        """Return values drawn uniformly from 0 to 100."""
        return {c.label: self._rng.randint(0, 100) for c in criteria}

    def prefer(self, left: float, right: float, *, ties: bool) -> Preference:
        """Return one of the choices at random."""
        of_two: tuple[Preference, ...] = ("left", "right")
        return self._rng.choice((*of_two, "tie") if ties else of_two)

    def recognise(self, lines: Sequence[str], heard: Collection[str]) -> int:
        """Return one of the lines at random."""
        return self._rng.randint(1, len(lines))


class Flat:
    """Sets every slider to the same value, in every conversation."""

    def __init__(self, rng: random.Random) -> None:
        self._value = rng.randint(0, 100)

    def rate(
        self, quality: float, criteria: Criteria, item: str | None = None, system: str | None = None
    ) -> dict[str, int]:
        """Return the same value throughout."""
        return {c.label: self._value for c in criteria}

    def prefer(self, left: float, right: float, *, ties: bool) -> Preference:
        """Return the left one throughout."""
        return "left"

    def recognise(self, lines: Sequence[str], heard: Collection[str]) -> int:
        """Return the first line throughout."""
        return 1


class Careless(Random):
    """Sets all sliders of a conversation near one random value."""

    def rate(
        self, quality: float, criteria: Criteria, item: str | None = None, system: str | None = None
    ) -> dict[str, int]:
        """Return values around one that is drawn for the conversation."""
        place = self._rng.randint(0, 100)
        return {c.label: min(max(place + round(self._rng.gauss(0, 5)), 0), 100) for c in criteria}


class Disguised(Honest):
    """Rates like a language model in a worker's place: by quality, with much less noise than a person.

    The amount of noise is assumed, not measured.
    """

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        self._bias, self._conversation_sd, self._rating_sd = 0.0, 5.0, 3.0


PROFILES: dict[ProfileName, Callable[[random.Random], Profile]] = {
    "honest": Honest,
    "random": Random,
    "flat": Flat,
    "careless": Careless,
    "disguised": Disguised,
}


def manner_of(profile: ProfileName) -> Manner:
    """Return the writing style of a worker with this profile."""
    return profile if profile in ("careless", "disguised") else "plain"


def mix_of(model: FittedRaterModel) -> dict[ProfileName, float]:
    """Return the shares of random and honest workers in a run."""
    return {"honest": 1 - model.random_share, "random": model.random_share}


def parse_mix(text: str) -> dict[ProfileName, float]:
    """Return the shares that `honest=0.7,random=0.3` describes, scaled to sum to 1.

    Raises:
        ValueError: the text is not a mix. The message says what is wrong, and shows the right form.
    """
    shares: dict[ProfileName, float] = {}
    known = ", ".join(PROFILES)
    for part in text.split(","):
        name, _, number = part.strip().partition("=")
        profile = next((p for p in PROFILES if p == name), None)
        if profile is None:
            raise ValueError(f"`{name}` is not a kind of worker; choose from {known}")
        try:
            share = float(number)
        except ValueError:
            raise ValueError(f"the share of {name} is `{number}`, not a number; write {name}=0.7") from None
        if not 0 <= share < float("inf"):
            raise ValueError(f"the share of {name} is {number}; it must be 0 or more")
        shares[profile] = share
    total = sum(shares.values())
    if total <= 0:
        raise ValueError("the shares sum to 0: give at least one kind of worker a share")
    return {name: share / total for name, share in shares.items()}


def deal(mix: dict[ProfileName, float], workers: int, rng: random.Random) -> list[ProfileName]:
    """Return each worker's profile, in random order, as close to the shares as whole workers can be."""
    exact = {name: share * workers for name, share in mix.items()}
    counts = {name: int(value) for name, value in exact.items()}
    by_remainder = sorted(exact, key=lambda name: exact[name] - counts[name], reverse=True)
    for name in by_remainder[: workers - sum(counts.values())]:
        counts[name] += 1
    dealt = [name for name, k in counts.items() for _ in range(k)]
    rng.shuffle(dealt)
    return dealt
