"""List every interval, chance and test that an output prints, and where it is measured.

A key is a document and a path in it: `report:systems[].interval.low` is a key of `report.json`. In a pattern
`*` stands for anything. `tests/qc/test_registry.py` fails if an output has a key of this kind that no
statement here has, or if a statement names a part, a column or a design that the benchmark does not have.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

# Words of a key that make it an interval, a chance, a test, or systems told apart.
_WORDS = re.compile(
    r"(^|[._])(interval|low|high|p|holm|adjusted_p|chance|bound|apart|indistinct|supported|significance|clusters"
    r"|fixed|asymptotic|suspicious|best_among)(?=[._\[]|$)|half_width|groups\[\]\[\]|by_worker_holm|rank\.|decisions|\.noise$"
)


@dataclass(frozen=True)
class Statement:
    """Something that is said of what is unknown.

    Attributes:
        what: the statement in words.
        keys: patterns of the keys under which outputs print it.
        part: the part of the benchmark that measures it; None if none does.
        columns: the columns of the part's tables that say how often it is right.
        designs: keys of the designs in which outputs print it; all of the part's if empty.
        remark: why it is not measured, or where it is not as it should be.
    """

    what: str
    keys: tuple[str, ...]
    part: str | None = None
    columns: tuple[str, ...] = ()
    designs: tuple[str, ...] = ()
    remark: str = ""

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile("|".join(re.escape(key).replace(r"\*", ".*") for key in self.keys))

    def covers(self, key: str) -> bool:
        """Return whether a pattern matches all of `key`."""
        return self._pattern.fullmatch(key) is not None


# What the designs of a part vary.
TRIED = {
    "one-run": "3 or 10 systems, equal or as published; 16 to 248 workers; 8 assignments each; strong tastes",
    "worse": "3 to 10 systems: equal, in steps, spread, with some much worse",
    "belief": "3 or 10 systems, as often equal as not",
    "few": "2 to 10 equal systems, 5 to 13 workers, normal errors",
    "few-drawn": "9 to 30 workers of the published runs, drawn anew, so that 5 or more rate each system",
    "hostile": "5 equal systems, or two of them worse; 2 to 80 workers who passed: one impression on all "
    "criteria, ratings in tens or quarters, a tenth of the scale, a polarising system, unequal work, "
    "returning workers, half of the QC ratings missing",
    "certificate": "3 or 10 systems: equal, as published, in halves, one ahead; 7 to 248 workers; "
    "8 assignments each; strong tastes",
    "uneven": "35 to 39 workers, of whom up to five have up to 60 assignments; strong tastes",
    "context": "3 or 10 equal systems; 16 to 248 workers; 8 assignments each; strong tastes",
    "adjusted": "10 equal systems; 16 to 248 workers; 8 assignments each with strong tastes",
    "style": "5 systems of unlike length; 12 to 150 workers, or 16 with 8 assignments; length matters more "
    "to some workers than to others, or to none",
    "areas": "10 equal systems; 16 to 248 workers with tastes for topics",
    "second": "10 systems, close or spread; 16 to 248 workers; 8 assignments each",
    "random": "12 to 248 workers, none to half random: anywhere, one impression, middling; "
    "strong to weak discernment of the others",
    "means": "3 to 40 workers, with as many values each or 1 to 8",
    "groups": "248 workers in groups that think alike or not",
    "quiz": "12 to 248 workers, who know more or less or guess",
    "transcripts": "8 to 32 workers, 12 or 40 items of each of 4 equal systems",
    "references": "8 to 32 workers, 12 or 40 items of each of 4 equal systems",
    "choices": "3 equal systems, 5 to 40 workers with tastes",
    "hostile-choices": "3 equal systems, 5 to 80 workers: tastes, a polarising system, mostly ties or none, "
    "half always choose the left one, the same said of a pair each time, unequal work, returning workers",
    "arena": "6 to 20 systems, equal or not; 120 to 2,000 voters with tastes or without, or not told",
    "judgments": "10 to 100 workers, with habits or without, 1 or 2 for each output",
    "judges": "6 to 100 workers with 6 ratings each, from 12 on also uneven, judges of r = 0 to 0.95",
    "looks": "three levels, sliders, nearly always 0, nearly always the best of five, long tails",
    "metric": "8 to 120 workers, whom the metric follows more or less",
    "plan": "pilots of 30 and 60 workers",
    "plan-second": "pilots of 30 workers, of systems drawn anew",
    "exchanges": "6 to 60 units",
    "exchanges-holm": "8 to 60 units, three equal systems",
    "persona": "12 or 40 workers who met two families",
    "controls": "8 to 40 workers with six bad twins",
    "sides": "8 to 60 workers who choose at random",
    "resampled": "10 or 30 workers, with habits or without",
    "so-far": "40 to 640 workers, one in four of whom rates at random",
    "williams": "6 to 20 systems, three metrics",
    "judge": "10 to 100 conversations",
    "wrong-order": "differences of 0 to 3 standard errors",
}
_FROM_FIVE = tuple(f"means-{workers}" for workers in (5, 10, 20, 40))
_FEW_SIGNS = "signs of 5 or 6 workers have few values, of which the next higher is taken"

STATEMENTS = (
    Statement(
        "interval of a system's z, named beforehand",
        ("report:systems[].interval.*", "runs:scores[].low", "runs:scores[].high", "runs:intervals[].*"),
        "one-run",
        ("overall z held, of a system named beforehand (95)",),
    ),
    Statement(
        "interval of the leader's z", ("report:systems[].interval.*",), "one-run", ("leader's z held (95)",)
    ),
    Statement(
        "interval of the leader's z, beside systems that are worse",
        ("report:systems[].interval.*",),
        "worse",
        ("leader's interval held (95)",),
    ),
    Statement(
        "interval of z by criterion",
        ("report:systems[].criteria.*.z_interval.*",),
        "one-run",
        ("z by criterion held (95)",),
    ),
    Statement(
        "interval of a raw score", ("report:systems[].raw_interval.*",), "one-run", ("raw score held (95)",)
    ),
    Statement(
        "interval of a raw score by criterion",
        ("report:systems[].criteria.*.raw_interval.*",),
        "adjusted",
        ("raw score by criterion held (95)",),
    ),
    Statement(
        "chance to be the best, and how often it is so",
        ("report:systems[].best_chance",),
        "belief",
        ("any chance: said", "any chance: is so"),
        remark="both columns should be alike; cautious where many systems differ",
    ),
    Statement(
        "interval of a score, few raters",
        ("report:systems[].interval.*", "report:systems[].raw_interval.*"),
        "few-drawn",
        ("score, named beforehand, held (95)", "raw score held (95)"),
    ),
    Statement(
        "interval of a score by criterion, few raters",
        ("report:systems[].criteria.*.z_interval.*", "report:systems[].criteria.*.raw_interval.*"),
        "few-drawn",
        ("z by criterion held (95)", "raw score by criterion held (95)"),
    ),
    Statement(
        "interval of a score, few raters with normal errors, at least",
        ("report:systems[].interval.*",),
        "few",
        ("score held (≥ 95)",),
        remark=_FEW_SIGNS,
    ),
    Statement(
        "interval of one difference",
        ("report:intervals.difference_low*", "report:intervals.difference_high*"),
        "one-run",
        ("difference held (95)",),
    ),
    Statement(
        "interval of one difference, few raters",
        ("report:intervals.difference_low*", "report:intervals.difference_high*"),
        "few-drawn",
        ("difference held (95)",),
    ),
    Statement(
        "interval of one difference, few raters with normal errors, at least",
        ("report:intervals.difference_low*", "report:intervals.difference_high*"),
        "few",
        ("difference held (≥ 95)",),
        remark=_FEW_SIGNS,
    ),
    Statement(
        "interval of one difference, uneven work",
        ("report:intervals.difference_low*", "report:intervals.difference_high*"),
        "uneven",
        ("difference held (95)",),
        tuple(
            f"{key}{tastes}"
            for tastes in ("", "-tastes")
            for key in ("none", "one-6", "one-10", "two-8", "three-10", "five-10")
        ),
    ),
    Statement(
        "intervals of all differences at once",
        ("report:intervals.simultaneous_low*", "report:intervals.simultaneous_high*"),
        "one-run",
        ("all differences held (95)",),
    ),
    Statement(
        "systems told apart, groups, ranges of ranks: any is wrong",
        ("report:intervals.indistinct*", "report:intervals.groups*", "report:systems[].rank.*"),
        "one-run",
        ("any wrongly told apart (≤ 5)",),
    ),
    Statement(
        "the same, few raters",
        ("report:intervals.indistinct*", "report:intervals.groups*", "report:systems[].rank.*"),
        "few",
        ("any wrongly told apart (≤ 5)",),
    ),
    Statement(
        "the same, uneven work",
        ("report:intervals.indistinct*", "report:intervals.groups*", "report:systems[].rank.*"),
        "uneven",
        ("any wrongly told apart (≤ 5)",),
    ),
    Statement(
        "the same, hostile ways to rate; certificate: any claim is false",
        (
            "report:intervals.indistinct*",
            "report:intervals.groups*",
            "report:systems[].rank.*",
            "certificate:claims.*",
        ),
        "hostile",
        ("any claim on pairs, groups, ranks or the best false (≤ 5)",),
        remark="with 2 to 4 workers nothing is told apart",
    ),
    Statement(
        "interval of one difference, and of all at once, hostile ways to rate, at least",
        (
            "report:intervals.difference_low*",
            "report:intervals.difference_high*",
            "report:intervals.simultaneous_low*",
            "report:intervals.simultaneous_high*",
        ),
        "hostile",
        ("difference held (≥ 95)", "all differences held (≥ 95)"),
        remark=_FEW_SIGNS,
    ),
    Statement(
        "interval of the leader's z, hostile ways to rate",
        ("report:systems[].interval.*",),
        "hostile",
        ("leader's z held",),
        remark="95 would be right; 95.0 on average",
    ),
    Statement(
        "chance to be the best, hostile ways to rate, and how often it is so",
        ("report:systems[].best_chance",),
        "hostile",
        ("leader said to be best", "leader is best"),
        remark="of equal systems, where some of the belief stays on systems that differ, as above",
    ),
    Statement(
        "p of all pairs, by worker, with Holm's correction, hostile ways to rate",
        ("report:significance.by_worker_holm*", "report:preregistration.decisions*"),
        "hostile",
        ("any pair differs, by worker with Holm (≤ 5)",),
    ),
    Statement(
        "fragility: workers named, without whom nothing changes",
        (
            "report:fragility.workers[].worker",
            "report:fragile_pairs.pair.workers[]",
            "report:fragile_pairs.groups.workers[]",
        ),
        "hostile",
        ("workers named as fragile who change nothing (≤ 0)",),
        remark="every removal is confirmed by scoring the run without these workers",
    ),
    Statement(
        "certificate: any claim is false",
        ("certificate:claims.*", "certificate:preregistration.hypotheses[].claimed"),
        "certificate",
        ("any claim false (≤ 5)",),
    ),
    Statement(
        "p of a pair, as published",
        ("report:significance.p*", "report:significance.systems*"),
        "one-run",
        ("rank sum, as published",),
        remark="the published test takes conversations as independent; it decides nothing here",
    ),
    Statement(
        "p of all pairs, as published, with Holm's correction",
        ("report:significance.holm*", "report:clusters.*"),
        "one-run",
        ("any, published with Holm",),
        remark="as above",
    ),
    Statement(
        "p of a pair, by worker",
        ("report:significance.by_worker[*",),
        "one-run",
        ("rank test by worker (5)",),
    ),
    Statement(
        "p of all pairs, by worker, with Holm's correction; registered hypotheses",
        ("report:significance.by_worker_holm*", "report:preregistration.decisions*"),
        "one-run",
        ("any, by worker with Holm (≤ 5)",),
    ),
    Statement(
        "effect of a persona",
        ("report:persona.families[].low", "report:persona.families[].high", "report:persona.families[].p"),
        "one-run",
        ("persona, by family (5)",),
    ),
    Statement(
        "effect of all personas",
        ("report:persona.pooled.low", "report:persona.pooled.high", "report:persona.pooled.p"),
        "one-run",
        ("persona, all families (5)",),
    ),
    Statement(
        "effect of a persona, as published",
        ("report:persona.*.p_rank_sum", "report:persona.*[].p_rank_sum"),
        "persona",
        ("persona, rank sum, as published",),
        remark="the published test of pairs, as above; here of workers without tastes",
    ),
    Statement("effect of the place: F", ("report:context.effects[].p",), "one-run", ("place: F (5)",)),
    Statement(
        "effect of the place: intervals",
        ("report:context.effects[].levels[].low", "report:context.effects[].levels[].high"),
        "one-run",
        ("place: intervals without 0 (5)",),
    ),
    Statement(
        "effects of time and topic: F",
        ("report:context.effects[].p",),
        "context",
        ("time: F (5)", "opinion of the topic: F (5)", "changes of topic: F (5)"),
    ),
    Statement(
        "effects of time and topic: intervals",
        ("report:context.effects[].levels[].low", "report:context.effects[].levels[].high"),
        "context",
        (
            "time: intervals without 0 (5)",
            "opinion of the topic: intervals without 0 (5)",
            "changes of topic: intervals without 0 (5)",
        ),
    ),
    Statement(
        "interval of an adjusted score",
        ("report:adjusted.systems[].low", "report:adjusted.systems[].high"),
        "adjusted",
        ("adjusted score held (95)",),
    ),
    Statement(
        "p of a coefficient of the adjusted scores",
        ("report:adjusted.coefficients[].p",),
        "adjusted",
        ("place or opinion: p (5)",),
    ),
    Statement(
        "score with style held constant, and its change",
        (
            "report:style.systems[].low",
            "report:style.systems[].high",
            "report:style.systems[].change_low",
            "report:style.systems[].change_high",
        ),
        "style",
        ("score with style held constant: held (95)", "change by style: held (95)"),
    ),
    Statement(
        "coefficients of style and place",
        (
            "report:style.features[].low",
            "report:style.features[].high",
            "report:style.places[].low",
            "report:style.places[].high",
        ),
        "style",
        ("coefficient of a feature: held (95)", "coefficient of a place: held (95)"),
    ),
    Statement(
        "effect of the area of the topic: F and intervals",
        ("report:topic_areas.p", "report:topic_areas.areas[].low", "report:topic_areas.areas[].high"),
        "areas",
        ("area of the topic: F (≤ 5)", "area of the topic: intervals without 0 (≤ 5)"),
        remark="cautious with 20 workers, who have few areas of 10 workers",
    ),
    Statement(
        "score of a system in an area of topics",
        ("report:topic_areas.systems[].low", "report:topic_areas.systems[].high"),
        "areas",
        ("a system's score in an area: held (95)",),
    ),
    Statement(
        "r, ρ and τ of two runs, or of a metric with people",
        (
            "report:replication.overall_interval.*",
            "runs:agreement[].*_low",
            "runs:agreement[].*_high",
            "metrics:agreement[].*_low",
            "metrics:agreement[].*_high",
        ),
        "second",
        ("r held (95)", "ρ held (95)", "τ held (95)"),
    ),
    Statement(
        "forecast of a second run's r",
        ("report:forecast.low", "report:forecast.high"),
        "second",
        ("r of the second run foretold (95)",),
    ),
    Statement(
        "random workers among those who passed, at most",
        ("report:filter.random_among_passed_bound",),
        "random",
        ("random workers who passed: no more than said (≥ 95)",),
    ),
    Statement(
        "the data look sound, though more than a tenth rated at random",
        ("report:verdict[]",),
        "random",
        ("few random workers said where there are many (≤ 5)",),
    ),
    Statement(
        "p of a worker's filter",
        ("report:workers.failed[].p",),
        "random",
        ("random workers who pass",),
        tuple(f"random-{workers}-{number}" for workers in (12, 20, 40, 90, 248) for number in (1, 2, 3)),
        "of workers who set sliders anywhere 5 is right; of those with one impression a third pass",
    ),
    Statement(
        "mean of a group, share of pasted conversations, rated replies, scenarios",
        (
            "report:writing.groups[].low",
            "report:writing.groups[].high",
            "report:turn_ratings.systems[].low",
            "report:turn_ratings.systems[].high",
            "report:scenarios[].low",
            "report:scenarios[].high",
        ),
        "means",
        ("mean, 1 to 8 values each: held (95)",),
        _FROM_FIVE,
    ),
    Statement(
        "the same, if all workers have as many values, at least",
        ("report:turn_ratings.systems[].low", "report:turn_ratings.systems[].high"),
        "means",
        ("mean, as many values each: held (≥ 95)",),
        _FROM_FIVE,
        _FEW_SIGNS,
    ),
    Statement(
        "r of rated replies with the score",
        ("report:turn_ratings.r_low", "report:turn_ratings.r_high"),
        "means",
        ("correlation with the score: held (95)",),
        _FROM_FIVE,
    ),
    Statement(
        "change of a score without pasted conversations",
        ("report:writing.scores[].low", "report:writing.scores[].high"),
        "means",
        ("change without pasted conversations: held (95)",),
        _FROM_FIVE,
    ),
    Statement(
        "score in a group of workers",
        ("report:groups.standings[].low", "report:groups.standings[].high"),
        "groups",
        ("group's score held (95)",),
    ),
    Statement(
        "range of ranks in a group",
        ("report:groups.standings[].rank_low", "report:groups.standings[].rank_high"),
        "groups",
        ("rank ranges of a group hold (≥ 95)",),
    ),
    Statement(
        "groups differ in places",
        ("report:groups.places[].p", "report:groups.places[].p_holm", "report:groups.places[].chance*"),
        "groups",
        ("places between groups differ (5 if they do not)",),
        ("alike",),
    ),
    Statement(
        "groups differ in scores",
        ("report:groups.places[].p_scores*",),
        "groups",
        ("scores of groups differ (5 if they do not)",),
        ("alike",),
    ),
    Statement(
        "score for another population",
        ("report:groups.population.systems[].*_low", "report:groups.population.systems[].*_high"),
        "groups",
        ("population's score held: raking (95)", "population's score held: multilevel (95)"),
    ),
    Statement(
        "quiz: share right of a group",
        ("report:quiz.groups[].low", "report:quiz.groups[].high"),
        "quiz",
        ("share of all workers held (95)",),
    ),
    Statement(
        "quiz: share right about a system",
        ("report:quiz.systems[].low", "report:quiz.systems[].high"),
        "quiz",
        ("share of a system held (≥ 95)",),
    ),
    Statement(
        "quiz: share right of a worker",
        ("report:quiz.workers[].low", "report:quiz.workers[].high"),
        "quiz",
        ("share of a worker held (≥ 95)",),
    ),
    Statement(
        "quiz: a worker is above chance",
        ("report:quiz.workers[].p", "report:quiz.workers[].above_chance"),
        "quiz",
        ("above chance by guessing (≤ 5)",),
    ),
    Statement(
        "transcripts: interval of a score, two ways",
        ("report:transcripts.errors.systems[].low", "report:transcripts.errors.systems[].high"),
        "transcripts",
        ("score held, two ways (95)",),
    ),
    Statement(
        "transcripts: effect of the reference's length, and scores by it, at least",
        (
            "report:reference_lengths.groups[].low",
            "report:reference_lengths.groups[].high",
            "report:reference_lengths.systems[].low",
            "report:reference_lengths.systems[].high",
        ),
        "references",
        (
            "effect of the reference's length: held (≥ 95)",
            "a system's score by the length of the reference: held (≥ 95)",
        ),
        remark="two ways are never less than one, and few items give few degrees of freedom",
    ),
    Statement(
        "transcripts: p of a pair, two ways",
        ("report:transcripts.errors.pairs[].p",),
        "transcripts",
        ("pair differs, two ways (5)",),
    ),
    Statement(
        "transcripts: p of all pairs, two ways, with Holm's correction",
        ("report:transcripts.errors.pairs[].holm",),
        "transcripts",
        ("any pair differs, two ways with Holm (≤ 5)",),
    ),
    Statement(
        "transcripts: distance of control items",
        ("report:transcripts.controls.table[].low", "report:transcripts.controls.table[].high"),
        "controls",
        ("distance of control items held (95)",),
    ),
    Statement(
        "transcripts: how often workers pass by chance",
        ("report:transcripts.chance_passes.*",),
        "controls",
        (
            "workers who cannot tell bad twins pass: said",
            "workers who cannot tell bad twins pass: is so",
        ),
        remark="both columns should be alike",
    ),
    Statement(
        "side by side: score, at least",
        ("side_by_side:scores[].low", "side_by_side:scores[].high"),
        "choices",
        ("score held (≥ 95)",),
        remark="few choices have few values, and draws of few workers exaggerate how far they vary",
    ),
    Statement(
        "side by side: one system lies above another",
        ("side_by_side:verdict[]",),
        "choices",
        ("any wrongly told apart (≤ 5)",),
    ),
    Statement(
        "side by side: score, hostile ways to choose, at least",
        ("side_by_side:scores[].low", "side_by_side:scores[].high"),
        "hostile-choices",
        ("score held, if there is one (≥ 95)",),
        remark="as above",
    ),
    Statement(
        "side by side: one system lies above another, hostile ways to choose",
        ("side_by_side:verdict[]",),
        "hostile-choices",
        ("any system wrongly above another (≤ 5)",),
    ),
    Statement("arena: score", ("arena:scores[].low", "arena:scores[].high"), "arena", ("score held (95)",)),
    Statement(
        "arena: systems told apart, groups, ranges of ranks: any is wrong",
        ("arena:verdict[]", "arena:scores[].group", "arena:scores[].ranks"),
        "arena",
        ("any wrongly told apart (≤ 5)",),
    ),
    Statement(
        "arena: weight of style",
        ("arena:style[].low", "arena:style[].high"),
        "arena",
        ("weight of style held (95)",),
    ),
    Statement(
        "arena: any alarm on a board without defects",
        ("arena:alarms[].p",),
        "arena",
        ("any alarm on a clean board (≤ 5)",),
    ),
    Statement(
        "side by side: workers prefer a side, or pass the QC bot",
        ("side_by_side:sides[].p", "side_by_side:workers[].p", "side_by_side:workers[].suspicious"),
        "sides",
        ("a side is preferred (≤ 5)", "a worker prefers systems to the QC bot (≤ 5)"),
    ),
    Statement(
        "estimate: mean of a system, of record",
        ("estimate:means[].clustered_low", "estimate:means[].clustered_high"),
        "judgments",
        ("mean held: of record (95)", "mean with a metric held: of record (95)"),
    ),
    Statement(
        "estimate: the same with judges; outputs rated once, several times, or by probabilities",
        ("estimate:means[].clustered_low", "estimate:means[].clustered_high"),
        "judges",
        (
            "no judge: held (95)",
            "one judge: held (95)",
            "two judges: held (95)",
            "several ratings of an output, no judge: held (95)",
            "one judge: held there (95)",
            "drawn by probabilities, one judge: held (95)",
            "drawn by probabilities, two judges: held (95)",
        ),
        remark="none with fewer than five effective workers",
    ),
    Statement(
        "estimate: the same, if judgments were independent",
        ("estimate:means[].normal_low", "estimate:means[].normal_high"),
        "judgments",
        ("mean held: if independent", "mean with a metric held: if independent"),
        remark="as published; printed beside the interval of record, and named so",
    ),
    Statement(
        "estimate: the same, by outputs or workers drawn anew",
        ("estimate:means[].resampled_*",),
        "resampled",
        tuple(
            f"mean{of} held: {unit} drawn anew"
            for of in ("", " with a metric")
            for unit in ("outputs", "workers")
        ),
        remark="as published; printed beside the interval of record, and named so",
    ),
    Statement(
        "estimate: intervals that may be looked at any time",
        (
            "estimate:looks[].asymptotic",
            "estimate:looks[].exact",
            "estimate:sequences[].asymptotic_*",
            "estimate:sequences[].exact_*",
            "estimate:sequences[].with_metric_*",
        ),
        "looks",
        (
            "ever missed: any n (≤ 5)",
            "ever missed: any n, with metric (≤ 5)",
            "ever missed: any n, exact (≤ 5)",
        ),
        remark="none but the exact one where nearly all judgments are the same or a tail is long",
    ),
    Statement(
        "estimate: such intervals with judges, looked at after every worker",
        ("estimate:sequences[].with_metric_*",),
        "judges",
        ("one judge: ever missed (≤ 5)", "two judges: ever missed (≤ 5)"),
        remark="from 20 workers on; of the mean of the pool's outputs",
    ),
    Statement(
        "estimate: intervals for a fixed number of judgments",
        ("estimate:looks[].fixed", "estimate:sequences[].fixed_*"),
        "looks",
        ("ever missed: fixed n",),
        remark="printed to show why not to look at it more than once",
    ),
    Statement(
        "watch: interval of a score so far",
        ("watch:scores[].low", "watch:scores[].high"),
        "so-far",
        ("ever missed: a score so far (≤ 5)",),
    ),
    Statement(
        "watch: p of a worker so far",
        ("watch:workers[].p",),
        "so-far",
        ("p of a random worker so far (≤ 5)",),
    ),
    Statement(
        "metrics: r over conversations",
        ("metrics:conversations[].*_low", "metrics:conversations[].*_high"),
        "metric",
        ("r over conversations held (95)",),
    ),
    Statement(
        "metrics: one metric correlates more strongly than another",
        ("metrics:williams[].p*", "metrics:williams[].holm"),
        "williams",
        ("one metric correlates more strongly (≤ 5)", "any of three, with Holm (≤ 5)"),
    ),
    Statement(
        "metrics: order of a judge's questions",
        ("metrics:judge[].low", "metrics:judge[].high"),
        "judge",
        ("order of a judge's questions held (95)",),
    ),
    Statement(
        "power: people put two systems in the other order, at least",
        (
            "power:noise[].noise",
            "power:metric_pairs[].noise*",
            "power:metrics[].noise*",
            "power:pairs[].noise",
        ),
        "wrong-order",
        (
            "a new sample puts two systems in the other order: said",
            "a new sample puts two systems in the other order: is so",
        ),
        remark="a lower bound: as published, it takes the differences seen for the true ones",
    ),
    Statement(
        "power: pairs of systems that reach significance",
        ("power:significance[].*",),
        remark="a count by the normal test of two means, as published, not corrected for several pairs",
    ),
    Statement(
        "plan: half-width of a score's interval",
        ("plan:expected[].half_width",),
        "plan",
        ("half-width of a score's interval",),
        remark="100 is right: per cent of what runs show",
    ),
    Statement(
        "plan: pairs told apart",
        ("plan:expected[].apart",),
        "plan",
        ("pairs told apart",),
        remark="as above",
    ),
    Statement(
        "plan: r of a second run",
        ("plan:expected[].r_low", "plan:expected[].r_high"),
        "plan-second",
        ("r of two runs within the range",),
        remark="the middle 95 % of runs drawn from the pilot, which they take for right, and named so",
    ),
    Statement(
        "plan: limits of a difference that is told apart",
        ("plan:expected[].pair_bound", "plan:expected[].all_pairs_bound"),
        "plan-second",
        ("limit of one difference", "limit of all differences"),
        remark="100 is right: per cent of those that runs show",
    ),
    Statement(
        "randomisation: p of two systems",
        ("randomisation:pairs[].p",),
        "exchanges",
        ("equal systems differ (≤ 5)",),
    ),
    Statement(
        "randomisation: p of all pairs, with Holm's correction",
        ("randomisation:pairs[].p_holm",),
        "exchanges-holm",
        ("any of three equal systems differs, with Holm (≤ 5)",),
    ),
)


def claims(keys: Iterable[str]) -> list[str]:
    """Return those of `keys` that name an interval, a chance, a test, or systems told apart."""
    return sorted({key for key in keys if _WORDS.search(key.partition(":")[2])})


def unregistered(keys: Iterable[str]) -> list[str]:
    """Return those of `keys` that need a statement and have none."""
    return [key for key in claims(keys) if not any(statement.covers(key) for statement in STATEMENTS)]


def keys_of(document: str, content: Any) -> Iterator[str]:
    """Yield the keys of all values in a document that was read from JSON."""
    yield from (f"{document}:{path}" for path in _paths("", content))


def _paths(path: str, content: Any) -> Iterator[str]:
    if isinstance(content, dict):
        for name, value in content.items():
            yield from _paths(f"{path}.{name}" if path else name, value)
    elif isinstance(content, list):
        for value in content:
            yield from _paths(f"{path}[]", value)
    else:
        yield path
