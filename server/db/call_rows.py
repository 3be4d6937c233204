"""Calls of bots as rows of the database: what came of each, and where that came from."""

from operator import attrgetter

from server.db.bulk import Bulk, Kind, Row
from server.db.spending import COUNT_COST
from server.session.records import CallKept

# Of a builtin bot's reply no more is known than this. A statement reads a column of a row in 0.75 µs, null or
# not, and such replies come by the hundred a second: what they never have is not read for them.
_LOCAL_COLUMNS = {
    "conversation_id": Kind.TEXT,
    "turn_index": Kind.NUMBER,
    "created_at": Kind.TIME,
    "tries": Kind.NUMBER,
    "model": Kind.TEXT,
    "revision": Kind.TEXT,
    "replica": Kind.TEXT,
    "queued_ms": Kind.NUMBER,
    "computed_ms": Kind.NUMBER,
}
_INSERTION = "INSERT INTO bot_call ({columns}) SELECT {columns} FROM {rows} AS given"
LOCAL_CALL = Bulk(_INSERTION, **_LOCAL_COLUMNS)
CALL = Bulk(
    _INSERTION,
    **_LOCAL_COLUMNS,
    failure=Kind.TEXT,
    output=Kind.TEXT,
    prompt_hash=Kind.TEXT,
    sampling=Kind.TEXT,
    tokens_in=Kind.NUMBER,
    tokens_out=Kind.NUMBER,
    cost=Kind.REAL,
    finish_reason=Kind.TEXT,
)
_local_facts = attrgetter(
    "tries", "made.model", "made.revision", "made.replica", "made.queued_ms", "made.computed_ms"
)
_further_facts = attrgetter(
    "failure",
    "output",
    "made.prompt_hash",
    "made.sampling",
    "made.tokens_in",
    "made.tokens_out",
    "made.cost",
    "made.finish_reason",
)


def call_rows(record: CallKept) -> list[tuple[Bulk, Row]]:
    """Return the rows of a call, each with its statement; one that cost something is counted, too."""
    local = (record.conversation, record.index, record.at, *_local_facts(record.call))
    further = _further_facts(record.call)
    if all(fact is None for fact in further):
        return [(LOCAL_CALL, local)]
    row = (CALL, (*local, *further))
    cost = record.call.made.cost
    return [row] if cost is None else [row, (COUNT_COST, (record.conversation, cost))]
