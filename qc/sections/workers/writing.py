"""Words that workers wrote, pasting and pauses, and scores without conversations that look pasted."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.drawing.charts import density, density_key, density_scale, height, rootogram, share_axis
from qc.drawing.panel import Panel, Scale, round_ticks, tick_labels
from qc.drawing.sheet import Drawing, Sheet
from qc.drawing.style import FAILED, MARGIN, PASSED
from qc.method.workload import DialogueLengths, Effort, compare_lengths, describe_effort
from qc.robustness.filter_check import FilterCheck
from qc.robustness.writing import WritingResults, describe_writing
from qc.sections import schema
from qc.sections.analysis import Analysis
from qc.sections.section import MadeFile, Part, Section
from qc.sections.workers.quiz import OF_A_GROUP, OF_A_WORKER, outcome, share_columns
from qc.table import (
    COUNT,
    GROUPS,
    INTERVAL,
    ONE,
    SHARE,
    SYSTEM_COLUMN,
    THREE,
    TWO,
    Column,
    Table,
    counted,
    decimal,
    listed,
    percent,
    side_by_side,
    whole,
)


def lengths(found: Effort) -> Table:
    """Return the lengths of workers' messages; a reader sees the groups of workers side by side."""
    lengths = [
        {"group": group, "measure": measure, **each}
        for group in GROUPS
        for measure, each in asdict(getattr(found, group)).items()
    ]
    frame = pd.DataFrame(lengths, columns=["group", "measure", "n", "mean", "median"])
    rows = side_by_side(frame, "measure", ["median", "mean"], list(frame["measure"].unique()))
    columns = (
        Column(f"{value} {group}", f"{value.capitalize()}, {group}", TWO if value == "mean" else ONE)
        for value in ("median", "mean")
        for group in GROUPS
    )
    return Table(
        frame, (Column("what", "What"), *columns), rows.assign(what=rows["measure"].str.replace("_", " "))
    )


def beside_dialogues(found: DialogueLengths) -> Table:
    """Return the lengths of workers who passed, and of the dialogues."""
    frame = pd.DataFrame(
        {
            "measure": measure,
            **{
                f"{of}_{name}": value
                for of, group in (("workers", found.workers), ("dialogues", found.dialogues))
                for name, value in asdict(getattr(group, measure)).items()
            },
        }
        for measure in asdict(found.workers)
    )
    columns = (
        Column("measure", "What"),
        Column("workers_median", "Median, workers", ONE),
        Column("dialogues_median", "Median, dialogues", ONE),
        Column("workers_mean", "Mean, workers", TWO),
        Column("dialogues_mean", "Mean, dialogues", TWO),
    )
    return Table(frame, columns, frame.assign(measure=frame["measure"].str.replace("_", " ")))


MEASURES = {
    "minutes": "minutes per conversation, median of a worker",
    "words": "words per input, median of a worker",
}
SHOWN = 97.5
BIN_COUNT = 24
HEAD, TITLE, HEIGHT, FOOT, LEFT, RIGHT = 48.0, 32.0, 130.0, 58.0, 50.0, 16.0


def draw_effort(check: FilterCheck) -> Drawing | None:
    """Draw the distributions of minutes and words for workers who passed and who failed; None if unknown.

    Values above the percentile SHOWN are outside the axis.
    """
    workers = check.workers
    passed = workers["passed"].to_numpy(bool)
    known = {name: workers[name].to_numpy(np.float64) for name in MEASURES}
    known = {name: values for name, values in known.items() if np.isfinite(values).any()}
    if not known:
        return None
    shown = {name: _groups(values, passed) for name, values in known.items()}

    def draw(width: float) -> Sheet:
        block = TITLE + HEIGHT + FOOT
        page = Sheet(width, HEAD + block * len(shown) + MARGIN)
        for i, (name, (groups, bins)) in enumerate(shown.items()):
            size = (width - LEFT - RIGHT, HEIGHT)
            ends = Scale(0.0, float(bins[-1])), density_scale(groups, bins)
            panel = Panel(page, LEFT, HEAD + block * i + TITLE, *size, *ends)
            share_axis(panel)
            ticks = round_ticks(0.0, float(bins[-1]), 6)
            panel.x_axis(ticks, tick_labels(ticks), MEASURES[name])
            for values, of_passed in zip(groups, (True, False), strict=True):
                density(panel, values, bins, passed=of_passed)
        density_key(page, MARGIN, 18, "passed", "failed")
        return page

    alts = [
        f"{MEASURES[name].split(',')[0]} {_median(groups[0])} passed, {_median(groups[1])} failed"
        for name, (groups, _) in shown.items()
    ]
    alt = f"Distributions over the workers; in the middle: {'; '.join(alts)}."
    return Drawing("Time and words of the workers", alt, draw)


