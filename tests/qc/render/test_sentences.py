"""The verdict in three sentences."""

import re
from dataclasses import replace

import numpy as np
import pytest

from qc.analysis import SAME_DATA, Analysis, AnalysisOptions, analyse
from qc.method.replication import Replication, SameConclusions
from qc.method.sample import Count
from qc.render.sentences import FEWEST_WORKERS, SIMULATED, headlines, verdict
from qc.robustness.filter_check import FilterCheck
from qc.robustness.forecast import ReplicationForecast
from qc.robustness.intervals import Intervals
from qc.run import SIMULATED_NOTE, Run
from qc.sections.systems.intervals import rank_ranges
from qc.sections.systems.ranking import ranking as ranking_table
from qc.sections.systems.replication import same_conclusions
from qc.sections.workers.writing import conclusion
from qc.statistics.correlation import interval_of_r
from tests.qc.support import analyses
from tests.qc.support.runs import run_of

NAN = float("nan")
QUICK = AnalysisOptions(bootstrap=100)


def rated(workers: int, *levels: float, spread: float = 4.0) -> Run:
    """Return a run in which everyone rates the qc bot about 5 and system i about `levels[i]`."""
    rng = np.random.default_rng(3)
    rows = []
    for worker in range(workers):
        met = [(f"system {i}", level) for i, level in enumerate(levels)]
        met = [*met[worker % len(met) :], *met[: worker % len(met)], ("qc", 5.0)]
        rows += [
            (f"w{worker:02}", name, position, np.clip(level + rng.normal(0, spread, 4), 0, 100))
            for position, (name, level) in enumerate(met, start=1)
        ]
    who, what, where, given = zip(*rows, strict=True)
    return run_of(who, what, np.array(given), where, seconds=600.0)


def ranking(run: Run) -> str:
    return verdict(analyse(run, QUICK)).findings[0]


def test_a_leader_that_cannot_be_told_apart_from_a_rival() -> None:
    # Two systems that everybody rates alike, so their difference is noise, and one far below.
    analysis = analyse(rated(20, 70, 70, 30), QUICK)
    leader, rival = analysis.scores.z["system"][:2]
    found = verdict(analysis).findings[0]
    assert re.match(
        rf"{leader} has the highest score \(z = \d\.\d\d, 95 % interval \d\.\d\d to \d\.\d\d; its chance to "
        r"be the best is \d+ %\); ",
        found,
    )
    assert found.endswith(
        f"; all pairs taken together, 2 of 3 can be told apart, which makes 2 groups: {leader} and {rival}; "
        f"then system 2. Few workers decide this: without 1 of the 20 workers who passed, {rival} would have "
        "the highest score."
    )


def tied_run() -> Run:
    """Return a run whose first two systems have the same ratings by every worker."""
    run = rated(20, 70, 70, 30, spread=15)
    rows = run.conversations.assign(row=range(len(run.conversations))).set_index(["worker", "system"])["row"]
    ratings = run.ratings.copy()
    for worker in run.assignments["worker"].unique():
        ratings.iloc[rows[worker, "system 1"]] = ratings.iloc[rows[worker, "system 0"]]
    return replace(run, ratings=ratings)


def test_of_systems_that_are_equal_none_is_first() -> None:
    found = analyse(tied_run(), QUICK)
    assert re.match(
        r"system 0 and system 1 share the highest score \(z = \d\.\d\d; their chances to be the best are "
        r"\d+ % and \d+ %\); ",
        verdict(found).findings[0],
    )
    ranks = rank_ranges(found)
    assert ranks is not None
    assert ranks.frame["rank"].tolist() == [1, 1, 3]
    plain = analyse(tied_run(), replace(QUICK, sections=frozenset()))
    assert verdict(plain).findings[0] == (
        "system 0 and system 1 share the highest score; how sure that is was not computed."
    )
    assert ranking_table(plain).shown_rows["rank"].tolist() == ["1", "1", "3"]


def test_all_pairs_can_be_told_apart() -> None:
    assert ranking(rated(20, 80, 55, 30)).endswith(
        "which makes 3 groups: system 0; then system 1; then system 2."
    )


def test_pairs_that_make_no_groups() -> None:
    analysis = analyse(rated(20, 80, 40, 60), QUICK)
    assert analysis.intervals is not None
    intervals = replace(
        analysis.intervals,
        groups=(("system 0", "system 2", "system 1"),),
        indistinct=(("system 0", "system 2"), ("system 2", "system 1")),
    )
    found = verdict(analysis.having(intervals)).findings[0]
    assert found.endswith(
        "; all pairs taken together, 1 of 3 can be told apart, but these make no groups: system 2 may be as "
        "good as the first."
    )


