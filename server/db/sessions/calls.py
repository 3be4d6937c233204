"""Convert bots' calls to rows: the result of each, and where it came from."""

from collections.abc import Mapping
from dataclasses import fields
from operator import attrgetter
from typing import get_args

from bots import Provenance
from server.db.counts.spending import COUNT_COST
from server.db.engine.bulk import Bulk, Kind, Row, stored_time
from server.session.records import CallKept

_KINDS = {str: Kind.TEXT, int: Kind.NUMBER, float: Kind.REAL}
_OF_A_LINE = {"conversation_id": Kind.TEXT, "turn_index": Kind.NUMBER, "created_at": Kind.TIME}
_PROVENANCE = {f"made.{field.name}": _KINDS[get_args(field.type)[0]] for field in fields(Provenance)}
# Nothing else is known of a builtin bot's reply. A statement reads a column of a row in 0.75 µs, null or not,
# and such replies come by the hundred a second, so columns that they never fill are left out for them.
_LOCAL = {"made.model", "made.revision", "made.replica", "made.queued_ms", "made.computed_ms"}
_LOCAL_FACTS = {
    "tries": Kind.NUMBER,
    **{where: kind for where, kind in _PROVENANCE.items() if where in _LOCAL},
}
_FURTHER_FACTS = {
    "failure": Kind.TEXT,
    "output": Kind.TEXT,
    **{where: kind for where, kind in _PROVENANCE.items() if where not in _LOCAL},
}


def _insertion(facts: Mapping[str, Kind]) -> Bulk:
    """Return the statement that inserts facts of calls; `facts` are keyed by their path in a `BotCall`."""
    columns = {where.removeprefix("made."): kind for where, kind in facts.items()}
    return Bulk(
        "INSERT INTO bot_call ({columns}) SELECT {columns} FROM {rows} AS given", **_OF_A_LINE, **columns
    )


LOCAL_CALL = _insertion(_LOCAL_FACTS)
CALL = _insertion(_LOCAL_FACTS | _FURTHER_FACTS)
_local_facts, _further_facts = attrgetter(*_LOCAL_FACTS), attrgetter(*_FURTHER_FACTS)


def call_rows(record: CallKept) -> list[tuple[Bulk, Row]]:
    """Return the rows of a call, each with its statement; a call's cost is counted, too."""
    local = (record.conversation, record.index, stored_time(record.at), *_local_facts(record.call))
    further = _further_facts(record.call)
    if all(fact is None for fact in further):
        return [(LOCAL_CALL, local)]
    row = (CALL, (*local, *further))
    cost = record.call.made.cost
    return [row] if cost is None else [row, (COUNT_COST, (record.conversation, cost))]
