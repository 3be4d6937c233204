"""Two conversations side by side: when the worker must choose between them, and the effect of a choice. Pure.

The two are conversations like any other, handled in `chat` and `replies`. This module has the rules that
apply to pairs only.
"""

from datetime import datetime

from server.errors import NoTies, WrongPhase
from server.session import protocol as wire
from server.session.conversation import Conversation, Pair, TimedTurn
from server.session.events import Decision, Tell
from server.session.instrument import Comparison, Preference, Side
from server.session.plan import derive_seed
from server.session.records import ConversationRated, Record, SideChosen
from server.session.state import State


def hides_replies(pair: Pair, at: datetime) -> bool:
    """Return whether one of the two has not answered, or it is too early to show the answers."""
    return any(c.awaits_reply() or c.hides_reply(at) for c in pair)


def choice_due(state: State, pair: Pair) -> int | None:
    """Return the line after which the worker must choose; None if there is nothing to choose now."""
    comparison, left = state.rules.comparison, pair.left
    if comparison is None:
        return None
    turn = 2 * left.inputs - 1
    if comparison.choose == "end":
        return turn if left.status == "ended" and not left.choices else None
    answered = left.status == "active" and all(len(c.turns) == turn + 1 for c in pair)
    return turn if answered and turn > 0 and _preferred(pair, turn) is None else None


def goes_on(pair: Pair, turn: int) -> Side | None:
    """Return whose reply the chosen history has at line `turn`; None if the worker has not chosen.

    After a tie the side is drawn, by the conversation's seed.
    """
    preference = _preferred(pair, turn)
    if preference != "tie":
        return preference
    return "left" if derive_seed(pair.left.plan.seed, "tie", turn) % 2 else "right"


def heard(state: State, conversation: Conversation) -> tuple[TimedTurn, ...]:
    """Return a conversation's lines as its bot gets them; a chosen history has the chosen replies."""
    comparison = state.rules.comparison
    if comparison is None or comparison.history == "own":
        return conversation.turns
    pair = state.pair_of(conversation)
    return tuple(
        line if line.author == "worker" else _at_side(pair, goes_on(pair, index), index) or line
        for index, line in enumerate(conversation.turns)
    )


def choose(state: State, pair: Pair, message: wire.Choose, at: datetime) -> Decision:
    """Return the decision on a worker's choice of one side, or of neither.

    Raises:
        RefusedMessage: No choice is due now, or it is due after another line, or ties are not allowed.
    """
    comparison = _required(state.rules.comparison)
    due = None if hides_replies(pair, at) and pair.left.status == "active" else choice_due(state, pair)
    if due is None:
        raise WrongPhase("nothing to choose now", f"a choice after line {message.turn}")
    if message.turn != due:
        raise WrongPhase(f"a choice after line {due}", f"one after line {message.turn}")
    if message.preference == "tie" and not comparison.ties:
        raise NoTies("This study asks for one of the two")
    chosen = SideChosen(pair.left.plan.conversation, due, message.preference, at, message.id)
    if comparison.choose == "end":
        return Decision([chosen, *_judged(state, pair, at, message.id)], [], True)
    if comparison.history == "own":
        return Decision([chosen], [])
    after = Pair(pair.left._replace(choices=(*pair.left.choices, chosen)), pair.right)
    line = _at_side(after, goes_on(after, due), due)
    plan = pair.left.plan
    text = line.text if line is not None else ""
    return Decision(
        [chosen], [Tell(wire.GoesOn(conversation=plan.number, attempt=plan.attempt, turn=due, text=text))]
    )


def closing(state: State, pair: Pair, at: datetime, client_id: str | None) -> list[Record]:
    """Return the records that follow the end of a pair in which the worker chose turn by turn."""
    by_turns = _required(state.rules.comparison).choose == "turn"
    return _judged(state, pair, at, client_id) if by_turns else []


def _judged(state: State, pair: Pair, at: datetime, client_id: str | None) -> list[Record]:
    """Return the records that close a pair of conversations if the study has nothing to rate about them."""
    if state.rules.criteria or state.rules.questionnaires.conversation:
        return []
    return [ConversationRated(c.plan.conversation, (), at, client_id) for c in pair]


def _preferred(pair: Pair, turn: int) -> Preference | None:
    return next((c.preference for c in pair.left.choices if c.turn == turn), None)


def _at_side(pair: Pair, side: Side | None, index: int) -> TimedTurn | None:
    """Return line `index` of one side; None if there is none."""
    lines = pair.left.turns if side == "left" else pair.right.turns
    return lines[index] if side is not None and index < len(lines) else None


def _required(comparison: Comparison | None) -> Comparison:
    if comparison is None:
        raise ValueError("a session with pairs has rules for comparing them")
    return comparison