def test_systems_that_do_not_differ() -> None:
    found = ranking(rated(14, 60, 60, 60, 60, 60, spread=12))
    assert found.endswith("; no two of the 5 systems can be told apart.")


def test_two_systems() -> None:
    assert ranking(rated(20, 60, 60, spread=10)).endswith(
        "with these data the order of the two is open. Few workers decide this: without 1 of the 20 workers "
        "who passed, system 0 would have the highest score."
    )
    assert ranking(rated(20, 80, 40)).endswith("; the two can be told apart.")


def test_one_worker_tells_not_how_sure_it_is() -> None:
    # C(12 + 4, 4) = 1820 orders of 12 ratings of systems and 4 of the qc bot, so one worker can pass.
    analysis = analyse(rated(1, 80, 60, 40), QUICK)
    assert analysis.rates.workers.passed == 1
    found = verdict(analysis)
    assert found.findings[0].startswith("system 0 has the highest score (z = ")
    assert (
        "but how sure that is cannot be told; no two of the 3 systems can be told apart" in found.findings[0]
    )
    assert "chance" not in found.findings[0]
    assert "100" not in found.findings[0]
    assert found.findings[1].startswith("Whether a second run would agree cannot be told")
    assert (
        found.findings[2] == "There are too few workers to judge the data: 1 of 1 workers passed the filter."
    )


@pytest.mark.parametrize("workers", [2, FEWEST_WORKERS - 1])
def test_a_few_workers_are_too_few_to_judge(workers: int) -> None:
    analysis = analyse(rated(workers, 80, 60, 40), QUICK)
    assert analysis.rates.workers.passed == workers
    assert "too few workers to judge" in verdict(analysis).findings[2]


def test_enough_workers_look_sound() -> None:
    # No p is above 1/2, but up to 3 who passed may have rated at random: a tenth of 30, and more of 20.
    enough, fewest = (analyse(rated(count, 80, 60, 40), QUICK) for count in (30, FEWEST_WORKERS))
    assert verdict(enough).findings[2].startswith("The data look sound: 30 of 30 workers passed")
    assert verdict(fewest).findings[2].startswith("The data call for caution: 20 of 20 workers passed")


def test_nothing_to_rank() -> None:
    only = "system 0 is the only system with a score, so there is nothing to rank it against."
    assert ranking(rated(5, 80)) == only
    run = rated(5, 80, 60)
    nobody = verdict(analyse(replace(run, ratings=run.ratings * 0 + 50), QUICK))
    assert nobody.findings[0] == "No worker passed the filter, so nothing can be said about the systems."
    assert "0 of 5 workers" in nobody.findings[2]
    assert "sound" not in nobody.findings[2]
    assert verdict(analyses.bare()).findings[0].endswith("how sure that is was not computed.")


def foreseen(low: float, r: float = 0.975) -> ReplicationForecast:
    return replace(_forecast(), r=r, low=low, high=0.99)


def _forecast() -> ReplicationForecast:
    forecast = analyses.whole().forecast
    assert forecast is not None
    return forecast


@pytest.mark.parametrize(
    ("low", "expectation"),
    [(0.94, "would very likely agree"), (0.8, "would probably agree"), (0.3, "might well disagree")],
)
def test_a_forecast(low: float, expectation: str) -> None:
    found = verdict(analyses.whole().without(Replication).having(foreseen(low))).findings[1]
    assert expectation in found
    assert f"r = 0.975 (95 % interval {low:.3f} to 0.990)" in found


def test_no_forecast() -> None:
    alone = analyses.whole().without(Replication)
    for analysis in (alone.without(ReplicationForecast), alone.having(foreseen(NAN))):
        found = verdict(analysis).findings[1]
        assert found.endswith("cannot be told from this one: it is too small.")
    assert verdict(analyses.bare()).findings[1] == "Whether a second run would agree was not computed."


def test_the_same_data_twice_is_no_second_run() -> None:
    run = rated(5, 80, 60, 40)
    assert verdict(analyse(run, QUICK, run)).findings[1] == SAME_DATA


