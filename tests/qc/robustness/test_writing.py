"""Conversations that look pasted: which do, whose they are, and what the scores are without them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from qc.analysis import analyse
from qc.method.sample import Sample, take_sample
from qc.method.scores import score
from qc.robustness.writing import WritingResults, describe_writing
from qc.run import WRITING_NUMBERS
from tests.qc.support.analyses import QUICK, awkward_run

CALM = take_sample(awkward_run())
PASSED = CALM.screening.workers["passed"].to_numpy(bool)


def with_writing(rows: dict[int, dict[str, int]]) -> Sample:
    """Return the sample with how some of its conversations were written; what is not given is 0."""
    writing = pd.DataFrame(
        [
            {"conversation": row} | dict.fromkeys(WRITING_NUMBERS, 0) | {"inputs": 1} | told
            for row, told in rows.items()
        ]
    )
    return replace(CALM, run=replace(CALM.run, writing=writing))


def found(rows: dict[int, dict[str, int]]) -> WritingResults:
    sample = with_writing(rows)
    results = describe_writing(sample, score(sample), 200, 1)
    assert results is not None
    return results


def test_nothing_is_said_where_nothing_was_recorded() -> None:
    sample = replace(CALM, run=replace(CALM.run, writing=None))
    assert describe_writing(sample, score(sample), 200, 1) is None


@pytest.mark.parametrize(
    ("told", "looks"),
    [
        ({"pasted": 50, "typed": 50}, 1),  # half of it
        ({"pasted": 50, "typed": 51}, 0),
        ({"pasted": 50, "typed": 20, "composed": 31}, 0),  # who composes writes
        ({"composed": 900}, 0),
        ({}, 0),  # nothing is known of it
        ({"pasted": 1}, 1),
    ],
)
def test_a_conversation_looks_pasted_from_half_of_its_characters_on(told: dict[str, int], looks: int) -> None:
    (every,) = found({0: told}).groups.query("group == 'all'").itertuples()
    assert (every.workers, every.conversations, every.pasted, every.share) == (1, 1, looks, looks)


def test_how_each_worker_wrote() -> None:
    keen, failed = int(np.flatnonzero(PASSED)[0]), int(np.flatnonzero(~PASSED)[0])
    mine, theirs = (np.flatnonzero(CALM.workers == worker).tolist() for worker in (keen, failed))
    results = found(
        {
            mine[0]: {"typed": 300, "writing_ms": 60_000, "longest_pause_ms": 4_000},
            mine[1]: {"typed": 100, "writing_ms": 60_000, "longest_pause_ms": 2_000, "away": 2},
            theirs[0]: {"pasted": 300, "typed": 100, "pastes": 3, "away": 4, "away_ms": 9_000},
        }
    )
    workers = results.workers.set_index("worker")
    names = CALM.screening.workers["worker"].astype(str)
    first, second = workers.loc[names[keen]], workers.loc[names[failed]]
    assert first[["passed", "conversations", "pasted", "pasted_share"]].to_list() == [True, 2, 0, 0.0]
    # The medians of two: (300 + 100) / 2 characters a minute, (4 + 2) / 2 seconds, (0 + 2) / 2 times.
    assert first[["typed_share", "pace", "pause", "away"]].to_list() == [1.0, 200.0, 3.0, 1.0]
    assert second[["passed", "pasted", "pasted_share", "typed_share"]].to_list() == [False, 1, 0.75, 0.25]
    assert np.isnan(second["pace"]), "nobody knows how long it took"
    assert second["away_seconds"] == 9.0
    groups = results.groups.set_index("group")
    assert groups["pasted"].to_dict() == {"passed": 0, "failed": 1, "all": 1}
    # So few workers say too little of others: no interval.
    assert np.isnan(groups[["low", "high"]].to_numpy(float)).all()


def test_the_scores_without_them_are_means_of_the_rest() -> None:
    counted = np.flatnonzero(CALM.counted)
    taken = counted[::3]
    results = found({int(row): {"pasted": 9} for row in taken})
    z, systems = CALM.overall["z"], CALM.run.systems["system"]
    stays = np.setdiff1d(counted, taken)
    for row in results.scores.itertuples():
        own = np.flatnonzero(systems[CALM.systems] == row.system)
        assert (row.n, row.left) == (len(np.intersect1d(own, counted)), len(np.intersect1d(own, stays)))
        assert row.z == pytest.approx(z[np.intersect1d(own, counted)].mean())
        assert row.change == pytest.approx(z[np.intersect1d(own, stays)].mean() - row.z)
        assert row.low <= row.change <= row.high


def test_whether_a_conclusion_hangs_on_them() -> None:
    scores = pd.DataFrame(
        {
            "system": ["a", "b", "c"],
            "z_left": [0.3, 0.1, np.nan],
            "low": [-0.1, 0.1, np.nan],
            "high": [0.1, 0.2, np.nan],
        }
    )
    results = replace(found({0: {"pasted": 9}}), scores=scores)
    assert (results.changed, results.order_changes) == (["b"], False)
    swapped = replace(results, scores=scores.assign(z_left=[0.1, 0.3, np.nan]))
    assert swapped.order_changes


def test_of_who_failed_nothing_hangs_on_it() -> None:
    failed = np.flatnonzero(~CALM.kept)
    assert found({int(row): {"pasted": 9} for row in failed}).scores.empty


def test_neither_the_filter_nor_a_score_knows_of_it() -> None:
    """Whatever a page tells, forged or not: who is kept, and every score, is the same."""
    run = awkward_run()
    rng = np.random.default_rng(5)
    told = {name: rng.integers(0, 2**40, len(run.conversations)) for name in WRITING_NUMBERS}
    rows = pd.DataFrame({"conversation": np.arange(len(run.conversations), dtype=np.int32), **told})
    forged, silent = (analyse(replace(run, writing=writing), QUICK) for writing in (rows, None))
    pd.testing.assert_frame_equal(forged.sample.screening.workers, silent.sample.screening.workers)
    pd.testing.assert_frame_equal(forged.scores.z, silent.scores.z)
    pd.testing.assert_frame_equal(forged.scores.raw, silent.scores.raw)
    assert forged.writing is not None
    assert silent.writing is None
