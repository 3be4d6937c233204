"""Counts of a run, kept up to date in the transactions that change the counted rows.

They are: assignments by status, and rated conversations by system; systems at the positions of slots;
side-by-side pairs, and preferences between them; and the cost of bot calls. Arrivals, the end of a run and
spending caps read them, so that these cost the same in a run of any size. `differences` counts everything
again from the rows.

A rated conversation counts once its assignment is completed, as in reports; of items, only ordinary ones
count. A slot is held by an active or completed assignment. Its conversations and pairs count from when they
are planned, unless they are skipped. Failed ones still count, or a broken bot would be drawn for everybody.
Preferences count whatever becomes of the assignment. Calls in progress when a spending cap is reached are
paid all the same.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Text, bindparam, cast, func, select, text

from server.db.bulk import Bulk, Kind
from server.db.tables import PlanCountTable, SystemTable

# For a new assignment: its run, and `simulated`, which is 1 or 0.
COUNT_BEGUN = Bulk(
    """
    INSERT INTO assignment_count (run_id, simulated, status, number)
    SELECT given.run, given.simulated = 1, 'active', 1 FROM {rows} AS given WHERE true
    ON CONFLICT (run_id, simulated, status) DO UPDATE SET number = assignment_count.number + 1""",
    run=Kind.NUMBER,
    simulated=Kind.NUMBER,
)

# `key` is an assignment, and `status` its new status after being active.
COUNT_ENDED = Bulk(
    """
    INSERT INTO assignment_count (run_id, simulated, status, number)
    SELECT run_id, simulated, status, sum(number) FROM (
        SELECT assignment.run_id, assignment.simulated, given.status, 1 AS number
        FROM {rows} AS given JOIN assignment ON assignment.id = given.key
        UNION ALL
        SELECT assignment.run_id, assignment.simulated, 'active', -1
        FROM {rows} AS given JOIN assignment ON assignment.id = given.key
    ) AS moved WHERE true GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
    ON CONFLICT (run_id, simulated, status)
    DO UPDATE SET number = assignment_count.number + excluded.number""",
    key=Kind.TEXT,
    status=Kind.TEXT,
)

_RATED = """
    SELECT assignment.run_id, assignment.simulated, conversation.system_id, count(*) AS number
    FROM {assignments} JOIN conversation ON conversation.assignment_id = assignment.id
    LEFT JOIN shown_item ON shown_item.conversation_id = conversation.id
    WHERE conversation.status = 'rated' AND coalesce(shown_item.kind, 'ordinary') = 'ordinary' {where}
    GROUP BY 1, 2, 3"""
_OF_THOSE_GIVEN = _RATED.format(
    assignments="{rows} AS given JOIN assignment ON assignment.id = given.key", where=""
)
# `key` is an assignment that has been completed.
COUNT_RATED = Bulk(
    f"""
    INSERT INTO rated_count (run_id, simulated, system_id, number)
    SELECT * FROM ({_OF_THOSE_GIVEN} ORDER BY 1, 2, 3) AS rated WHERE true
    ON CONFLICT (run_id, simulated, system_id)
    DO UPDATE SET number = rated_count.number + excluded.number""",  # noqa: S608
    key=Kind.TEXT,
)

_ASSIGNMENTS_ANEW = """
    SELECT run_id, simulated, status, count(*) FROM assignment GROUP BY run_id, simulated, status"""
_RATED_ANEW = _RATED.format(assignments="assignment", where="AND assignment.status = 'completed'")
# Fills the tables once in a database that was made before them; a migration runs it, and the next such list.
FILL_RUN_COUNTS = (
    f"INSERT INTO assignment_count (run_id, simulated, status, number) {_ASSIGNMENTS_ANEW}",
    f"INSERT INTO rated_count (run_id, simulated, system_id, number) {_RATED_ANEW}",
)


def _counted(conversations: str) -> str:
    """Return the query that counts, by system and position, the conversations of the given rows."""
    return f"""
        SELECT assignment.run_id, assignment.simulated, conversation.system_id, conversation.position,
               count(*) AS number
        FROM {{rows}} AS given JOIN conversation ON {conversations}
        JOIN assignment ON assignment.id = conversation.assignment_id
        GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4"""  # noqa: S608


def _off_plan(conversations: str) -> str:
    return f"""
        UPDATE plan_count SET number = plan_count.number - gone.number
        FROM ({_counted(conversations)}) AS gone
        WHERE plan_count.run_id = gone.run_id AND plan_count.simulated = gone.simulated
          AND plan_count.system_id = gone.system_id AND plan_count.position = gone.position"""  # noqa: S608


# `key` is a planned conversation.
COUNT_PLANNED = Bulk(
    f"""
    INSERT INTO plan_count (run_id, simulated, system_id, position, number)
    SELECT * FROM ({_counted("conversation.id = given.key")}) AS planned WHERE true
    ON CONFLICT (run_id, simulated, system_id, position)
    DO UPDATE SET number = plan_count.number + excluded.number""",  # noqa: S608
    key=Kind.TEXT,
)

# `key` is a skipped conversation.
COUNT_SKIPPED = Bulk(_off_plan("conversation.id = given.key"), key=Kind.TEXT)

# `key` is an assignment that has lost its slot.
COUNT_LOST = Bulk(
    _off_plan("conversation.assignment_id = given.key AND conversation.status <> 'skipped'"), key=Kind.TEXT
)

# `key` is an assignment that has lost its slot, which nobody holds now.
FREE_PLACE = Bulk(
    """
    INSERT INTO free_place (run_id, simulated, place)
    SELECT assignment.run_id, assignment.simulated, assignment.place
    FROM {rows} AS given JOIN assignment ON assignment.id = given.key""",
    key=Kind.TEXT,
)

# All in one row, because reading each row releases the interpreter lock. No system's name contains a space.
POSITIONS = select(
    func.aggregate_strings(
        SystemTable.c.name
        + ":"
        + cast(PlanCountTable.c.position, Text)
        + ":"
        + cast(PlanCountTable.c.number, Text),
        " ",
    )
).where(
    SystemTable.c.id == PlanCountTable.c.system_id,
    PlanCountTable.c.run_id == bindparam("run"),
    PlanCountTable.c.simulated == bindparam("simulated"),
)

_PLANNED_ANEW = """
    SELECT assignment.run_id, assignment.simulated, conversation.system_id, conversation.position, count(*)
    FROM conversation JOIN assignment ON assignment.id = conversation.assignment_id
    WHERE assignment.status IN ('active', 'completed') AND conversation.status <> 'skipped'
    GROUP BY assignment.run_id, assignment.simulated, conversation.system_id, conversation.position"""
_FREE_ANEW = """
    SELECT run_id, simulated, place FROM assignment
    EXCEPT
    SELECT run_id, simulated, place FROM assignment WHERE status IN ('active', 'completed')"""
FILL_PLAN_COUNTS = (
    f"INSERT INTO plan_count (run_id, simulated, system_id, position, number) {_PLANNED_ANEW}",
    f"INSERT INTO free_place (run_id, simulated, place) {_FREE_ANEW}",
)


def positions(connection: Connection, run_id: int, *, simulated: bool) -> Mapping[tuple[str, int], int]:
    """Return how often the held slots of a run have each system, by name, at each position, from 1."""
    return positions_in(connection.execute(POSITIONS, {"run": run_id, "simulated": simulated}).scalar_one())


def positions_in(counted: str | None) -> Mapping[tuple[str, int], int]:
    """Parse the result of `POSITIONS`; return the same as `positions`."""
    each = (one.rsplit(":", 2) for one in (counted or "").split(" ") if one)  # a name may hold a colon
    return {(name, int(position)): int(number) for name, position, number in each}


_PAIR = """
    conversation AS l JOIN conversation AS r
      ON r.assignment_id = l.assignment_id AND r.position = l.position + 1 AND r.attempt = l.attempt
     AND l.side = 'left' AND r.side = 'right'
    JOIN assignment ON assignment.id = l.assignment_id"""
_NAMED = "assignment.run_id, assignment.simulated, l.system_id AS left_id, r.system_id AS right_id"
_HELD = "NOT (l.status = 'skipped' AND r.status = 'skipped')"


@dataclass(frozen=True, slots=True)
class PairTally:
    """Counts of one system on the left and another on the right: pairs placed, and workers' preferences."""

    placed: int = 0
    left: int = 0
    ties: int = 0
    right: int = 0


