"""The points of a preregistration, whether they were followed, and its hypotheses."""

from collections.abc import Iterator, Mapping

import pandas as pd

from qc.loading.registration import Followed
from qc.sections import schema
from qc.sections.analysis import Analysis
from qc.sections.section import Part, Section, TitledTable
from qc.table import THREE, Column, P, Table

_FOLLOWED = {True: "yes", False: "no", None: "the data do not tell"}
_SUPPORTED = {True: "supported", False: "not supported", None: "cannot be tested"}


def points(found: Followed) -> Table:
    """Return the points of a preregistration: registered, found, and whether they agree."""
    rows = [(one.what, _FOLLOWED[one.followed], one.registered, one.found) for one in found.points]
    heads = {"what": "What", "followed": "Followed", "registered": "Registered", "found": "Found"}
    return Table(
        pd.DataFrame(rows, columns=list(heads)), tuple(Column(key, head) for key, head in heads.items())
    )


def decisions(found: Followed) -> Table:
    """Return the hypotheses, each with its test."""
    rows = [
        (f"{one.higher} > {one.lower}", one.difference, one.p, one.adjusted, _SUPPORTED[one.supported])
        for one in found.decisions
    ]
    return Table(
        pd.DataFrame(rows, columns=["hypothesis", "difference", "p", "adjusted", "decision"]),
        (
            Column("hypothesis", "Hypothesis"),
            Column("difference", "Difference in z", THREE),
            Column("p", "p", P),
            Column("adjusted", "p, Holm", P),
            Column("decision", "Decision"),
        ),
    )


_PREREGISTRATION_SCHEMA = schema.record(
    "Whether the preregistration that was given was followed; absent without one.",
    registered=schema.text("When it was written, ISO 8601."),
    hash=schema.text("Of its content."),
    level=schema.number("At which its hypotheses are decided, all together."),
    points=schema.rows(
        "What was fixed.",
        what=schema.text("What it is."),
        registered=schema.text("What was said."),
        found=schema.text("What the analysis and its data show."),
        followed=schema.boolean("Whether it was; null where the data do not tell.", null=True),
    ),
    decisions=schema.rows(
        "Its hypotheses.",
        higher=schema.text("The system said to score higher."),
        lower=schema.text("Than which."),
        difference=schema.number("In overall z.", null=True),
        p=schema.number("One-sided, its error that of workers.", null=True),
        adjusted=schema.number("With Holm’s correction over the hypotheses.", null=True),
        supported=schema.boolean(
            "Whether `adjusted` is below `level`; null where it cannot be tested.", null=True
        ),
    ),
)


def _given_later(_: Analysis) -> Followed | None:
    """Return nothing: a preregistration is compared with the whole analysis (`adherence`)."""
    return None


def _unfiled(analysis: Analysis) -> Mapping[str, Table]:
    found = analysis.preregistration
    return {} if found is None else {"registered": points(found), "hypotheses": decisions(found)}


def _summary(analysis: Analysis) -> Iterator[TitledTable]:
    if (found := analysis.preregistration) is not None:
        yield TitledTable(f"Preregistration of {found.registered}", points(found))
        if found.decisions:
            yield TitledTable("Its hypotheses", decisions(found))


REGISTERED = Part(kind=Followed, make=_given_later, key="preregistration", schema=_PREREGISTRATION_SCHEMA)

SECTION = Section(
    id="preregistration",
    title="What was registered before",
    parts=(REGISTERED,),
    unfiled=_unfiled,
    summary=_summary,
    page="""\
{% call table("registered", "What was fixed, and whether it was followed.") %}
Registered {{ found.registered }}, hash <code>{{ found.hash }}</code>.
{% endcall %}
{% if found.decisions %}
{% call table("hypotheses", "The registered hypotheses.") %}
One-sided, on the difference of overall z with the error of whole workers; supported if p with Holm’s \
correction over these hypotheses is below {{ found.level }}.
{% endcall %}
{% endif %}
""",
)
