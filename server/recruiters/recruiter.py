"""Recruiters of a study: the URL parameters with a worker's id, and the return addresses.

Source: the platforms' documentation, as of November 2026.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Annotated, ClassVar, Literal
from urllib.parse import urlencode, urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from server.recruiters.arrival import Arrival, WorkerId, is_placeholder
from server.recruiters.pay_platform import PayPlatform, RejectionCategory
from server.recruiters.prolific.client import ProlificClient
from server.recruiters.prolific.connection import PlatformConnection
from server.recruiters.prolific.hooks import genuine
from server.recruiters.prolific.signed_arrival import ProlificArrivals
from server.recruiters.signatures import ArrivalSignatures, ArrivedEvent, NotGenuine

PROLIFIC = "prolific"  # name in arrivals, studies and tables
CONNECT = "connect"
SONA = "sona"
PROLIFIC_SITE = "https://app.prolific.com"  # the site for participants
Parameters = Mapping[str, str]  # query parameters of the address with which a worker came


def _web_address(text: str) -> str:
    """Check that `text` is a safe redirect for a browser: `javascript:…` would run in our page."""
    parts = urlsplit(text)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("Enter an address that begins with https:// or http://")
    return text


WebAddress = Annotated[str, StringConstraints(max_length=2_000), AfterValidator(_web_address)]
Code = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"^[A-Za-z0-9_-]{1,64}$")]
_WAYS = ("no_consent", "screened_out", "our_failure", "reported", "returned")
_SCHOOL = r"^[a-zA-Z0-9-]{1,63}\.sona-systems\.com$"
_ID: TypeAdapter[str] = TypeAdapter(WorkerId)


@dataclass(frozen=True, slots=True)
class Completion:
    """The ending of a finished assignment: the completion `code`, and the address to `return_to`."""

    code: str
    return_to: str | None


_OF_CODE = Field(
    title="Completion code",
    description=(
        "Workers enter it on the platform to prove that they finished. If the study exists "
        "there, enter its code."
    ),
)


class _Recruiter(BaseModel, ABC):
    model_config = ConfigDict(extra="forbid", frozen=True)
    kind: str
    title: ClassVar[str]
    person: ClassVar[str]  # the parameter with the worker's id
    visit: ClassVar[str | None]  # the parameter with the id of the visit, if there is one

    def arrival(self, given: Parameters) -> Arrival | None:
        """Return the arrival; None if the address has no worker's id, or an unfilled placeholder."""
        person = _name_in(given, self.person)
        visit = None if self.visit is None else _name_in(given, self.visit)
        return Arrival(self.kind, person, visit) if person is not None else None

    @abstractmethod
    def ending(self, worker: str, own_code: str, prolific_site: str) -> Completion:
        """Return the ending for a worker who has finished, by their id here."""

    @abstractmethod
    def return_address(self, prolific_site: str) -> str | None:
        """Return the address where a worker returns the study. It does not lead to pay."""

    def ways_out(self, _codes: Mapping[str, str], _prolific_site: str) -> dict[str, str | None]:
        """Return the fields of WaysOut for a worker who ends without submitting.

        `_codes`: the completion codes of the run's study by ending.
        """
        return {}


class PayingRecruiter(_Recruiter):
    """A recruiter whose participants are paid through its API. `PAYING` lists all of them.

    `completion_code`: the study's code for complete submissions.
    """

    completion_code: Annotated[Code, _OF_CODE]
    # With their names, the most usual one first.
    rejection_categories: ClassVar[Mapping[RejectionCategory, str]]

    @property
    def signs_arrivals(self) -> bool:
        """Whether only workers are admitted whose address the recruiter has signed."""
        return False

    @staticmethod
    @abstractmethod
    def client(token: str, api: str) -> AbstractAsyncContextManager[PayPlatform]:
        """Return a client with a token of the researcher's workspace. `api`: the address of the API."""

    @staticmethod
    def arrival_signatures(_api: str) -> ArrivalSignatures | None:
        """Return what verifies the arrivals that the recruiter signs; None if it signs none."""
        return None

    @staticmethod
    def event(_secret: str, _headers: Mapping[str, str], _body: bytes, _at: datetime) -> ArrivedEvent:
        """Verify and parse an event that has arrived at a time, signed with a secret. Raises NotGenuine."""
        raise NotGenuine("the platform sends no events")


