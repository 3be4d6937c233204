"""Count side-by-side pairs of systems and the preferences between them, as they change.

The draw of pairs uses these counts (`live/arrive/pair_draw`), so that an arrival costs the same in a run of
any size. They change in the transaction that changes the counted rows, only in `db/sessions/write`. A pair
counts as placed as long as its slot is held. A pair with a failed conversation still counts, or a broken bot
would be drawn for everybody. Preferences count whatever becomes of the assignment. `differences` counts again
from the rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, text

from server.db.engine.bulk import Bulk, Kind

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


def _taken_off(which: str) -> str:
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
COUNT_PAIR_SKIPPED = Bulk(_taken_off("r.id = given.key AND l.status = 'skipped'"), key=Kind.TEXT)

# `key` is an assignment that has lost its slot.
COUNT_PAIRS_LOST = Bulk(_taken_off(f"assignment.id = given.key AND {_HELD}"), key=Kind.TEXT)

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

_COUNTS = text("""
    SELECT l.name AS left_name, r.name AS right_name, placed, lefts, ties, rights
    FROM pair_count JOIN system AS l ON l.id = pair_count.left_id
    JOIN system AS r ON r.id = pair_count.right_id
    WHERE pair_count.run_id = :run AND pair_count.simulated = :simulated""")

_PLACED_ANEW = f"""
    SELECT {_NAMED}, count(*) FROM {_PAIR}
    WHERE {_HELD} AND assignment.status IN ('active', 'completed') GROUP BY 1, 2, 3, 4"""  # noqa: S608
_CHOSEN_ANEW = f"""
    SELECT {_NAMED}, {_OUTCOMES} FROM choice, {_PAIR}
    WHERE choice.conversation_id = l.id GROUP BY 1, 2, 3, 4"""  # noqa: S608


def pairs(connection: Connection, run_id: int, *, simulated: bool) -> Mapping[tuple[str, str], PairTally]:
    """Return a run's counts by the names of the systems on the left and on the right."""
    found = connection.execute(_COUNTS, {"run": run_id, "simulated": simulated})
    return {
        (row.left_name, row.right_name): PairTally(row.placed, row.lefts, row.ties, row.rights)
        for row in found
    }


def differences(connection: Connection) -> list[str]:
    """Count everything again; return sentences about wrong counts, none if all are right."""
    kept = _counts(connection, "SELECT run_id, simulated, left_id, right_id, placed FROM pair_count")
    chosen = "SELECT run_id, simulated, left_id, right_id, lefts, ties, rights FROM pair_count"
    return [
        *_differing("pairs placed", kept, _counts(connection, _PLACED_ANEW)),
        *_differing("preferences", _counts(connection, chosen), _counts(connection, _CHOSEN_ANEW)),
    ]


_Key = tuple[int, ...]


def _counts(connection: Connection, query: str) -> dict[_Key, _Key]:
    """Map the first four columns to the numbers after them; rows of zeros are left out."""
    rows = [tuple(int(value) for value in row) for row in connection.execute(text(query))]
    return {row[:4]: row[4:] for row in rows if any(row[4:])}


def _differing(what: str, kept: Mapping[_Key, _Key], anew: Mapping[_Key, _Key]) -> list[str]:
    return [
        f"run {run}, simulated {simulated}, systems {left} and {right}: "
        f"{anew.get(key, 0)} {what}, {kept.get(key, 0)} counted"
        for key in sorted(kept.keys() | anew.keys())
        if kept.get(key) != anew.get(key)
        for run, simulated, left, right in [key]
    ]
