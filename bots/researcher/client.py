"""Asks the server, as a researcher."""

from collections.abc import Callable
from typing import Any, Self, TypeVar
from urllib.parse import quote

import httpx2
from pydantic import BaseModel, ValidationError

from bots.researcher.access import Access
from bots.researcher.views import (
    BotList,
    BotView,
    CheckView,
    CrowdQuestion,
    JoinView,
    RehearsalView,
    RunList,
    RunView,
    SimulatedBeliefs,
)
from bots.terminal import agree

_SECONDS = 30.0
_TOO_MANY, _SERVER_ERROR = 429, 500
Shape = TypeVar("Shape", bound=BaseModel)
T = TypeVar("T")


class RequestFailed(Exception):
    """The server did not do what it was asked: says why, and what can be done."""


class ServerAway(RequestFailed):
    """The server cannot answer now: it is not there, not well, or has too much to do. Later it may."""


class NoAnswer(ServerAway):
    """Nothing answers at the server's address, or not in time."""


class RequestRefused(RequestFailed):
    """The server said no. `code` is its word for the reason."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class ConfirmationNeeded(RequestRefused):
    """What is asked for may cost money: says how many calls, to whom, at what price."""


class ResearcherClient:
    """The researcher's API of one server. Every call raises RequestRefused, ServerAway or RequestFailed.

    Threads may share it.
    """

    def __init__(self, access: Access) -> None:
        """Connect to nothing yet."""
        self._server = access.server
        self._client = httpx2.Client(
            base_url=f"{access.server}/api",
            headers={"Authorization": f"Bearer {access.token}"},
            timeout=_SECONDS,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def bots(self) -> list[BotView]:
        """Return every registered bot."""
        return self._read(BotList, "GET", _path("bots")).bots

    def add(self, name: str, endpoint: dict[str, Any]) -> BotView:
        """Register a bot."""
        return self._read(BotView, "POST", _path("bots"), json={"name": name, "endpoint": endpoint})

    def bot(self, name: str) -> BotView:
        """Return a registered bot."""
        return self._read(BotView, "GET", _path("bots", name))

    def enable(self, name: str, enabled: bool) -> BotView:
        """Have a bot answer, or not."""
        return self._read(BotView, "PATCH", _path("bots", name), json={"enabled": enabled})

    def delete(self, name: str) -> None:
        """Forget a bot."""
        self._call("DELETE", _path("bots", name))

    def add_replica(self, name: str, url: str) -> BotView:
        """Have one more server answer for a bot."""
        return self._read(BotView, "POST", _path("bots", name, "replicas"), json={"url": url})

    def remove_replica(self, name: str, url: str) -> BotView:
        """Have a server answer for a bot no more."""
        return self._read(BotView, "DELETE", _path("bots", name, "replicas"), params={"url": url})

    def start_check(
        self, name: str, study: str | None, at_once: int | None, *, confirmed: bool = False
    ) -> CheckView:
        """Have a bot checked for a study, given as YAML, or watch the check that is under way.

        Raises ConfirmationNeeded, too, unless it is `confirmed` that it may cost money.
        """
        asked = {"study": study, "at_once": at_once, "confirmed": confirmed}
        return self._read(CheckView, "POST", _path("bots", name, "check"), json=asked)

    def check(self, name: str) -> CheckView | None:
        """Return the latest check of a bot, None where there was none."""
        try:
            return self._read(CheckView, "GET", _path("bots", name, "check"))
        except RequestRefused as error:
            if error.code != "not_checked":
                raise
            return None

    def runs(self) -> list[RunView]:
        """Return every run."""
        return self._read(RunList, "GET", _path("runs")).runs

    def rehearse(self, yaml: str, options: dict[str, Any], *, confirmed: bool = False) -> RehearsalView:
        """Begin a rehearsal of the study that `yaml` describes.

        Raises ConfirmationNeeded, too, unless it is `confirmed` that it may cost money.
        """
        asked = {"yaml": yaml, "confirmed": confirmed, **options}
        return self._read(RehearsalView, "POST", _path("rehearsals"), json=asked)

    def rehearsal(self, run: str, job: str) -> RehearsalView:
        """Return a rehearsal by its own run and its job."""
        return self._read(RehearsalView, "GET", _path("runs", run, "jobs", job))

    def cancel(self, run: str, job: str) -> None:
        """Give up what is done in the background."""
        self._call("POST", _path("runs", run, "jobs", job, "cancel"))

    def crowd_question(self, run: str, workers: int) -> str | None:
        """Return what is to be known before so many simulated workers take part; None: it costs nothing."""
        path = _path("runs", run, "crowd-question")
        return self._read(CrowdQuestion, "GET", path, params={"workers": workers}).question

    def join_simulated(self, run: str, worker: str, reply_pace: float, simulated_as: str) -> JoinView:
        """Let a simulated worker into a run.

        `reply_pace` scales the natural reply times; `simulated_as` is what the data say of who simulates.
        """
        body = {"run": run, "worker": worker, "simulated": True, "reply_pace": reply_pace}
        body["simulated_as"] = simulated_as
        return self._read(JoinView, "POST", "/join", json=body)

    def simulation(self, assignment: str) -> SimulatedBeliefs:
        """Return what the simulated worker of an assignment believes."""
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
    """Return `call(*given, confirmed=…)`, asking at the terminal, unless `yes`, where it may cost money."""
    try:
        return call(*given, confirmed=yes)
    except ConfirmationNeeded as error:
        agree(str(error), yes=False)
        return call(*given, confirmed=True)


def _path(*parts: str) -> str:
    return "/".join(("/desk", *(quote(part, safe="") for part in parts)))


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."
