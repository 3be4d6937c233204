"""Tests of loading items from a JSONL file or a run; each mistake is reported with its place."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from server.db.engine.engines import open_engine
from server.db.runs.items import NewItem
from server.errors import RunNotFound, StudyInvalid
from server.items.pool import items_of, read_items
from server.study import parse_study
from tests.server.support.database import make_run, query
from tests.server.support.items import items_text
from tests.server.support.server import House
from tests.server.support.study import RUN, study_text

GOOD = [
    {
        "item": "q1",
        "system": "heron",
        "text": "One two three four five.",
        "reference": "The very best answer.",
    },
    {"item": "q1", "system": "ibis", "family": "waders", "text": "Six seven eight nine.", "context": "Why?"},
    {
        "item": "q2",
        "system": "ibis",
        "turns": [{"author": "worker", "text": "Hi"}, {"author": "bot", "text": "Good day to you"}],
    },
]


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def write_(*lines: Any) -> Path:
        path = tmp_path / "texts.jsonl"
        path.write_text("\n".join(x if isinstance(x, str) else json.dumps(x) for x in lines))
        return path

    return write_


def test_a_file_of_texts_and_conversations(write: Callable[..., Path]) -> None:
    items = read_items(write(*GOOD, ""))
    assert [(item.name, item.system, item.family) for item in items] == [
        ("q1 heron", "heron", "heron"),
        ("q1 ibis", "ibis", "waders"),
        ("q2 ibis", "ibis", "ibis"),
    ]
    assert items[0].forms["reference"].text == "The very best answer."
    assert items[1].forms["ordinary"].context == "Why?"
    assert [line.author for line in items[2].forms["ordinary"].lines] == ["worker", "bot"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "texts.jsonl:2: not JSON"),
        ("[" * 100_000, r"texts.jsonl:2: not JSON: recursion limit exceeded.*\. Write one JSON object"),
        ('{"item": ' + "9" * 5_000 + "}", "texts.jsonl:2: not JSON: number out of range"),
        ({"item": "q", "system": "heron"}, "texts.jsonl:2: .*give either `text` or `turns`"),
        ({"item": "q", "system": "he ron", "text": "a"}, "texts.jsonl:2: system: "),
        ({"item": "q", "text": "a"}, "texts.jsonl:2: system: Field required"),
        ({"item": "q", "system": "heron", "text": "a", "txt": "b"}, "texts.jsonl:2: txt: "),
        (
            {"item": "q", "system": "heron", "turns": [{"author": "worker", "text": "a"}]},
            "none of the turns is the system's",
        ),
        (GOOD[0], "`q1` of `heron` is there twice"),
    ],
)
def test_a_mistake_is_told_with_its_line(write: Callable[..., Path], line: Any, reason: str) -> None:
    with pytest.raises(StudyInvalid, match=reason):
        read_items(write(GOOD[0], line))


def test_an_empty_file_and_none(write: Callable[..., Path], tmp_path: Path) -> None:
    with pytest.raises(StudyInvalid, match="there are no items in it"):
        read_items(write(""))
    with pytest.raises(StudyInvalid, match="cannot be read"):
        read_items(tmp_path / "elsewhere.jsonl")


def pool(path: Path, **changes: Any) -> list[NewItem]:
    return items_of(parse_study(items_text(**{"simulate": None, **changes})), None, path.parent)


def texts(number: int) -> list[dict[str, Any]]:
    return [
        {"item": f"t{k}", "system": "heron", "text": " ".join(f"w{k}x{j}" for j in range(6))}
        for k in range(number)
    ]


def test_every_item_gets_a_bad_twin_where_some_are_asked_for(write: Callable[..., Path]) -> None:
    path = write(*texts(5))
    assert all(item.forms.keys() == {"ordinary", "bad"} for item in pool(path))
    assert all(item.forms.keys() == {"ordinary"} for item in pool(path, composition={"ordinary": 4}))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"composition": {"ordinary": 6}}, "there are only 5"),
        (
            {"composition": {"ordinary": 4, "reference": 1}},
            "5 items have no reference; the first is `t0 heron`",
        ),
        ({"simulate": {"quality": {"ibis": 0.5}}}, "no quality for the system `heron`"),
    ],
)
def test_what_does_not_fit_the_study(
    write: Callable[..., Path], changes: dict[str, Any], reason: str
) -> None:
    with pytest.raises(StudyInvalid, match=reason):
        pool(write(*texts(5)), **changes)


def test_only_short_texts_can_be_improved(write: Callable[..., Path]) -> None:
    asked = {"post_edit": {"criterion": "clear"}, "composition": {"ordinary": 1}}
    with pytest.raises(StudyInvalid, match="`q2 ibis` is a conversation"):
        pool(write(GOOD[2]), **asked)
    with pytest.raises(StudyInvalid, match="has 3000 characters"):
        pool(write({"item": "long", "system": "heron", "text": "x" * 3_000}), **asked)


def of_run(url: str, **changes: Any) -> list[NewItem]:
    engine = open_engine(url)
    study = items_text(items={"run": RUN}, **{"simulate": None, **changes})
    try:
        with engine.connect() as connection:
            return items_of(parse_study(study), connection, Path())
    finally:
        engine.dispose()


@pytest.mark.databases("sqlite", "postgresql")
def test_the_finished_conversations_of_a_run(url: str, serve: Callable[..., House]) -> None:
    house = serve(url, make_run(url))
    for worker in ("ann", "bob"):
        with house.page(worker) as page:
            page.whole()
    with house.page("under way") as page:
        page.agree()
        page.converse()
        page.rate()
    items = of_run(url)
    assert len(items) == 6  # two completed assignments with three systems; the qc bot's are left out
    assert {item.name for item in items} == {
        name
        for (name,) in query(
            url,
            "SELECT conversation_id FROM v1_conversation JOIN v1_assignment USING (assignment_id) "
            "WHERE v1_assignment.status = 'completed' AND system <> 'qc'",
        )
    }
    shown = items[0].forms["ordinary"]
    assert [line.text for line in shown.lines][::2] == ["line 0", "line 1"]
    assert [(topic.line, topic.topic) for topic in shown.topics] == [(0, "the sea")]


def test_conversations_left_unrated_are_items_too(url: str, serve: Callable[..., House]) -> None:
    house = serve(url, make_run(url, study_text(rate_share=1e-9)))
    with house.page() as page:
        page.whole_unless_unrated()
    statuses = dict(query(url, "SELECT status, count(*) FROM v1_conversation GROUP BY status"))
    assert statuses == {"unrated": 3, "rated": 1}  # the qc bot's is always rated
    assert len(of_run(url, composition={"ordinary": 3})) == 3
    progress = house.desk(f"/runs/{RUN}").json()["systems"]
    assert sum(system["unrated"] for system in progress) == 3
    assert sum(system["rated"] for system in progress) == 1


def test_a_run_without_conversations_and_none(url: str) -> None:
    with pytest.raises(RunNotFound):
        of_run(url)
    make_run(url)
    with pytest.raises(StudyInvalid, match="has no finished conversations to rate"):
        of_run(url)
