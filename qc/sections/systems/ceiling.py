"""Each system beside the people who chatted in a chatbot’s place."""

from qc.method.scores import Ceiling, find_ceiling
from qc.sections.section import Part, Section
from qc.table import THREE, TWO, Column, Table


def pairs(found: Ceiling) -> Table:
    """Return comparisons of each system with people by criterion; a reader sees them ordered by system."""
    columns = (
        Column("person", "Human"),
        Column("system", "System"),
        Column("criterion", "Criterion"),
        Column("person_z", "Human, z", TWO),
        Column("system_z", "System, z", TWO),
        Column("difference", "Difference", TWO),
        Column("p", "p (human higher)", THREE),
    )
    return Table(found.pairs, columns)


CEILING = Part(kind=Ceiling, make=lambda a: find_ceiling(a.sample, a.scores))

SECTION = Section(
    id="ceiling",
    title="The ceiling",
    parts=(CEILING,),
    tables=(
        CEILING.file(
            "ceiling.csv", "each system beside the people in a chatbot’s place, by criterion", pairs
        ),
    ),
    page="""\
{% call table("ceiling.csv", "Each system beside the people who chatted in a chatbot’s place, by \
criterion.") %}
Of the workers who passed. People are in no comparison among the systems: they show what is reached on \
each criterion where another worker answers. p is one-sided, by the published rank-sum test on \
conversations, without correction.
{% endcall %}
""",
)
