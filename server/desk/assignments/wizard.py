"""Endpoints with which researchers answer in a chatbot's place (Wizard of Oz)."""

from datetime import datetime
from functools import partial
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Response
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import Connection

from server.access.actor import Allowed, Caller
from server.access.parts import Database, Secrets
from server.clock import utc_now
from server.db import partners
from server.db.partners import WaitingLine
from server.db.runs.runs import find_run
from server.db.tables.table import GivenNumber
from server.errors import LineTaken
from server.session.protocol.text import Said
from server.study import parse_study


class WizardTurn(BaseModel):
    """A turn of a conversation. The turns of `bot` were written by researchers."""

    author: Literal["worker", "bot"]
    text: str


class WaitingForWizard(BaseModel):
    """A conversation that waits for a reply, its turn number `turn`.

    `persona`: sentences that describe whom to play. `seconds_left`: until a bot takes over, or the chat ends.
    """

    conversation: str
    turn: int
    system: str
    persona: list[str]
    turns: list[WizardTurn]
    seconds_left: float


class WizardQueue(BaseModel):
    """The conversations of a run that wait for a researcher, longest wait first."""

    waiting: list[WaitingForWizard]


class WizardAnswer(BaseModel):
    """A researcher's reply as turn `turn` of a conversation."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    conversation: Annotated[str, Field(max_length=100)]
    turn: GivenNumber
    text: Said


router = APIRouter(
    prefix="/api/desk/runs", tags=["workers"], dependencies=[Depends(Allowed("act_on_workers"))]
)


@router.get("/{run}/wizard")
async def show_waiting(run: str, store: Database) -> WizardQueue:
    """List the conversations that wait for a researcher, each with its persona and turns."""
    return await store.read(partial(_queue, slug=run, now=utc_now()))


@router.post("/{run}/wizard", status_code=204)
async def answer_line(
    run: str, body: WizardAnswer, actor: Caller, store: Database, auth: Secrets
) -> Response:
    """Reply in the chatbot's place. The first reply counts, and is stored with its author.

    Sending the same reply again has no effect, so a request can be repeated if its response was lost.
    """
    by, now = auth.pseudonym("desk", actor.name), utc_now()

    def answer(connection: Connection) -> bool:
        run_id = find_run(connection, run).id
        return partners.answer(connection, run_id, body.conversation, body.turn, body.text, by, now)

    if not await store.submit(answer):
        raise LineTaken("This message does not wait for a reply")
    return Response(status_code=204)


def _queue(connection: Connection, slug: str, now: datetime) -> WizardQueue:
    run = find_run(connection, slug)
    people = parse_study(run.yaml).people
    if people is None:
        return WizardQueue(waiting=[])
    return WizardQueue(
        waiting=[_shown(line, people.reply, now) for line in partners.waiting(connection, run.id)]
    )


def _shown(line: WaitingLine, seconds: float, now: datetime) -> WaitingForWizard:
    return WaitingForWizard(
        conversation=line.conversation,
        turn=line.index,
        system=line.system,
        persona=list(line.persona),
        turns=[WizardTurn.model_validate({"author": author, "text": text}) for author, text in line.turns],
        seconds_left=max(0.0, seconds - (now - line.asked_at).total_seconds()),
    )
