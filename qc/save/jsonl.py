"""Write our export as JSON Lines: a header, then an assignment a line, with all that belongs to it."""

import json
from typing import BinaryIO

from qc.formats.export import Header
from qc.run import Run
from qc.save.loss import Loss
from qc.save.nested import Assignment, Conversation, assignments, number


def losses(_: Run) -> list[Loss]:
    """Return nothing: the export holds all of a run."""
    return []


def write(run: Run, file: BinaryIO) -> None:
    """Write `run` into `file`."""
    file.write(Header.of(run).model_dump_json().encode() + b"\n")
    for assignment in assignments(run):
        file.write(_line(assignment, run.words is not None))


def _line(held: Assignment, words: bool) -> bytes:
    content = {
        "assignment": held.assignment,
        "hit": held.hit,
        "worker": held.worker,
        "seconds": None if held.seconds is None else number(held.seconds),
        "reward": None if held.reward is None else number(held.reward),
        "feedback": held.feedback,
        "conversations": [_conversation(one, words) for one in held.conversations],
    }
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _conversation(held: Conversation, words: bool) -> dict[str, object]:
    content: dict[str, object] = {
        "conversation": held.conversation,
        "position": held.position,
        "system": held.system,
        "persona": held.persona,
        "ratings": {label: number(value) for label, value in held.ratings.items()},
    }
    if words:
        content["exchanges"] = [
            {"round": turn, "input": said, "reply": reply} for turn, said, reply in held.exchanges
        ]
        content["topics"] = [
            {"round": turn, "topic": topic, "opinion": opinion} for turn, topic, opinion in held.topics
        ]
        content["changes"] = [
            {"round": turn, "how": how, "bot_opinion": opinion} for turn, how, opinion in held.changes
        ]
    return content
