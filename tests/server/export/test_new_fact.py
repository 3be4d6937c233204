"""A new fact in a view: it reaches every export and the analysis without another change of the program."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from qc.bundle.making import Bundled, make_bundle
from qc.convert import losses, save
from qc.errors import EmptyRunError
from qc.judgments import read_judgments
from qc.loading import load
from qc.options import AnalysisOptions
from qc.run import DRAWN_NOTE
from server.db.engine import open_engine
from server.db.runs.runs import find_run
from server.db.views import FACTS, V1, ExportedFact, with_facts
from server.export.formats import WRITTEN, Written, write_run
from tests.server.support.database import execute, make_run
from tests.server.support.items import ITEMS_RUN, RATED, items_text, make_items_run, new_items
from tests.server.support.server import House
from tests.server.support.study import RUN, pairs_text, study_text

Serve = Callable[..., House]

NEW = (
    ExportedFact("device", "text", "conversation.device"),
    ExportedFact("zoom", "number", "conversation.zoom"),
    ExportedFact("touched", "flag", "conversation.zoom > 1"),
    ExportedFact("shown_at", "time", "conversation.started_at"),
    ExportedFact("unheard_of", "integer", "CAST(NULL AS integer)"),
)
# By the position of the conversation.
DEVICES = {1: "phone", 2: "=laptop", 3: None, 4: "phone"}
ZOOMS = {1: 1.0, 2: 1.5, 3: 2.0, 4: 0.5}
FOUR = [DEVICES[position] for position in range(1, 5)], [ZOOMS[position] for position in range(1, 5)]


@pytest.fixture
def view(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return a function that does what a migration would to the database at a URL, and fills it."""

    def add(url: str) -> None:
        monkeypatch.setitem(FACTS, "v1_conversation", NEW)
        for column in ("device TEXT", "zoom FLOAT"):
            execute(url, f"ALTER TABLE conversation ADD COLUMN {column}")
        execute(url, "DROP VIEW v1_conversation")
        execute(url, f"CREATE VIEW v1_conversation AS {with_facts(V1['v1_conversation'], NEW)}")
        for position, device in DEVICES.items():
            where = "UPDATE conversation SET zoom = ?, device = ? WHERE position = ?"
            execute(url, where, ZOOMS[position], device, position)

    return add


def exported(url: str, slug: str, form: Written, folder: Path) -> Path:
    path = folder / f"{slug}.{form}"
    engine = open_engine(url)
    with engine.connect() as connection:
        write_run(connection, find_run(connection, slug), form, path, lambda *_: None)
    engine.dispose()
    return path


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def assert_facts(facts: pd.DataFrame | None, devices: list[str | None], zooms: list[float]) -> None:
    assert facts is not None
    assert list(facts) == ["device", "shown_at", "touched", "zoom"]  # nothing is known of the fifth
    assert facts["device"].astype(object).where(facts["device"].notna(), None).to_list() == devices
    assert facts["zoom"].to_list() == zooms
    assert facts["touched"].to_list() == [zoom > 1 for zoom in zooms]
    assert pd.to_datetime(facts["shown_at"], utc=True, format="ISO8601").notna().all()


@pytest.mark.databases("sqlite", "postgresql")
def test_of_chats(url: str, serve: Serve, view: Callable[[str], None], tmp_path: Path) -> None:
    house = serve(url, make_run(url, study_text()))
    with house.page() as page:
        page.whole()
    house.stop()
    assert load(url).facts is None
    view(url)
    assert_facts(load(url).facts, *FOUR)
    for form in WRITTEN:
        assert_facts(load(exported(url, RUN, form, tmp_path)).facts, *FOUR)


@pytest.mark.databases("sqlite")
def test_of_a_run_without_conversations(url: str, view: Callable[[str], None], tmp_path: Path) -> None:
    make_run(url, study_text())
    view(url)
    for form in WRITTEN:
        with pytest.raises(EmptyRunError, match=r"no assignment|no conversation|nobody"):
            load(exported(url, RUN, form, tmp_path))


