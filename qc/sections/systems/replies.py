"""Ratings of single replies."""

from qc.method.turn_ratings import TurnRatings, describe_turn_ratings
from qc.sections import schema
from qc.sections.section import Part, Section
from qc.sections.systems.ranking import CEILING
from qc.table import COUNT, INTERVAL, ONE, SHARE, Column, Table


def turn_ratings(found: TurnRatings) -> Table:
    """Return the ratings of the replies of each system."""
    columns = (
        Column("system", "System"),
        Column("mean", "Mean", ONE),
        Column("low", INTERVAL.head, ONE, upper="high"),
        Column("high", None, ONE),
        Column("rated", "Rated", COUNT),
        Column("rated_share", "Of the replies", SHARE),
        Column("workers", "Workers", COUNT),
    )
    marked = found.systems["system"].where(~found.systems["human"], found.systems["system"] + CEILING)
    return Table(found.systems, columns, found.systems.assign(system=marked))


_TURN_RATINGS_SCHEMA = schema.record(
    (
        "What the workers who passed thought of single replies; absent if the study did not "
        "ask, or the source does not hold it."
    ),
    systems=schema.rows(
        "By system: people, then systems, best first, then the qc bot.",
        system=schema.text("The system, or the qc bot."),
        human=schema.boolean("Whether it is a person in a chatbot's place."),
        replies=schema.number(
            "Replies that it gave to the workers who passed; null if what was said is not known.", null=True
        ),
        rated=schema.integer("How many of them were rated."),
        rated_share=schema.number("Their share of the replies.", null=True),
        workers=schema.integer("Workers who rated them."),
        mean=schema.number(
            "Mean of a rated reply, from 0 to 100; of thumbs, the percentage of those up.", null=True
        ),
        low=schema.number(
            (
                "Lower end of the interval of the mean; null with fewer than five workers, where few "
                "of many did most of it, or where all do the same."
            ),
            null=True,
        ),
        high=schema.number("Upper end of the interval of the mean.", null=True),
    ),
    conversations=schema.integer("Conversations that `r` is computed from."),
    r=schema.number(
        (
            "How a conversation's rated replies go with its overall z: Pearson's r of the "
            "deviations from each worker's own means."
        ),
        null=True,
    ),
    r_low=schema.number("Lower end of the interval of `r`.", null=True),
    r_high=schema.number("Upper end of the interval of `r`.", null=True),
)

RATINGS = Part(
    kind=TurnRatings,
    make=lambda a: describe_turn_ratings(a.sample, a.scores, a.options.bootstrap, a.options.seed),
    key="turn_ratings",
    schema=_TURN_RATINGS_SCHEMA,
)

SECTION = Section(
    id="replies",
    title="What workers thought of single replies",
    parts=(RATINGS,),
    tables=(
        RATINGS.file("turn_ratings.csv", "what workers thought of single replies, by system", turn_ratings),
    ),
    page="""\
{% call table("turn_ratings.csv", "Rated replies of each system.") %}
Of the workers who passed, on a scale from 0 to 100; where they gave thumbs, the mean is the percentage of \
thumbs up. Workers choose which replies they rate, so the mean is of those alone: a small share of rated \
replies says little about the others. Intervals are of whole workers, like those of the ranking; there is \
none of fewer than five of them, where few of many did most of it, or where all do the same.
{% endcall %}
<p>Over {{ found.conversations | whole }} conversations the mean of the rated replies goes with \
the overall z of the conversation at {% if found.r == found.r %}r = \
{{ found.r | decimal }}{% if found.r_low == found.r_low %} \
({{ found.r_low | decimal }} to {{ found.r_high | decimal }}){% endif %}{% else %}no r \
that exists{% endif %}, both taken as deviations from the worker’s own mean.</p>
""",
)
