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
    "certificate": "3 or 10 systems: equal, as published, in halves, one ahead; 7 to 248 workers; "
    "8 assignments each; strong tastes",
    "few": "2 to 10 equal systems, 5 to 13 workers",
    "uneven": "35 to 39 workers, of whom up to five have up to 60 assignments; strong tastes",
    "context": "3 or 10 equal systems; 16 to 248 workers; 8 assignments each; strong tastes",
    "adjusted": "10 equal systems; 16 to 248 workers; 8 assignments each with strong tastes",
    "second": "10 systems, close or spread; 16 to 248 workers; 8 assignments each",
    "random": "12 to 248 workers, none to half random: anywhere, one impression, middling; "
    "strong to weak discernment of the others",
    "means": "3 to 40 workers, with as many values each or 1 to 8",
    "groups": "248 workers in groups that think alike or not",
    "quiz": "12 to 248 workers, who know more or less or guess",
    "transcripts": "8 to 32 workers, 12 or 40 items of each of 4 equal systems",
    "choices": "3 equal systems, 5 to 40 workers with tastes",
    "arena": "6 to 20 systems, equal or not; 120 to 2,000 voters with tastes or without, or not told",
    "judgments": "10 to 100 workers, with habits or without, 1 or 2 for each output",
    "looks": "three levels, a slider, nearly always 0, nearly always the best of five",
    "metric": "8 to 120 workers, whom the metric follows more or less",
    "plan": "pilots of 30 and 60 workers",
    "exchanges": "6 to 60 units",
}
_FROM_FIVE = tuple(f"means-{workers}" for workers in (5, 10, 20, 40))
_BY_CONSTRUCTION = "exact by construction"

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
        remark="both columns should be alike",
    ),
    Statement(
        "interval of a score, few raters",
        ("report:systems[].interval.*",),
        "few",
        ("score held (95)",),
        remark="conservative: up to 3 points more than 95, where few rate several systems",
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
        "few",
        ("difference held (95)",),
        remark="conservative: up to 3 points more than 95 with 5 workers",
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
        "certificate: any claim is false",
        ("certificate:claims.*", "certificate:preregistration.hypotheses[].claimed"),
        "certificate",
        ("any claim false (≤ 5)",),
    ),
    Statement(
        "p of a pair, as published",
        ("report:significance.p*", "report:significance.systems*"),
        "one-run",
        ("rank sum, as published (5)",),
        remark="the published test takes conversations as independent; it decides nothing here",
    ),
    Statement(
        "p of all pairs, as published, with Holm's correction",
        ("report:significance.holm*", "report:clusters.*"),
        "one-run",
        ("any, published with Holm (≤ 5)",),
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
        remark="the rank-sum test of pairs, which is measured above",
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
        ("mean, as many values each: held (95)", "mean, 1 to 8 values each: held (95)"),
        _FROM_FIVE,
        "conservative: up to 2 points more than 95 with 5 workers",
    ),
    Statement(
        "r of rated replies with the score",
        ("report:turn_ratings.r_low", "report:turn_ratings.r_high"),
        "means",
        ("correlation with the score: held (95)",),
        _FROM_FIVE,
        "conservative: up to 2 points more than 95",
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
        remark="Student's t over independent workers, one value of each",
    ),
    Statement(
        "transcripts: how often workers pass by chance",
        ("report:transcripts.chance_passes.*",),
        remark="a simulation of the test, not an estimate",
    ),
    Statement(
        "side by side: score",
        ("side_by_side:scores[].low", "side_by_side:scores[].high"),
        "choices",
        ("score held (95)",),
        remark="conservative: up to 4 points more than 95 with few workers",
    ),
    Statement(
        "side by side: one system lies above another",
        ("side_by_side:verdict[]",),
        "choices",
        ("any wrongly told apart (≤ 5)",),
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
        remark=f"sign tests, {_BY_CONSTRUCTION}",
    ),
    Statement(
        "estimate: mean of a system, of record",
        ("estimate:means[].clustered_low", "estimate:means[].clustered_high"),
        "judgments",
        ("mean held: of record (95)", "mean with a metric held: of record (95)"),
        remark="conservative: up to 2 points more than 95 with 10 workers without habits",
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
        remark="as published, beside the interval of record; percentiles of few workers hold less "
        "(`--part means`)",
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
        remark="none but the exact one where nearly all judgments are the same",
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
        remark="the sequence above, of z scores: `python benchmarks/running_coverage.py`",
    ),
    Statement(
        "watch: p of a worker so far",
        ("watch:workers[].p",),
        remark="the p of the filter, which is measured above",
    ),
    Statement(
        "metrics: r over conversations",
        ("metrics:conversations[].*_low", "metrics:conversations[].*_high"),
        "metric",
        ("r over conversations held (95)",),
        remark="conservative: up to 2 points more than 95 with 8 workers",
    ),
    Statement(
        "metrics: one metric correlates more strongly than another",
        ("metrics:williams[].p*", "metrics:williams[].holm"),
        remark="Williams' test, as published",
    ),
    Statement(
        "metrics: order of a judge's questions",
        ("metrics:judge[].low", "metrics:judge[].high"),
        remark="Student's t over conversations",
    ),
    Statement(
        "power: chance that people put two systems in the wrong order",
        (
            "power:noise[].noise",
            "power:metric_pairs[].noise*",
            "power:metrics[].noise*",
            "power:pairs[].noise",
        ),
        remark="a normal tail at the estimated difference and error; the golden numbers of its paper",
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
        remark="quantiles of simulated runs, which take seconds each",
    ),
    Statement(
        "plan: limits of a difference that is told apart",
        ("plan:expected[].pair_bound", "plan:expected[].all_pairs_bound"),
        remark="quantiles of t in simulated runs",
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
        remark="Holm's correction of the p above",
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