def replicated(r: float, same: SameConclusions, systems: int = 10) -> Replication:
    second = analyses.whole().replication
    assert second is not None
    pearson = {**second.z.pearson, "overall": r}
    return replace(
        second,
        name="two",
        systems=tuple(f"system {number}" for number in range(systems)),
        z=replace(second.z, pearson=pearson),
        overall_interval=interval_of_r(r, systems, 0.95),
        same_conclusions=same,
    )


# The intervals are those of Fisher's transformation with 10 systems, standard error 1/√7.
@pytest.mark.parametrize(
    ("r", "outcome"),
    [
        (
            0.99,
            "The second run, two, agrees closely: the overall scores correlate at r = 0.990",
        ),
        (
            0.968,
            "The second run, two, agrees: the overall scores correlate at r = 0.968",
        ),
        (0.8, "The second run, two, may agree or not"),
        (-0.2, "The second run, two, does not agree: the overall scores correlate at r = −0.200"),
        (
            NAN,
            "The second run, two, cannot be correlated with this one, since in one of them all systems have "
            "the same overall score",
        ),
    ],
)
def test_a_second_run(r: float, outcome: str) -> None:
    second = replicated(r, SameConclusions(38, 45, 0.1))
    found = verdict(analyses.bare().having(second, foreseen(0.94))).findings[1]
    assert found.startswith(outcome)
    assert "for 38 of 45 pairs of systems both draw the same conclusion" in found


@pytest.mark.parametrize(("r", "where"), [(0.968, "within"), (0.93, "below"), (0.995, "above")])
def test_where_r_lies_in_its_forecast(r: float, where: str) -> None:
    second = replicated(r, SameConclusions(38, 45, 0.1))
    found = verdict(analyses.bare().having(second, foreseen(0.94))).findings[1]
    assert f"; {where} the 0.940 to 0.990 that this run alone foretells)" in found


def test_few_systems_give_no_verdict_on_a_second_run() -> None:
    # Three systems that nobody can tell apart, whose order in two runs is alike by chance.
    second = replicated(0.973, SameConclusions(3, 3, 0.1), systems=3)
    found = verdict(analyses.bare().having(second, foreseen(-0.5, 0.0))).findings[1]
    assert "can be compared on 3 systems only, too few to tell whether it agrees" in found


def test_a_run_that_tells_no_systems_apart_can_not_be_agreed_with() -> None:
    analysis = analyse(rated(14, 60, 60, 60, 60, 60, spread=12), QUICK)
    second = replicated(0.99, SameConclusions(10, 10, 0.1))
    assert "cannot be said to agree or not" in verdict(analysis.having(second)).findings[1]


def test_no_pair_in_both_runs_and_no_forecast() -> None:
    assert same_conclusions(SameConclusions(0, 0, 0.1)) == "no pair of systems can be compared in both"
    second = replicated(0.9, SameConclusions(0, 0, 0.1))
    found = verdict(analyses.bare().having(second, foreseen(NAN, NAN))).findings[1]
    assert "0 of 0" not in found
    assert "foretells" not in found


def test_a_second_run_in_which_nobody_passes() -> None:
    run = rated(5, 80, 60, 40)
    nobody = replace(run, ratings=run.ratings * 0 + 50)
    analysis = analyse(run, QUICK, nobody)
    found = verdict(analysis).findings[1]
    assert found.startswith(
        "The second run cannot be correlated with this one, since no system has a score in both"
    )
    assert analysis.replication is not None
    assert any("The second run: No worker passed" in note for note in analysis.replication.notes)
    assert "no pair of systems can be compared in both" in found


def judged(bound: float) -> Analysis:
    analysis = analyses.whole()
    assert analysis.filter_check is not None
    check = replace(analysis.filter_check, random_among_passed_bound=bound)
    rates = replace(analysis.rates, workers=Count(1070, 1100))
    return replace(analysis, rates=rates).having(check)


@pytest.mark.parametrize(
    ("bound", "trust"), [(0.07, "The data look sound"), (0.4, "The data call for caution")]
)
def test_the_data(bound: float, trust: str) -> None:
    found = verdict(judged(bound)).findings[2]
    assert found.startswith(f"{trust}: 1,070 of 1,100 workers passed the filter (97.3 %)")
    # of 1,070 who passed
    count = {0.07: "75", 0.4: "428"}[bound]
    ending = f"at most {count} of those who passed ({100 * bound:.1f} %) rated at random (95 % confidence)."
    assert found.endswith(ending)


