"""The chain from judgments to estimates."""

from pathlib import Path

import numpy as np
import pytest

from qc.errors import DataError, EmptyRunError, OptionError
from qc.estimators.efficiency import NotEstimable, number
from qc.judgments import Judgments, Selection, read_judgments
from qc.precision import EstimateOptions, Estimates, estimate, steps, stopping
from qc.precision.estimates import ALL_SYSTEMS, PER_WORKER, RAW, EstimatesOfPart
from tests.qc.support.judgments import write_judgments

FAST = EstimateOptions(bootstrap=200)


def read(folder: Path, **sizes: int) -> Judgments:
    source, metrics = write_judgments(folder, **sizes)
    return read_judgments(str(source), Selection(metrics))


def part(estimates: Estimates, system: str, scale: str = RAW) -> EstimatesOfPart:
    (found,) = (each for each in estimates.parts if (each.system, each.scale) == (system, scale))
    return found


def test_what_a_metric_saves_with_an_unrated_pool(tmp_path: Path) -> None:
    estimates = estimate(read(tmp_path), FAST)
    good = part(estimates, "good")
    assert [worth.metric for worth in good.metrics] == ["judge", "noise", "same"]
    judge, noise, same = good.metrics
    assert (judge.rated, judge.pool, judge.judgments) == (60, 200, 120)
    # ρ = 1 / √(1 + .75²) = .8, γ = .25: DE with an endless pool is 1.25 / (1.25 − .64) = 2.05.
    assert number(judge.efficiency.rho) == pytest.approx(0.8, abs=0.1)
    assert number(judge.efficiency.de) == pytest.approx(2.05, abs=0.6)
    assert 1 < number(judge.de_pool) < number(judge.efficiency.de)
    assert judge.varied.by_formula.clustered.width < judge.plain.by_formula.clustered.width
    assert number(noise.de_pool) == pytest.approx(1, abs=0.1)
    assert isinstance(same.efficiency.de, NotEstimable)
    for mean in (judge.plain, judge.varied):
        widths = [
            interval.width
            for interval in (mean.by_formula.normal, mean.by_formula.clustered, mean.outputs, mean.workers)
        ]
        assert max(widths) < 2.5 * min(widths)


def test_a_pool_rated_throughout_saves_nothing(tmp_path: Path) -> None:
    worth = part(estimate(read(tmp_path, outputs=60), FAST), "poor").metrics[0]
    assert worth.de_pool == 1
    assert worth.de_record == 1
    assert worth.varied == worth.plain


def test_parts(tmp_path: Path) -> None:
    judgments = read(tmp_path)
    called: list[str] = []
    estimates = estimate(judgments, FAST, called.append)
    assert [(each.system, each.scale) for each in estimates.parts] == [
        (ALL_SYSTEMS, RAW),
        ("good", RAW),
        ("good", PER_WORKER),
        ("poor", RAW),
        ("poor", PER_WORKER),
    ]
    assert len(called) == steps(judgments, FAST) == 5
    good = part(estimates, "good")
    assert good.curve is not None
    assert good.curve.de > 1.3
    assert good.looks is not None
    assert good.looks.unit == "workers"
    assert good.looks.varied is not None
    assert part(estimates, "good", PER_WORKER).looks is None


def test_no_interval_leaves_the_scale(tmp_path: Path) -> None:
    """Outputs near the upper end, by five workers: Student's t of four degrees of freedom is 2.8."""
    path = tmp_path / "judgments.csv"
    rows = [f"i{i},a,w{i},{value}" for i, value in enumerate((40, 100, 100, 100, 100))]
    path.write_text("\n".join(["item,system,worker,value", *rows]), encoding="utf-8")
    judgments = read_judgments(str(path))
    assert part(estimate(judgments, FAST), "a").plain.plain.by_formula.clustered.high > 100
    given = estimate(judgments, EstimateOptions(bootstrap=200, ends=(0, 100)))
    mean = part(given, "a").plain.plain
    for interval in (mean.by_formula.normal, mean.by_formula.clustered, mean.outputs, mean.workers):
        assert 0 <= interval.low < interval.high <= 100


def test_four_workers_give_no_interval_of_record(tmp_path: Path) -> None:
    path = tmp_path / "judgments.csv"
    rows = [f"i{i},a,w{i % 4},{value}" for i, value in enumerate((40, 100, 60, 100, 80, 20))]
    path.write_text("\n".join(["item,system,worker,value", *rows]), encoding="utf-8")
    found = estimate(read_judgments(str(path)), FAST)
    assert np.isnan(part(found, "a").plain.plain.by_formula.clustered.low)
    said = "There is no interval of record of a: it needs 5 workers"
    assert [note for note in found.notes if note.startswith(said)]


def test_one_judgment_each_still_has_a_data_efficiency(tmp_path: Path) -> None:
    good = part(estimate(read(tmp_path, each=1), FAST), "good")
    assert isinstance(good.spread.unbiased.gamma, NotEstimable)
    assert isinstance(good.cap, NotEstimable)
    assert isinstance(good.metrics[0].efficiency.rho, NotEstimable)
    assert number(good.metrics[0].efficiency.de) > 1.3


