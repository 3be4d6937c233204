"""JSON that gives a key of an object twice, of which parsers keep the last in silence."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from qc.errors import DataError
from qc.formats import published
from qc.loading import load
from qc.loading.validation import repeated_keys
from qc.metrics.references import read_references
from qc.metrics.transcripts import transcripts
from tests.qc.support.batch import batch_answer
from tests.qc.support.spoken import spoken_run


def twice(text: str, key: str, value: object) -> str:
    """Return a JSON text with another value of a key in front of its first."""
    return text.replace(f'"{key}": ', f'"{key}": {json.dumps(value)}, "{key}": ', 1)


def test_every_repeated_key_is_named_with_its_place() -> None:
    text = '{"a": [{"b": 1}, {"b": 1, "c": {"d": ":", "d": 2}, "b": 3}], "a\\u0062": 1, "ab": 2}'
    assert [(each.where, each.why) for each in repeated_keys(text, "line 2")] == [
        ("line 2", "the key 'ab' is there twice."),
        ("line 2.a[1]", "the key 'b' is there twice."),
        ("line 2.a[1].c", "the key 'd' is there twice."),
    ]


@pytest.mark.parametrize(
    "text", [b'{"a": ":)", "b": "\\"c\\":"}', b'{"a" : 1}', b'{"a": %s}' % (b"9" * 9999)]
)
def test_texts_with_colons_and_long_numbers_are_no_repeats(text: bytes) -> None:
    assert repeated_keys(text, "", 1) == []


def test_hits_data(small_hits: dict[str, Any], hits_file: Callable[[object], Path]) -> None:
    path = hits_file(small_hits)
    text = path.read_text(encoding="utf-8")
    path.write_text(twice(text, "worker", "somebody"), encoding="utf-8")
    with pytest.raises(DataError, match=r"data\[0\]: the key 'worker' is there twice\. Keep the right one"):
        load(path)
    path.write_text(twice(text, "data", []), encoding="utf-8")
    with pytest.raises(DataError, match="the file: the key 'data' is there twice"):
        load(path)


def test_an_answer_of_mturk(batch: list[dict[str, str]], batch_file: Callable[[object], Path]) -> None:
    batch[0][published.ANSWER] = twice(json.dumps([batch_answer()]), "score0", "1#2#3#4#5#6#7#")
    with pytest.raises(DataError, match=r"row 2 .*\[0\]: the key 'score0' is there twice"):
        load(batch_file(batch))


def test_an_export(tmp_path: Path) -> None:
    view = published.ExportedView(rows=1, columns={"text": "text", "k": "integer"})
    header = published.ViewsHeader(run="r", study="s", views={"v1_turn": view}).model_dump_json()
    path = tmp_path / "export.jsonl"
    path.write_text(f'{header}\n{{"view":"v1_turn","text":"a","k":1,"text":"b"}}\n', encoding="utf-8")
    with pytest.raises(DataError, match="line 2: the key 'text' is there twice"):
        load(path)
    path.write_text(header.replace('"run":', '"run":"q","run":', 1) + "\n", encoding="utf-8")
    with pytest.raises(DataError, match="line 1: the key 'run' is there twice"):
        load(path)


def test_references(tmp_path: Path) -> None:
    run = spoken_run(workers=2)
    path = tmp_path / "r.jsonl"
    path.write_text('{"conversation": "v00000", "reference": "a", "reference": "b"}\n', encoding="utf-8")
    with pytest.raises(DataError, match="line 1: the key 'reference' is there twice"):
        read_references(path, run, transcripts(run), [])
