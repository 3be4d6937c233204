"""Our export as it stands in a file, and what is said of a file that is not in order."""

import copy
import json
import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qc.errors import DataError, QcError, SourceError
from qc.formats.export import HEADER_KEY
from qc.loading import load
from qc.run import Run
from qc.saving import save
from tests.support.examples import examples

Table = dict[str, list[Any]]


@pytest.fixture
def talk(small_hits: dict[str, Any], hits_file: Callable[[object], Path]) -> Run:
    """The small run with words: of each conversation one exchange, an opening topic and a change of it."""
    for held in small_hits["data"]:
        for conversation in held["result"]:
            conversation |= {
                "dialogue": [{"round": 1, "user": "Hello", "bot": "hi ."}],
                "topic": [{"round": 0, "topic": "Weather", "attitude": "like"}],
                "change of topic": [
                    {"round": 1, "action": "The chatbot changed the topic.", "attitude": "dislike"}
                ],
            }
    return load(str(hits_file(small_hits)))


@pytest.fixture
def lines(talk: Run, tmp_path: Path) -> list[dict[str, Any]]:
    """The lines of the small run as JSON Lines, free to be changed: the header, then five assignments."""
    save(talk, tmp_path / "run.jsonl", "jsonl")
    return [json.loads(line) for line in (tmp_path / "run.jsonl").read_text().splitlines()]


@pytest.fixture
def read_lines(tmp_path: Path) -> Callable[[list[dict[str, Any]]], Run]:
    """Return a function that writes lines and loads them."""

    def read(lines: list[dict[str, Any]]) -> Run:
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (tmp_path / "run.jsonl").write_text(text, encoding="utf-8")
        return load(str(tmp_path / "run.jsonl"))

    return read


def test_a_line_is_an_assignment_with_all_that_belongs_to_it(lines: list[dict[str, Any]]) -> None:
    header, first, *_ = lines
    assert list(header)[:2] == ["format", "version"]
    assert (header["format"], header["version"], header["assignments"]) == ("candor-run", 1, 5)
    conversation = first["conversations"][0]
    assert {key: first[key] for key in ("assignment", "hit", "worker", "seconds", "reward", "feedback")} == {
        "assignment": "A-anna",
        "hit": "H-anna",
        "worker": "anna",
        "seconds": 2400,
        "reward": None,
        "feedback": None,
    }
    assert conversation == {
        "conversation": "A-anna/1",
        "position": 1,
        "system": "alpha",
        "persona": None,
        "ratings": {"fun": 30, "clear": 40, "robotic": 55},
        "exchanges": [{"round": 1, "input": "Hello", "reply": "hi ."}],
        "topics": [{"round": 0, "topic": "Weather", "opinion": "like"}],
        "changes": [{"round": 1, "how": "bot change", "bot_opinion": "dislike"}],
    }


