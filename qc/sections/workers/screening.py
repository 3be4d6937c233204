"""The workers and the filter: who is kept, and whether the filter does its job."""

from collections.abc import Iterator
from dataclasses import asdict

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.drawing.charts import height, rootogram
from qc.drawing.panel import round_ticks, tick_labels
from qc.drawing.sheet import Drawing, Sheet
from qc.drawing.style import FAILED, INK, MARGIN, PASSED
from qc.method.filter import Screening
from qc.method.sample import Count
from qc.robustness.filter_check import FilterCheck, check_filter
from qc.sections import schema
from qc.sections.analysis import Analysis
from qc.sections.section import Json, MadeFile, Part, Section, TitledTable, always, fields_of
from qc.table import (
    COUNT,
    GROUPS,
    ONE,
    P_EXACT,
    ROUGH_SHARE,
    SHARE,
    SYSTEM_COLUMN,
    THREE,
    TWO,
    WRITTEN,
    Column,
    P,
    Table,
    counted,
    percent,
    whole,
)


def p_values(analysis: Analysis) -> Table:
    """Return p of every worker; a reader sees only those who failed, with the reason."""
    workers = analysis.sample.screening.workers
    columns = (Column("worker", "Worker"), Column("p", "p", P_EXACT), Column("reason", "Reason"))
    return Table(workers[["worker", "p"]], columns, workers[~workers["passed"]])


def workers(found: FilterCheck) -> Table:
    """Return all data about each worker.

    A reader sees those who failed, then those who passed with a remark, then the others; in each group the
    highest p first.
    """
    passed, remark = found.workers["passed"], found.workers["remark"]
    ordered = found.workers.assign(group=np.where(passed, np.where(remark == "", 2, 1), 0)).sort_values(
        ["group", "p", "worker"], ascending=[True, False, True], na_position="first"
    )
    shown = ordered.assign(
        outcome=np.where(ordered["passed"], "passed", "failed"),
        said=(ordered["reason"] + "; " + ordered["remark"]).str.strip("; "),
    )
    columns = (
        Column("worker", "Worker"),
        Column("outcome", "Filter"),
        Column("said", "Why, and remarks"),
        Column("p", "p", P),
        Column("assignments", "Assign\u00adments", COUNT),
        Column("conversations", "Conver\u00adsations", COUNT),
        Column("sd", "SD of ratings", ONE),
        Column("identical", "Identical ratings", ROUGH_SHARE),
        Column("minutes", "Minutes", ONE),
        Column("words", "Words an input", COUNT),
    )
    return Table(found.workers, columns, shown)


def filter_check(found: FilterCheck) -> Table:
    """Return the results of the filter check."""
    keys = (
        "expected_random_pass",
        "simulated_random_pass",
        "simulated_random_pass_error",
        "random_share",
        "random_among_passed",
        "random_among_passed_bound",
        "everyone_r",
        "everyone_rho",
        "failed_r",
        "failed_rho",
    )
    return Table(pd.DataFrame([{key: getattr(found, key) for key in keys}]))


def everyone(found: FilterCheck) -> Table:
    """Return the ranking without the filter."""
    columns = (
        SYSTEM_COLUMN,
        Column("rank", "Rank", COUNT),
        Column("rank_everyone", "Rank, everyone kept", COUNT),
        Column("z", "z", THREE),
        Column("z_everyone", "z, everyone kept", THREE),
    )
    return Table(found.everyone, columns)


def pass_rates(analysis: Analysis) -> Table:
    """Return the authors' table of pass rates."""
    counts = {"HIT": analysis.rates.hits, "Worker": analysis.rates.workers}
    rows = [(name, count.passed, count.total, count.rate) for name, count in counts.items()]
    columns = (Column("passrate", form=SHARE),)
    return Table(pd.DataFrame(rows, columns=["", "passed", "total", "passrate"]), columns)


def duration(analysis: Analysis) -> Table:
    """Return the minutes per conversation."""
    return Table(pd.DataFrame([asdict(analysis.minutes)], columns=list(GROUPS)))