def _off_pairs(which: str) -> str:
    return f"""
        UPDATE pair_count SET placed = pair_count.placed - gone.number
        FROM (SELECT {_NAMED}, count(*) AS number FROM {{rows}} AS given, {_PAIR}
              WHERE {which} GROUP BY 1, 2, 3, 4) AS gone
        WHERE pair_count.run_id = gone.run_id AND pair_count.simulated = gone.simulated
          AND pair_count.left_id = gone.left_id AND pair_count.right_id = gone.right_id"""  # noqa: S608


# `key` is the right conversation of a planned pair.
COUNT_PAIRED = Bulk(
    f"""
    INSERT INTO pair_count (run_id, simulated, left_id, right_id, placed, lefts, ties, rights)
    SELECT {_NAMED}, count(*), 0, 0, 0 FROM {{rows}} AS given, {_PAIR}
    WHERE r.id = given.key GROUP BY 1, 2, 3, 4
    ON CONFLICT (run_id, simulated, left_id, right_id)
    DO UPDATE SET placed = pair_count.placed + excluded.placed""",  # noqa: S608
    key=Kind.TEXT,
)

# `key` is the right conversation of a pair, which was skipped; the left one may have been skipped, too.
COUNT_PAIR_SKIPPED = Bulk(_off_pairs("r.id = given.key AND l.status = 'skipped'"), key=Kind.TEXT)

