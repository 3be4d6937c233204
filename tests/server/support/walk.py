"""A session driven by events, for tests of what `step` decides."""

import itertools
from datetime import datetime
from typing import Any

from server.session import protocol as wire
from server.session.events import BotGaveUp, BotReplied, FromWorker, ShowReply, Tell
from server.session.records import Closed
from server.session.state import Phase, State, fold
from server.session.steps.step import Outcome, step
from tests.server.support.study import AT, RATINGS, new_state

SLOW = {"reply_time": {"median": 4, "spread": 0.5, "longest": 10}}
_ids = itertools.count()


def message(type_: str, id_: str | None = None, **fields: Any) -> wire.ClientMessage:
    return wire.client_messages.validate_python({"type": type_, "id": id_ or f"auto{next(_ids)}", **fields})


SAMPLES: dict[str, dict[str, Any]] = {
    "hello": {"token": "t"},
    "agree": {},
    "answer": {"question": 1, "answer": 2},
    "topic": {"conversation": 1, "attempt": 1, "text": "the sea", "opinion": "like"},
    "say": {"conversation": 1, "attempt": 1, "turn": 0, "text": "Hi there."},
    "topic_change": {
        "conversation": 1,
        "attempt": 1,
        "how": "bot change",
        "topic": "ships",
        "opinion": "dislike",
        "bot_opinion": "ambivalent",
    },
    "end_conversation": {"conversation": 1, "attempt": 1},
    "choose": {"conversation": 1, "attempt": 1, "turn": 1, "preference": "left"},
    "rate": {"conversation": 1, "attempt": 1, "ratings": RATINGS},
    "questionnaire": {"part": "before", "answers": {}},
    "rate_turn": {"conversation": 1, "attempt": 1, "turn": 1, "value": 2},
    "report": {"conversation": 1, "attempt": 1, "turn": 1, "reason": "offensive"},
    "take_back_report": {"conversation": 1, "attempt": 1, "turn": 1},
    "answer_quiz": {"conversation": 1, "attempt": 1, "choice": 1},
    "feedback": {"text": "Fine."},
    "leave": {},
}


class Walk:
    """Drives a state by events; the clock stands still unless it is moved."""

    def __init__(self, state: State | None = None) -> None:
        self.state = state if state is not None else new_state()
        self.now: datetime = AT
        self.last = Outcome(self.state)

    def event(self, event: Any) -> Outcome:
        self.last = step(self.state, event)
        self.state = self.last.state
        return self.last

    def send(self, type_: str, id_: str | None = None, **fields: Any) -> Outcome:
        """Send a message, of the conversation and the line that are due unless `fields` say otherwise."""
        current = self.state.current
        content = fields or dict(SAMPLES[type_])
        if "conversation" in SAMPLES[type_] and current is not None:
            named = {"conversation": current.plan.position, "attempt": current.plan.attempt}
            content = content | named | fields
        if type_ == "say" and current is not None:
            content = content | {"turn": len(current.turns)} | fields
        return self.event(FromWorker(message(type_, id_, **content), self.now))

    def current(self) -> str:
        assert self.state.current is not None
        return self.state.current.plan.conversation

    def index(self) -> int:
        assert self.state.current is not None
        return len(self.state.current.turns)

    def reply(self, text: str = "I see.", gave_away: str | None = None) -> Outcome:
        return self.event(BotReplied(self.current(), self.index(), text, 12, self.now, gave_away))

    def gives_up(self) -> Outcome:
        return self.event(BotGaveUp(self.current(), self.index(), "out of order", self.now, "error"))

    def right_answer(self) -> int:
        tutorial, due = self.state.rules.tutorial, self.state.question
        assert tutorial is not None
        assert due is not None
        return tutorial.questions[due - 1].right

    def chat(self, inputs: int) -> "Walk":
        for _ in range(inputs):
            self.send("say")
            self.reply()
        return self

    def slow_to_minimum(self) -> "Walk":
        """Where replies take their time: give the minimum of inputs, the reply to the last being due."""
        self.to(Phase.CHAT).send("say")
        self.now = shown(self.reply())
        self.send("say")
        return self

    def to(self, phase: Phase) -> "Walk":
        """Go on, by the shortest way, to the first moment of a phase."""
        if phase is Phase.RETURNED:
            self.send("leave")
        if phase is Phase.EXPIRED:
            self.state = fold(self.state, [Closed("expired", self.now)])  # as enrolment stores it
        while self.state.phase is not phase:
            self.advance()
        return self

    def advance(self) -> None:
        """Take one step of the shortest way to the end."""
        match self.state.phase:
            case Phase.INSTRUCTIONS:
                self.send("agree")
            case Phase.TUTORIAL:
                self.send("answer", question=self.state.question, answer=self.right_answer())
            case Phase.TOPIC:
                self.send("topic")
            case Phase.CHAT if self.state.current and self.state.current.awaits_reply():
                self.reply()
            case Phase.CHAT if self.state.current and self.state.current.inputs < 2:
                self.send("say")
            case Phase.CHAT:
                self.send("end_conversation")
            case Phase.RATING:
                self.send("rate")
            case Phase.FEEDBACK:
                self.send("feedback")
            case closed:
                raise AssertionError(f"no way on from {closed}")


def told(outcome: Outcome) -> list[Any]:
    return [effect.message for effect in outcome.effects if isinstance(effect, Tell)]


def shown(outcome: Outcome) -> datetime:
    (effect,) = outcome.effects
    assert isinstance(effect, ShowReply)
    return effect.at


def pending(state: State | None = None) -> Walk:
    walk = Walk(state).to(Phase.CHAT)
    walk.send("say")
    return walk