def test_unknown_workers_leave_no_interval_of_record(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    lines = [f"i{n},a,{x:.3f},{y:.3f}" for n, (x, y) in enumerate(rng.standard_normal((30, 2)))]
    path = tmp_path / "wide.csv"
    path.write_text("\n".join(["item,system,fun_1,fun_2", *lines]), encoding="utf-8")
    estimates = estimate(read_judgments(str(path)), FAST)
    (only,) = estimates.parts
    assert np.isnan(only.plain.plain.by_formula.clustered.low)
    assert np.isfinite(only.plain.plain.outputs.low)
    assert np.isnan(only.plain.plain.workers.low)
    assert only.looks is None
    assert "There is no metric" in estimates.notes[-1]


def test_the_same_seed_gives_the_same_numbers(tmp_path: Path) -> None:
    judgments = read(tmp_path)
    one, again, other = (estimate(judgments, EstimateOptions(bootstrap=200, seed=seed)) for seed in (3, 3, 4))
    assert part(one, "good").metrics == part(again, "good").metrics
    assert one.signature == again.signature != other.signature
    assert part(one, "good").plain.plain.workers != part(other, "good").plain.plain.workers


def test_notes_name_constant_metrics_and_assumed_ends(tmp_path: Path) -> None:
    judgments = read(tmp_path)
    notes = "\n".join(estimate(judgments, FAST).notes)
    assert "same is constant within good, poor" in notes
    assert "ends of the scale are taken from the judgments themselves" in notes
    said = estimate(judgments, EstimateOptions(bootstrap=200, ends=(-10, 10)))
    assert "ends of the scale" not in "\n".join(said.notes)
    looks = part(said, "good").looks
    assert looks is not None
    assert looks.exact is not None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"seed": -1}, "--seed is -1"),
        ({"bootstrap": 5}, "--bootstrap is 5"),
        ({"ends": (1, 0)}, "--scale is 1,0"),
        ({"ends": (0, 0.5)}, "--scale is 0,0.5, but value goes from"),
        ({"metrics": ("bleu",)}, "no metric 'bleu'. There are: judge, noise, same"),
        ({"criteria": ("wit",)}, "no criterion 'wit'. There are: value"),
    ],
)
def test_options_that_make_no_sense(tmp_path: Path, options: dict[str, object], words: str) -> None:
    judgments = read(tmp_path)
    with pytest.raises(OptionError) as refused:
        estimate(judgments, EstimateOptions(**options))  # type: ignore[arg-type]
    assert words in str(refused.value)


def test_too_little_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EmptyRunError, match="no system has 3 judged outputs"):
        estimate(read(tmp_path, rated=1, outputs=2), FAST)


def test_metrics_that_are_used_together(tmp_path: Path) -> None:
    judgments = read(tmp_path)
    options = EstimateOptions(bootstrap=200, metrics=("judge", "noise", "judge+noise"))
    good = part(estimate(judgments, options), "good")
    both, judge = (
        next(worth for worth in good.metrics if worth.metric == name) for name in ("judge+noise", "judge")
    )
    # Noise adds nothing, and costs little.
    assert number(both.efficiency.r_judgment) == pytest.approx(number(judge.efficiency.r_judgment), abs=0.03)
    assert both.varied.by_formula.estimate == pytest.approx(judge.varied.by_formula.estimate, abs=0.1)
    assert good.looks is not None
    assert good.looks.varied is not None
    with pytest.raises(OptionError, match="'nose'"):
        estimate(judgments, EstimateOptions(metrics=("judge+nose",)))
    few = estimate(read(tmp_path, rated=15), options)
    assert any("judge+noise has too few judged outputs" in note for note in few.notes)


def test_outputs_drawn_by_probabilities(tmp_path: Path) -> None:
    source, metrics = write_judgments(tmp_path)
    lines = metrics.read_text(encoding="utf-8").splitlines()
    chances = ["rating_probability", *(["0.4", "0.2"] * len(lines))]
    metrics.write_text("\n".join(",".join(each) for each in zip(lines, chances, strict=False)) + "\n")
    judgments = read_judgments(str(source), Selection(metrics))
    good = part(estimate(judgments, FAST), "good")
    judge = next(worth for worth in good.metrics if worth.metric == "judge")
    assert "rating_probability" not in judgments.metrics
    values = judgments.of("value", "good")
    means = np.bincount(values.outputs, values.values)[:60] / 2
    weights = np.tile([2.5, 5], 30)
    assert judge.plain.by_formula.estimate == pytest.approx((weights * means).sum() / weights.sum())
    assert judge.varied.by_formula.clustered.width < judge.plain.by_formula.clustered.width
    assert isinstance(judge.efficiency.r_judgment, NotEstimable)
    assert good.looks is None
    with pytest.raises(OptionError, match="drawn by probabilities"):
        stopping(judgments, 1)


def test_a_judged_output_without_its_probability_is_refused(tmp_path: Path) -> None:
    source, metrics = write_judgments(tmp_path)
    text = metrics.read_text(encoding="utf-8").replace("\n", ",0.5\n")
    text = text.replace("same,0.5", "same,rating_probability", 1).replace(",3,0.5", ",3,", 1)
    metrics.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=r"(?s)1 judged output.*rating_probability"):
        read_judgments(str(source), Selection(metrics))
