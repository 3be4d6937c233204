"""Runs of transcripts, written as the server's views have them: the published fixture, and simulated ones."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from qc.loading import load
from qc.run import Run
from tests.qc.support.database import VIEWS, Database

Json = dict[str, Any]

ITEM_VIEWS = {
    **VIEWS,
    "v1_run": f"{VIEWS['v1_run']}, task",
    "v1_item_rating": "run_id, assignment_id, worker_id, position, item_id, source, source_conversation_id, "
    "system, family, kind, twin_of, criterion, value, started_at, rated_at, seconds",
    "v1_item_edit": "run_id, assignment_id, worker_id, position, item_id, edited_text, edit_share",
}
STARTED = "2025-03-01 10:00:00.000000"
MINUTES = 30


def item_database(path: Path) -> Database:
    """Return a database with all views and no run."""
    database = Database(path)
    for view, columns in ITEM_VIEWS.items():
        database.execute(f"CREATE TABLE {view} ({columns})")
    database.insert("v1_version", version=1)
    return database


def add_item_run(
    database: Database,
    ratings: pd.DataFrame,
    run_id: str = "r1",
    negative: Iterable[str] = (),
    status: str = "completed",
) -> None:
    """Add a run of transcripts.

    Args:
        database: where to.
        ratings: `worker`, `assignment`, `position`, `item`, `kind`, `twin_of` (0 for none), `system`, and
            perhaps `edit_share`; every other column is a criterion.
        run_id: its id; its slug is the same.
        negative: criteria to be reversed.
        status: of all assignments.
    """
    known = {"worker", "assignment", "position", "item", "kind", "twin_of", "system", "edit_share"}
    criteria = [name for name in ratings if name not in known]
    database.insert("v1_run", run_id=run_id, run=run_id, study="texts", study_hash="0", task="transcripts")
    for position, label in enumerate(criteria):
        flags = {"negative": int(label in set(negative)), "counts_for_qc": 1}
        database.insert("v1_criterion", run_id=run_id, position=position, label=label, statement="…", **flags)
    assignments = ratings.drop_duplicates("assignment")[["assignment", "worker"]]
    rows = ratings.to_dict("records")
    filled: dict[str, list[Json]] = {
        "v1_assignment": [
            {
                "run_id": run_id,
                "assignment_id": f"{run_id}-{row['assignment']}",
                "worker": row["worker"],
                "simulated": 0,
                "status": status,
                "agreed_at": STARTED,
                "ended_at": STARTED.replace("10:00", f"10:{MINUTES}"),
            }
            for row in assignments.to_dict("records")
        ],
        "v1_item_rating": [
            {
                **_item(run_id, row),
                "source": "text",
                "system": row["system"],
                "family": row["system"],
                "kind": row["kind"],
                "twin_of": row["twin_of"] or None,
                "criterion": label,
                "value": row[label],
                "seconds": 12.5,
            }
            for row in rows
            for label in criteria
        ],
    }
    if "edit_share" in ratings:
        filled["v1_item_edit"] = [{**_item(run_id, row), "edit_share": row["edit_share"]} for row in rows]
    database.fill(filled)


def _item(run_id: str, row: Json) -> Json:
    return {
        "run_id": run_id,
        "assignment_id": f"{run_id}-{row['assignment']}",
        "worker_id": row["worker"],
        "position": row["position"],
        "item_id": row["item"],
    }


def fixture_ratings(path: Path) -> pd.DataFrame:
    """Return the published fixture at `path` as `add_item_run` takes it."""
    given = pd.read_csv(path, keep_default_na=False)
    item = given["of"].where(given["of"] != "", given["item"])
    places = given.set_index("item")["position"]
    return pd.DataFrame(
        {
            "worker": given["worker"],
            "assignment": given["hit"],
            "position": given["position"],
            "item": item,
            "kind": given["kind"],
            "twin_of": given["of"].map(places).fillna(0).astype(int),
            "system": given["system"],
            "adequate": given["rating"],
        }
    )


def loaded(ratings: pd.DataFrame, folder: Path, **more: Any) -> Run:
    """Return a run of `ratings` as it is read from a database in `folder`."""
    database = item_database(folder / "transcripts.db")
    add_item_run(database, ratings, **more)
    return load(database.path)


def simulated(
    rng: np.random.Generator,
    careful: int = 12,
    random: int = 6,
    systems: Sequence[str] = ("ada", "bob", "cy", "dot"),
    items: int = 40,
    raters: int = 2,
    criteria: Sequence[str] = ("fluent", "clear"),
    names: str = "",
) -> pd.DataFrame:
    """Return ratings of made-up workers, as `add_item_run` takes them.

    Every worker has one list: ordinary items, of which the first six have a bad twin, the next four a repeat
    and the next two a reference. Careful workers rate bad twins 30 lower and references 20 higher, each with
    noise of his own; random ones set every slider anywhere.

    Args:
        rng: source of the draws.
        careful, random: how many workers of each kind.
        systems: each 8 points better than the one before, each of `items` items.
        items: of each system.
        raters: lists begin where the one before ended, so that about so many workers rate each item.
        criteria: labels.
        names: what the names of the workers begin with.
    """
    people = careful + random
    pool = [(f"i{number:03}-{system}", system) for number in range(items) for system in systems]
    length = max(12, len(pool) * raters // people)
    quality = {system: 40 + 8 * number for number, system in enumerate(systems)}
    worth = {name: quality[system] + rng.normal(0, 8) for name, system in pool}
    rows: list[Json] = []
    for person in range(people):
        held = [pool[(person * length + step) % len(pool)] for step in range(length)]
        shown = [(name, system, "ordinary", 0) for name, system in held]
        for kind, first, last in (("bad", 0, 6), ("repeat", 6, 10), ("reference", 10, 12)):
            shown += [(*held[place], kind, place) for place in range(first, last)]
        order = list(rng.permutation(len(shown)))
        place = {shown_at: position for position, shown_at in enumerate(order, start=1)}
        for position, number in enumerate(order, start=1):
            name, system, kind, twin = shown[number]
            shift = {"bad": -30, "reference": 20}.get(kind, 0)
            values = (
                rng.uniform(0, 100, len(criteria))
                if person >= careful
                else worth[name] + shift + rng.normal(0, 8, len(criteria))
            )
            rows.append(
                {
                    "worker": f"{names}{'careful' if person < careful else 'random'}{person:02}",
                    "assignment": f"a{person:02}",
                    "position": position,
                    "item": name,
                    "kind": kind,
                    "twin_of": 0 if kind == "ordinary" else place[twin],
                    "system": system,
                    **dict(zip(criteria, np.clip(np.rint(values), 0, 100).tolist(), strict=True)),
                }
            )
    return pd.DataFrame(rows)
