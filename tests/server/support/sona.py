"""A SONA to try things with: a real server that knows its students, and which of them have their credit.

Its answers are shaped as SONA's documents show them ("Server-Side Completion URL Responses").
"""

from dataclasses import dataclass, field
from xml.sax.saxutils import escape

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

STUDY = {"kind": "sona", "school": "tide.sona-systems.com", "experiment_id": 12, "credit_token": "9a8b"}
_SHAPE = """<WebstudyCreditResponse xmlns="http://tempuri.org/"><WebstudyCreditResult
 xmlns:a="http://schemas.example/SonaAPI" xmlns:i="http://www.w3.org/2001/XMLSchema-instance">{}
</WebstudyCreditResult></WebstudyCreditResponse>"""


@dataclass
class SonaStandIn:
    """`students` are signed up, `credited` have their credit. `faults`: what it answers first."""

    students: set[str] = field(default_factory=set)
    credited: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    faults: list[tuple[int, str]] = field(default_factory=list)

    @property
    def app(self) -> Starlette:
        return Starlette(routes=[Route("/services/SonaAPI.svc/WebstudyCredit", self._credit)])

    async def _credit(self, request: Request) -> Response:
        given = dict(request.query_params)
        self.asked.append(given.get("survey_code", ""))
        if self.faults:
            status, text = self.faults.pop(0)
            return Response(text, status, media_type="text/xml")
        return Response(self._answer(given), media_type="text/xml")

    def _answer(self, given: dict[str, str]) -> str:
        student = given["survey_code"]
        if (given["experiment_id"], given["credit_token"]) != ("12", "9a8b"):
            return error("Invalid experiment_id or credit_token.")
        if student not in self.students:
            return error(f"Invalid survey_code {student}.")
        if student in self.credited:
            return error("You have already received credit for this study.")
        self.credited.append(student)
        return granted("G")


def granted(status: str) -> str:
    """An answer with a result in it."""
    return _SHAPE.format(
        f'<a:Errors i:nil="true"/><a:Result><a:anon_id_code i:nil="true"/>'
        f"<a:credit_status>{status}</a:credit_status><a:signup_id>123</a:signup_id></a:Result>"
    )


def error(text: str) -> str:
    """An answer that says what is wrong."""
    return _SHAPE.format(
        f"<a:Errors><a:APIError><a:ErrorDetail>{escape(text)}</a:ErrorDetail></a:APIError></a:Errors>"
        '<a:Result i:nil="true"/>'
    )
