"""Repeats and control items of a run whose workers rate transcripts."""

from collections.abc import Iterator
from dataclasses import asdict

import pandas as pd

from qc.drawing.charts import correlations
from qc.drawing.sheet import Drawing
from qc.sections import schema
from qc.sections.analysis import Analysis
from qc.sections.section import Part, Section, TitledTable
from qc.table import (
    COUNT,
    INTERVAL,
    ONE,
    SHARE,
    SYSTEM_COLUMN,
    THREE,
    TWO,
    Column,
    P,
    Table,
    counted,
    decimal,
)
from qc.transcripts.controls import Controls, Coverage, Repeats, SelfAgreement
from qc.transcripts.filter import ChancePasses
from qc.transcripts.results import Conventions, Edits, TranscriptResults, TwoWay, describe_transcripts

_KINDS = {"ordinary": "ordinary items", "bad": "bad twins", "repeat": "repeats", "reference": "references"}
_QUARTILES = ("r_low", "r_median", "r_high")


def conventions(found: Conventions) -> Table:
    """Return the scores by both conventions for z."""
    columns = (
        SYSTEM_COLUMN,
        Column("items", "Items", COUNT),
        Column("judgments", "Judgments", COUNT),
        Column("n_published", "n as published", COUNT),
        Column("z", "z, all ratings", THREE),
        Column("z_without_bad", "z, without bad twins", THREE),
        Column("raw", "Raw", TWO),
    )
    return Table(found.table, columns)


def coverage(found: Coverage) -> Table:
    """Return the distribution of workers per item."""
    columns = (
        Column("raters", "Workers", COUNT),
        Column("items", "Items that so many rated", COUNT),
        Column("items_passed", "… who passed", COUNT),
    )
    return Table(found.table, columns)


def controls(found: Controls) -> Table:
    """Return the score of each kind of item, and its distance from ordinary items."""
    columns = (
        Column("group", "Workers who"),
        Column("named", "Kind"),
        # Important columns come first, so that a phone shows them without scrolling.
        Column("difference", "Above ordinary", ONE),
        Column("low", INTERVAL.head, ONE, upper="high"),
        Column("raw", "Raw", ONE),
        Column("z", "z", TWO),
        Column("workers", "Workers", COUNT),
        Column("ratings", "Shown", COUNT),
    )
    return Table(found.table, columns, found.table.assign(named=found.table["kind"].map(_KINDS)))


def controls_by_worker(found: Controls) -> Table:
    """Return the mean raw score that each worker gave to each kind of item."""
    return Table(found.by_worker, form=ONE)


def chance_passes(found: ChancePasses) -> Table:
    """Return how often workers pass by chance."""
    return Table(pd.DataFrame([asdict(found)]), (Column("level", form=SHARE), Column("share", form=SHARE)))


def kappa(found: Repeats) -> Table:
    """Return workers' agreement with themselves, by group and number of categories."""
    rows = [
        {"group": name, **asdict(each)}
        for name, group in (("passed", found.passed), ("failed", found.failed))
        for each in group.kappas
    ]
    columns = (
        Column("group", "Workers who"),
        Column("categories", "Categories", COUNT),
        Column("kappa", "κ", THREE),
        Column("observed", "Agree", THREE),
        Column("expected", "By chance", THREE),
        Column("pairs", "Pairs", COUNT),
    )
    return Table(pd.DataFrame(rows), columns)


def repeat_correlations(found: Repeats) -> Table:
    """Return the distribution of single workers' correlations with themselves, by group."""
    medians = found.workers.groupby("passed")[["rho", "tau", "sd"]].median()
    rows = [
        {
            "group": name,
            "workers": len(group.r),
            "without_r": group.without_r,
            **dict(zip(_QUARTILES, group.quartiles, strict=True)),
            **{
                f"median_{key}": medians[key].get(name == "passed", float("nan"))
                for key in ("rho", "tau", "sd")
            },
        }
        for name, group in (("passed", found.passed), ("failed", found.failed))
    ]
    columns = (
        Column("group", "Workers who"),
        Column("r_low", "r, lower quartile", TWO),
        Column("r_median", "Median", TWO),
        Column("r_high", "Upper quartile", TWO),
        Column("median_rho", "Median ρ", TWO),
        Column("median_tau", "Median τ", TWO),
        Column("workers", "Workers with r", COUNT),
        Column("without_r", "without", COUNT),
        Column("median_sd", "Median SD of ratings", ONE),
    )
    return Table(pd.DataFrame(rows), columns)