# `key` is an assignment that has lost its slot.
COUNT_PAIRS_LOST = Bulk(_off_pairs(f"assignment.id = given.key AND {_HELD}"), key=Kind.TEXT)

_OUTCOMES = """
    sum(CASE WHEN choice.preference = 'left' THEN 1 ELSE 0 END),
    sum(CASE WHEN choice.preference = 'tie' THEN 1 ELSE 0 END),
    sum(CASE WHEN choice.preference = 'right' THEN 1 ELSE 0 END)"""


def _chosen(sign: str) -> Bulk:
    return Bulk(
        f"""
    UPDATE pair_count SET lefts = pair_count.lefts {sign} more.lefts,
                          ties = pair_count.ties {sign} more.ties,
                          rights = pair_count.rights {sign} more.rights
    FROM (SELECT run_id, simulated, left_id, right_id, sum(lefts) AS lefts, sum(ties) AS ties,
                 sum(rights) AS rights
          FROM (SELECT {_NAMED},
                       CASE WHEN given.preference = 'left' THEN 1 ELSE 0 END AS lefts,
                       CASE WHEN given.preference = 'tie' THEN 1 ELSE 0 END AS ties,
                       CASE WHEN given.preference = 'right' THEN 1 ELSE 0 END AS rights
                FROM {{rows}} AS given, {_PAIR} WHERE l.id = given.key) AS each_choice
          GROUP BY run_id, simulated, left_id, right_id) AS more
    WHERE pair_count.run_id = more.run_id AND pair_count.simulated = more.simulated
      AND pair_count.left_id = more.left_id AND pair_count.right_id = more.right_id""",  # noqa: S608
        key=Kind.TEXT,
        preference=Kind.TEXT,
    )


# A choice that was stored, or removed; `key` is its left conversation.
COUNT_CHOSEN, COUNT_UNCHOSEN = _chosen("+"), _chosen("-")

_PAIRS = text("""
    SELECT l.name AS left_name, r.name AS right_name, placed, lefts, ties, rights
    FROM pair_count JOIN system AS l ON l.id = pair_count.left_id
    JOIN system AS r ON r.id = pair_count.right_id
    WHERE pair_count.run_id = :run AND pair_count.simulated = :simulated""")

_PAIRS_ANEW = f"""
    SELECT {_NAMED}, count(*) FROM {_PAIR}
    WHERE {_HELD} AND assignment.status IN ('active', 'completed') GROUP BY 1, 2, 3, 4"""  # noqa: S608
_CHOSEN_ANEW = f"""
    SELECT {_NAMED}, {_OUTCOMES} FROM choice, {_PAIR}
    WHERE choice.conversation_id = l.id GROUP BY 1, 2, 3, 4"""  # noqa: S608


def pairs(connection: Connection, run_id: int, *, simulated: bool) -> Mapping[tuple[str, str], PairTally]:
    """Return a run's counts by the names of the systems on the left and on the right."""
    found = connection.execute(_PAIRS, {"run": run_id, "simulated": simulated})
    return {
        (row.left_name, row.right_name): PairTally(row.placed, row.lefts, row.ties, row.rights)
        for row in found
    }


COUNT_COST = Bulk(
    """
    INSERT INTO spending (run_id, bot_id, cost)
    SELECT assignment.run_id, system.bot_id, sum(given.cost)
    FROM {rows} AS given
    JOIN conversation ON conversation.id = given.key
    JOIN system ON system.id = conversation.system_id
    JOIN assignment ON assignment.id = conversation.assignment_id
    WHERE true GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (run_id, bot_id) DO UPDATE SET cost = spending.cost + excluded.cost""",
    key=Kind.TEXT,
    cost=Kind.REAL,
)
_COST_OF_RUN = text("SELECT coalesce(sum(cost), 0) FROM spending WHERE run_id = :run")
_COST_OF_BOT = text("""
    SELECT coalesce(sum(spending.cost), 0) FROM spending JOIN bot ON bot.id = spending.bot_id
    WHERE bot.spec = :bot AND (spending.run_id = :run OR :run IS NULL)""")