def kept(analysis: Analysis) -> Table:
    """Return the numbers that passed the filter; a reader also sees the minutes."""
    rates, chatted = analysis.rates, analysis.run.items is None
    counts = {
        "workers": rates.workers,
        "assignments": rates.assignments,
        "HIT ids": rates.hits,
        "conversations with systems" if chatted else "judgments of items": rates.conversations,
    }
    rows = [
        (name, count.passed, count.total - count.passed, count.total, count.rate)
        for name, count in counts.items()
    ]
    heads = ["What", "Passed", "Failed", "Total", "Pass rate"]
    shown = [(name, *map(whole, numbers), percent(rate)) for name, *numbers, rate in rows]
    thing = "conversation" if chatted else "item"
    minutes = (TWO.text(getattr(analysis.minutes, group)) for group in GROUPS)
    return Table(
        pd.DataFrame(rows, columns=["unit", "passed", "failed", "total", "rate"]),
        (
            Column("What", "What"),
            *(Column(head, head, WRITTEN) for head in heads[1:]),
            Column("rate", form=SHARE),
        ),
        pd.DataFrame([*shown, (f"minutes per {thing}", *minutes, "")], columns=heads),
    )


WIDEST_BIN = 0.05


def draw_p_values(screening: Screening, check: FilterCheck | None, bad: str) -> Drawing:
    """Draw the distribution of the workers' p-values, and the level α below which workers pass.

    Args:
        screening: the p-values.
        check: estimated share of random workers; None leaves their line out.
        bad: name of the bot or items that workers should rate lower.
    """
    p = screening.workers["p"].to_numpy(np.float64)
    passed = screening.workers["passed"].to_numpy(bool)
    edges = _edges(screening.alpha)
    bars = rootogram(p, passed, edges)
    level = None
    if check is not None and np.isfinite(check.random_share):
        level = random_level(screening, check, edges)

    def draw(width: float) -> Sheet:
        page = Sheet(width, height(3))
        panel = bars.panel(page)
        if level is not None:
            panel.page.line(panel.steps(level, edges)[0], INK, 2, "2 3")
            page.key((MARGIN, 60), "···", INK, "random, as estimated and simulated")
        panel.vertical(screening.alpha, INK, 1.5, "6 3")
        at = panel.at(screening.alpha, panel.y.last)
        page.text((at[0] + 6, at[1] + 12), f"α = {screening.alpha:g}")
        across = round_ticks(0.0, 1.0, 5)
        panel.x_axis(across, tick_labels(across), f"p: does the worker rate {bad} lower?")
        page.key((MARGIN, 20), "■", PASSED, f"passed: {counted(passed.sum(), 'worker')}")
        page.key((MARGIN, 40), "□", FAILED, f"failed: {whole((~passed).sum())}{_untested(p)}")
        return page

    return Drawing("Workers by p-value", _alt(screening, check), draw)


