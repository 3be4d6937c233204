"""The researcher's REST API as commands call it: address and token, the calls, and their answers.

Unknown fields of an answer are ignored.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar
from urllib.parse import quote, urlsplit

import httpx2
import typer
from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from bots.conformance.report import ConformanceReport, Overruns, Verdict
from candor.common.api_models import CrowdQuestion, Forecast, SimulatedBeliefs
from candor.common.network import trusted
from candor.common.terminal import agree


class ReplicaAnswer(BaseModel):
    """One server that answers for a bot."""

    url: str
    state: str
    in_flight: int
    calls: int
    failures: int
    last_error: str | None


class LastCheckAnswer(BaseModel):
    """The time and the verdict of a bot's last check."""

    at: datetime
    verdict: Verdict


class BotAnswer(BaseModel):
    """A registered bot. `endpoint` is as registered, with its kind under "kind"."""

    name: str
    endpoint: dict[str, Any]
    enabled: bool
    created_at: datetime
    used_by: list[str]
    replicas: list[ReplicaAnswer]
    overruns: Overruns
    check: LastCheckAnswer | None


class BotListAnswer(BaseModel):
    """All registered bots."""

    bots: list[BotAnswer]


class CheckAnswer(BaseModel):
    """A running or finished check. `report` is set when it is finished, `error` when it failed."""

    state: Literal["running", "finished", "failed"]
    done: int
    total: int
    at: datetime | None
    report: ConformanceReport | None
    error: str | None


class JoinAnswer(BaseModel):
    """A simulated worker's session token and its assignment."""

    token: str
    assignment: str


class RunAnswer(BaseModel):
    """A run, by its name."""

    run: str


class RunListAnswer(BaseModel):
    """All runs, newest first."""

    runs: list[RunAnswer]


class RehearsalAnswer(BaseModel):
    """A running or finished rehearsal; `run` is its own run."""

    job: str
    run: str
    status: Literal["running", "done", "failed", "cancelled"]
    step: str
    done: int
    total: int
    error: str | None
    forecast: Forecast | None
    trouble: str | None


SERVER = "http://127.0.0.1:8000"
_DATA = Path("candor-data")

Server = Annotated[str, typer.Option("--server", help="The Candor server's address.", metavar="URL")]
Token = Annotated[
    str | None,
    typer.Option(
        envvar="CANDOR_TOKEN",
        help="The researcher's token.",
        show_default="the token in the data folder given by --data",
    ),
]
Data = Annotated[
    Path | None,
    typer.Option(
        "--data",
        envvar="CANDOR_DATA",
        help="The server's data folder, which contains its token.",
        show_default="candor-data in this folder",
    ),
]


class NoAccess(ValueError):
    """The server cannot be called. The message says which option is missing or wrong."""


@dataclass(frozen=True, slots=True)
class Access:
    """A server's address and a researcher's token."""

    server: str
    token: str = field(repr=False)


def access(server: str, token: str | None, data: Path | None = None) -> Access:
    """Return the address and the token for the researcher's API of `server`.

    Without a token, the one in the server's data folder `data` is used; None: `candor-data` in this folder.

    Raises:
        NoAccess: `server` is not an address, or there is no token.
    """
    parts = urlsplit(server)
    if parts.scheme not in {"http", "https"} or not parts.netloc:
        raise NoAccess(f"--server {server}: not an address; write it like {SERVER}")
    given = (token or _own_token((data or _DATA) / "secrets.json")).strip()
    if not given.isascii() or not given.isprintable():
        raise NoAccess("the token has characters in it that no token has: copy it again")
    return Access(f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}", given)


