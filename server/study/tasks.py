"""Tasks of studies: what workers do, which settings each task uses, and the settings of reading items."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Annotated, Literal, assert_never, get_args

from pydantic import BaseModel, ConfigDict, Field

from server.session.instrument import Statement, Task

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
    "items", "composition", "judgments_per_item", "degradation", "post_edit", "correctness",
    "tutorial",
})  # fmt: skip
_OF_PAIRS = frozenset({"comparison"})


@dataclass(frozen=True, kw_only=True)
class TaskType:
    """A kind of work that a study can set.

    Attributes:
        doing: what its workers do, to complete "workers …".
        unused: the settings that have no meaning for it.
        chats: whether workers chat with the study's systems; otherwise they read items.
        is_published: whether it is the task of the published experiment, whose criteria and duration are then
            the defaults, and whose workers are tested by conversations with the QC bot (METHOD).
        needs_ratings: whether workers must rate at least one criterion.
        export: the name of the file with a run's assignments in their published form.
    """

    export: str
    doing: str
    unused: AbstractSet[str]
    chats: bool
    is_published: bool = False
    needs_ratings: bool = True


def task_type(task: Task) -> TaskType:
    """Return what a task is."""
    match task:
        case "chat":
            return TaskType(
                export="hits_data.json",
                doing="chat with one bot at a time",
                chats=True,
                is_published=True,
                unused=_OF_TRANSCRIPTS | _OF_PAIRS,
            )
        case "transcripts":
            return TaskType(
                export="item_ratings.jsonl", doing="read items", chats=False, unused=_OF_CHAT | _OF_PAIRS
            )
        case "side_by_side":
            return TaskType(
                export="choices.jsonl",
                doing="compare two bots",
                chats=True,
                needs_ratings=False,
                unused=_OF_TRANSCRIPTS | _OF_RATED_CHAT,
            )
        case _:
            assert_never(task)


class ItemsSpec(BaseModel):
    """The source of a transcript study's items: `run` or `file`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    run: Statement | None = Field(None, title="The conversations of a run", description="The run’s name.")
    file: Statement | None = Field(
        None, title="The lines of a file", description="A JSONL file on the server."
    )
    probabilities: Statement | None = Field(
        None, description="A CSV file with how likely each item is drawn; empty: all items are rated."
    )


class Composition(BaseModel):
    """The number of items of each kind in one assignment (Ji, PhD thesis, chapters 3 and 4).

    Bad twins, repeats and references belong to different ordinary items of the same assignment.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    ordinary: Annotated[int, Field(ge=1, le=200, strict=True)] = Field(title="Ordinary items")
    bad: Annotated[int, Field(ge=0, le=100, strict=True)] = Field(0, title="Distorted items")
    repeat: Annotated[int, Field(ge=0, le=100, strict=True)] = Field(0, title="Items shown twice")
    reference: Annotated[int, Field(ge=0, le=100, strict=True)] = Field(0, title="References")
    one_group: bool = Field(
        default=False,
        title="All about the same passage",
        description="The items of an assignment have the same group, or the same context.",
    )
    human: Statement | None = Field(
        None,
        title="System written by people",
        description=(
            "Each assignment has an item of it, shown twice and distorted; distorted items take "
            "words from it."
        ),
    )

    @property
    def twins(self) -> int:
        """The number of items that belong to an ordinary one."""
        return self.bad + self.repeat + self.reference

    @property
    def items(self) -> int:
        """The number of items in one assignment."""
        return self.ordinary + self.twins


CompositionName = Literal["reading", "questions"]
COMPOSITIONS: dict[CompositionName, Composition] = {
    "reading": Composition(ordinary=70, bad=10, repeat=10, reference=10),
    "questions": Composition(ordinary=11, bad=6, repeat=3, one_group=True),
}
