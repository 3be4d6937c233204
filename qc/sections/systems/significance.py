"""Tests of which systems score higher than which, and groups of systems."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.drawing.charts import HEAT_EDGE, NONE, Cells, heat_map
from qc.drawing.sheet import Drawing, Sheet
from qc.drawing.style import BLUE, QUIET, WIDE
from qc.method.significance import Clusters, Significance, cluster, compare_systems
from qc.sections import schema
from qc.sections.analysis import Analysis
from qc.sections.section import Part, Section
from qc.table import SIGNIFICANT, SUGGESTIVE, P, Table, matrix, square


def p_values(systems: Sequence[str], p: NDArray[np.float64]) -> Table:
    """Return p-values of systems, row against column; the diagonal is not displayed."""
    numbers = range(1, len(p) + 1)
    return matrix(
        square(systems, p),
        "",
        [f"{number} {system}" for number, system in zip(numbers, systems, strict=True)],
        map(str, numbers),
        np.where(np.eye(len(p), dtype=bool), np.nan, p),
        P,
        _tone,
    )


def _tone(p: float) -> str:
    if p < SIGNIFICANT:
        return "significant"
    return "suggestive" if p < SUGGESTIVE else ""


def clusters(found: Clusters) -> Table:
    """Return the groups from the p-values, uncorrected and corrected."""
    corrected = {system: number for number, group in enumerate(found.holm_groups, 1) for system in group}
    plain = [(system, number) for number, group in enumerate(found.groups, 1) for system in group]
    rows = [(system, number, corrected[system]) for system, number in plain]
    return Table(pd.DataFrame(rows, columns=["system", "group", "group_holm"]))


DEEP, LIGHT = "#003d66", "#a6cde6"
# The first colour marks pairs that are significant by worker after Holm's correction.
KEY = (
    (DEEP, f"p < {SIGNIFICANT:g} by worker, with Holm"),
    (BLUE, f"p < {SIGNIFICANT:g}"),
    (LIGHT, f"p < {SUGGESTIVE:g}"),
    (QUIET, "not significant"),
)
# From this number of systems on, p is printed with two digits.
MANY = 12
FOOT, LINE = 62.0, 22.0


def draw_significance(result: Significance) -> Drawing | None:
    """Draw the p-values of the systems, best first: the row scores higher than the column.

    None if there is no pair to compare.
    """
    p, count = result.p, len(result.systems)
    if not np.isfinite(p[~np.eye(count, dtype=bool)]).any():
        return None
    holm = (result.by_worker_holm < SIGNIFICANT) & ~np.eye(count, dtype=bool)
    step = np.where(holm, 0, 1 + np.searchsorted((SIGNIFICANT, SUGGESTIVE), p, side="right"))
    known = np.isfinite(p) & ~np.eye(count, dtype=bool)
    colours = [[KEY[step[i, j]][0] if known[i, j] else NONE for j in range(count)] for i in range(count)]
    digits = 3 if count <= MANY else 2
    texts = [["" if i == j else _short(p[i, j], digits) for j in range(count)] for i in range(count)]
    labels = [f"{name}  {i}" for i, name in enumerate(result.systems, start=1)]
    numbers = [str(i + 1) for i in range(count)]

    def draw(width: float) -> Sheet:
        foot = FOOT if width >= WIDE else FOOT + 2 * LINE
        panel = heat_map(width, labels, numbers, Cells(colours, texts), foot)
        panel.page.keys(
            (HEAT_EDGE, panel.bottom + LINE + 4), [("■", colour, text) for colour, text in KEY], LINE
        )
        return panel.page

    return Drawing("Which system scores higher than which", _alt(result, holm), draw)


def _short(p: float, digits: int) -> str:
    """Return p with `digits` digits, without the leading zero, never rounded to 0 or to 1."""
    if not np.isfinite(p):
        return ""
    least = 10.0**-digits
    if p < least:
        return f"<{least:.{digits}f}".replace("0.", ".")
    return f">{1 - least:.{digits}f}".replace("0.", ".") if p > 1 - least else f"{p:.{digits}f}"[1:]


def _alt(result: Significance, holm: NDArray[np.bool_]) -> str:
    count = len(result.systems)
    pairs = count * (count - 1) // 2
    below = int((result.p < SIGNIFICANT).sum())
    return (
        f"Heat map of one-sided p-values, row against column, of {count} systems: in {below} of {pairs} "
        f"pairs one system scores higher at p < {SIGNIFICANT:g}, in {int(holm.sum())} by worker with "
        "Holm’s correction."
    )


_SIGNIFICANCE_SCHEMA = schema.record(
    (
        "One-sided tests on the overall z of conversations: the published rank-sum test, and "
        "one whose error is that of workers."
    ),
    systems=schema.array("Names of rows and columns, best first.", schema.text()),
    p=schema.shared("matrix", "p-value that the row's system is higher than the column's, as published."),
    holm=schema.shared("matrix", "`p` with Holm's correction."),
    by_worker=schema.shared("matrix", "The same of the test whose error is that of workers."),
    by_worker_holm=schema.shared("matrix", "`by_worker` with Holm's correction."),
)


def _words(analysis: Analysis) -> Mapping[str, object]:
    scored = int(analysis.scores.z["overall"].notna().sum())
    return {"pairs": scored * (scored - 1) // 2, "significant": SIGNIFICANT, "suggestive": SUGGESTIVE}


TESTS = Part(
    kind=Significance,
    make=lambda a: compare_systems(a.sample, a.scores),
    key="significance",
    option="significance",
    schema=_SIGNIFICANCE_SCHEMA,
)
CLUSTERS = Part(
    kind=Clusters,
    make=lambda a: cluster(a.significance) if a.significance else None,
    key="clusters",
    option="significance",
    schema=schema.record(
        "Groups of systems, each system of a higher one significantly better than all of a lower one.",
        alpha=schema.number("Level of the tests; the same whatever the filter's is."),
        groups=schema.array("By plain p-values, best first.", schema.array(None, schema.text())),
        holm_groups=schema.array("By Holm-corrected p-values.", schema.array(None, schema.text())),
    ),
)

SECTION = Section(
    id="significance",
    title="Which differences are real",
    parts=(TESTS, CLUSTERS),
    tables=(
        TESTS.file(
            "significance_pvalues.csv",
            "p that the row’s system is higher than the column’s, as published",
            lambda found: p_values(found.systems, found.p),
        ),
        TESTS.file(
            "significance_holm.csv",
            "the same after Holm’s correction",
            lambda found: p_values(found.systems, found.holm),
        ),
        TESTS.file(
            "significance_by_worker.csv",
            "the same question, with the error of workers",
            lambda found: p_values(found.systems, found.by_worker),
        ),
        TESTS.file(
            "significance_by_worker_holm.csv",
            "the same after Holm’s correction",
            lambda found: p_values(found.systems, found.by_worker_holm),
        ),
        CLUSTERS.file("clusters.csv", "groups of systems, plain and after Holm’s correction", clusters),
    ),
    figures=(TESTS.file("significance.svg", "p of every two systems", draw_significance),),
    words=_words,
    is_shown=lambda a: a.significance or a.intervals,
    page="""\
