"""A moderation service, which flags offensive lines, with the interface of OpenAI's moderation endpoint.

Source: OpenAI's API reference, "Create moderation": `input` is a list of texts; `results` has an entry for
each of them, with `flagged`, `categories` and `category_scores`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import httpx2
from pydantic import BaseModel, FiniteFloat, ValidationError

from bots.core.failures import BotError, BotTimeout
from bots.endpoints.address import host_of, is_on_this_machine
from bots.endpoints.hosted import Estimate, PlannedCalls
from bots.endpoints.remote import failure_of
from candor.common.network import BoundedClient

_SECONDS = 15.0  # the time limit of an answer
_LONGEST = 200  # characters of the name of a category or of the model
_KEY_VARIABLE = "CANDOR_MODERATION_KEY"
_KEYLESS = (401, 403)


@dataclass(frozen=True, slots=True)
class ModerationJudgement:
    """The service's judgement of a line.

    `categories`: those for which the line is flagged, in alphabetical order. `score`: the highest score of
    all categories, from 0 to 1; None if there is none. `model`: the service's name for the model that judged.
    """

    flagged: bool
    categories: tuple[str, ...] = ()
    score: float | None = None
    model: str | None = None


class _Result(BaseModel):
    flagged: bool
    categories: dict[str, bool | None] = {}
    category_scores: dict[str, FiniteFloat | None] = {}


class _Answer(BaseModel):
    model: str | None = None
    results: list[_Result]


class Moderation:
    """A moderation service at a URL, such as https://api.openai.com/v1/moderations."""

    def __init__(self, url: str, key: str | None = None, seconds: float = _SECONDS) -> None:
        """Use the service at `url`, with `key` as bearer token; an answer may take `seconds`."""
        self._url = url
        self._key = key
        self._seconds = seconds

    def planned_calls(self, calls: int, occasion: str = "") -> PlannedCalls | None:
        """Return the planned calls of the service; None if they cost nothing, or there are none.

        Calls may cost money if the service needs a key, or is on another machine.
        """
        if not calls or (self._key is None and is_on_this_machine(self._url)):
            return None
        return PlannedCalls("the moderation service", (host_of(self._url),), Estimate(calls), None, occasion)

    async def judge(self, lines: Sequence[str]) -> list[ModerationJudgement]:
        """Return the service's judgement of each of `lines`. The service is called once, without retries.

        Raises:
            BotError: the service gave no valid answer. The error says whether to ask again (`retry`), and
                after how many seconds (`after`). ChatRefused: the service does not accept one of these lines.
        """
        if not lines:
            return []
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        try:
            async with BoundedClient(timeout=self._seconds) as client:
                response = await client.post(self._url, json={"input": list(lines)}, headers=headers)
        except httpx2.TimeoutException as error:
            raise BotTimeout(self._said("gave no answer in time")) from error
        except httpx2.HTTPError as error:
            raise BotError(self._said(f"gave no answer: {type(error).__name__}")) from error
        if response.status_code != httpx2.codes.OK:
            raise self._failure(response)
        return self._read(response, len(lines))

    async def flagged(self, lines: Sequence[str]) -> list[str]:
        """Return those of `lines` that the service flags, without duplicates. Raises BotError as `judge`."""
        distinct = list(dict.fromkeys(lines))
        judged = await self.judge(distinct)
        return [line for line, judgement in zip(distinct, judged, strict=True) if judgement.flagged]

    def _read(self, response: httpx2.Response, lines: int) -> list[ModerationJudgement]:
        try:
            answer = _Answer.model_validate_json(response.content)
        except ValidationError as error:  # its text would quote the answer, which may quote a line
            wrong = error.errors(include_url=False, include_input=False)[0]
            raise BotError(self._said(f"gave an answer of an unexpected form: {wrong['msg']}")) from None
        if len(answer.results) != lines:
            raise BotError(self._said(f"judged {len(answer.results)} of {lines} lines"))
        model = answer.model[:_LONGEST] if answer.model else None
        return [_judgement(result, model) for result in answer.results]

    def _failure(self, response: httpx2.Response) -> BotError:
        """Return the failure for an answer, in our own words: the service's words may quote a line."""
        status = response.status_code
        remedy = f": check {_KEY_VARIABLE}" if status in _KEYLESS else ""
        failure = failure_of(status, response.headers, response.text, _KEY_VARIABLE)
        failure.retry = failure.retry and status not in _KEYLESS
        return failure.like(self._said(f"gave no answer (status {status}){remedy}"))

    def _said(self, what: str) -> str:
        return f"the moderation service at {self._url} {what}"


def _judgement(result: _Result, model: str | None) -> ModerationJudgement:
    categories = sorted(name[:_LONGEST] for name, found in result.categories.items() if found)
    scores = [score for score in result.category_scores.values() if score is not None]
    return ModerationJudgement(result.flagged, tuple(categories), max(scores, default=None), model)
