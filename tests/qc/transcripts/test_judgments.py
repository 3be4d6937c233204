"""From ratings to scores, on an assignment small enough to work out by hand."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from qc.analysis import Analysis, AnalysisOptions, analyse
from qc.errors import OptionError
from qc.judgments.read import from_sample
from qc.method.filter import NO_VARIANCE, nobody_passed, not_judged
from qc.method.sample import Sample
from qc.method.scores import score
from qc.render.sentences import headlines
from qc.run import Run
from qc.transcripts.controls import describe_coverage, describe_repeats
from qc.transcripts.filter import NO_PAIR, chance_passes
from qc.transcripts.judgments import take_judgments, without_bad
from qc.transcripts.results import compare_conventions, describe_edits
from tests.qc.support.transcripts import fixture_ratings, loaded, simulated

# Anna's list: position → item, kind, twin, system, rating. Items a1 and a2 are of ada, b1 and b2 of bob.
ANNA = [
    (1, "a1", "ordinary", 0, "ada", 80),
    (2, "b1", "ordinary", 0, "bob", 40),
    (3, "a1", "bad", 1, "ada", 10),
    (4, "b1", "repeat", 2, "bob", 60),
    (5, "a2", "ordinary", 0, "ada", 60),
    (6, "b2", "ordinary", 0, "bob", 30),
    (7, "b2", "bad", 6, "bob", 20),
    (8, "a2", "reference", 5, "ada", 100),
    (9, "a2", "bad", 5, "ada", 0),
]
# Ben rates b1 alone, and one bad twin of it: by far too little to pass at 0.05.
BEN = [(1, "b1", "ordinary", 0, "bob", 90), (2, "b1", "bad", 1, "bob", 10)]
COLUMNS = ["position", "item", "kind", "twin_of", "system", "good"]


def ratings(**lists: list[tuple[Any, ...]]) -> pd.DataFrame:
    frames = [pd.DataFrame(rows, columns=COLUMNS).assign(worker=name) for name, rows in lists.items()]
    return pd.concat(frames, ignore_index=True).assign(assignment=lambda rows: "of-" + rows["worker"])


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return loaded(ratings(anna=ANNA, ben=BEN), tmp_path)


def test_a_repeat_is_averaged_and_what_controls_never_counts(run: Run) -> None:
    # Anna's differences are −70, −10 and −60, all lower: 1 of 8 ways to give them signs. Ben's only one is
    # lower: 1 of 2.
    sample = take_judgments(run, alpha=0.2)
    assert sample.screening.workers["p"].tolist() == [1 / 8, 1 / 2]
    assert sample.screening.workers["passed"].tolist() == [True, False]
    raw = score(sample).raw.set_index("system")
    # ada: 80 and 60. bob: (40 + 60) / 2 and 30.
    assert raw["overall"].to_dict() == {"ada": 70, "bob": 40}
    assert raw["n"].to_dict() == {"ada": 2, "bob": 2}


def test_who_rated_too_few_bad_twins_cannot_be_judged(run: Run) -> None:
    # Anna's three pairs give 1/8 at the least, Ben's one 1/2.
    at_fifth = take_judgments(run, alpha=0.2).screening
    assert at_fifth.workers["reason"].tolist() == [
        "",
        "too few pairs to be judged: no p of so few lies below 0.2",
    ]
    assert not_judged(run, at_fifth) == (
        "1 worker has rated too few bad twins to be judged: their p could not be below 0.2 even if they "
        "rated every bad twin lower. They are not kept, and nothing is said against their work. Next time, "
        "give an assignment more bad twins, or let more criteria count for quality control."
    )
    assert not_judged(run, take_judgments(run, alpha=0.6).screening) is None
    nobody = take_judgments(run, alpha=0.05).screening
    assert not_judged(run, nobody) is None  # which is said of all together
    assert "the smallest possible p is 0.12, and α is 0.05. Ask for" in str(nobody_passed(run, nobody))
    assert "or for more bad twins" in str(nobody_passed(run, nobody))
    assert any(
        "too few bad twins" in note
        for note in analyse(run, AnalysisOptions(alpha=0.2, sections=frozenset())).notes
    )


def test_z_by_both_conventions(run: Run) -> None:
    sample = take_judgments(run, alpha=0.2)
    anna = np.array([80, 40, 10, 60, 60, 30, 20, 100, 0])
    others = anna[[0, 1, 3, 4, 5, 7]]
    for judged, of in ((sample, anna), (without_bad(run, sample), others)):
        expected = (np.array([80, 50, 60, 30]) - of.mean()) / of.std(ddof=1)
        assert judged.z[:4, 0] == pytest.approx(expected)
    table = compare_conventions(run, sample, score(sample)).table.set_index("system")
    # The published n counts the repeat of b1.
    assert table["n_published"].to_dict() == {"ada": 2, "bob": 3}
    assert table["judgments"].to_dict() == {"ada": 2, "bob": 2}


def test_every_item_weighs_the_same_however_many_judged_it(run: Run) -> None:
    # At α = 0.6 Ben passes, too: b1 has 50 by Anna and 90 by Ben, so bob has ((50 + 90) / 2 + 30) / 2 = 50.
    sample = take_judgments(run, alpha=0.6)
    assert score(sample).raw.set_index("system")["overall"].to_dict() == {"ada": 70, "bob": 50}
    coverage = describe_coverage(sample)
    assert coverage.items == 4
    assert coverage.table.to_dict("records") == [
        {"raters": 1, "items": 3, "items_passed": 3},
        {"raters": 2, "items": 1, "items_passed": 1},
    ]
    assert coverage.notes == (
        "Items were not rated by equally many workers: 1 to 2 each. Every item weighs the same in its "
        "system’s score, so a worker’s word counts for more where there are few.",
    )


def test_items_are_what_is_tested(run: Run) -> None:
    values, systems = take_judgments(run, alpha=0.6).tested
    assert len(values) == 4
    assert np.bincount(systems).tolist() == [2, 2]


def test_what_was_changed_in_texts(tmp_path: Path) -> None:
    given = ratings(anna=ANNA, ben=BEN)
    # Anna changed a fifth of a1, a half of b1 in its repeat, and all of a bad twin, which does not count.
    given["edit_share"] = [0.2, None, 1.0, 0.5, *[None] * 7]
    run = loaded(given, tmp_path)
    sample = take_judgments(run, alpha=0.2)
    found = describe_edits(run, sample, score(sample))
    assert found is not None
    table = found.table.set_index("system")
    # ada: (0.2 + 0) / 2. bob: ((0 + 0.5) / 2 + 0) / 2.
    assert table["edit_share"].to_dict() == pytest.approx({"ada": 0.1, "bob": 0.125})
    assert table["edited"].to_dict() == {"ada": 0.5, "bob": 0.5}


def test_nobody_was_asked_to_change_anything(run: Run) -> None:
    sample = take_judgments(run)
    assert describe_edits(run, sample, score(sample)) is None


def test_a_worker_without_variance_and_one_without_pairs_fail(tmp_path: Path) -> None:
    flat = [(*row[:5], 50) for row in ANNA]
    lonely = [(1, "a1", "ordinary", 0, "ada", 80), (2, "b1", "ordinary", 0, "bob", 10)]
    run = loaded(ratings(anna=ANNA, flat=flat, lonely=lonely), tmp_path)
    workers = take_judgments(run, alpha=0.9).screening.workers.set_index("worker")
    assert workers["reason"].to_dict() == {"anna": "", "flat": NO_VARIANCE, "lonely": NO_PAIR}
    assert workers.loc["flat", "p"] == 1
    assert np.isnan(workers.loc["lonely", "p"])


def test_negative_criteria_are_reversed_first(tmp_path: Path) -> None:
    given = ratings(anna=ANNA, ben=BEN)
    straight = take_judgments(loaded(given, tmp_path), alpha=0.1)
    (tmp_path / "reversed").mkdir()
    turned = loaded(given.assign(good=100 - given["good"]), tmp_path / "reversed", negative=["good"])
    for name in ("raw", "z"):
        assert getattr(take_judgments(turned, alpha=0.1), name) == pytest.approx(getattr(straight, name))


def test_without_bad_twins_all_workers_are_counted(tmp_path: Path) -> None:
    """As Chaganty et al. publish post-editing: they dropped attention checks.

    Whoever finds all answers wrong, as here, is right where they are.
    """
    anna = [row for row in ANNA if row[2] != "bad"]
    constant = [(1, "a1", "ordinary", 0, "ada", 0), (2, "b1", "ordinary", 0, "bob", 0)]
    run = loaded(ratings(anna=anna, constant=constant), tmp_path)
    sample = take_judgments(run)
    workers = sample.screening.workers.set_index("worker")
    assert workers["reason"].to_dict() == {"anna": "", "constant": ""}
    assert workers["p"].isna().all()
    # Of a1 and a2 the means are (80 + 0) / 2 and 60; of b1 and b2 (50 + 0) / 2 and 30.
    assert score(sample).raw.set_index("system")["overall"].to_dict() == {"ada": 50, "bob": 27.5}
    assert sample.z[sample.workers == 1].tolist() == [[0], [0]]
    analysis = analyse(run, AnalysisOptions(bootstrap=100))
    assert any("no worker could be tested" in note for note in analysis.notes)
    assert analysis.signature.partition("filter=")[2].startswith("none|")
    assert "2 of 2 workers count; none of them was tested" in headlines(analysis)[2]


def test_edits_are_judgments_beside_ratings(tmp_path: Path) -> None:
    given = ratings(anna=[row for row in ANNA if row[2] == "ordinary"])
    given["edit_share"] = [0.2, None, 1.5, 0.5]
    judgments = from_sample(take_judgments(loaded(given, tmp_path)), metrics=None)
    rows = judgments.rows
    kept = rows[rows["criterion"] == "unedited"]
    # On the scale of the ratings, to 100: 80 % left as it was, all of it, nothing, a half.
    assert kept["value"].to_list() == pytest.approx([80, 100, 0, 50])
    spread = np.std([80, 100, 0, 50], ddof=1)
    assert kept["z"].to_list() == pytest.approx([22.5 / spread, 42.5 / spread, -57.5 / spread, -7.5 / spread])
    assert rows.loc[rows["criterion"] == "good", "value"].to_list() == [80, 40, 60, 30]


def test_without_edits_there_are_no_judgments_of_them(run: Run) -> None:
    judgments = from_sample(take_judgments(run, alpha=0.2), metrics=None)
    assert set(judgments.rows["criterion"]) == {"overall", "good"}


def test_a_level_lies_between_0_and_1(run: Run) -> None:
    with pytest.raises(OptionError, match="--alpha is 1"):
        take_judgments(run, alpha=1)


@pytest.mark.parametrize("factor", [0.5, 1])
def test_z_and_the_filter_do_not_depend_on_the_width_of_a_scale(tmp_path: Path, factor: float) -> None:
    given = simulated(np.random.default_rng(3))
    given[["fluent", "clear"]] *= factor
    sample = take_judgments(loaded(given, tmp_path))
    expected = _sample_of(tmp_path, simulated(np.random.default_rng(3)))
    assert sample.z == pytest.approx(expected.z, abs=1e-9)
    assert sample.screening.workers["p"].tolist() == expected.screening.workers["p"].tolist()


def _sample_of(folder: Path, given: pd.DataFrame) -> Sample:
    (folder / "other").mkdir()
    return take_judgments(loaded(given, folder / "other"))


def test_repeats_of_one_worker(run: Run) -> None:
    found = describe_repeats(run, take_judgments(run, alpha=0.2).screening)
    assert found is not None
    row = found.workers.iloc[0]
    # One pair, 40 and 60: it has a distance, and by itself no correlation.
    assert (row["worker"], row["pairs"], row["distance"]) == ("anna", 1, 20)
    assert (len(found.passed.r), found.passed.without_r) == (0, 1)
    assert found.failed.kappas[0].pairs == 0


def test_random_workers_pass_at_about_alpha(tmp_path: Path) -> None:
    # 400 workers who set every slider anywhere: about 20 of them pass at 0.05; the share that passes has a
    # standard error of 0.011. benchmarks/random_raters.py has more of them, and other lists.
    given = simulated(np.random.default_rng(11), careful=0, random=400, items=20, raters=80)
    for alpha in (0.05, 0.1):
        passed = take_judgments(loaded(given, _folder(tmp_path, alpha)), alpha).screening.workers["passed"]
        assert abs(passed.mean() - alpha) < 0.04


def test_one_impression_an_item_passes_more_often_than_alpha_says(tmp_path: Path) -> None:
    # On five criteria alike a worker has 6 pairs in truth, and the test counts 30.
    rng = np.random.default_rng(12)
    given = simulated(rng, careful=0, random=60, criteria=("one",))
    alike = given.rename(columns={"one": "c0"}).assign(
        **{f"c{number}": given["one"] for number in range(1, 5)}
    )
    once = chance_passes(take_judgments(loaded(given, _folder(tmp_path, 1))), 0)
    five = chance_passes(take_judgments(loaded(alike, _folder(tmp_path, 5))), 0)
    assert abs(once.share - 0.05) < 0.02
    assert once.notes == ()
    assert five.share > 0.15
    assert five.notes[0].startswith("Ratings of one item hang together")


def _folder(path: Path, alpha: float) -> Path:
    (path / f"{alpha}").mkdir()
    return path / f"{alpha}"


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    runs = [
        loaded(simulated(np.random.default_rng(seed), names=f"{seed}-"), tmp_path_factory.mktemp("run"))
        for seed in (1, 2)
    ]
    return analyse(runs[0], AnalysisOptions(bootstrap=200), runs[1])


def test_a_second_run_of_transcripts_replicates_the_first(two: Analysis) -> None:
    assert two.replication is not None
    # The systems lie 8 points apart, of judgments whose noise is as large.
    assert two.replication.z.pearson["overall"] > 0.9
    assert two.replication.systems == ("dot", "cy", "bob", "ada")


def test_another_level_gives_what_a_report_at_that_level_gives(two: Analysis) -> None:
    assert two.alpha is not None
    for level in two.alpha.levels:
        scores = score(take_judgments(two.run, level.alpha))
        expected = scores.z.set_index("system")["overall"].loc[list(two.alpha.systems)]
        assert level.z == pytest.approx(expected.to_numpy())
        assert level.conversations * 2 == scores.z["n"].sum()


def test_the_interval_of_a_score_holds_it(two: Analysis) -> None:
    assert two.intervals is not None
    z = two.scores.z["overall"].to_numpy()
    assert (two.intervals.z_low[:, 0] < z).all()
    assert (z < two.intervals.z_high[:, 0]).all()


@pytest.mark.published
def test_flat_raters_raise_kappa_as_the_caution_says(published: Path, tmp_path: Path) -> None:
    path = published / "estimators" / "transcript_rating" / "fixture_ratings.csv"
    run = loaded(fixture_ratings(path), tmp_path)
    found = describe_repeats(run, take_judgments(run).screening)
    assert found is not None
    # On ten categories those who failed agree with themselves more often than those who passed, but they
    # hardly move their sliders, and one by one their two ratings have less to do with each other.
    assert found.failed.kappas[0].kappa > found.passed.kappas[0].kappa
    spread = found.workers.groupby("passed")["sd"].median()
    assert spread[False] < spread[True]
    assert found.failed.quartiles[1] < found.passed.quartiles[1]