<p>Not every standard asks for the same evidence. This report uses these:</p>
<ul>
{% if a.intervals %}
<li><b>All pairs together, by worker.</b> {{ a.intervals.level | percent(0) }} intervals of the \
differences of every two systems, all of which hold at once, from draws of whole workers. Only a pair \
whose interval leaves out 0 counts as different. The verdict above goes by this.</li>
{% endif %}
{% if a.significance %}
<li><b>The published convention.</b> A one-sided rank-sum test for each pair, significant at \
{{ ("p < %g" | format(significant)) | tight }}, not corrected for the number of pairs.</li>
<li><b>The convention, corrected.</b> The same tests after Holm’s correction for their number. It still \
takes every {{ thing }} as independent of the others.</li>
{% endif %}
</ul>
{% if a.intervals and a.significance %}
<p>They can differ: the tests are one-sided, so they ask for less, and they take every {{ thing }} to be \
independent of the others, while the draws keep together what comes from one worker.</p>
{% endif %}
{% if a.intervals %}
{% if not pairs %}
<p>There are no two systems with a score, so there is nothing to compare.</p>
{% elif a.intervals.indistinct %}
{% call table("differences.csv", "Pairs that cannot be told apart.") %}
The {{ a.intervals.level | percent(0) }} interval of their difference in z, all pairs together, holds 0 or \
is not known, so with these workers either may be the better \
one.{% if a.intervals.indistinct | length < pairs %} All other pairs can be told apart by this standard.{% \
endif %}
{% endcall %}
{% else %}
<p>All pairs together, every two systems can be told apart: no {{ a.intervals.level | percent(0) }} \
interval of a difference holds 0.</p>
{% endif %}
{% endif %}
{% if a.significance %}
{% call drawing("significance", "Which system scores higher than which.") %}
A cell tests whether the system of its row scores higher than the system of its column: the smaller p, the \
surer. Colours mark p below {{ "%g" | format(suggestive) }} and below {{ "%g" | format(significant) }}, by \
the published convention; the darkest, what stays below {{ "%g" | format(significant) }} in the test by \
worker after Holm’s correction.
{% endcall %}
<details>
<summary>The p-values as tables, also corrected for the number of tests</summary>
{% call table("significance_pvalues.csv", "p-values of the comparison of every two systems.", "matrix") %}
One-sided rank-sum tests on the overall z of single {{ thing }}s{% if not chatted %}, each the mean over \
its workers{% endif %}, as published: is the system of the row higher than the system of the column? \
<span class="key significant">p &lt; {{ "%g" | format(significant) }}</span> \
<span class="key suggestive">p &lt; {{ "%g" | format(suggestive) }}</span>
{% endcall %}
{% call table("significance_holm.csv", "The same, corrected for the number of tests.", "matrix") %}
With many tests some come out small by chance alone. Holm’s correction multiplies the smallest p by the \
number of tests, the next by one less, and so on. If every single test is right, the chance of even one \
false finding in the whole table then stays below the level; the published tests take \
{{ "the conversations of one worker" if chatted else "items that one worker rated" }} to be independent, \
and the correction does not change that.
{% endcall %}
{% call table("significance_by_worker.csv", "The same question, with the error of workers.", "matrix") %}
One-sided rank tests that hold their level however one worker’s {{ thing }}s depend on one another, and \
with few workers: the share of {{ thing }}s with the other system that lie below one with this system, its \
standard error from sums by worker.
{% endcall %}
{% call table("significance_by_worker_holm.csv", "Those, corrected for the number of tests.", "matrix") %}
Quote these if you pick findings out of a table.
{% endcall %}
</details>
{% endif %}
{% if a.intervals and a.intervals.groups | length > 1 %}
<h3>Groups of systems</h3>
<p><b>What may be called better.</b> Every system of a higher group is told apart from every system of a \
lower one, all pairs together. Within a group the order is not established.</p>
{{ tiers(a.intervals.groups) }}
{% elif a.intervals and pairs %}
<h3>Groups of systems</h3>
<p><b>What may be called better.</b> There are no groups of which every system of the higher one is told \
apart from every system of the lower one; single pairs may be.</p>
{% endif %}
{% if a.clusters and a.clusters.groups %}
{% if a.clusters.groups | length > 1 %}
<p><b>By the published convention,</b> at {{ ("p < %g" | format(a.clusters.alpha)) | tight }} in each \
test, not corrected for the number of tests. With so many tests some of these borders may be due to \
chance.</p>
{{ tiers(a.clusters.groups) }}
{% else %}
<p>The published convention, not corrected for the number of tests, makes no groups.</p>
{% endif %}
{% if a.clusters.holm_groups != a.clusters.groups %}
<p><b>By the convention, corrected</b> by Holm’s procedure:</p>
{{ tiers(a.clusters.holm_groups) }}
{% endif %}
{% endif %}
""",
)