@pytest.mark.databases("sqlite")
def test_of_chats_that_are_converted_and_bundled(
    url: str, serve: Serve, view: Callable[[str], None], tmp_path: Path
) -> None:
    house = serve(url, make_run(url, study_text()))
    with house.page() as page:
        page.whole()
    house.stop()
    view(url)
    execute(
        url, "UPDATE conversation SET device = 'of ' || (SELECT pseudonym FROM worker) WHERE position = 3"
    )
    run = load(url)
    assert not [loss for loss in losses(run, "hits") if "facts" in loss.what]
    assert [loss.count for loss in losses(run, "mturk") if "facts" in loss.what] == [16]
    save(run, tmp_path / "run.json", "hits")
    (worker,) = run.assignments["worker"]
    assert_facts(load(tmp_path / "run.json").facts, ["phone", "=laptop", f"of {worker}", "phone"], FOUR[1])
    target = tmp_path / "run.bundle.zip"
    bundled = Bundled(load(tmp_path / "run.json"), None, renamed=True, study=None)
    make_bundle(bundled, AnalysisOptions(bootstrap=100), target)
    assert_facts(load(target).facts, ["phone", "=laptop", "of w1", "phone"], FOUR[1])


@pytest.mark.databases("sqlite")
def test_of_items(url: str, serve: Serve, view: Callable[[str], None], tmp_path: Path) -> None:
    house = serve(url, make_items_run(url, items_text(composition={"ordinary": 4})))
    with house.page() as page:
        page.send("agree")
        page.until("item_due")
        for number in range(4):
            page.send("rate", ratings=RATED)
            page.until("item_due" if number < 3 else "feedback_due")
        page.send("feedback", text="")
        page.until("completed")
    house.stop()
    view(url)
    assert_facts(load(url).facts, *FOUR)
    for form in WRITTEN:
        assert_facts(load(exported(url, ITEMS_RUN, form, tmp_path)).facts, *FOUR)


@pytest.mark.databases("sqlite")
def test_probabilities_of_drawn_items(url: str, serve: Serve, tmp_path: Path) -> None:
    items = [replace(item, probability=0.25 + 0.05 * at) for at, item in enumerate(new_items())]
    house = serve(url, make_items_run(url, items_text(composition={"ordinary": 6}), items))
    with house.page() as page:
        page.send("agree")
        for rating in range(10, 70, 10):
            page.until("item_due")
            page.send("rate", ratings={"clear": rating, "dull": rating // 2})
        page.until("feedback_due")
        page.send("feedback", text="")
        page.until("completed")
    house.stop()
    for source in (url, *(str(exported(url, ITEMS_RUN, form, tmp_path)) for form in WRITTEN)):
        judgments = read_judgments(source)
        known = dict(zip(judgments.outputs["output"], judgments.probabilities, strict=True))
        assert known == pytest.approx({item.name: item.probability for item in items if item.name in known})
        assert len(known) == 6
        assert DRAWN_NOTE in judgments.notes


@pytest.mark.databases("sqlite")
def test_of_pairs(url: str, serve: Serve, view: Callable[[str], None], tmp_path: Path) -> None:
    house = serve(url, make_run(url, pairs_text({"pairs": 1}, qc_per_assignment=0)))
    with house.page() as page:
        page.agree()
        page.open_topic()
        for text in ("one", "two"):
            page.send("say", text=text)
            page.turn = page.until("said_by_both")["turn"] + 1
        page.send("end_conversation")
        page.until("choice_due")
        page.send("choose", conversation=1, attempt=1, turn=3, preference="right")
        page.until("feedback_due")
        page.send("feedback", text="")
        page.until("completed")
    house.stop()
    without = exported(url, RUN, "hits_data", tmp_path).read_bytes()
    view(url)
    (_, assignment) = lines(exported(url, RUN, "hits_data", tmp_path))
    facts = assignment["pairs"][0].pop("facts")
    shown = {"touched": False, "device": "phone", "zoom": 1.0}
    assert facts["left"].pop("shown_at").endswith("Z")
    assert facts["left"] == shown
    assert facts["right"]["device"] == "=laptop"
    assert lines(tmp_path / f"{RUN}.hits_data")[0] == json.loads(without.splitlines()[0])
    assert assignment == json.loads(without.splitlines()[1])
