"""Client of SONA, which gives students credit at the server's request.

The call is SONA's `WebstudyCredit` ("Server-Side Completion URL Responses" of its documents, November 2026).
"""

from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import quote, quote_plus
from xml.etree import ElementTree

import httpx2

from candor.common.network import BoundedClient
from server.recruiters.recruiter import Sona

CreditStatus = Literal["granted", "refused", "unreachable"]
_PATH: Final = "/services/SonaAPI.svc/WebstudyCredit"
_PATIENCE = 20.0  # time-out in seconds, less than the lease of the job
_GRANTED = "G"
_LONGEST_REASON = 300
_MOST_CHARACTERS = 100_000  # of a response; a real one has some hundreds
_TOO_BUSY = 429


@dataclass(frozen=True, slots=True)
class CreditAnswer:
    """The result of a request for credit. `reason`: why there is none, without the student's code.

    `granted`: SONA has granted it. `refused`: SONA gave any other answer. `unreachable`: SONA did not answer,
    or was temporarily unable to; it is then unknown whether the credit was given. A repetition is safe,
    because a student gets the credit of a study only once.
    """

    status: CreditStatus
    reason: str = ""


class SonaClient:
    """Client of SONA. `url`: the address of a stand-in for tests; by default, each study's school."""

    def __init__(self, url: str | None = None, patience: float = _PATIENCE) -> None:
        self._url = url
        self._patience = patience

    async def grant(self, sona: Sona, survey_code: str) -> CreditAnswer:
        """Request one student's credit. Never raises an error because of SONA."""
        given: dict[str, str | int] = {
            "experiment_id": sona.experiment_id,
            "credit_token": sona.credit_token,
            "survey_code": survey_code,
        }
        start = self._url or f"https://{sona.school}"
        try:
            async with BoundedClient(timeout=self._patience) as client:
                answer = await client.get(f"{start}{_PATH}", params=given)
        except httpx2.HTTPError as error:
            return CreditAnswer("unreachable", f"{sona.school} cannot be reached ({type(error).__name__})")
        return _without(survey_code, read_answer(answer.status_code, answer.text))


def read_answer(code: int, text: str) -> CreditAnswer:
    """Interpret a response: the credit is granted only if its `credit_status` is G."""
    if code >= httpx2.codes.INTERNAL_SERVER_ERROR or code == _TOO_BUSY:
        return CreditAnswer("unreachable", f"SONA answered {code}")
    found = _fields(text)
    if code == httpx2.codes.OK and found is not None and found.get("credit_status") == [_GRANTED]:
        return CreditAnswer("granted")
    return CreditAnswer("refused", _reason(code, found))


def _reason(code: int, found: dict[str, list[str]] | None) -> str:
    if found is None:
        return f"SONA answered {code} with something that is not its XML"
    if said := [text for name, texts in found.items() if "error" in name.lower() for text in texts]:
        return "SONA says: " + "; ".join(said)[:_LONGEST_REASON]
    status = ", ".join(found.get("credit_status", [])) or "missing"
    return f"SONA answered {code}: its credit status is {status}, not {_GRANTED}"


def _fields(text: str) -> dict[str, list[str]] | None:
    """Return the texts of an XML document by element name; None if it is not XML, or has a DTD."""
    if len(text) > _MOST_CHARACTERS or "<!" in text:  # what a DTD defines can grow without bounds
        return None
    try:
        root = ElementTree.fromstring(text)  # noqa: S314  (entities need the DTD that was just refused)
    except ElementTree.ParseError:
        return None
    found: dict[str, list[str]] = {}
    for element in root.iter():
        if element.text and (content := " ".join(element.text.split())):
            found.setdefault(element.tag.rpartition("}")[2], []).append(content)
    return found


def _without(survey_code: str, answer: CreditAnswer) -> CreditAnswer:
    """Return an answer without the student's code in its reason."""
    reason = answer.reason
    for written in {survey_code, quote(survey_code), quote_plus(survey_code)}:
        reason = reason.replace(written, "…")
    return CreditAnswer(answer.status, reason)
