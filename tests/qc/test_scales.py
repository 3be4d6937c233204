"""Criteria on scales other than 0 to 100, and on scales that differ: what is pooled is on one scale."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from qc.analysis import Analysis, AnalysisOptions, analyse
from qc.loading import load
from qc.render.document import as_json

Hits = dict[str, Any]
OPTIONS = AnalysisOptions(alpha=0.3, bootstrap=100)


@pytest.fixture
def analysed(hits_file: Callable[[object], Path]) -> Callable[[Hits], Analysis]:
    return lambda hits: analyse(load(str(hits_file(hits))), OPTIONS)


@pytest.fixture
def of_hundred(small_hits: Hits) -> Hits:
    """The small data set, a few ratings moved so that more than one worker passes; all multiples of 5."""
    for number, assignment in enumerate(small_hits["data"]):
        for position, held in enumerate(assignment["result"]):
            is_qc = held["model"] == "qc" and number != 1
            for label, value in held["score"].items():
                held["score"][label] = 5 * (value // 5 if not is_qc else position)
    return small_hits


def on_scale(hits: Hits, maximum: int, *labels: str) -> Hits:
    """Return `hits` with the criteria expressed on 0 to `maximum`, to which 100 is a whole multiple."""
    changed = copy.deepcopy(hits)
    for label in labels:
        changed["metadata"]["score"][label]["max"] = maximum
        for assignment in changed["data"]:
            for held in assignment["result"]:
                held["score"][label] = held["score"][label] * maximum / 100
    return changed


LABELS = ("fun", "clear", "robotic")


@pytest.mark.parametrize("labels", [("fun",), ("robotic",), ("robotic", "clear")])
@pytest.mark.parametrize("maximum", [5, 7, 20])
def test_scales_that_differ_give_what_one_scale_gives(
    labels: tuple[str, ...], maximum: int, of_hundred: Hits, analysed: Callable[[Hits], Analysis]
) -> None:
    whole, mixed = analysed(of_hundred), analysed(on_scale(of_hundred, maximum, *labels))
    assert mixed.sample.screening.workers["passed"].sum() > 1
    pd.testing.assert_frame_equal(mixed.sample.screening.workers, whole.sample.screening.workers)
    np.testing.assert_allclose(mixed.sample.z, whole.sample.z, atol=1e-9)
    np.testing.assert_allclose(mixed.sample.raw, whole.sample.raw, atol=1e-9)
    pd.testing.assert_frame_equal(mixed.scores.raw, whole.scores.raw)
    assert whole.filter_check is not None
    assert mixed.filter_check is not None
    pd.testing.assert_frame_equal(mixed.filter_check.workers, whole.filter_check.workers)
    ends = ", ".join(f"{label} at {maximum if label in labels else 100}" for label in LABELS)
    note = (
        f"The scales of the criteria end at different maxima ({ends}), so all ratings were put on 0 to 100, "
        "for the filter and for all scores."
    )
    assert note in mixed.notes
    assert note not in whole.notes
    assert as_json(mixed)["systems"][0]["z"] == pytest.approx(as_json(whole)["systems"][0]["z"])


def test_one_scale_other_than_100(of_hundred: Hits, analysed: Callable[[Hits], Analysis]) -> None:
    whole, small = analysed(of_hundred), analysed(on_scale(of_hundred, 5, *LABELS))
    pd.testing.assert_frame_equal(small.sample.screening.workers, whole.sample.screening.workers)
    np.testing.assert_allclose(small.sample.z, whole.sample.z, atol=1e-9)
    # Raw scores stay on the scale of the run; robotic is reversed on it: 5 minus the rating.
    np.testing.assert_allclose(small.sample.raw, whole.sample.raw / 20, atol=1e-12)
    robotic = small.run.ratings["robotic"].to_numpy()
    np.testing.assert_array_equal(small.sample.raw[:, 2], 5 - robotic)
    assert not any("different maxima" in note for note in small.notes)
    assert whole.filter_check is not None
    assert small.filter_check is not None
    np.testing.assert_allclose(small.filter_check.workers["sd"] * 20, whole.filter_check.workers["sd"])
    assert small.filter_check.workers["remark"].tolist() == whole.filter_check.workers["remark"].tolist()