class Prolific(PayingRecruiter):
    """Prolific.

    `completion_code`: the study's code for complete submissions. `signed`: admit only workers whose address
    Prolific has signed; the study at Prolific must be set up for that.
    """

    kind: Literal["prolific"]
    signed: bool = Field(
        default=False,
        title="Accept only links signed by the platform",
        description="The study on the platform must sign its links. Studies that Candor creates do.",
    )
    title: ClassVar[str] = "Prolific"
    person: ClassVar[str] = "PROLIFIC_PID"
    visit: ClassVar[str | None] = "SESSION_ID"
    rejection_categories: ClassVar[Mapping[RejectionCategory, str]] = {
        RejectionCategory.LOW_EFFORT: "Low effort",
        RejectionCategory.FAILED_INSTRUCTIONS: "Did not follow the instructions",
        RejectionCategory.FAILED_CHECK: "Failed an attention check",
        RejectionCategory.TOO_QUICKLY: "Finished too quickly",
        RejectionCategory.TOO_SLOWLY: "Finished too slowly",
        RejectionCategory.MALINGERING: "Malingering",
        RejectionCategory.NO_CODE: "No completion code",
        RejectionCategory.BAD_CODE: "Wrong completion code",
        RejectionCategory.NO_DATA: "No data",
        RejectionCategory.INCOMP_LONGITUDINAL: "Incomplete longitudinal study",
        RejectionCategory.UNSUPP_DEVICE: "Unsupported device",
        RejectionCategory.OTHER: "Other",
    }

    @property
    def signs_arrivals(self) -> bool:
        """Whether only workers are admitted whose address Prolific has signed."""
        return self.signed

    @staticmethod
    def client(token: str, api: str) -> AbstractAsyncContextManager[PayPlatform]:
        """Return a client of Prolific."""
        return ProlificClient(PlatformConnection(token, api))

    @staticmethod
    def arrival_signatures(api: str) -> ArrivalSignatures:
        """Return what verifies the arrivals that Prolific signs."""
        return ProlificArrivals(api)

    @staticmethod
    def event(secret: str, headers: Mapping[str, str], body: bytes, at: datetime) -> ArrivedEvent:
        """Verify and parse an event of Prolific. Raises NotGenuine."""
        return genuine(secret, headers, body, at)

    def ending(self, _worker: str, _own_code: str, prolific_site: str) -> Completion:
        """Return the ending with the study's completion code."""
        return Completion(self.completion_code, _prolific_return(self.completion_code, prolific_site))

    def return_address(self, prolific_site: str) -> str:
        """Return Prolific's site for participants."""
        return prolific_site

    def ways_out(self, codes: Mapping[str, str], prolific_site: str) -> dict[str, str | None]:
        """Return the links with the completion codes of the run's study."""
        ways = {way: _prolific_return(codes[way], prolific_site) for way in _WAYS if way in codes}
        return ways | {"reported_code": codes.get("reported")}


class Connect(_Recruiter):
    """CloudResearch Connect. A study ends with a code, with Connect's completion address, or both.

    `partial_url`: Connect's address of partial completes, for workers who did not submit: they declined,
    failed the test questions, left, or a chatbot failed.
    """

    kind: Literal["connect"]
    completion_code: Annotated[Code | None, _OF_CODE] = None
    completion_url: WebAddress | None = Field(
        None, title="Where workers are sent at the end", description="The address that the platform shows."
    )
    partial_url: WebAddress | None = Field(
        None,
        title="Where workers who do not finish are sent",
        description="Connect’s address for partial completes. If empty, they stay on Candor’s page.",
    )
    title: ClassVar[str] = "CloudResearch Connect"
    person: ClassVar[str] = "participantId"
    visit: ClassVar[str | None] = "assignmentId"

    def ending(self, _worker: str, own_code: str, _prolific_site: str) -> Completion:
        """Return the ending with the study's code and address, as far as it has them."""
        return Completion(self.completion_code or own_code, self.completion_url)

    def return_address(self, _prolific_site: str) -> str | None:
        """Return the address of partial completes."""
        return self.partial_url

    def ways_out(self, _codes: Mapping[str, str], _prolific_site: str) -> dict[str, str | None]:
        """Return the address of partial completes for all but those who leave with a report.

        They are paid in full, so they get the link of those who finish.
        """
        return dict.fromkeys(_WAYS, self.partial_url) | {"reported": None}

    @model_validator(mode="after")
    def _ends_somehow(self) -> "Connect":
        if self.completion_code is None and self.completion_url is None:
            raise ValueError(
                "Give a completion code, an address at the end, or both: otherwise nobody can be paid"
            )
        return self

    @model_validator(mode="after")
    def _tells_partial_from_complete(self) -> "Connect":
        if self.partial_url is not None and self.partial_url == self.completion_url:
            raise ValueError(
                "The address for workers who do not finish must differ from the one at the end: "
                "otherwise unfinished work counts as complete"
            )
        return self