def test_blocks_do_not_show(
    lines: list[dict[str, Any]], talk: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qc.saving.nested.BLOCK", 2)
    save(talk, tmp_path / "blocks.jsonl", "jsonl")
    assert [json.loads(line) for line in (tmp_path / "blocks.jsonl").read_text().splitlines()] == lines


def test_all_problems_of_the_lines_are_listed(
    lines: list[dict[str, Any]], read_lines: Callable[[list[dict[str, Any]]], Run]
) -> None:
    lines[1]["seconds"] = "long"
    del lines[2]["hit"]
    lines[3]["conversations"][1]["ratings"]["fun"] = 101
    lines[3]["conversations"][2]["system"] = "gamma"
    lines[4]["conversations"][0]["topics"][0]["opinion"] = "love"
    lines[5]["conversations"][0]["position"] = 0
    with pytest.raises(DataError) as caught:
        read_lines(lines)
    where = [problem.where for problem in caught.value.problems]
    for expected in (
        "line 2.seconds",
        "line 3.hit",
        "line 4, conversations[1]",
        "line 4, conversations[2]",
        "line 5.conversations[0].topics[0].opinion",
        "line 6, conversations[0]",
    ):
        assert expected in where
    assert len(where) == 6


def test_a_file_that_was_cut_short_is_refused(
    lines: list[dict[str, Any]], read_lines: Callable[[list[dict[str, Any]]], Run]
) -> None:
    with pytest.raises(DataError, match="announces 5, but the file holds 4"):
        read_lines(lines[:-1])


def test_a_line_that_is_no_json_is_named(lines: list[dict[str, Any]], tmp_path: Path) -> None:
    texts = [json.dumps(line) for line in lines]
    texts[2] = texts[2][:-1]
    (tmp_path / "run.jsonl").write_text("\n".join(texts))
    with pytest.raises(DataError, match=r"line 3: is not JSON"):
        load(str(tmp_path / "run.jsonl"))


def test_empty_lines_are_passed_over(lines: list[dict[str, Any]], tmp_path: Path) -> None:
    (tmp_path / "run.jsonl").write_text("\r\n\r\n".join(json.dumps(line) for line in lines))
    assert len(load(str(tmp_path / "run.jsonl")).assignments) == 5


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_a_newer_version_is_refused(form: str, talk: Run, tmp_path: Path) -> None:
    path = tmp_path / f"run.{form}"
    save(talk, path, form)
    path.write_bytes(path.read_bytes().replace(b'"version":1', b'"version":2'))
    if form == "parquet":  # the schema stands there twice, the second time in Base64
        rewrite(path, header={"version": 2})
    with pytest.raises(SourceError, match="has version 2, and this program reads up to version 1"):
        load(str(path))


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_the_words_are_read_if_wanted(form: str, talk: Run, tmp_path: Path) -> None:
    path = tmp_path / f"run.{form}"
    save(talk, path, form)
    assert load(str(path), words=True).words is not None
    assert load(str(path), words=False).words is None


def rewrite(path: Path, change: Callable[[Table], object] = lambda _: None, **given: Any) -> None:
    """Write the Parquet file at `path` anew, its columns changed by `change` and its header by `given`."""
    table = pq.read_table(path)
    columns = table.to_pydict()
    change(columns)
    header = json.loads(table.schema.metadata[HEADER_KEY]) | given.get("header", {})
    names = [name for name in columns if name in table.column_names]
    kinds = [table.schema.field(name).with_nullable(True) for name in names]
    arrays = [pa.array(columns[name], kind.type) for name, kind in zip(names, kinds, strict=True)]
    metadata = {HEADER_KEY: json.dumps(header).encode()}
    pq.write_table(pa.table(arrays, schema=pa.schema(kinds, metadata=metadata)), path)


@pytest.fixture
def file(talk: Run, tmp_path: Path) -> Path:
    """The small run as Parquet: 15 rows, of which the first 4 are anna's."""
    save(talk, tmp_path / "run.parquet", "parquet")
    return tmp_path / "run.parquet"


def test_a_row_is_a_conversation(file: Path) -> None:
    table = pq.read_table(file)
    assert table.column_names == [
        "assignment",
        "hit",
        "worker",
        "seconds",
        "reward",
        "feedback",
        "conversation",
        "position",
        "system",
        "persona",
        "rating.fun",
        "rating.clear",
        "rating.robotic",
        "inputs",
        "replies",
        "rounds",
        "topics",
        "changes",
    ]
    row = table.slice(1, 1).to_pylist()[0]
    assert (row["assignment"], row["position"], row["system"], row["rating.clear"]) == ("A-anna", 2, "qc", 20)
    assert (row["inputs"], row["replies"], row["rounds"]) == (["Hello"], ["hi ."], [1])


def test_without_replies_they_are_not_read(file: Path) -> None:
    def drop(columns: Table) -> None:
        del columns["replies"]

    rewrite(file, drop)
    run = load(file, replies=False)
    assert run.words is not None
    assert run.words.exchanges["reply"].isna().all()
    assert list(run.words.exchanges["input"]) == ["Hello"] * 15
    with pytest.raises(DataError, match="column 'replies': is missing"):
        load(file)


def test_rows_may_stand_in_any_order(file: Path, talk: Run) -> None:
    order = random.Random(0).sample(range(15), 15)
    rewrite(file, lambda columns: columns.update({k: [v[row] for row in order] for k, v in columns.items()}))
    run = load(str(file))
    assert run.conversations.equals(talk.conversations)
    assert run.ratings.equals(talk.ratings)
    assert run.words is not None
    assert talk.words is not None
    assert run.words.exchanges.equals(talk.words.exchanges)


def test_all_problems_of_the_rows_are_listed(file: Path) -> None:
    def damage(columns: Table) -> None:
        columns["worker"][1] = "ben"
        columns["seconds"][2] = 1.0
        columns["reward"][14] = float("inf")
        columns["rating.fun"][3] = -1.0
        columns["system"][4] = "gamma"
        columns["position"][5] = 0
        columns["inputs"][6] = [None]
        columns["topics"][7] = [{"round": -1, "topic": None, "opinion": "love"}]
        columns["changes"][8] = [{"round": 1, "how": None, "bot_opinion": None}]

    rewrite(file, damage)
    with pytest.raises(DataError) as caught:
        load(str(file))
    where = sorted(int(problem.where.removeprefix("row ")) for problem in caught.value.problems)
    assert where == [2, 3, 4, 5, 6, 7, 8, 8, 8, 9, 15]


def test_empty_cells_are_listed_by_row_and_column(file: Path) -> None:
    def damage(columns: Table) -> None:
        columns["worker"][1] = None
        columns["rating.fun"][14] = None
        columns["rounds"][2] = None

    rewrite(file, damage)
    with pytest.raises(DataError) as caught:
        load(str(file))
    problems = sorted(str(problem).split(" Correct")[0] for problem in caught.value.problems)
    assert problems == [
        "row 15: 'rating.fun' is empty.",
        "row 2: 'worker' is empty.",
        "row 3: 'rounds' is empty.",
    ]


def test_lists_that_do_not_fit_are_told(file: Path) -> None:
    rewrite(file, lambda columns: columns["replies"][3].append("more"))
    with pytest.raises(DataError, match="row 4: inputs, rounds, replies are not of the same length"):
        load(str(file))


def test_a_missing_column_and_a_cut_file_are_told(file: Path) -> None:
    rewrite(file, lambda columns: columns.pop("rating.clear") and columns.pop("hit"))
    with pytest.raises(DataError) as caught:
        load(str(file))
    assert [problem.where for problem in caught.value.problems] == ["column 'hit'", "column 'rating.clear'"]


def test_rows_that_are_missing_are_told(file: Path) -> None:
    rewrite(file, lambda columns: columns.update({name: column[:-1] for name, column in columns.items()}))
    with pytest.raises(DataError) as caught:
        load(str(file))
    # The last row is eve's only conversation, so an assignment is missing as well.
    assert [problem.where for problem in caught.value.problems] == [
        "the header.assignments",
        "the header.conversations",
    ]


def test_a_column_of_another_type_is_told(file: Path) -> None:
    table = pq.read_table(file)
    index = table.schema.get_field_index("worker")
    pq.write_table(table.set_column(index, "worker", pa.array(range(15))), file)
    with pytest.raises(DataError, match="column 'worker': is of type int64, not large_string"):
        load(str(file))


def test_parquet_that_is_not_ours_is_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1]}), tmp_path / "other.parquet")
    with pytest.raises(SourceError, match="no header of Candor"):
        load(str(tmp_path / "other.parquet"))