def repeats(found: Repeats) -> Table:
    """Return each worker's agreement with themselves; a reader sees the lowest first."""
    ordered = found.workers.sort_values(["r", "worker"], na_position="first")
    columns = (
        Column("worker", "Worker"),
        Column("outcome", "Filter"),
        Column("pairs", "Pairs", COUNT),
        Column("r", "r", TWO),
        Column("rho", "ρ", TWO),
        Column("tau", "τ", TWO),
        Column("distance", "Mean distance", ONE),
        Column("sd", "SD of all ratings", ONE),
    )
    shown = ordered.assign(outcome=ordered["passed"].map({True: "passed", False: "failed"}))
    return Table(found.workers, columns, shown)


def errors(found: TwoWay) -> Table:
    """Return the standard errors of scores for other workers, for other items, and for both."""
    columns = (
        SYSTEM_COLUMN,
        Column("z", "z", THREE),
        Column("low", "95 %, both", THREE, upper="high"),
        Column("both", "Error, both", THREE),
        Column("by_worker", "by worker", THREE),
        Column("by_item", "by item", THREE),
        Column("workers", "Workers", COUNT),
        Column("items", "Items", COUNT),
    )
    return Table(found.systems, columns)


def error_pairs(found: TwoWay) -> Table:
    """Return the differences of systems with their two-way errors."""
    columns = (
        Column("first", "System"),
        Column("second", "Other"),
        Column("difference", "Difference in z", THREE),
        Column("error", "Error, both", THREE),
        Column("p", "p", P),
        Column("holm", "p, Holm", P),
    )
    return Table(found.pairs, columns)


def edits(found: Edits) -> Table:
    """Return how much workers changed in the texts of each system."""
    columns = (
        SYSTEM_COLUMN,
        Column("judgments", "Judgments", COUNT),
        Column("edited", "Changed", SHARE),
        Column("edit_share", "Edited words over length", THREE),
    )
    return Table(found.table, columns)


def draw_repeats(result: Repeats) -> Drawing | None:
    """Draw the distributions of r of items with their repeats, for workers who passed and who failed.

    None if no worker has an r.
    """
    passed, failed = result.passed, result.failed
    if len(passed.r) + len(failed.r) == 0:
        return None
    words = _repeats_words("passed", passed), _repeats_words("failed", failed)
    alt = (
        "Distributions of the correlation of each worker’s ratings of items with those of their repeats: "
        f"{'; '.join(words)}."
    )
    draw = correlations(passed.r, failed.r, "Pearson r of a worker’s two ratings", words)
    return Drawing("Agreement of workers with themselves", alt, draw)


def _repeats_words(name: str, group: SelfAgreement) -> str:
    if len(group.r) == 0:
        return f"{name}: no worker with r"
    return f"{name}: {counted(len(group.r), 'worker')}, median r {decimal(group.quartiles[1], 2)}"


