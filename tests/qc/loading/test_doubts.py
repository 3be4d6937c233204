"""Tests of warnings about implausible data (copied conversations, impossible times) and of option limits."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from qc.analysis import AnalysisOptions, analyse
from qc.errors import DataError, OptionError
from qc.loading import load

Json = dict[str, Any]
Write = Callable[[object], Path]


def varied(hits: Json) -> Json:
    """Return the small data set with another rating everywhere, so that no worker rates all alike."""
    for i, assignment in enumerate(hits["data"]):
        for j, conversation in enumerate(assignment["result"]):
            conversation["score"] = {name: 7 * i + 3 * j + k for k, name in enumerate(conversation["score"])}
    return hits


def notes(hits: Json, hits_file: Write) -> str:
    return " ".join(load(str(hits_file(hits))).notes)


def test_conversations_under_a_second_assignment_are_told(small_hits: Json, hits_file: Write) -> None:
    hits = varied(small_hits)
    assert "second assignment" not in notes(hits, hits_file)
    again = copy.deepcopy(hits["data"][0]) | {"assignment": "Z-again", "worker": "somebody"}
    hits["data"].append(again)
    assert f"1 assignment (Z-again as {hits['data'][0]['assignment']})" in notes(hits, hits_file)
    again["result"][0]["score"]["fun"] += 1
    assert "second assignment" not in notes(hits, hits_file)


def test_workers_who_rate_all_alike_are_no_copies(small_hits: Json, hits_file: Write) -> None:
    for assignment in small_hits["data"]:
        for conversation in assignment["result"]:
            conversation["score"] = dict.fromkeys(conversation["score"], 50)
    assert "second assignment" not in notes(small_hits, hits_file)


def test_working_times_that_can_hardly_be_so(small_hits: Json, hits_file: Write) -> None:
    first, second = small_hits["data"][:2]
    first["duration in seconds"], second["duration in seconds"] = 0, 360_000
    told = notes(small_hits, hits_file)
    assert "Working time 0 s, so hardly measured, but in the means: 1 assignment." in told
    assert "above a day, which moves every mean of times: 1 assignment, the longest 100 hours." in told
    first["duration in seconds"] = 1e30
    with pytest.raises(DataError, match=r"the working time is more than 31,536,000 \(1e\+30 s\)"):
        load(str(hits_file(small_hits)))


def test_a_rating_is_named_with_all_its_digits(small_hits: Json, hits_file: Write) -> None:
    small_hits["data"][0]["result"][0]["score"]["fun"] = 100.0000001
    with pytest.raises(DataError, match=r"'fun' is rated 100\.0000001, not within 0 to 100"):
        load(str(hits_file(small_hits)))


def test_a_level_at_which_random_workers_pass_is_told(small_hits: Json, hits_file: Write) -> None:
    run = load(str(hits_file(small_hits)))
    for alpha, told in ((0.999, True), (0.2, False)):
        found = analyse(run, AnalysisOptions(alpha=alpha, sections=frozenset()))
        assert any("The filter is lax" in note for note in found.notes) is told


@pytest.mark.parametrize("count", [99, 100_000_000_000])
def test_resamples_that_are_too_few_or_too_many(count: int) -> None:
    with pytest.raises(OptionError, match=rf"--bootstrap is {count}, but"):
        AnalysisOptions(bootstrap=count)
