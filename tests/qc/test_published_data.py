"""The figures in tests/data: no words of others are in them, and they are what the originals give."""

import csv
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from qc.formats.published import ACTIONS, ANSWER, INSTRUMENT
from qc.loading import load
from qc.method.sample import take_sample
from qc.method.topics import describe_topics
from qc.run import CHANGES, OPINIONS
from tests.conftest import REPOSITORY
from tests.data.derive import RUNS, filler, filler_word, main

FAMILIES = ("biencoder", "kvmemnn", "lan_model", "polyencoder", "seq2seq")
NAMES = {*OPINIONS, *CHANGES, *ACTIONS.values(), *FAMILIES, *(f"{name}_p" for name in FAMILIES), "qc", "None"}
NAMES |= {"Submitted", "Approved", "Rejected", *(label for label, *_ in INSTRUMENT)}
NUMBERS = re.compile(r"W[0-9A-F]{13}|[HA]\d{3}|[\d#$.]*")
IN_CELL = re.compile(r"###(?=[ub]: |$)|^u: |(?<=###)[ub]: |#\d+@")


def is_ours(text: str) -> bool:
    """Return whether `text` is a number, a name of the instrument or filler."""
    is_filler = all(word == filler_word(len(word)) for word in text.split())
    return text in NAMES or NUMBERS.fullmatch(text) is not None or is_filler


def leaves(value: object) -> Iterator[str]:
    """Yield each text inside a value of JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from leaves(part)
    elif isinstance(value, list):
        for part in value:
            yield from leaves(part)


def cells(path: Path) -> Iterator[str]:
    """Yield each text of a batch, the turns and marks of an answer one by one."""
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            answers = json.loads(row.pop(ANSWER) or "[]")
            yield from row.values()
            for text in leaves(answers):
                yield from (part.removeprefix("u: ").removeprefix("b: ") for part in IN_CELL.split(text))


@pytest.mark.parametrize("run", RUNS)
def test_no_words_of_others_are_in_the_runs(published: Path, run: str) -> None:
    folder = published / "published" / run
    texts = [*leaves(json.loads((folder / "hits_data.json").read_text())), *cells(folder / "mturk_batch.csv")]
    assert len(texts) > 100_000
    assert [text for text in texts if not is_ours(text)] == []


def test_words_of_others_are_found() -> None:
    assert not is_ours("i have a dog")
    assert not is_ours("filler dog")
    assert is_ours("filler fille")


def test_no_sentence_is_in_the_golden_numbers(published: Path) -> None:
    for folder in ("golden", "estimators"):
        for path in (published / folder).rglob("*.json"):
            assert [text for text in leaves(json.loads(path.read_text())) if len(text.split()) > 4] == []
        for path in (published / folder).rglob("*.csv"):
            assert " " not in path.read_text(), path


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("", ""),
        ("hi", "fi"),
        # 4 words of 14 characters: 14 = 4 * 3 + 2, so that two of them have one more.
        ("tea and  more tea?", "fill fill fil fil"),
        ("incomprehensible", "fillerfillerfill"),
    ],
)
def test_filler_has_as_many_words_and_characters(text: str, filled: str) -> None:
    assert filler(text) == filled


def test_the_originals_give_these_figures(originals: Path, published: Path, tmp_path: Path) -> None:
    main(originals / "published", tmp_path)
    for run in RUNS:
        for name in ("hits_data.json", "mturk_batch.csv"):
            assert (tmp_path / run / name).read_bytes() == (published / "published" / run / name).read_bytes()


def test_topics_of_the_originals(originals: Path) -> None:
    sample = take_sample(load(str(originals / "published" / "free_run1" / "hits_data.json")))
    found = describe_topics(sample)
    assert found is not None
    assert found.words[0][0] == "music"


def _without_words(**environment: str) -> subprocess.CompletedProcess[str]:
    own = ("CI", "CANDOR_REQUIRE_PUBLISHED_DATA")
    settings = {key: value for key, value in os.environ.items() if key not in own}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", __file__, "-k", "originals"],
        env={**settings, "CANDOR_PUBLISHED_DATA": "/nonexistent", **environment},
        capture_output=True,
        text=True,
        check=False,
        cwd=REPOSITORY,
    )


def test_absent_words_are_skipped_in_one_line_even_in_ci() -> None:
    result = _without_words(CI="true")
    assert result.returncode == 0, result.stdout
    assert result.stdout.count("PUBLISHED WORDS ABSENT") == 1


def test_absent_words_are_a_failure_where_they_are_required() -> None:
    result = _without_words(CANDOR_REQUIRE_PUBLISHED_DATA="1")
    assert result.returncode == 1
    assert "PUBLISHED WORDS ABSENT" in result.stdout