tolerant = settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])


def loaded(file: Path, content: bytes) -> Run:
    """Return the run in a file beside `file` that holds this."""
    damaged = file.with_name("damaged.parquet")
    damaged.write_bytes(content)
    return load(damaged)


@tolerant
@given(data=st.data())
def test_a_damaged_parquet_file_is_read_or_refused(file: Path, data: st.DataObject) -> None:
    content = bytearray(file.read_bytes())
    start = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        del content[start : start + data.draw(st.integers(1, 100))]
    else:
        content[start] = data.draw(st.integers(0, 255))
    with suppress(QcError):
        loaded(file, content)


@tolerant
@given(data=st.data())
def test_a_changed_rating_never_passes_unnoticed(file: Path, data: st.DataObject, talk: Run) -> None:
    content = bytearray(file.read_bytes())
    column = pq.read_metadata(file).row_group(0).column(10)
    assert column.path_in_schema == "rating.fun"
    start = column.dictionary_page_offset or column.data_page_offset
    byte = data.draw(st.integers(start, start + column.total_compressed_size - 1))
    content[byte] ^= 1 << data.draw(st.integers(0, 7))
    with suppress(QcError):
        assert loaded(file, content).ratings.equals(talk.ratings)


values = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.just([]) | st.just({})
)


@tolerant
@given(data=st.data())
def test_damaged_lines_are_read_or_refused(
    lines: list[dict[str, Any]], read_lines: Callable[[list[dict[str, Any]]], Run], data: st.DataObject
) -> None:
    changed = copy.deepcopy(lines)
    container: Any = changed
    while True:
        keys = list(container) if isinstance(container, dict) else list(range(len(container)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(container[key], dict | list) or not container[key] or data.draw(st.booleans()):
            break
        container = container[key]
    container[key] = data.draw(values)
    with suppress(QcError):
        read_lines(changed)