_COST_ANEW = """
    SELECT assignment.run_id, NULL, system.bot_id, sum(bot_call.cost)
    FROM bot_call
    JOIN conversation ON conversation.id = bot_call.conversation_id
    JOIN system ON system.id = conversation.system_id
    JOIN assignment ON assignment.id = conversation.assignment_id
    WHERE bot_call.cost IS NOT NULL GROUP BY assignment.run_id, system.bot_id"""


def spent_by_run(connection: Connection, run_id: int) -> float:
    """Return the cost of all bots of a run, for people and simulated workers."""
    return float(connection.execute(_COST_OF_RUN, {"run": run_id}).scalar_one())


def spent_by_bot(connection: Connection, bot: str, run_id: int | None) -> float:
    """Return the cost of the bot that studies name `bot`, in a run; in all runs if None."""
    return float(connection.execute(_COST_OF_BOT, {"bot": bot, "run": run_id}).scalar_one())


@dataclass(frozen=True, slots=True)
class _Stored:
    """A stored count: `what` is counted, and `where`, with `{}` for each column that identifies a row.

    `kept` and `anew` query the stored numbers and the right ones: first the run and whether its workers are
    simulated (NULL for all), then the columns of `where`, then the numbers.
    """

    what: str
    where: str
    kept: str
    anew: str


_STORED = (
    _Stored(
        "assignments",
        "{}",
        "SELECT run_id, simulated, status, number FROM assignment_count",
        _ASSIGNMENTS_ANEW,
    ),
    _Stored(
        "rated conversations",
        "system {}",
        "SELECT run_id, simulated, system_id, number FROM rated_count",
        _RATED_ANEW,
    ),
    _Stored(
        "conversations",
        "system {}, position {}",
        "SELECT run_id, simulated, system_id, position, number FROM plan_count",
        _PLANNED_ANEW,
    ),
    _Stored(
        "pairs placed",
        "systems {} and {}",
        "SELECT run_id, simulated, left_id, right_id, placed FROM pair_count",
        _PAIRS_ANEW,
    ),
    _Stored(
        "preferences",
        "systems {} and {}",
        "SELECT run_id, simulated, left_id, right_id, lefts, ties, rights FROM pair_count",
        _CHOSEN_ANEW,
    ),
    _Stored("cost of calls", "bot {}", "SELECT run_id, NULL, bot_id, cost FROM spending", _COST_ANEW),
)
_FREE = "SELECT run_id, simulated, place FROM free_place"


def differences(connection: Connection) -> list[str]:
    """Count everything again; return sentences about wrong counts, none if all are right."""
    free, free_anew = ({tuple(row) for row in connection.execute(text(q))} for q in (_FREE, _FREE_ANEW))
    return [
        *(sentence for stored in _STORED for sentence in _wrong(connection, stored)),
        *(
            f"{_whose(*slot[:2])}, slot {slot[2]}: "
            f"{'free, but not stored as free' if slot in free_anew else 'not free, but stored as free'}"
            for slot in sorted(free ^ free_anew)
        ),
    ]


def _wrong(connection: Connection, stored: _Stored) -> Iterator[str]:
    columns = 2 + stored.where.count("{}")
    kept, anew = (_numbers(connection, query, columns) for query in (stored.kept, stored.anew))
    for key in sorted(kept.keys() | anew.keys()):
        right, counted = anew.get(key, [0]), kept.get(key, [0])
        # Costs are sums of fractions, in any order.
        if len(right) != len(counted) or any(abs(a - b) > 1e-6 for a, b in zip(right, counted, strict=True)):
            where = stored.where.format(*key[2:])
            numbers = f"stored as {_shown(counted)} instead of {_shown(right)}"
            yield f"{_whose(*key[:2])}, {where}: {stored.what} {numbers}"


def _numbers(connection: Connection, query: str, columns: int) -> dict[tuple[Any, ...], list[float]]:
    """Map so many first columns to the numbers after them; rows of zeros are left out."""
    rows = map(tuple, connection.execute(text(query)))
    return {row[:columns]: numbers for row in rows if any(numbers := [float(n) for n in row[columns:]])}


def _whose(run: int, simulated: bool | None) -> str:
    people = {None: "", False: ", workers", True: ", simulated workers"}
    return f"run {run}{people[simulated]}"


def _shown(numbers: Sequence[float]) -> str:
    return "/".join(f"{number:.6f}".rstrip("0").rstrip(".") for number in numbers)
