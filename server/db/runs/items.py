"""Store the items of runs whose workers rate items; find which ones were drawn, and how often."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, insert, select, text

from server.db.tables import BotTable, ItemTable, SystemTable
from server.session.item import ItemContent, ItemKind
from server.session.records import PlannedItem

Form = Literal["ordinary", "bad", "reference"]
_NO_BOT = "texts"  # the bot of systems of which only texts exist


@dataclass(frozen=True, slots=True)
class NewItem:
    """An item for a new run, in its forms.

    Attributes:
        name: identifies the item in its run.
        question: what the item answers; those of several systems may answer the same.
        group: the passage, document or prompt that the item is about, or None if it is about none.
        conversation: the conversation that it shows, if any.
        bot: the spec of the system's bot, as in the run of that conversation.
        probability: with which it was drawn to be rated; None if all items were to be.
    """

    name: str
    system: str
    family: str
    forms: Mapping[Form, ItemContent]
    question: str
    group: str | None = None
    conversation: str | None = None
    bot: str = _NO_BOT
    probability: float | None = None


@dataclass(frozen=True, slots=True)
class PooledItem:
    """An item of a run that can be drawn."""

    system: str
    group: str | None


@dataclass(frozen=True, slots=True)
class DrawnItem:
    """An item in a slot's plan, without its content."""

    item: str
    kind: ItemKind
    twin_of: int | None
    system: str


def store_items(connection: Connection, run_id: int, study_id: int, items: Sequence[NewItem]) -> None:
    """Store the items of a run that is being opened, and their systems."""
    systems = _systems(connection, study_id, items)
    rows = [
        {
            "run_id": run_id,
            "name": item.name,
            "form": form,
            "item_group": item.group,
            "system_id": systems[item.system],
            "source": "text" if item.conversation is None else "conversation",
            "source_conversation_id": item.conversation,
            "rating_probability": item.probability,
            "content": content.model_dump_json(exclude_defaults=True),
        }
        for item in items
        for form, content in item.forms.items()
    ]
    connection.execute(insert(ItemTable), rows)


def items_of_run(connection: Connection, run_id: int) -> dict[str, PooledItem]:
    """Return the items of a run by their names, in the order in which they were stored."""
    found = connection.execute(_POOL, {"run": run_id})
    return {row.item: PooledItem(row.system, row.item_group) for row in found}


def judgments(connection: Connection, run_id: int, *, simulated: bool) -> dict[str, int]:
    """Return how many held slots of a run have each item as an ordinary one; items in none are left out.

    It counts from the rows, in time proportional to all that was drawn.
    """
    found = connection.execute(_JUDGMENTS, {"run": run_id, "simulated": simulated})
    return {row.item: int(row.number) for row in found}


def unfit_items(connection: Connection, run_id: int, platform: str, external_id: str) -> set[str]:
    """Return the items of a run that a worker must not rate.

    These are conversations that they held themselves, and items that they saw in another run.
    """
    named = {"run": run_id, "platform": platform, "external_id": external_id}
    return set(connection.execute(_UNFIT, named).scalars())


def plan_of_place(connection: Connection, run_id: int, place: int, *, simulated: bool) -> list[DrawnItem]:
    """Return the items of a slot that somebody has had, in their order."""
    held = {"run": run_id, "simulated": simulated, "place": place}
    return [DrawnItem(*row) for row in connection.execute(_EARLIER_PLAN, held)]


def with_content(
    connection: Connection, run_id: int, drawn: Sequence[DrawnItem]
) -> list[tuple[str, PlannedItem]]:
    """Return the content of each drawn item, with its system."""
    names = {item.item for item in drawn}
    query = select(ItemTable.c.name, ItemTable.c.form, ItemTable.c.content).where(
        ItemTable.c.run_id == run_id, ItemTable.c.name.in_(names)
    )
    contents = {(name, form): content for name, form, content in connection.execute(query)}

    def content(item: DrawnItem) -> ItemContent:
        form = "ordinary" if item.kind == "repeat" else item.kind
        return ItemContent.model_validate_json(contents[item.item, form])

    return [(item.system, PlannedItem(item.item, item.kind, item.twin_of, content(item))) for item in drawn]


def _systems(connection: Connection, study_id: int, items: Sequence[NewItem]) -> dict[str, int]:
    """Return the id of each item's system; systems that the study does not have yet are stored."""
    query = select(SystemTable.c.name, SystemTable.c.id).where(SystemTable.c.study_id == study_id)
    known = {row.name: int(row.id) for row in connection.execute(query)}
    for item in items:
        if item.system not in known:
            values: dict[str, Any] = {
                "study_id": study_id,
                "bot_id": bot_id(connection, item.bot),
                "name": item.system,
                "family": item.family,
                "persona_policy": "none",
                "is_qc": False,
            }
            stored = connection.execute(insert(SystemTable).values(**values).returning(SystemTable.c.id))
            known[item.system] = int(stored.scalar_one())
    return known


def bot_id(connection: Connection, spec: str) -> int:
    """Return the id of the bot that a spec opens; a new bot is stored."""
    found = connection.execute(select(BotTable.c.id).where(BotTable.c.spec == spec)).scalar_one_or_none()
    if found is not None:
        return int(found)
    return int(connection.execute(insert(BotTable).values(spec=spec).returning(BotTable.c.id)).scalar_one())


_POOL = text("""
    SELECT item.name AS item, system.name AS system, item.item_group AS item_group
    FROM item JOIN system ON system.id = item.system_id
    WHERE item.run_id = :run AND item.form = 'ordinary' ORDER BY item.id""")
_JUDGMENTS = text("""
    SELECT item.name AS item, count(*) AS number
    FROM assignment
    JOIN conversation ON conversation.assignment_id = assignment.id
    JOIN shown_item ON shown_item.conversation_id = conversation.id
    JOIN item ON item.id = shown_item.item_id
    WHERE assignment.run_id = :run AND assignment.simulated = :simulated
      AND assignment.status IN ('active', 'completed') AND shown_item.kind = 'ordinary'
    GROUP BY item.name""")
_UNFIT = text("""
    WITH own AS (
        SELECT conversation.id, conversation.status
        FROM worker
        JOIN assignment ON assignment.worker_id = worker.id
        JOIN conversation ON conversation.assignment_id = assignment.id
        WHERE worker.platform = :platform AND worker.external_id = :external_id
    )
    SELECT item.name FROM item JOIN own ON own.id = item.source_conversation_id WHERE item.run_id = :run
    UNION
    SELECT item.name
    FROM own
    JOIN shown_item ON shown_item.conversation_id = own.id AND own.status IN ('ended', 'rated')
    JOIN item AS seen ON seen.id = shown_item.item_id
    JOIN run AS of_seen ON of_seen.id = seen.run_id
    JOIN item ON item.name = seen.name AND item.run_id = :run
    JOIN run ON run.id = item.run_id
    WHERE seen.run_id <> :run AND (item.source = 'conversation' OR of_seen.study_id = run.study_id)""")
_EARLIER_PLAN = text("""
    SELECT item.name, shown_item.kind, shown_item.twin_of, system.name
    FROM conversation
    JOIN shown_item ON shown_item.conversation_id = conversation.id
    JOIN item ON item.id = shown_item.item_id
    JOIN system ON system.id = item.system_id
    WHERE conversation.assignment_id = (
        SELECT id FROM assignment WHERE run_id = :run AND simulated = :simulated AND place = :place
        ORDER BY created_at DESC LIMIT 1)
    ORDER BY conversation.position""")
