"""Apply a worker's report of a message, or its withdrawal: records, or a refusal. Pure.

A line that is reported once more has its earlier report taken back: the last one counts.
"""

from datetime import datetime

from server.errors import WrongPhase
from server.session import pairs
from server.session import protocol as wire
from server.session.comparison import Side
from server.session.conversation import Conversation, Pair
from server.session.records import Closed, MessageReported, Record, ReportTakenBack
from server.session.state import State


def report(state: State, current: Conversation, message: wire.Report, at: datetime) -> list[Record]:
    """Return the records of a report; with the end of the assignment where the worker leaves with it.

    Raises:
        WrongPhase: the line is none of the partner's, or of what is rated, that the worker has seen.
    """
    index = message.turn
    conversation = _reported_in(state, current, message.side, index)
    if not _is_reportable(conversation, index, at):
        raise WrongPhase("a message of the chat partner that is shown", f"line {index}")
    name = conversation.plan.conversation
    records: list[Record] = []
    if conversation.report_of(index) is not None:
        records.append(ReportTakenBack(name, index, at, message.id))
    records.append(
        MessageReported(name, index, message.reason, message.note or None, message.leave, at, message.id)
    )
    return [*records, Closed("returned", at)] if message.leave else records


def take_back(
    state: State, current: Conversation, message: wire.TakeBackReport, at: datetime
) -> list[Record]:
    """Return the record by which a report is taken back. Raises WrongPhase: the line is not reported."""
    conversation = _reported_in(state, current, message.side, message.turn)
    if conversation.report_of(message.turn) is None:
        raise WrongPhase("a line that is reported", f"line {message.turn}")
    return [ReportTakenBack(conversation.plan.conversation, message.turn, at, message.id)]


def _reported_in(state: State, current: Conversation, side: Side | None, index: int) -> Conversation:
    """Return the conversation that a line is of: of two side by side, the one that the page has named.

    Of a chosen history both sides show one line; that is no side's, and stands for the one that was chosen.
    """
    held = state.held_with(current)
    if not isinstance(held, Pair):
        if side is not None:
            raise WrongPhase("a message of one chatbot", f"one of {side}")
        return current
    found = side or pairs.goes_on(held, index)
    if found is None:
        raise WrongPhase("which of two chatbots it is of", "no side")
    return held.left if found == "left" else held.right


def _is_reportable(conversation: Conversation, index: int, at: datetime) -> bool:
    item = conversation.plan.item
    if item is not None:
        return index < max(len(item.content.lines), 1)  # a text is one line
    return conversation.shows(index, at) and conversation.turns[index].author == "bot"