_TRANSCRIPTS_SCHEMA = schema.record(
    "What a run that rates transcripts tells beside scores; absent in a run of conversations.",
    conventions=schema.record(
        "Scores by both published conventions for z.",
        table=schema.rows(
            "Systems, best first.",
            system=schema.text("Name."),
            items=schema.integer("Items that workers who passed judged."),
            judgments=schema.integer("Judgments of them."),
            n_published=schema.integer(
                "Ratings of items and of repeats, on all criteria, as the published n."
            ),
            z=schema.number("Overall z, standardised over all ratings of a worker.", null=True),
            z_without_bad=schema.number(
                "Overall z, standardised over all ratings but those of bad twins.", null=True
            ),
            raw=schema.number("Overall raw score.", null=True),
        ),
        r=schema.number("Correlation of the two z over the systems.", null=True),
    ),
    errors=schema.record(
        "How far scores would move with other workers and other items.",
        systems=schema.rows(
            "Systems, best first.",
            system=schema.text("Name."),
            z=schema.number("Overall z.", null=True),
            workers=schema.integer("Workers who passed and judged it."),
            items=schema.integer("Items of it that they judged."),
            by_worker=schema.number("Standard error with other workers and these items.", null=True),
            by_item=schema.number("Standard error with these workers and other items.", null=True),
            both=schema.number("Standard error with other workers and other items.", null=True),
            low=schema.number("Lower end of the 95 % interval by `both`.", null=True),
            high=schema.number("Upper end of the 95 % interval by `both`.", null=True),
        ),
        pairs=schema.rows(
            "Every two systems.",
            first=schema.text("The system that scores higher."),
            second=schema.text("The other one."),
            difference=schema.number("In overall z.", null=True),
            error=schema.number("Standard error with other workers and other items.", null=True),
            p=schema.number("Two-sided; null where it cannot be tested.", null=True),
            holm=schema.number("With Holm’s correction over all pairs.", null=True),
        ),
    ),
    coverage=schema.record(
        "Workers per item.",
        items=schema.integer("Items that somebody rated."),
        table=schema.rows(
            "For each number of workers.",
            raters=schema.integer("Number of workers."),
            items=schema.integer("Items rated by so many."),
            items_passed=schema.integer("Items rated by so many who passed."),
        ),
        notes=schema.array("What a reader must know of it.", schema.text()),
    ),
    controls=schema.record(
        "Control items beside ordinary ones.",
        table=schema.rows(
            "For each group of workers and kind of item.",
            group=schema.one_of("Workers who passed, or who failed.", "passed", "failed"),
            kind=schema.one_of("Kind of item.", "ordinary", "bad", "repeat", "reference"),
            workers=schema.integer("Who rated such items."),
            ratings=schema.integer("How many stood on their screens."),
            raw=schema.number("Overall raw score, mean over workers.", null=True),
            z=schema.number("Overall z, mean over workers.", null=True),
            difference=schema.number(
                "Raw distance from the ordinary items that they belong to, mean over workers.", null=True
            ),
            low=schema.number("Lower end of its interval.", null=True),
            high=schema.number("Upper end of its interval.", null=True),
        ),
        by_worker=schema.rows(
            "Mean raw score of each kind, by worker.",
            worker=schema.text("Id."),
            ordinary=schema.number("Of ordinary items.", null=True),
            bad=schema.number("Of bad twins.", null=True),
            repeat=schema.number("Of repeats.", null=True),
            reference=schema.number("Of references.", null=True),
        ),
        notes=schema.array("What a reader must know of them.", schema.text()),
    ),
    chance_passes=schema.record(
        "How often workers pass who cannot tell bad twins.",
        level=schema.number("The share that should, α."),
        share=schema.number(
            "The share that does, each bad twin and its item exchanged at random.", null=True
        ),
        exchanges=schema.integer("How often the pairs of each worker were exchanged."),
        seed=schema.integer("Seed of the exchanges."),
    ),
    repeats=schema.record(
        "Agreement of workers with themselves; null if nobody rated an item twice.",
        null=True,
        passed=schema.shared("self_agreement", "Of workers who passed."),
        failed=schema.shared("self_agreement", "Of workers who failed."),
        workers=schema.rows(
            "Each worker with repeats.",
            worker=schema.text("Id."),
            passed=schema.boolean("Whether they passed."),
            pairs=schema.integer("Their pairs of ratings."),
            r=schema.number("Pearson’s r of their pairs.", null=True),
            rho=schema.number("Spearman’s ρ of their pairs.", null=True),
            tau=schema.number("Kendall’s τ of their pairs.", null=True),
            distance=schema.number("Mean distance of the two ratings.", null=True),
            sd=schema.number("Standard deviation of all their ratings.", null=True),
        ),
    ),
    edits=schema.record(
        "What workers changed in texts that they were to improve; null if they were not asked.",
        null=True,
        table=schema.rows(
            "Each system.",
            system=schema.text("System."),
            judgments=schema.integer("Judgments of workers who passed."),
            edited=schema.number("Share of them in which something was changed.", null=True),
            edit_share=schema.number(
                "Edited words over length, mean over its items; lower is better.", null=True
            ),
        ),
    ),
    minutes_per_assignment=schema.record(
        "Working time of an assignment.",
        passed=schema.number("Workers who passed.", null=True),
        failed=schema.number("Workers who failed.", null=True),
        all=schema.number("All.", null=True),
    ),
)


def _summary(analysis: Analysis) -> Iterator[TitledTable]:
    if (found := analysis.transcripts) is None:
        return
    yield TitledTable("Control items beside ordinary ones", controls(found.controls))
    if found.repeats is not None:
        yield TitledTable("Items that a worker rated twice: κ", kappa(found.repeats))
        yield TitledTable("… and r of each worker", repeat_correlations(found.repeats))


RESULTS = Part(
    kind=TranscriptResults,
    make=lambda a: describe_transcripts(a.sample, a.scores, a.options.seed),
    key="transcripts",
    option="transcripts",
    notes=lambda found: found.notes,
    schema=_TRANSCRIPTS_SCHEMA,
)

