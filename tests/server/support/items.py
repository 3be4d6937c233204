"""A small transcript study, its items, and sessions of it."""

from collections.abc import Mapping
from typing import Any

import yaml

from server.bots.lineup import OpenRun, open_lineup, session_rules
from server.bots.opened_bots import OpenedBots
from server.db.engine import open_engine
from server.db.runs.items import NewItem
from server.db.runs.runs import open_run
from server.items import items_of
from server.session.item import ItemContent, ItemKind, ItemLine
from server.session.plan import plan_item
from server.session.records import PlannedItem
from server.session.state import AssignmentContext, SessionRules, State, fold
from server.study import parse_study
from tests.server.support.study import AT, NOBODY

ITEMS_RUN = "gallery"
# Two systems of six texts each; every word is one of its own, so that it is seen where it went.
TEXTS = {
    f"{letter}{number} {system}": (
        system,
        " ".join(f"{system}{letter}{number}w{k}" for k in range(8)),
    )
    for system in ("heron", "ibis")
    for letter in "xy"
    for number in range(3)
}
RATED = {"clear": 60, "dull": 40}

QUESTIONS = {
    "mistakes": 1,
    "questions": [
        {
            "text": "The cat sat on the mat mat mat.",
            "question": "What is wrong?",
            "answers": ["Nothing", "A word is repeated"],
            "right": 2,
            "why": "`mat` is there three times.",
        },
        {
            "text": "It rains.",
            "question": "What is wrong?",
            "answers": ["Nothing", "A word is repeated"],
            "right": 1,
            "why": "It is fine as it is.",
        },
    ],
}


def items_text(**changes: Any) -> str:
    """Return a study file: four texts per assignment, one bad twin and one repeat."""
    study: dict[str, Any] = {
        "name": "gallery",
        "title": "Read and rate",
        "payment": "Nothing is paid.",
        "task": "transcripts",
        "items": {"file": "texts.jsonl"},
        "composition": {"ordinary": 4, "bad": 1, "repeat": 1},
        "judgments_per_item": 2,
        "criteria": [
            {"label": "clear", "statement": "It was clear."},
            {"label": "dull", "statement": "It was dull.", "negative": True},
        ],
        "simulate": {"quality": {"heron": 0.8, "ibis": 0.4}},
    }
    return yaml.safe_dump(study | changes, sort_keys=False)


def new_items(texts: Mapping[str, tuple[str, str]] = TEXTS) -> list[NewItem]:
    """Return texts as items, each with a bad twin."""
    return [
        NewItem(
            name,
            system,
            system,
            {"ordinary": ItemContent(text=text), "bad": ItemContent(text=f"spoilt {text}")},
            question=name,
        )
        for name, (system, text) in texts.items()
    ]


def make_items_run(
    url: str, text: str | None = None, items: list[NewItem] | None = None, slug: str = ITEMS_RUN
) -> OpenRun:
    """Open a run of a transcript study in the migrated database at `url`; of `TEXTS` unless told."""
    engine = open_engine(url, begin="BEGIN IMMEDIATE")
    with engine.begin() as connection:
        study = text if text is not None else items_text()
        entry = open_run(connection, study, slug, AT, items if items is not None else new_items())
    engine.dispose()
    return open_lineup(entry, OpenedBots(refuse_private=False))


def make_run_of_conversations(url: str, source: str, slug: str = ITEMS_RUN, **changes: Any) -> OpenRun:
    """Open a run whose items are the finished conversations of the run `source`."""
    from pathlib import Path

    text = items_text(items={"run": source}, **{"simulate": None, **changes})
    engine = open_engine(url, begin="BEGIN IMMEDIATE")
    with engine.begin() as connection:
        found = items_of(parse_study(text), connection, Path())
        entry = open_run(connection, text, slug, AT, found)
    engine.dispose()
    return open_lineup(entry, OpenedBots(refuse_private=False))


def items_rules(**changes: Any) -> SessionRules:
    """Return the rules of the small study."""
    return session_rules(parse_study(items_text(**changes)), NOBODY)


def planned(
    item: str, kind: ItemKind = "ordinary", twin_of: int | None = None, **content: Any
) -> PlannedItem:
    """Return an item as it stands in an assignment; a text unless `content` says otherwise."""
    return PlannedItem(item, kind, twin_of, ItemContent(**(content or {"text": f"This is {item}."})))


def new_items_state(*items: PlannedItem, **changes: Any) -> State:
    """Return the state of an assignment that has just been given out; two items unless told."""
    shown = items or (planned("one"), planned("two", lines=(ItemLine(author="bot", text="Hello."),)))
    prescribed = items_rules(**changes)
    context = AssignmentContext("a1", seed=7, reply_pace=1.0, code="CODE-1234", return_to=None)
    return fold(
        State(prescribed, context),
        [plan_item("a1", 7, position, "heron", item) for position, item in enumerate(shown, start=1)],
    )