def _groups(
    values: NDArray[np.float64], passed: NDArray[np.bool_]
) -> tuple[tuple[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]:
    """Return the known values of those who passed and of those who failed, and the edges of the bins."""
    finite = np.isfinite(values)
    bins = np.linspace(0, float(np.percentile(values[finite], SHOWN)) or 1.0, BIN_COUNT + 1)
    return (values[finite & passed], values[finite & ~passed]), bins


def _median(values: NDArray[np.float64]) -> str:
    return decimal(float(np.median(values)) if len(values) else np.nan, 1)


def _draw(analysis: Analysis) -> Drawing | None:
    check = analysis.filter_check
    return draw_effort(check) if analysis.effort and check else None


EFFORT = Part(
    kind=Effort,
    make=lambda a: describe_effort(a.sample),
    key="effort",
    option="effort",
    schema=schema.record(
        "How much workers wrote.",
        passed=schema.shared("effort", "Workers who passed."),
        failed=schema.shared("effort", "Workers who failed."),
        all=schema.shared("effort", "All workers."),
        counting=schema.text("How a word is counted."),
    ),
)

DIALOGUE_LENGTHS = Part(
    kind=DialogueLengths,
    make=lambda a: compare_lengths(a.sample, a.options.dialogues),
    key="dialogue_lengths",
    option="effort",
    schema=schema.record(
        "Lengths of workers' messages beside those of other people's dialogues; absent if none are given.",
        source=schema.text("Name of the dialogues' file."),
        workers=schema.shared("effort", "Of workers who passed."),
        dialogues=schema.shared("effort", "Of the dialogues, each of the two people as a conversation."),
    ),
)

EFFORT_SECTION = Section(
    id="effort",
    title="Effort",
    parts=(EFFORT, DIALOGUE_LENGTHS),
    tables=(
        EFFORT.file("effort.csv", "words and characters that workers wrote", lengths),
        DIALOGUE_LENGTHS.file(
            "dialogue_lengths.csv", "the same beside the dialogues of `--dialogues`", beside_dialogues
        ),
    ),
    figures=(
        MadeFile("effort.svg", "time and words of the workers; also needs `filter`", _draw, option="effort"),
    ),
    page="""\
{% call drawing("effort", "Time and words of the workers.") %}
Each worker counts once, with their median; the marks above are the medians of the two groups. The highest \
values lie beyond the axis.
{% endcall %}
{% call table("effort.csv", "What workers wrote.") %}
{{ found.counting }} Conversations with the quality-control bot are left out. Where workers who failed \
write less, the filter catches carelessness.
{% endcall %}
{% call table("dialogue_lengths.csv", "What workers wrote, and what people say in other dialogues.") %}
Of workers who passed. In the dialogues each of the two people counts as a conversation.
{% endcall %}
""",
)


_MEDIANS = (
    Column("pace", "Characters a minute", COUNT),
    Column("pause", "Longest pause, s", ONE),
    Column("away", "Times away", ONE),
    Column("away_seconds", "Away, s", ONE),
)


def groups(found: WritingResults) -> Table:
    """Count the conversations that look pasted, for workers who passed, who failed, and all."""
    columns = (
        *OF_A_GROUP,
        Column("conversations", "Conversations", COUNT),
        Column("pasted", "Look pasted", COUNT),
        *share_columns("Share"),
        *_MEDIANS,
    )
    return Table(found.groups, columns)


def workers(found: WritingResults) -> Table:
    """Return how each worker wrote; a reader sees those who pasted most first."""
    ordered = found.workers.sort_values(["pasted_share", "worker"], ascending=[False, True])
    columns = (
        *OF_A_WORKER,
        Column("conversations", "Conversations", COUNT),
        Column("pasted", "Look pasted", COUNT),
        Column("pasted_share", "Pasted", SHARE),
        Column("typed_share", "Typed", SHARE),
        *_MEDIANS,
    )
    return Table(found.workers, columns, ordered.assign(outcome=outcome(ordered)))


def scores(found: WritingResults) -> Table | None:
    """Return the scores without conversations that look pasted; None if there are none."""
    if found.scores.empty:
        return None
    columns = (
        SYSTEM_COLUMN,
        Column("n", "Conversations", COUNT),
        Column("left", "Without", COUNT),
        Column("z", "z", THREE),
        Column("z_left", "z without", THREE),
        Column("change", "Change", THREE),
        INTERVAL,
        Column("high", None, THREE),
    )
    return Table(found.scores, columns)


BINS = np.linspace(0.0, 1.0, 21)


def draw_pasted_shares(found: WritingResults) -> Drawing | None:
    """Draw the distribution of the share of pasted characters over the workers; None if nobody wrote."""
    shares = found.workers["pasted_share"].to_numpy(np.float64)
    passed = found.workers["passed"].to_numpy(bool)
    known = np.isfinite(shares)
    if not known.any():
        return None
    bars = rootogram(shares, passed, BINS)

    def draw(width: float) -> Sheet:
        page = Sheet(width, height(2))
        panel = bars.panel(page)
        across = round_ticks(0.0, 1.0, 5)
        panel.x_axis(across, [whole(100 * tick) for tick in across], "% of a worker’s characters were pasted")
        for top, sign, colour, words, group in (
            (20, "■", PASSED, "passed", passed),
            (40, "□", FAILED, "failed", ~passed),
        ):
            page.key((MARGIN, top), sign, colour, f"{words}: {counted((group & known).sum(), 'worker')}")
        return page

    alt = (
        f"Histogram of the share of pasted characters of {counted(known.sum(), 'worker')}: "
        f"{whole((shares == 0).sum())} pasted nothing, {whole((shares >= found.threshold).sum())} "
        f"{percent(found.threshold, 0)} or more."
    )
    return Drawing("Workers by what they pasted", alt, draw)


def conclusion(found: WritingResults) -> str:
    """Say how many conversations look pasted, and whether conclusions change without them."""
    (every,) = found.groups[found.groups["group"] == "all"].to_dict("records")
    pasted = every["pasted"]
    look = "looks" if pasted == 1 else "look"
    told = f"{whole(pasted)} of {whole(every['conversations'])} conversations {look} pasted"
    if found.scores.empty:
        why = "" if pasted == 0 else ", none of them in a score"
        return f"{told}{why}: no score is another without them."
    order = "the systems stand in another order" if found.order_changes else "the order of systems stays"
    whose = f"the score of {listed(found.changed)}" if found.changed else "no score"
    share = percent(every["share"], 1)
    return f"{told} ({share}). Without them {order}, and {whose} changes by more than chance."


_WRITING_SCHEMA = schema.record(
    (
        "How workers wrote, in conversations with the qc bot, too; absent if the study does "
        "not record it, or the source does not hold it."
    ),
    threshold=schema.number("Share of pasted characters from which on a conversation looks pasted."),
    groups=schema.rows(
        "Of the workers who passed, who failed, of all.",
        group=schema.text("`passed`, `failed` or `all` workers."),
        workers=schema.integer("Workers of whom it is known how they wrote."),
        conversations=schema.integer("Conversations in which it was recorded."),
        pasted=schema.integer("Conversations that look pasted."),
        share=schema.number("Their share of the conversations; null without any.", null=True),
        low=schema.number(
            (
                "Lower end of the interval of that share; null with fewer than five workers, where "
                "few of many did most of it, or where all do the same."
            ),
            null=True,
        ),
        high=schema.number("Upper end of the interval of that share.", null=True),
        pace=schema.number(
            "Median over conversations: characters typed or composed a minute of writing; null if unknown.",
            null=True,
        ),
        pause=schema.number("Median of the longest pause of a conversation's inputs, in seconds.", null=True),
        away=schema.number("Median of how often the page lost the focus in a conversation.", null=True),
        away_seconds=schema.number("Median of how long it had lost it, in seconds.", null=True),
    ),
    workers=schema.rows(
        "How each worker wrote.",
        worker=schema.text("Id of the worker who wrote."),
        passed=schema.boolean("Whether they passed the filter."),
        conversations=schema.integer("Conversations in which it was recorded."),
        pasted=schema.integer("Conversations that look pasted."),
        pasted_share=schema.number(
            "Share of their characters that was pasted or dropped; null without any.", null=True
        ),
        typed_share=schema.number(
            "Share of their characters that came one at a time; null without any.", null=True
        ),
        pace=schema.number(
            "Median over conversations: characters typed or composed a minute of writing; null if unknown.",
            null=True,
        ),
        pause=schema.number("Median of the longest pause of a conversation's inputs, in seconds.", null=True),
        away=schema.number("Median of how often the page lost the focus in a conversation.", null=True),
        away_seconds=schema.number("Median of how long it had lost it, in seconds.", null=True),
    ),
    scores=schema.rows(
        "Scores without conversations that look pasted, best system first; empty if none that counts does.",
        system=schema.text("The system whose score it is."),
        n=schema.integer("Conversations that count."),
        left=schema.integer("Those of them that do not look pasted."),
        z=schema.number("Overall z of all; null without any.", null=True),
        z_left=schema.number("Overall z without those that look pasted; null without any.", null=True),
        change=schema.number("What the score changes by without them.", null=True),
        low=schema.number(
            "Lower end of the interval of the change; null with fewer than two workers.", null=True
        ),
        high=schema.number("Upper end of the interval of the change.", null=True),
    ),
)


def _words(analysis: Analysis) -> Mapping[str, object]:
    return {"conclusion": conclusion(analysis.writing)} if analysis.writing else {}


def _summary(analysis: Analysis) -> Iterator[str]:
    if analysis.writing is not None:
        yield f"How workers wrote: {conclusion(analysis.writing)}"


WRITING = Part(
    kind=WritingResults,
    make=lambda a: describe_writing(a.sample, a.scores, a.options.bootstrap, a.options.seed),
    key="writing",
    of_chats=True,
    schema=_WRITING_SCHEMA,
)

WRITING_SECTION = Section(
    id="writing",
    title="How workers wrote",
    parts=(WRITING,),
    tables=(
        WRITING.file("writing.csv", "conversations that look pasted, and how workers wrote", groups),
        WRITING.file("writing_workers.csv", "how each worker wrote", workers),
        WRITING.file("writing_scores.csv", "scores without conversations that look pasted", scores),
    ),
    figures=(
        WRITING.file("writing.svg", "how the share of pasted characters is distributed", draw_pasted_shares),
    ),
    words=_words,
    summary=_summary,
    page="""\
<p>{{ conclusion }}</p>
{% call table("writing.csv", "Conversations that look pasted, by the worker filter.") %}
A conversation looks pasted if {{ "%.0f" | format(100 * found.threshold) }} % or more of the \
characters that were written in it came by paste or drop; what an input method, a keyboard’s suggestion or \
speech put in does not. Those with the quality-control bot count. Intervals are of whole workers, and \
there is none of fewer than five of them, where few of many did most of it, or where all do the same; \
pace, pauses and absences are medians over conversations. Pasting is a sign that a language model may have \
written, and no proof; who retypes is not seen. Neither the filter nor any score uses it.
{% endcall %}
{% call drawing("writing", "Workers by what they pasted.") %}
Each worker stands where the share of pasted characters in all that they wrote is; the upright axis grows \
with the square root, so that few workers are seen beside many.
{% endcall %}
{% if not found.scores.empty %}
{% call table("writing_scores.csv", "Scores without conversations that look pasted.") %}
Overall z of the workers who passed, with all conversations and without those that look pasted. An \
interval that leaves out 0 says that the score hangs on them by more than chance.
{% endcall %}
{% endif %}
<details class="screen">
<summary>How each worker wrote</summary>
{% call table("writing_workers.csv", "How each worker wrote, who pasted most first.") %}
Shares are of all characters that the worker wrote; what is neither typed nor pasted was put in several \
characters at a time.
{% endcall %}
</details>
<p class="paper">How each worker wrote is in <code>writing_workers.csv</code>.</p>
""",
)