def _own_token(secrets: Path) -> str:
    try:
        return str(from_json(secrets.read_bytes())["researcher_token"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise NoAccess(
            f"No researcher's token was given, and {secrets} cannot be read. Name the server's data folder"
            " with --data, or make a token there with `candor token new --name NAME` and pass it with --token"
            " or CANDOR_TOKEN. The end of an invitation's link is no token."
        ) from error


_SECONDS = 30.0
_TOO_MANY, _SERVER_ERROR = 429, 500
Shape = TypeVar("Shape", bound=BaseModel)
T = TypeVar("T")


class RequestFailed(Exception):
    """The server could not carry out a request. The message says why, and what to do."""


class ServerAway(RequestFailed):
    """The server cannot answer now: it is unreachable, failing or overloaded. A later call may succeed."""


class NoAnswer(ServerAway):
    """Nothing answers at the server's address, or not in time."""


class RequestRefused(RequestFailed):
    """The server refused. `code` is its code of the reason."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class ConfirmationNeeded(RequestRefused):
    """The request may cost money. The message says how many calls, to whom, at what price."""


class ResearcherClient:
    """The researcher's API of one server. Every call raises RequestRefused, ServerAway or RequestFailed.

    Threads may share it.
    """

    def __init__(self, access: Access) -> None:
        """Prepare; nothing is sent yet."""
        self._server = access.server
        self._client = httpx2.Client(
            base_url=f"{access.server}/api",
            headers={"Authorization": f"Bearer {access.token}"},
            verify=trusted(),
            timeout=_SECONDS,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def bots(self) -> list[BotAnswer]:
        """Return every registered bot."""
        return self._read(BotListAnswer, "GET", _path("bots")).bots

    def add(self, name: str, endpoint: dict[str, Any]) -> BotAnswer:
        """Register a bot."""
        return self._read(BotAnswer, "POST", _path("bots"), json={"name": name, "endpoint": endpoint})

    def bot(self, name: str) -> BotAnswer:
        """Return a registered bot."""
        return self._read(BotAnswer, "GET", _path("bots", name))

    def enable(self, name: str, enabled: bool) -> BotAnswer:
        """Enable or disable a bot."""
        return self._read(BotAnswer, "PATCH", _path("bots", name), json={"enabled": enabled})

    def delete(self, name: str) -> None:
        """Delete a bot."""
        self._call("DELETE", _path("bots", name))

    def add_replica(self, name: str, url: str) -> BotAnswer:
        """Add a server to a bot."""
        return self._read(BotAnswer, "POST", _path("bots", name, "replicas"), json={"url": url})

    def remove_replica(self, name: str, url: str) -> BotAnswer:
        """Remove a server from a bot."""
        return self._read(BotAnswer, "DELETE", _path("bots", name, "replicas"), params={"url": url})

    def start_check(
        self, name: str, study: str | None, at_once: int | None, *, confirmed: bool = False
    ) -> CheckAnswer:
        """Start a check of a bot for a study, given as YAML; return the running check if there is one.

        Also raises ConfirmationNeeded if it may cost money, unless `confirmed`.
        """
        asked = {"study": study, "at_once": at_once, "confirmed": confirmed}
        return self._read(CheckAnswer, "POST", _path("bots", name, "check"), json=asked)

    def check(self, name: str) -> CheckAnswer | None:
        """Return the latest check of a bot, None if there was none."""
        try:
            return self._read(CheckAnswer, "GET", _path("bots", name, "check"))
        except RequestRefused as error:
            if error.code != "not_checked":
                raise
            return None

    def runs(self) -> list[RunAnswer]:
        """Return every run."""
        return self._read(RunListAnswer, "GET", _path("runs")).runs

    def rehearse(self, yaml: str, options: dict[str, Any], *, confirmed: bool = False) -> RehearsalAnswer:
        """Start a rehearsal of the study in `yaml`.

        Also raises ConfirmationNeeded if it may cost money, unless `confirmed`.
        """
        asked = {"yaml": yaml, "confirmed": confirmed, **options}
        return self._read(RehearsalAnswer, "POST", _path("rehearsals"), json=asked)

    def rehearsal(self, run: str, job: str) -> RehearsalAnswer:
        """Return a rehearsal by its own run and its job."""
        return self._read(RehearsalAnswer, "GET", _path("runs", run, "jobs", job))

    def cancel(self, run: str, job: str) -> None:
        """Cancel a background job."""
        self._call("POST", _path("runs", run, "jobs", job, "cancel"))

    def crowd_question(self, run: str, workers: int) -> str | None:
        """Return the question about the costs of so many simulated workers; None if they cost nothing."""
        path = _path("runs", run, "crowd-question")
        return self._read(CrowdQuestion, "GET", path, params={"workers": workers}).question

    def join_simulated(self, run: str, worker: str, reply_pace: float, simulated_as: str) -> JoinAnswer:
        """Join a run as a simulated worker.

        `reply_pace` scales the natural reply times; `simulated_as` describes the simulated worker in the
        data.
        """
        body = {"run": run, "worker": worker, "simulated": True, "reply_pace": reply_pace}
        body["simulated_as"] = simulated_as
        return self._read(JoinAnswer, "POST", "/join", json=body)

    def simulation(self, assignment: str) -> SimulatedBeliefs:
        """Return the beliefs of an assignment's simulated worker."""
        return self._read(SimulatedBeliefs, "GET", _path("assignments", assignment, "simulation"))

    def _read(self, shape: type[Shape], method: str, path: str, **request: Any) -> Shape:
        response = self._call(method, path, **request)
        try:
            return shape.model_validate_json(response.content)
        except ValidationError as error:
            raise RequestFailed(self._stranger(response)) from error

    def _call(self, method: str, path: str, **request: Any) -> httpx2.Response:
        try:
            response = self._client.request(method, path, **request)
        except httpx2.HTTPError as error:
            raise NoAnswer(
                f"no answer from {self._server} ({type(error).__name__}). Start the server (`candor serve`),"
                " or say with --server where it is."
            ) from error
        if not response.is_success:
            raise self._refusal(response)
        return response

    def _refusal(self, response: httpx2.Response) -> RequestFailed:
        try:
            error = response.json()["error"]
            code, reason = str(error["code"]), f"{_sentence(error['message'])} {error['hint']}".strip()
        except (ValueError, KeyError, TypeError):
            code, reason = "", self._stranger(response)
        if code == "needs_confirmation":
            return ConfirmationNeeded(code, str(error["message"]))
        if response.status_code == _TOO_MANY or response.status_code >= _SERVER_ERROR:
            return ServerAway(reason)
        return RequestRefused(code, reason) if code else RequestFailed(reason)

    def _stranger(self, response: httpx2.Response) -> str:
        return (
            f"{self._server} gave an answer (status {response.status_code}) that this command does not"
            " understand. Is it a Candor server, of the same version?"
        )


def confirmed(call: Callable[..., T], *given: Any, yes: bool) -> T:
    """Return `call(*given, confirmed=…)`; if it may cost money, ask at the terminal first, unless `yes`."""
    try:
        return call(*given, confirmed=yes)
    except ConfirmationNeeded as error:
        agree(str(error), yes=False)
        return call(*given, confirmed=True)


def _path(*parts: str) -> str:
    return "/".join(("/desk", *(quote(part, safe="") for part in parts)))


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."
