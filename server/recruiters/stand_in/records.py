"""Records of the simulated Prolific: studies, submissions, batches of bonuses, subscriptions, events."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

Json = dict[str, Any]
OPEN = frozenset({"RESERVED", "ACTIVE"})
PLACE_HELD = OPEN | {"AWAITING REVIEW", "APPROVED", "PARTIALLY APPROVED"}


class NoSuchThing(Exception):
    """There is no object with this id."""


class StandInRefusal(Exception):
    """Prolific would refuse this. The message is Prolific's."""


@dataclass(slots=True)
class StandInStudy:
    """A study. `given`: the data sent by the researcher."""

    id: str
    given: Json
    status: str = "UNPUBLISHED"

    def code(self, entered: str | None) -> Json | None:
        """Return the definition of a completion code; None if it is unknown."""
        codes: list[Json] = self.given.get("completion_codes", [])
        return next((code for code in codes if code["code"] == entered), None)

    def answer(self) -> Json:
        """Return the study as a response."""
        return {**self.given, "id": self.id, "status": self.status}

    def short(self) -> Json:
        """Return the study as an entry of a list."""
        names = {"name": self.given["name"], "internal_name": self.given.get("internal_name")}
        return {"id": self.id, "status": self.status, **names}


@dataclass(slots=True)
class StandInSubmission:
    """A participant's submission. `paid`: cents of the reward; `bonuses`: each in cents."""

    id: str
    study: str
    participant: str
    started_at: datetime
    status: str = "RESERVED"
    completed_at: datetime | None = None
    entered_code: str | None = None
    return_requested: datetime | None = None
    paid: int = 0
    bonuses: list[int] = field(default_factory=list)

    def short(self) -> Json:
        """Return the submission as an entry of a list, which does not show partial payments."""
        return {
            "id": self.id,
            "participant_id": self.participant,
            "status": "APPROVED" if self.status == "PARTIALLY APPROVED" else self.status,
            "started_at": self.started_at.isoformat(),
            "completed_at": _shown(self.completed_at),
            "study_code": self.entered_code,
            "return_requested": _shown(self.return_requested),
            "has_siblings": False,
        }

    def moved(self) -> Json:
        """Return the submission as the response to a transition."""
        return {
            "id": self.id,
            "study_id": self.study,
            "participant": self.participant,
            "status": "APPROVED" if self.status == "PARTIALLY APPROVED" else self.status,
            "started_at": self.started_at.isoformat(),
            "completed_at": _shown(self.completed_at),
            "entered_code": self.entered_code,
        }

    def detail(self) -> Json:
        """Return the submission as a single response."""
        return {
            **self.moved(),
            "status": self.status,
            "return_requested": _shown(self.return_requested),
            "bonus_payments": list(self.bonuses),
        }


@dataclass(frozen=True, slots=True)
class Batch:
    """Prepared bonuses: cents by submission."""

    id: str
    study: str
    cents: dict[str, int]


@dataclass(slots=True)
class StandInSubscription:
    """A workspace's subscription to events of a type."""

    id: str
    workspace: str
    event_type: str
    target_url: str
    secret: str
    is_enabled: bool = False

    def answer(self) -> Json:
        """Return the subscription as a response."""
        return {
            "id": self.id,
            "workspace_id": self.workspace,
            "event_type": self.event_type,
            "target_url": self.target_url,
            "is_enabled": self.is_enabled,
        }


@dataclass(slots=True)
class Event:
    """An event, and whether it was delivered to its subscription."""

    id: str
    subscription: str
    at: datetime
    payload: Json
    status: str = "PENDING"

    def answer(self, target_url: str) -> Json:
        """Return the event as a response."""
        at = self.at.isoformat()
        return {
            "id": self.id,
            "datetime_created": at,
            "datetime_updated": at,
            "event_type": self.payload["event_type"],
            "resource_id": self.payload["resource_id"],
            "status": self.status,
            "target_url": target_url,
            "payload": self.payload,
        }


@dataclass(slots=True)
class Ids:
    """Generates consecutive ids like Prolific's, with 24 hexadecimal digits."""

    given: int = 0

    def new(self) -> str:
        """Return the next id."""
        self.given += 1
        return f"{0x5F00_0000_0000_0000_0000_0000 + self.given:x}"


Clock = Callable[[], datetime]


def _shown(at: datetime | None) -> str | None:
    return at.isoformat() if at is not None else None
