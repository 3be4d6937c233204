"""Tasks of studies: what workers do, and which settings each task uses."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import assert_never, get_args

from server.session.instrument import Task

TASKS: tuple[Task, ...] = get_args(Task)
_OF_RATED_CHAT = frozenset({
    "topic_mode", "systems_per_assignment", "rate_share", "scenarios", "turn_ratings", "quiz",
    "people",
})  # fmt: skip
_OF_CHAT = _OF_RATED_CHAT | {
    "qc_per_assignment", "minimum_inputs", "maximum_inputs", "maximum_topic_changes", "corpus", "personas",
    "bots", "spending_cap", "systems", "qc", "reply_time", "display", "transcript_while_rating",
    "records_writing", "moderation",
}  # fmt: skip
_OF_TRANSCRIPTS = frozenset({
    "items", "composition", "judgments_per_item", "degradation", "post_edit", "tutorial",
})  # fmt: skip
_OF_PAIRS = frozenset({"comparison"})


@dataclass(frozen=True, kw_only=True)
class TaskType:
    """A kind of work that a study can set.

    Attributes:
        unused: the settings that have no meaning for it.
        chats: whether workers chat with the study's systems; otherwise they read items.
        is_published: whether it is the task of the published experiment, whose criteria and duration are then
            the defaults, and whose workers are tested by conversations with the QC bot (METHOD).
        needs_ratings: whether workers must rate at least one criterion.
    """

    unused: AbstractSet[str]
    chats: bool
    is_published: bool = False
    needs_ratings: bool = True


def task_type(task: Task) -> TaskType:
    """Return what a task is."""
    match task:
        case "chat":
            return TaskType(chats=True, is_published=True, unused=_OF_TRANSCRIPTS | _OF_PAIRS)
        case "transcripts":
            return TaskType(chats=False, unused=_OF_CHAT | _OF_PAIRS)
        case "side_by_side":
            return TaskType(chats=True, needs_ratings=False, unused=_OF_TRANSCRIPTS | _OF_RATED_CHAT)
        case _:
            assert_never(task)
