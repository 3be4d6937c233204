"""Agreement between workers who met the same systems."""

import pandas as pd

from qc.drawing.charts import correlations
from qc.drawing.sheet import Drawing
from qc.method.agreement import Agreement, Pairs, rater_agreement
from qc.sections import schema
from qc.sections.section import Json, Part, Section
from qc.table import COUNT, THREE, Column, Table, counted, decimal


def medians(found: Agreement) -> Table:
    """Return the agreement between workers who rated the same systems."""
    groups = {"passed": found.passed, "failed": found.failed}
    return Table(
        pd.DataFrame(
            [(group, pairs.pairs, pairs.median_r, pairs.sampled) for group, pairs in groups.items()],
            columns=["group", "pairs", "median_r", "sampled"],
        ),
        (
            Column("group", "Both workers"),
            Column("pairs", "Pairs", COUNT),
            Column("median_r", "Median r", THREE),
        ),
    )


def coefficients(found: Agreement) -> Table:
    """Return r of each pair of workers who rated the same systems."""
    groups = {"passed": found.passed, "failed": found.failed}
    parts = [pd.DataFrame({"group": group, "r": pairs.r}) for group, pairs in groups.items()]
    return Table(pd.concat(parts, ignore_index=True))


def draw_agreement(result: Agreement) -> Drawing | None:
    """Draw the distributions of r over pairs of workers, for those who passed and for those who failed.

    None if there is no pair.
    """
    passed, failed = result.passed, result.failed
    if len(passed.r) + len(failed.r) == 0:
        return None
    words = _words("passed", passed), _words("failed", failed)
    alt = (
        f"Distributions of the correlation between two workers who met the same systems: {'; '.join(words)}."
    )
    draw = correlations(passed.r, failed.r, "Pearson r of two workers’ scores", words)
    return Drawing("Agreement between workers", alt, draw)


def _words(group: str, pairs: Pairs) -> str:
    if len(pairs.r) == 0:
        return f"{group}: no pair"
    return f"{group}: {counted(pairs.pairs, 'pair')}, median r {decimal(pairs.median_r, 2)}"


def _agreement(found: Agreement) -> Json:
    groups = {
        name: {"pairs": group.pairs, "median_r": group.median_r, "sampled": group.sampled, "r": group.r}
        for name, group in (("passed", found.passed), ("failed", found.failed))
    }
    return {**groups, "seed": found.seed, "limit": found.limit}


AGREEMENT = Part(
    kind=Agreement,
    make=lambda a: rater_agreement(a.sample, a.options.seed),
    key="agreement",
    content=_agreement,
    option="agreement",
    of_chats=True,
    schema=schema.record(
        "Agreement of workers who met the same systems.",
        passed=schema.shared("pairs", "Both passed."),
        failed=schema.shared("pairs", "Both failed."),
        seed=schema.integer("Seed of the sampling."),
        limit=schema.integer("Number of pairs beyond which they are sampled."),
    ),
)

SECTION = Section(
    id="agreement",
    title="Agreement of workers",
    parts=(AGREEMENT,),
    tables=(
        AGREEMENT.file(
            "rater_agreement.csv", "pairs of workers who met the same systems, their median r", medians
        ),
        AGREEMENT.file("rater_agreement_r.csv", "r of each such pair", coefficients),
    ),
    figures=(AGREEMENT.file("agreement.svg", "how r is distributed over pairs of workers", draw_agreement),),
    page="""\
{% call drawing("agreement", "How well two assignments agree.") %}
Correlations between the overall z of two assignments that had the same systems, mostly of two workers; \
two assignments of one worker are a pair as well, as published. The farther to the right, the better they \
agree; those who passed should agree more than those who failed.
{% endcall %}
{% call table("rater_agreement.csv", "Correlation between two assignments with the same systems.") %}
Half of the pairs agree better than the median r. 0 is what chance \
gives.{% if found.passed.sampled or found.failed.sampled %} Not all pairs were computed but a \
random sample of at most {{ found.limit | whole }}, seed {{ found.seed }}.{% endif %}
{% endcall %}
""",
)