SECTION = Section(
    id="transcripts",
    title="Repeats and control items",
    parts=(RESULTS,),
    tables=(
        RESULTS.file(
            "transcript_scores.csv",
            "items, judgments and z by both published conventions",
            lambda found: conventions(found.conventions),
        ),
        RESULTS.file(
            "workers_per_item.csv",
            "how many workers rated how many items",
            lambda found: coverage(found.coverage),
        ),
        RESULTS.file(
            "transcript_errors.csv",
            "errors of scores by other workers, other items and both",
            lambda found: errors(found.errors),
        ),
        RESULTS.file(
            "transcript_pairs.csv",
            "differences of systems with errors by other workers and other items",
            lambda found: error_pairs(found.errors),
        ),
        RESULTS.file(
            "controls.csv",
            "scores of bad twins, repeats and references beside those of ordinary items",
            lambda found: controls(found.controls),
        ),
        RESULTS.file(
            "controls_by_worker.csv",
            "the mean raw score of each kind of item by each worker",
            lambda found: controls_by_worker(found.controls),
        ),
        RESULTS.file(
            "chance_passes.csv",
            "how often workers pass who cannot tell bad twins",
            lambda found: chance_passes(found.chance_passes),
        ),
        RESULTS.file(
            "kappa.csv",
            "κ of items that a worker rated twice",
            lambda found: kappa(found.repeats) if found.repeats else None,
        ),
        RESULTS.file(
            "repeat_correlations.csv",
            "how workers’ correlations with themselves are distributed",
            lambda found: repeat_correlations(found.repeats) if found.repeats else None,
        ),
        RESULTS.file(
            "repeats.csv",
            "how each worker agrees with themselves",
            lambda found: repeats(found.repeats) if found.repeats else None,
        ),
        RESULTS.file(
            "edits.csv",
            "what workers changed in texts that they were to improve",
            lambda found: edits(found.edits) if found.edits else None,
        ),
    ),
    figures=(
        RESULTS.file(
            "repeats.svg",
            "how workers’ correlations with themselves are distributed",
            lambda found: draw_repeats(found.repeats) if found.repeats else None,
        ),
    ),
    summary=_summary,
    page="""\
{% call table("controls.csv", "Control items beside ordinary ones.") %}
Every worker’s mean over the items of a kind, then the mean over workers. References should score clearly \
higher than ordinary items, bad twins clearly lower, repeats alike. The interval is of the difference in \
raw scores, workers taken as drawn from many. Only the pairs of bad twins decide who passes; references \
decide nothing.
{% endcall %}
{% if found.repeats %}
<h3>Do workers agree with themselves?</h3>
{% call table("kappa.csv", "κ of items that a worker rated twice, in one assignment.") %}
The scale is cut into equal parts; κ is how much more often both ratings fall into one part than chance \
would have it, 1 for always. All pairs of a group are taken together, on all criteria. Read it with the \
table and the figure below: <b>who hardly moves the sliders agrees with themselves without reading</b>, so \
that flat raters raise κ, and workers who failed may well have the higher one.
{% endcall %}
{% call table("repeat_correlations.csv", "Each worker’s correlation with themselves.") %}
Pearson’s r of a worker’s pairs, quartiles over workers; without r are those with fewer than three pairs, \
or whose ratings do not vary. The SD is that of all ratings of a worker: where it is small, κ says little.
{% endcall %}
{% call drawing("repeats", "Each worker’s correlation with themselves.") %}
The farther to the right, the better workers repeat their first rating. The marks above are the medians of \
the two groups.
{% endcall %}
<details>
<summary>Each worker’s repeats</summary>
{% call table("repeats.csv", "The workers, the lowest correlation first.") %}
The mean distance is that of the two ratings, on the scale of the ratings.
{% endcall %}
</details>
{% endif %}
<h3>What stands behind a score</h3>
{% call table("workers_per_item.csv", "Workers per item.") %}
How many items were rated by so many different workers, and by so many who passed. Only where an item has \
two or more can it be told how far workers differ on one and the same text.
{% endcall %}
{% call table("transcript_scores.csv", "Both published conventions for z.") %}
This report standardises over all ratings of a worker, bad twins among them (chapter 3 of the thesis); \
chapter 4 leaves the bad twins out of mean and standard deviation, which moves all z down. Over the \
systems the two correlate at {{ ("r = " ~ (found.conventions.r | decimal)) | tight }}. The published n \
counts ratings of items and of repeats, although a repeat is averaged with its item; judgments are what is \
left after that.
{% endcall %}
{% call table("transcript_errors.csv", "Other workers, and other items.") %}
How far a score would move with other workers and these very items (<i>by worker</i>, as the intervals of \
the ranking have it), with these workers and other items of the same systems (<i>by item</i>), and with \
other workers and other items (<i>both</i>). Take <i>both</i> where systems are meant and not these items \
of theirs.
{% endcall %}
<details>
<summary>Pairs of systems, by other workers and other items</summary>
{% call table("transcript_pairs.csv", "Differences of systems.") %}
Errors as <i>both</i> above; two-sided p by Student’s t, and with Holm’s correction over all pairs.
{% endcall %}
</details>
{% if found.edits %}
{% call table("edits.csv", "What workers changed in the texts.") %}
Workers were to improve what they did not find perfect. The value is edited words over length, mean over \
the items of a system, each the mean over its workers who passed; lower is better, and a text that was \
left as it was counts as 0.
{% endcall %}
{% endif %}
""",
)
