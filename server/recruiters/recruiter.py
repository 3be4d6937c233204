"""Recruiters of a study: the parameters by which each names workers, and the return address.

What the places send and expect is theirs to say; seen in their documents in November 2026.
"""

from collections.abc import Mapping
from dataclasses import dataclass
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

PROLIFIC = "prolific"  # as arrivals, studies and tables name it
CONNECT = "connect"
SONA = "sona"
PROLIFIC_SITE = "https://app.prolific.com"  # where its participants are
Parameters = Mapping[str, str]  # those of the address by which a worker came


def _web_address(text: str) -> str:
    """Check that a worker's browser may be sent to `text`: `javascript:…` would run in our page."""
    parts = urlsplit(text)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("expected an address that begins with https:// or http://")
    return text


WebAddress = Annotated[str, StringConstraints(max_length=2_000), AfterValidator(_web_address)]
Code = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"^[A-Za-z0-9_-]{1,64}$")]
_SCHOOL = r"^[a-zA-Z0-9-]{1,63}\.sona-systems\.com$"
_ID: TypeAdapter[str] = TypeAdapter(WorkerId)


class _Recruiter(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
    kind: str
    person: ClassVar[str]  # the parameter that names the worker
    visit: ClassVar[str | None]  # the one that names this coming of theirs, where there is one

    def arrival(self, given: Parameters) -> Arrival | None:
        """Return who arrives; None: the address does not say, or holds a place for a name and no name."""
        person = _name_in(given, self.person)
        visit = None if self.visit is None else _name_in(given, self.visit)
        return Arrival(self.kind, person, visit) if person is not None else None


class Prolific(_Recruiter):
    """Prolific.

    `completion_code`: the code of the study there by which a submission is complete. `signed`: whether
    workers are let in only with an address that Prolific has signed; the study there has to ask for that.
    """

    kind: Literal["prolific"]
    completion_code: Code
    signed: bool = False
    person: ClassVar[str] = "PROLIFIC_PID"
    visit: ClassVar[str | None] = "SESSION_ID"


class Connect(_Recruiter):
    """CloudResearch Connect. It ends with a code, by the address that Connect names for it, or both.

    `partial_url`: the address there of partial completes, for those who end without handing in: they did not
    agree, did not pass the test questions, left, or a chatbot failed them.
    """

    kind: Literal["connect"]
    completion_code: Code | None = None
    completion_url: WebAddress | None = None
    partial_url: WebAddress | None = None
    person: ClassVar[str] = "participantId"
    visit: ClassVar[str | None] = "assignmentId"

    @model_validator(mode="after")
    def _ends_somehow(self) -> "Connect":
        if self.completion_code is None and self.completion_url is None:
            raise ValueError("give `completion_code`, `completion_url` or both: without, nobody can be paid")
        return self

    @model_validator(mode="after")
    def _tells_partial_from_complete(self) -> "Connect":
        if self.partial_url is not None and self.partial_url == self.completion_url:
            raise ValueError("`partial_url` is `completion_url`: who did not finish would count as complete")
        return self


class Sona(_Recruiter):
    """SONA, where students get credit. `school`: the host, like `example.sona-systems.com`.

    The address of the study there must hold `survey_code=%SURVEY_CODE%`: it names the student, and the credit
    is given to it. `credit`: whether the student's browser goes to SONA for it, or the server asks for it.
    """

    kind: Literal["sona"]
    school: Annotated[str, StringConstraints(to_lower=True, pattern=_SCHOOL)]
    experiment_id: Annotated[int, Field(ge=1, le=1_000_000_000, strict=True)]
    credit_token: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9]{1,64}$")]
    credit: Literal["browser", "server"] = "browser"
    person: ClassVar[str] = "survey_code"
    visit: ClassVar[str | None] = None  # its codes name students: one stands encrypted, and nowhere else


Recruiter = Annotated[Prolific | Connect | Sona, Field(discriminator="kind")]


@dataclass(frozen=True, slots=True)
class Ending:
    """What somebody gets who has finished: `code` proves it; `return_to`: where they are expected."""

    code: str
    return_to: str | None


def ending(
    recruiter: Recruiter | None,
    completion_url: str | None,
    arrival: Arrival,
    own_code: str,
    prolific_site: str = PROLIFIC_SITE,
) -> Ending:
    """Return what `arrival` gets who has finished.

    Args:
        recruiter: the study's.
        completion_url: where those go who came by a link.
        arrival: who it is. Testers and simulated workers of a study with a recruiter have come by none.
        own_code: a code of ours, for where the place has none.
        prolific_site: where the pages of Prolific's participants begin.
    """
    if recruiter is None:
        return Ending(own_code, completion_url)
    if arrival.platform != recruiter.kind:
        return Ending(own_code, None)
    match recruiter:
        case Prolific(completion_code=code):
            return Ending(code, prolific_return(code, prolific_site))
        case Connect(completion_code=given, completion_url=url):
            return Ending(given or own_code, url)
        case Sona(credit="server"):
            return Ending(own_code, None)
        case Sona():
            return Ending(own_code, _credit(recruiter, arrival.external_id))


@dataclass(frozen=True, slots=True)
class WayBack:
    """Where somebody who could not take part returns the study. `to`: an address that pays nothing."""

    platform: str
    to: str | None


def way_back(
    recruiter: Recruiter | None, arrival: Arrival | None, prolific_site: str = PROLIFIC_SITE
) -> WayBack | None:
    """Return where `arrival` goes, whom a run does not take; None: they came from no platform.

    No completion code is part of it.
    """
    if recruiter is None or arrival is None or arrival.platform != recruiter.kind:
        return None
    match recruiter:
        case Prolific():
            return WayBack("Prolific", prolific_site)
        case Connect(partial_url=url):
            return WayBack("CloudResearch Connect", url)
        case Sona(school=school):
            return WayBack("SONA", f"https://{school}/")


def prolific_return(code: str, site: str = PROLIFIC_SITE) -> str:
    """Return where somebody comes back to Prolific with a code."""
    return f"{site}/submissions/complete?{urlencode({'cc': code})}"


def _credit(sona: Sona, survey_code: str) -> str:
    """Return where SONA gives a student the credit."""
    given = {
        "experiment_id": sona.experiment_id,
        "credit_token": sona.credit_token,
        "survey_code": survey_code,
    }
    return f"https://{sona.school}/webstudy_credit.aspx?{urlencode(given)}"


def values_of(given: Parameters, parameter: str) -> list[str]:
    """Return the different values of a parameter, in whatever case its name is written."""
    return sorted({value for name, value in given.items() if name.lower() == parameter.lower()})


def _name_in(given: Parameters, parameter: str) -> str | None:
    """Return a parameter's value; None where it is missing, cannot be a name, or was never filled in."""
    values = values_of(given, parameter)
    try:
        name = _ID.validate_python(values[0] if len(values) == 1 else "")
    except ValidationError:
        return None
    return None if is_placeholder(name) else name
