"""Conversations of a run in the database, read as an analyst would, and assertions about them."""

import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bots import Chat, Turn
from bots.host.model import Output
from bots.shown import shown_text
from server.db.tables import PERSONA_SEPARATOR

Answers = Callable[[Sequence[Chat]], Sequence[Output]]


@dataclass(frozen=True)
class Conversation:
    """One conversation of a run; `ratings` by criterion, `persona` as the bot was given it."""

    id: str
    assignment: str
    system: str
    family: str
    is_qc: bool
    status: str
    seed: int
    persona: tuple[str, ...]
    turns: tuple[Turn, ...]
    ratings: dict[str, int]

    def asked(self) -> list[tuple[Chat, str]]:
        """Return every chat that the bot was asked to go on with, and what it is stored to have said."""
        return [
            (Chat(self.id, self.seed, self.persona, self.turns[:at]), turn.text)
            for at, turn in enumerate(self.turns)
            if turn.author == "bot"
        ]


def conversations(database: Path, run: str) -> list[Conversation]:
    """Return all conversations of a run, in the order in which workers had them."""
    with sqlite3.connect(database) as connection:
        rows = connection.execute(
            """SELECT met.conversation_id, met.assignment_id, met.system, met.family, met.is_qc, met.status,
                      conversation.seed, met.persona
               FROM v1_conversation AS met JOIN v1_run ON v1_run.run_id = met.run_id
               JOIN conversation ON conversation.id = met.conversation_id
               WHERE v1_run.run = ? ORDER BY met.assignment_id, met.position, met.attempt""",
            [run],
        ).fetchall()
        return [_conversation(connection, row) for row in rows]


def _conversation(connection: sqlite3.Connection, row: tuple[object, ...]) -> Conversation:
    key, assignment, system, family, is_qc, status, seed, persona = row
    turns = connection.execute(
        "SELECT turn_index, author, text FROM v1_turn WHERE conversation_id = ? ORDER BY turn_index", [key]
    ).fetchall()
    assert [index for index, _, _ in turns] == list(range(len(turns)))
    ratings = connection.execute("SELECT criterion, value FROM v1_rating WHERE conversation_id = ?", [key])
    sentences = tuple(str(persona).split(PERSONA_SEPARATOR)) if persona else ()
    return Conversation(
        str(key), str(assignment), str(system), str(family), bool(is_qc), str(status), int(str(seed)),
        sentences, tuple(Turn(author, text) for _, author, text in turns), dict(ratings),
    )  # fmt: skip


def assert_whole(
    found: Sequence[Conversation], *, assignments: int, families: set[str], inputs: int, criteria: set[str]
) -> None:
    """Every assignment met one system of each family and the qc bot once; nothing of it is missing."""
    assert len({each.assignment for each in found}) == assignments
    for assignment in {each.assignment for each in found}:
        mine = [each for each in found if each.assignment == assignment]
        assert sorted(each.family for each in mine if not each.is_qc) == sorted(families)
        assert sum(each.is_qc for each in mine) == 1
    for each in found:
        assert each.status == "rated"
        assert [turn.author for turn in each.turns] == ["worker", "bot"] * inputs
        assert all(turn.text for turn in each.turns)
        assert set(each.ratings) == criteria
        assert all(0 <= value <= 100 for value in each.ratings.values())


def assert_said_by(found: Sequence[Conversation], models: dict[str, Answers]) -> None:
    """Every stored reply is what the model of its family says to that history, and to no other."""
    met = Counter(each.family for each in found)
    for family, answers in models.items():
        assert met[family], family
        asked = [pair for each in found if each.family == family for pair in each.asked()]
        expected = [_shown(made) for made in answers([chat for chat, _ in asked])]
        for (chat, text), said in zip(asked, expected, strict=True):
            assert text == said, (family, chat)


def _shown(output: Output) -> str:
    return shown_text(
        output.text,
        opened=output.opened,
        at_limit=output.at_limit,
        tokens=output.tokens,
        labels=output.labels,
    ).text