class Sona(_Recruiter):
    """SONA, where students get credit. `school`: the host, such as `example.sona-systems.com`.

    The study's address at SONA must contain `survey_code=%SURVEY_CODE%`, which identifies the student.
    `credit`: whether the student's browser or the server requests the credit.
    """

    kind: Literal["sona"]
    school: Annotated[str, StringConstraints(to_lower=True, pattern=_SCHOOL)] = Field(
        title="School’s address", description="For example, example.sona-systems.com."
    )
    experiment_id: Annotated[int, Field(ge=1, le=1_000_000_000, strict=True)] = Field(title="Experiment ID")
    credit_token: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9]{1,64}$")] = Field(
        title="Credit token"
    )
    credit: Literal["browser", "server"] = Field(
        "browser",
        title="How credit is given",
        description="The student’s browser goes to SONA at the end, or this server tells SONA.",
        json_schema_extra={"x-words": {"browser": "By the student’s browser", "server": "By this server"}},
    )
    title: ClassVar[str] = "SONA"
    person: ClassVar[str] = "survey_code"
    visit: ClassVar[str | None] = None  # survey codes identify students: stored encrypted, only as ids

    def ending(self, worker: str, own_code: str, _prolific_site: str) -> Completion:
        """Return the ending with SONA's address that gives a student the credit, unless the server asks."""
        return Completion(own_code, None if self.credit == "server" else _credit(self, worker))

    def return_address(self, _prolific_site: str) -> str:
        """Return the school's site."""
        return f"https://{self.school}/"


Recruiter = Annotated[Prolific | Connect | Sona, Field(discriminator="kind")]
PAYING: Mapping[str, type[PayingRecruiter]] = MappingProxyType({PROLIFIC: Prolific})  # by kind


def ending(
    recruiter: Recruiter | None,
    completion_url: str | None,
    arrival: Arrival,
    own_code: str,
    prolific_site: str = PROLIFIC_SITE,
) -> Completion:
    """Return the ending for a worker who has finished.

    Args:
        recruiter: the study's recruiter.
        completion_url: the return address for workers who came by a link.
        arrival: the worker. Testers and simulated workers do not come from the study's recruiter.
        own_code: our own code, if the platform has none.
        prolific_site: the address of Prolific's site for participants.
    """
    if recruiter is None:
        return Completion(own_code, completion_url)
    if arrival.platform != recruiter.kind:
        return Completion(own_code, None)
    return recruiter.ending(arrival.external_id, own_code, prolific_site)


@dataclass(frozen=True, slots=True)
class WayBack:
    """Where a worker who could not take part returns the study.

    `to`: an address that does not lead to pay.
    """

    platform: str
    to: str | None


def way_back(
    recruiter: Recruiter | None, arrival: Arrival | None, prolific_site: str = PROLIFIC_SITE
) -> WayBack | None:
    """Return the way back for a worker whom the run does not admit; None if they came from no platform.

    It contains no completion code.
    """
    if recruiter is None or arrival is None or arrival.platform != recruiter.kind:
        return None
    return WayBack(recruiter.title, recruiter.return_address(prolific_site))


def title_of(kind: str) -> str:
    """Return the name of a recruiter with pay."""
    return PAYING[kind].title


def _prolific_return(code: str, site: str) -> str:
    """Return Prolific's address for a completion code."""
    return f"{site}/submissions/complete?{urlencode({'cc': code})}"


def _credit(sona: Sona, survey_code: str) -> str:
    """Return SONA's address that gives a student the credit."""
    given = {
        "experiment_id": sona.experiment_id,
        "credit_token": sona.credit_token,
        "survey_code": survey_code,
    }
    return f"https://{sona.school}/webstudy_credit.aspx?{urlencode(given)}"


def values_of(given: Parameters, parameter: str) -> list[str]:
    """Return the distinct values of a parameter, whose name may be in upper or lower case."""
    return sorted({value for name, value in given.items() if name.lower() == parameter.lower()})


def _name_in(given: Parameters, parameter: str) -> str | None:
    """Return the id in a parameter; None if it is missing, invalid, or an unfilled placeholder."""
    values = values_of(given, parameter)
    try:
        name = _ID.validate_python(values[0] if len(values) == 1 else "")
    except ValidationError:
        return None
    return None if is_placeholder(name) else name
