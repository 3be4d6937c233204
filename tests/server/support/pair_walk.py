"""A session with pairs of conversations driven by events, for tests of what `step` decides."""

from typing import Any

from server.bots.lineup import session_rules
from server.session.events import BotGaveUp, BotReplied, FromWorker
from server.session.plan import plan_pair
from server.session.state import AssignmentContext, State, fold
from server.session.steps.step import Outcome
from server.study import parse_study
from tests.server.support.study import NOBODY, pairs_text
from tests.server.support.walk import Walk, message

ONE_HISTORY = {"choose": "turn", "history": "chosen"}
SYSTEMS = (("quokka_plain", "marmot_plain"), ("wombat_plain", "quokka_plain"))


def pair_state(comparison: dict[str, Any] | None = None, **changes: Any) -> State:
    rules = session_rules(parse_study(pairs_text(comparison, qc_per_assignment=0, **changes)), NOBODY)
    planned = [
        planned
        for number, systems in enumerate(SYSTEMS, start=1)
        for planned in plan_pair(rules.lineup, "a1", 7, number, 1, systems)
    ]
    return fold(State(rules, AssignmentContext("a1", 7, 1.0, "CODE", None)), planned)


class PairWalk(Walk):
    """A session with pairs, driven by events."""

    def __init__(self, comparison: dict[str, Any] | None = None, **changes: Any) -> None:
        super().__init__(pair_state(comparison, **changes))
        self.event(FromWorker(message("agree"), self.now))
        self.tell("topic", text="the sea", opinion="like")

    def tell(self, type_: str, number: int = 1, attempt: int = 1, **fields: Any) -> Outcome:
        named = {"conversation": number, "attempt": attempt}
        return self.event(FromWorker(message(type_, **named, **fields), self.now))

    def say(self, turn: int, number: int = 1, attempt: int = 1) -> Outcome:
        return self.tell("say", number, attempt, turn=turn, text="Hello.")

    def answer(self, position: int, turn: int, text: str, attempt: int = 1) -> Outcome:
        return self.event(BotReplied(f"a1-{position}.{attempt}", turn, text, 5, self.now))

    def exchange(self, turn: int) -> Outcome:
        self.say(turn)
        self.answer(1, turn + 1, f"left {turn}")
        return self.answer(2, turn + 1, f"right {turn}")

    def fails(self, position: int, turn: int) -> Outcome:
        return self.event(BotGaveUp(f"a1-{position}.1", turn, "out of order", self.now, "error"))

    def choose(self, turn: int, preference: str) -> Outcome:
        return self.tell("choose", turn=turn, preference=preference)
