"""Try and check a bot while its study is being written."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Request
from fastapi.sse import ServerSentEvent
from limits import parse
from pydantic import BaseModel, Field, StrictBool, model_validator

from bots import Provenance, Turn
from bots.serving import Change, ConformanceReport, RecordedCall
from server.access.actor import Allowed, Caller, RequestBody
from server.access.parts import Limits, part
from server.bots.api import ADDRESS, CheckView, check_view
from server.bots.drafted_bots import DraftCheck, DraftedBots, Trial, TrialAnswer, Trouble
from server.bots.planned_calls import Confirmation
from server.clock import utc_now
from server.desk.streams.watch import streaming
from server.desk.studies.studies import StudyText
from server.session.instrument import Label, Statement
from server.study import LEFT_OUT

MESSAGES = parse("60/minute")
CHECKS = parse("20/hour")


class TrialTurn(RequestBody):
    """A worker's message or a bot's reply."""

    author: Literal["worker", "bot"]
    text: Annotated[str, Field(min_length=1, max_length=20_000)]


class BotTrial(RequestBody):
    """A message to a bot: the study's text, as it stands, and the conversation so far.

    `bot`: the bot, as studies name it. `system`: the system whose persona and prompt it gets; without one, it
    gets none. `scenario`: the label of a scenario. `seed`: the same for all messages of a conversation.
    `confirmed`: the caller accepts that it may cost money.
    """

    yaml: StudyText
    bot: Statement
    system: Label | None = None
    scenario: Label | None = None
    seed: Annotated[int, Field(ge=0, lt=2**53, strict=True)] = 0
    turns: Annotated[list[TrialTurn], Field(min_length=1, max_length=200)]
    confirmed: StrictBool = False

    @model_validator(mode="after")
    def _worker_spoke_last(self) -> "BotTrial":
        if self.turns[-1].author != "worker":
            raise ValueError("the last turn has to be the worker's")
        return self


class TrialView(BaseModel):
    """A bot's reply to somebody who tries it, and how it came about.

    `text`: what a worker would see; None if nothing, and `trouble` says why. `output`: the model's own
    output, if it differs from the text. `changes`: what was removed or changed, by kind. `calls`: the
    requests to its endpoint, and the answers; none for a bot in a bot host. `persona` and `prompt`: what the
    bot was told. `provenance`: the origin of the reply: model, tokens, cost.
    """

    text: str | None
    output: str | None
    changes: list[Change]
    trouble: Trouble | None
    persona: list[str]
    prompt: str
    calls: list[RecordedCall]
    provenance: Provenance | None
    seconds: float


class DraftToCheck(RequestBody):
    """The text of a study, as it stands, and the name of one of its own bots.

    `confirmed`: the caller accepts that it may cost money.
    """

    yaml: StudyText
    bot: Statement
    confirmed: StrictBool = False


Drafts = Annotated[DraftedBots, part(DraftedBots)]
router = APIRouter(prefix="/api/desk/studies", tags=["studies"], dependencies=[Depends(Allowed("rehearse"))])


@router.post("/{study}/trial")
async def try_bot(
    study: str, body: BotTrial, request: Request, actor: Caller, drafts: Drafts, limits: Limits
) -> TrialView:
    """Ask a bot once for its next reply, and return what was sent and what came. Nothing is stored.

    The call counts toward no spending cap, but a registered bot whose cap is reached is not asked.
    """
    limits.count(MESSAGES, "messages to bots", request, actor.name)
    turns = tuple(Turn(turn.author, turn.text) for turn in body.turns)
    trial = Trial(study, body.yaml, body.bot, body.system, body.scenario, body.seed, turns)
    whole = actor.may("change_bots")
    return _trial_view(await drafts.ask(trial, actor, Confirmation(body.confirmed, whole)), whole=whole)


async def _prepared(
    study: str, body: DraftToCheck, request: Request, actor: Caller, drafts: Drafts, limits: Limits
) -> DraftCheck:
    """Refuse a check that cannot be made before the stream begins."""
    limits.count(CHECKS, "checks of bots", request, actor.name)
    return await drafts.prepare_check(study, body.yaml, body.bot, actor, Confirmation(body.confirmed))


@router.post("/{study}/bot-check", **streaming(CheckView))
async def check_own_bot(
    prepared: Annotated[DraftCheck, Depends(_prepared)], drafts: Drafts
) -> AsyncIterator[ServerSentEvent]:
    """Check one of the study's own bots, and stream the progress, then the report. Nothing is stored.

    The check ends when the connection does.
    """
    begun = utc_now()
    async for news in drafts.check(prepared):
        if isinstance(news, ConformanceReport):
            view = CheckView(
                state="finished", done=news.calls, total=news.calls, at=begun, report=news, error=None
            )
        else:
            view = check_view(news)
        yield ServerSentEvent(raw_data=view.model_dump_json())


def _trial_view(answer: TrialAnswer, *, whole: bool) -> TrialView:
    """Return the answer of a trial; without addresses, unless the caller may change bots (`whole`)."""
    reply = answer.reply
    view = TrialView(
        text=reply.text if reply is not None and answer.trouble is None else None,
        output=None if reply is None else reply.output,
        changes=[] if reply is None else list(reply.changes),
        trouble=answer.trouble,
        persona=list(answer.chat.persona),
        prompt=answer.chat.prompt,
        calls=list(answer.calls),
        provenance=None if reply is None else reply.provenance,
        seconds=answer.seconds,
    )
    if whole:
        return view
    hidden = [replace(each, received=ADDRESS.sub(LEFT_OUT, each.received)) for each in view.calls]
    trouble = view.trouble and replace(view.trouble, details=ADDRESS.sub(LEFT_OUT, view.trouble.details))
    origin = view.provenance and replace(view.provenance, replica=None)
    return view.model_copy(update={"calls": hidden, "trouble": trouble, "provenance": origin})