def random_level(screening: Screening, check: FilterCheck, edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the expected number of random workers in each bin; workers without variance have p = 1."""
    workers = screening.workers
    with_p = workers["p"].notna()
    constant = int((with_p & ~workers["testable"]).sum())
    shares = np.histogram(check.random_p, edges)[0] / max(len(check.random_p), 1)
    level = np.maximum(check.random_share * with_p.sum() - constant, 0) * shares
    level[-1] += constant
    return np.asarray(level, np.float64)


def _edges(alpha: float) -> NDArray[np.float64]:
    """Return the edges of bins from 0 to 1, including α, so that no bin mixes passed and failed workers."""
    below = np.linspace(0, alpha, int(np.ceil(alpha / WIDEST_BIN - 1e-9)) + 1)
    above = np.linspace(alpha, 1, int(np.ceil((1 - alpha) / WIDEST_BIN - 1e-9)) + 1)
    return np.concatenate([below, above[1:]])


def _untested(p: NDArray[np.float64]) -> str:
    count = int(np.isnan(p).sum())
    return f" ({whole(count)} of them could not be tested)" if count else ""


def _alt(screening: Screening, check: FilterCheck | None) -> str:
    workers = screening.workers
    text = (
        f"Histogram of the p-values of {whole(len(workers))} workers: {whole(workers['passed'].sum())} lie "
        f"below α = {screening.alpha:g} and passed"
    )
    if check is not None and np.isfinite(check.random_share):
        text += f"; a dotted level shows an estimated {check.random_share:.0%} who may rate at random"
    return text + "."


def _count(count: Count) -> Json:
    return {"total": count.total, "passed": count.passed}


def _failed(analysis: Analysis) -> pd.DataFrame:
    workers = analysis.sample.screening.workers
    return workers.loc[~workers["passed"], ["worker", "p", "reason"]]


def _filter(found: FilterCheck) -> Json:
    """Return everything except the table of workers, which has its own file, and simulated p-values."""
    return {name: value for name, value in fields_of(found).items() if name not in {"workers", "random_p"}}


_FILTER_SCHEMA = schema.record(
    "Whether the filter does its job. The table of workers is in workers.csv.",
    expected_random_pass=schema.number(
        "Share of workers who pass if every rating is random: α.", null=True, minimum=0, maximum=1
    ),
    simulated_random_pass=schema.number(
        "Share who pass in simulation if whole conversations are rated at random.",
        null=True,
        minimum=0,
        maximum=1,
    ),
    simulated_random_pass_error=schema.number(
        "Its standard error, over the workers that the simulation was made from.", null=True, minimum=0
    ),
    shuffled_ratings_pass=schema.number(
        "Share who pass in simulation if every rating is random.", null=True, minimum=0, maximum=1
    ),
    random_share=schema.number("Estimated share of random workers.", null=True, minimum=0, maximum=1),
    random_among_passed=schema.number(
        "Estimated share of random workers among those who passed.", null=True, minimum=0, maximum=1
    ),
    random_among_passed_bound=schema.number(
        "Largest share of random workers among those who passed, with 95 % confidence.",
        null=True,
        minimum=0,
        maximum=1,
    ),
    honest_pass=schema.number("Estimated share of honest workers who pass.", null=True, minimum=0, maximum=1),
    honest_among_failed=schema.number(
        "Estimated share of honest workers among those who failed.", null=True, minimum=0, maximum=1
    ),
    everyone=schema.rows(
        "Scores if everyone were kept.",
        system=schema.text("Name."),
        z=schema.number("Overall z.", null=True),
        z_everyone=schema.number("Overall z, everyone kept.", null=True),
        rank=schema.number("Rank.", null=True),
        rank_everyone=schema.number("Rank, everyone kept.", null=True),
    ),
    everyone_rho=schema.number("Spearman's ρ of the two z.", null=True),
    everyone_r=schema.number("Pearson's r of the two z.", null=True),
    failed_rho=schema.number("Spearman's ρ of z with that of the workers who failed alone.", null=True),
    failed_r=schema.number("Pearson's r of the same.", null=True),
    notes=schema.array("The findings in sentences.", schema.text()),
)


def _document(analysis: Analysis) -> Json:
    rates = analysis.rates
    return {
        "workers": {**_count(rates.workers), "failed": _failed(analysis)},
        "hits": _count(rates.hits),
        "assignments": _count(rates.assignments),
        "conversations": _count(rates.conversations),
    }


def _summary(analysis: Analysis) -> Iterator[TitledTable]:
    yield TitledTable(f"Kept at α = {analysis.sample.screening.alpha:g}", kept(analysis))
    failed = p_values(analysis)
    if count := len(failed.shown_rows):
        instead = f"{counted(count, 'worker')} failed the filter; --workers lists them."
        yield TitledTable("Workers who failed", failed, instead)


def _draw(analysis: Analysis) -> Drawing:
    bad = "the bad bot" if analysis.chatted else "bad twins"
    return draw_p_values(analysis.sample.screening, analysis.filter_check, bad)


CHECK = Part(
    kind=FilterCheck,
    make=lambda a: check_filter(a.sample, a.scores, a.options.seed),
    key="filter",
    content=_filter,
    option="filter",
    of_chats=True,
    schema=_FILTER_SCHEMA,
)

SECTION = Section(
    id="workers",
    title="Workers and the filter",
    parts=(CHECK,),
    tables=(
        MadeFile("worker_pvalues.csv", "p of every worker", p_values),
        CHECK.file("workers.csv", "all that is known of each worker", workers),
        CHECK.file("filter.csv", "whether the filter does its job", filter_check),
        CHECK.file("everyone.csv", "z and ranks if everyone were kept", everyone),
        MadeFile("passrate.csv", "tasks and workers that passed, as the authors count", pass_rates),
        MadeFile("duration.csv", "minutes per conversation", duration),
        MadeFile("kept.csv", "workers, assignments and conversations that passed", kept),
    ),
    figures=(MadeFile("worker-p-values.svg", "how p is distributed over the workers", _draw),),
    document=_document,
    schema={
        "workers": schema.record(
            "Workers.",
            total=schema.integer("All."),
            passed=schema.integer("Who passed the filter."),
            failed=schema.rows(
                "Who failed.",
                worker=schema.text("Id."),
                p=schema.number("p-value of the filter; null where no test is possible.", null=True),
                reason=schema.text("Why they failed."),
            ),
        ),
        "hits": schema.shared(
            "count",
            "Distinct HIT ids among the passed and among the failed; one done by both counts in both.",
        ),
        "assignments": schema.shared("count", "Assignments."),
        "conversations": schema.shared(
            "count",
            (
                "Conversations with the systems, not with the qc bot; judgments in a run that rates "
                "transcripts."
            ),
        ),
    },
    summary=_summary,
    is_shown=always,
    page="""\
<p>{% if chatted %}Among the bots of every assignment is one that is known to be bad. A worker passes if \
they rate it clearly lower than the systems (one-sided rank-sum test over all their assignments, p &lt; \
{{ "%g" | format(a.sample.screening.alpha) }}, on the criteria that count for quality \
control).{% elif not a.sample.screening.has_test %}No item had a bad twin, so no worker was tested: all \
are counted.{% else %}Some items have a bad twin, the same text with words of another \
in it. A worker passes if they rate bad twins clearly lower than the items that they were made of (one-sided \
signed-rank test over all such pairs of a worker, p &lt; {{ "%g" | format(a.sample.screening.alpha) }}, on \
the criteria that count for quality control).{% endif %}{% if a.sample.screening.has_test %} Only workers \
who passed count for the scores. Failing says nothing about whether a worker is to be paid.{% endif %}</p>
{% call table("kept.csv", "What passed the filter.") %}
HIT ids are distinct tasks: one that was done by a worker who passed and by one who failed counts in both \
columns.
{% endcall %}
{% if a.filter_check %}
{% set check = a.filter_check %}
<h3>Does the filter do its job?</h3>
<dl class="facts">
{{ fact("of those who passed rated at random, at most (95 % confidence)", \
check.random_among_passed_bound | percent) }}
{{ fact("correlation of the scores with those if everyone were kept", check.everyone_r | decimal(2)) }}
{{ fact("correlation of the scores with those of the workers who failed", check.failed_r | decimal(2)) }}
</dl>
<p>A worker <b>rates at random</b> if what they give a conversation has nothing to do with the bot. Some \
pass by luck. How many at most follows from how many p lie above 1/2, where honest workers hardly are.</p>
<details>
<summary>What the estimate is made of</summary>
{{ remarks(check.notes) }}
<p>The numbers are in <code>filter.csv</code>.</p>
</details>
{% call drawing("worker-p-values", "p-values of the workers.") %}
Workers who tell the bad bot from the systems pile up at the left. The dotted level is where those would \
be who are estimated to rate at random: how they spread over p is simulated, by shuffling whole \
conversations of workers. It need not be even, because the ratings of one conversation hang together and \
the test does not know.
{% endcall %}
{% call table("everyone.csv", "The ranking if everyone were kept.") %}
If the order changes much, the filter decides the result, and its level α needs a reason. Everyone \
includes those who passed, so the two correlate whatever the others did; how far those who failed agree by \
themselves is among the numbers above.
{% endcall %}
<details class="screen">
<summary>The list of workers: who failed, and why</summary>
{% call table("workers.csv", "The workers: who failed, who passed with a remark, and who passed most \
narrowly.") %}
p is of the filter’s test; SD is the standard deviation of all ratings of the worker, identical the share \
of the rating they gave most often; minutes are per conversation and words per input (medians). A remark \
says where a closer look may be worth it. None of this is proof of bad faith.
{% endcall %}
</details>
<p class="paper">The list of workers is in <code>workers.csv</code>.</p>
{% elif not chatted %}
{% if a.transcripts %}
<dl class="facts">
{{ fact("of workers who rate at random would pass if their ratings of one item had nothing to do with one \
another (α)", a.transcripts.chance_passes.level | percent) }}
{{ fact("of these workers do pass when each bad twin and its item are exchanged at random, all criteria \
together", a.transcripts.chance_passes.share | percent) }}
</dl>
{% endif %}
{% call drawing("worker-p-values", "p-values of the workers.") %}
Workers who tell bad twins from the items that they were made of pile up at the left.
{% endcall %}
<details class="screen">
<summary>The list of workers who failed</summary>
{% call table("worker_pvalues.csv", "Workers who failed.") %}
p is of the filter’s test. None of this is proof of bad faith.
{% endcall %}
</details>
<p class="paper">The list of workers is in <code>worker_pvalues.csv</code>.</p>
{% endif %}
""",
)
