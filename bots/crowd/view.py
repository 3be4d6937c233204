"""What a worker's page shows, as far as a simulated worker needs it: a fold of the server's messages."""

from dataclasses import dataclass, replace
from typing import Any

Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class View:
    """The page as it stands. `conversation` is the conversation's number, `attempt` which attempt at it.

    `turns` counts its lines, `typing` says that a reply is due. `text` is what is shown to be rated, where it
    is a text. `question` is the number of the test question that is due. `post_edit` says below which rating
    a text has to be improved. `comparison` says how two chatbots are compared; `choice_due` is the line after
    which to choose between them, `side` the one that is to be rated.
    """

    phase: str
    minimum_inputs: int
    icebreaker: str | None = None
    conversation: int = 0
    attempt: int = 0
    inputs: int = 0
    turns: int = 0
    typing: bool = False
    topic: str | None = None
    text: str | None = None
    question: int = 0
    post_edit: Message | None = None
    comparison: Message | None = None
    choice_due: int | None = None
    side: str | None = None


def draw(snapshot: Message) -> View:
    """Return the page that a snapshot draws."""
    conversation = snapshot["conversation"] or {}
    item, question = conversation.get("item") or {}, snapshot["question"] or {}
    return View(
        phase=snapshot["phase"],
        minimum_inputs=snapshot["study"]["minimum_inputs"],
        icebreaker=conversation.get("icebreaker"),
        conversation=conversation.get("conversation", 0),
        attempt=conversation.get("attempt", 0),
        inputs=conversation.get("inputs", 0),
        turns=len(conversation.get("turns", ())),
        typing=conversation.get("typing", False),
        topic=conversation.get("topic"),
        text=item.get("text"),
        question=question.get("question", 0),
        post_edit=snapshot["study"]["post_edit"],
        comparison=snapshot["study"].get("comparison"),
        choice_due=conversation.get("choice_due"),
        side=conversation.get("side"),
    )


def show(view: View, message: Message) -> View:
    """Return the page after a message of the server's."""
    match message["type"]:
        case "snapshot":
            return draw(message)
        case "topic_due":
            return replace(
                view,
                phase="topic",
                conversation=message["conversation"],
                attempt=message["attempt"],
                icebreaker=message["icebreaker"],
                inputs=0,
                typing=False,
                choice_due=None,
            )
        case "question_due":
            return replace(view, phase="tutorial", question=message["question"]["question"])
        case "item_due":
            return replace(
                view,
                phase="rating",
                conversation=message["conversation"],
                attempt=message["attempt"],
                text=message["item"]["text"],
            )
        case "conversation_started":
            return replace(view, phase="chat", topic=message["topic"], inputs=0, turns=0)
        case "typing":
            return replace(view, typing=True, inputs=view.inputs + 1, turns=view.turns + 1)
        case "said":
            return replace(view, typing=False, turns=message["turn"] + 1)
        case "said_by_both":
            return _with_both(view, message["turn"])
        case "choice_due":
            return replace(view, phase="choice", typing=False, choice_due=message["turn"])
        case "rating_due":
            return replace(view, phase="rating", typing=False, choice_due=None, side=message.get("side"))
        case "feedback_due" | "completed" | "ended":
            phase = {"feedback_due": "feedback", "completed": "done"}
            return replace(view, phase=phase.get(message["type"]) or message["phase"])
    return view


def _with_both(view: View, turn: int) -> View:
    each_turn = view.comparison is not None and view.comparison["choose"] == "turn"
    return replace(view, typing=False, turns=turn + 1, choice_due=turn if each_turn else None)
