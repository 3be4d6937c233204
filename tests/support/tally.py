"""Compare a crowd's own log of stored messages with the database."""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, text

from server.db.counts import differences
from server.db.engine import open_engine
from tests.support.draws import Plan, away_at, unfair_draws

# Every message of a worker's that is stored: whose, its id, its kind and what it said, in the order of lines.
_STORED = """
    SELECT assignment_id, client_id, 'say' AS kind, text AS content, position, attempt, turn_index AS line
    FROM turn JOIN conversation ON conversation.id = conversation_id WHERE author = 'worker'
    UNION ALL
    SELECT assignment_id, client_id, CASE ordinal WHEN 0 THEN 'topic' ELSE 'topic_change' END, '',
           position, attempt, ordinal
    FROM topic_mark JOIN conversation ON conversation.id = conversation_id
    UNION ALL
    SELECT assignment_id, ended_by, 'end_conversation', '', position, attempt, 0 FROM conversation
    WHERE ended_by IS NOT NULL
    UNION ALL
    SELECT assignment_id, rated_by, 'rate', '', position, attempt, 0 FROM conversation
    WHERE rated_by IS NOT NULL
    UNION ALL
    SELECT id, agreed_by, 'agree', '', 0, 0, 0 FROM assignment WHERE agreed_by IS NOT NULL
    UNION ALL
    SELECT id, feedback_by, 'feedback', '', 0, 0, 0 FROM assignment WHERE feedback_by IS NOT NULL
    ORDER BY assignment_id, position, attempt, line"""
# Of each assignment: how many positions it has, how many of them are rated.
_WHOLE = """
    SELECT assignment.id, count(DISTINCT position),
           sum(CASE WHEN conversation.status = 'rated' THEN 1 ELSE 0 END)
    FROM assignment LEFT JOIN conversation ON conversation.assignment_id = assignment.id
    GROUP BY assignment.id"""
# Conversations whose lines are not the worker's and the bot's in turn, numbered from 0.
_UNEVEN = """
    SELECT conversation_id FROM turn GROUP BY conversation_id
    HAVING max(turn_index) <> count(*) - 1
        OR sum(CASE WHEN (author = 'worker') = (turn_index % 2 = 0) THEN 0 ELSE 1 END) > 0"""
_PLANNED = """
    SELECT family, system.name, count(conversation.id) FROM system
    LEFT JOIN conversation ON conversation.system_id = system.id AND attempt = 1
    WHERE NOT is_qc GROUP BY family, system.name"""
# Of each place, the system that was drawn for each position. No other holder of it has others.
_DRAWN = """
    SELECT DISTINCT place, position, system.name FROM conversation
    JOIN assignment ON assignment.id = assignment_id JOIN system ON system.id = system_id
    WHERE attempt = 1 ORDER BY place, position"""
_Message = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class Tally:
    """What counts. `torn`: assignments without all their conversations, and conversations with a gap.

    `unfair`: places whose draw passed over a family, or a variant of one, that had fewer conversations and
    was not away. `apart`: by how much the counts of two families, or of two variants of one, differ at most;
    more than one where bots were away and nobody came later who would make up for it.
    """

    workers: int
    submitted: int
    acknowledged: int
    stored: int
    lost: int
    doubled: int
    out_of_order: int
    never_acknowledged: int
    torn: int
    unfair: int
    apart: int
    drawn_while_away: int
    audit: int

    def problems(self, workers: int) -> Mapping[str, int]:
        """Return what is not as it should be when all of so many workers are done."""
        due = {"submitted": workers, "workers": workers, "stored": self.acknowledged}
        found: dict[str, int] = asdict(self)
        drawn_while_away = found.pop("drawn_while_away")
        if self.apart <= 1 or drawn_while_away:
            del found["apart"]
        good = {**dict.fromkeys(found, 0), "acknowledged": self.acknowledged, **due}
        return {name: value for name, value in found.items() if value != good[name]}

    def table(self, **more: object) -> str:
        """Return the figures, one a line; `more` come first."""
        return "\n".join(f"{name:>20} {value}" for name, value in {**more, **asdict(self)}.items())


def count(log: Path, url: str, conversations: int, said: str) -> Tally:
    """Compare a crowd's log with its database, each of whose assignments has so many conversations.

    `said`: the servers' own log, which tells when bots were away.
    """
    told = [_told(json.loads(line)) for line in log.read_text().splitlines()]
    engine = open_engine(url)
    with engine.connect() as connection:
        stored = [tuple(row[:4]) for row in connection.execute(text(_STORED))]
        whole = {row[0]: tuple(row[1:]) for row in connection.execute(text(_WHOLE))}
        uneven = len(connection.execute(text(_UNEVEN)).all())
        planned = connection.execute(text(_PLANNED)).all()
        plans = _plans(connection)
        audit = len(differences(connection))
    engine.dispose()
    times, acknowledged = Counter(stored), set(told)
    families = {system: family for family, system, _ in planned}
    away = away_at(said.splitlines())
    return Tally(
        workers=len(whole),
        submitted=sum(kind == "feedback" for _, _, kind, _ in stored),
        acknowledged=len(acknowledged),
        stored=len(times),
        lost=len(acknowledged - times.keys()),
        doubled=sum(each - 1 for each in times.values()),
        out_of_order=_out_of_order(told, stored),
        never_acknowledged=len(times.keys() - acknowledged),
        torn=uneven + sum(shape != (conversations, conversations) for shape in whole.values()),
        unfair=len(unfair_draws(plans, families, away)),
        apart=_apart([tuple(row) for row in planned]),
        drawn_while_away=len(away.keys() & plans.items()),
        audit=audit,
    )


def _told(entry: dict[str, Any]) -> _Message:
    message = entry["message"]
    content = message["text"] if message["type"] == "say" else ""
    return entry["assignment"], message["id"], message["type"], content


def _out_of_order(told: list[_Message], stored: list[Any]) -> int:
    """Return how many lines do not stand where their worker was told of them."""
    orders: list[dict[str, list[str]]] = []
    for messages in (told, stored):
        by_worker: dict[str, list[str]] = defaultdict(list)
        for assignment, id_, kind, _ in messages:
            if kind == "say" and id_ not in by_worker[assignment]:
                by_worker[assignment].append(id_)
        orders.append(by_worker)
    return sum(
        mine != theirs
        for worker, ids in orders[0].items()
        for mine, theirs in zip(ids, orders[1][worker], strict=False)
    )


def _plans(connection: Connection) -> dict[int, Plan]:
    """Return, by place, the systems that were drawn for it, in their order."""
    plans: dict[int, list[str]] = defaultdict(list)
    for place, _, system in connection.execute(text(_DRAWN)):
        plans[place].append(system)
    return {place: tuple(plan) for place, plan in plans.items()}


def _apart(planned: Sequence[tuple[str, str, int]]) -> int:
    families: Counter[str] = Counter()
    variants: dict[str, list[int]] = defaultdict(list)
    for family, _, number in planned:
        families[family] += number
        variants[family].append(number)
    counts = [list(families.values()), *variants.values()]
    return max(max(each) - min(each) for each in counts)