def test_data_of_which_most_workers_failed_are_not_called_sound() -> None:
    sound = judged(0.07)
    few = replace(sound, rates=replace(sound.rates, workers=Count(385, 1100)))
    screening = replace(sound.sample.screening, alpha=0.999)
    lax = replace(sound, sample=replace(sound.sample, screening=screening))
    for analysis in (few, lax):
        assert verdict(analysis).findings[2].startswith("The data call for caution: ")


def test_the_data_without_an_estimate() -> None:
    for analysis in (judged(NAN), judged(0.1).without(FilterCheck)):
        assert "was not estimated" in verdict(analysis).findings[2]


def test_simulated_workers_come_first() -> None:
    bare = analyses.bare()
    found = verdict(replace(bare, run=replace(bare.run, notes=(SIMULATED_NOTE,))))
    assert found.warning == SIMULATED
    assert found.sentences == (SIMULATED, *found.findings)
    assert verdict(bare).warning is None
    assert verdict(bare).sentences == verdict(bare).findings


def test_systems_of_one_worker_have_no_share_of_firsts() -> None:
    intervals = analyse(rated(1, 80, 60), QUICK).intervals
    assert isinstance(intervals, Intervals)
    assert np.isnan(intervals.z_low).all()


def test_how_many_conversations_look_pasted_and_what_hangs_on_them() -> None:
    results = analyses.whole().writing
    assert results is not None
    (every,) = results.groups.query("group == 'all'").itertuples()
    told = conclusion(results)
    assert told.startswith(f"{every.pasted} of {every.conversations} conversations look pasted (")
    order = "the systems stand in another order" if results.order_changes else "the order of systems stays"
    assert f"Without them {order}" in told
    scores = results.scores.assign(z_left=results.scores["z"], low=-1.0, high=1.0)
    calm = conclusion(replace(results, scores=scores))
    assert calm.endswith("Without them the order of systems stays, and no score changes by more than chance.")
    first, last = scores["system"].iloc[0], scores["system"].iloc[-1]
    moved = scores.assign(z_left=-scores["z"], low=np.where(scores["system"].isin([first, last]), 0.1, -1.0))
    assert conclusion(replace(results, scores=moved)).endswith(
        f"Without them the systems stand in another order, and the score of {first} and {last} changes by "
        "more than chance."
    )
    nobody = replace(results, groups=results.groups.assign(pasted=0, share=0.0), scores=scores.iloc[:0])
    assert conclusion(nobody).endswith("conversations look pasted: no score is another without them.")


def headline(run: Run) -> str:
    return headlines(analyse(run, QUICK))[0]


def test_headlines_name_the_first_system_and_those_that_may_be_as_good() -> None:
    apart = headline(rated(20, 80, 60, 40))
    assert apart == "system 0 has the highest score, and the difference to every other system is significant."
    assert headline(rated(14, 60, 60, 60, 60, 60, spread=12)).endswith(
        "no other system is significantly worse."
    )
    # Systems 0 and 1 differ by less than the spread of their ratings; system 2 lies far below both.
    close = headline(rated(14, 62, 61, 30, spread=12))
    assert close == "system 1 has the highest score, but system 0 may be as good."
    assert headline(rated(1, 80)) == "system 0 is the only system with a score."


def test_headlines_say_what_is_known_of_another_run_and_of_the_data() -> None:
    few = headlines(analyse(rated(2, 80, 60, 40), QUICK))
    assert few[1] == "This run is too small to tell whether a second one would agree."
    assert few[2] == "2 of 2 workers passed quality control, which are too few to judge the data."
    sound, doubtful = headlines(judged(0.07))[2], headlines(judged(0.4))[2]
    passed = "1,070 of 1,100 workers passed quality control"
    assert sound == f"{passed}, and at most 75 of these rated at random."
    assert doubtful == f"{passed}, but up to 428 of these may have rated at random."
    assert headlines(judged(NAN))[2] == "1,070 of 1,100 workers passed quality control."
    foretold = headlines(analyses.whole().without(Replication).having(foreseen(0.94)))[1]
    assert foretold == (
        "The scores of a second run of this size with other workers would very likely agree with these."
    )


def test_headlines_where_nobody_passed() -> None:
    run = rated(12, 80, 60)
    nobody = headlines(analyse(replace(run, ratings=run.ratings * 0 + 50), QUICK))
    assert nobody[0] == "No worker passed quality control, so the systems cannot be compared."
