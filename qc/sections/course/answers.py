"""Answers to a study’s own questions."""

from qc.answers import AnswerCounts, count_answers
from qc.sections import schema
from qc.sections.section import Part, Section
from qc.table import COUNT, SHARE, SYSTEM_COLUMN, TWO, Column, Table

_PARTS = {
    "before": "before the first conversation",
    "conversation": "after a conversation",
    "after": "after the last conversation",
}
_WHERE = (Column("question", "Question"), Column("when", "Asked"), SYSTEM_COLUMN)


def counts(found: AnswerCounts) -> Table | None:
    """Return how often each answer was given; None if no question has fixed answers."""
    if found.counts.empty:
        return None
    columns = (*_WHERE, Column("answer", "Answer"), Column("n", "n", COUNT), Column("share", "Share", SHARE))
    return Table(found.counts, columns, found.counts.assign(when=found.counts["part"].map(_PARTS)))


def numbers(found: AnswerCounts) -> Table | None:
    """Return the means of sliders and numbers; None if no question is answered by one."""
    if found.numbers.empty:
        return None
    columns = (
        *_WHERE,
        Column("n", "n", COUNT),
        Column("mean", "Mean", TWO),
        Column("sd", "SD", TWO),
        Column("median", "Median", TWO),
    )
    return Table(found.numbers, columns, found.numbers.assign(when=found.numbers["part"].map(_PARTS)))


def spans(found: AnswerCounts) -> Table | None:
    """Return the counts of marks and the agreement of workers; None if no question asks for marks."""
    if found.spans.empty:
        return None
    columns = (
        *_WHERE,
        Column("mark", "Marks"),
        Column("n", "n", COUNT),
        Column("answers", "Answers", COUNT),
        Column("share", "With a mark", SHARE),
        Column("pairs", "Pairs", COUNT),
        Column("f1", "Agreement (F1)", TWO),
    )
    shown = found.spans.assign(
        when=found.spans["part"].map(_PARTS), mark=found.spans["mark"].replace("", "all")
    )
    return Table(found.spans, columns, shown)


_QUESTION = {
    "part": schema.text(
        "Before the first conversation (`before`), after a conversation (`conversation`), or "
        "after the last one (`after`)."
    ),
    "label": schema.text("The question's label."),
    "question": schema.text("The question."),
    "system": schema.text(
        "The system that the conversations were with; empty where the question is about none."
    ),
}

_ANSWERS_SCHEMA = schema.record(
    (
        "Answers to the study's own questions, of all workers who take part; absent if it "
        "asked none, or the source does not hold them."
    ),
    counts=schema.rows(
        "Questions with fixed answers.",
        **_QUESTION,
        answer=schema.text("The answer."),
        n=schema.integer("How often it was given."),
        share=schema.number("Share of those who answered; several choices add up to more than 1.", null=True),
    ),
    numbers=schema.rows(
        "Sliders and numbers.",
        **_QUESTION,
        n=schema.integer("Answers."),
        mean=schema.number("Their mean.", null=True),
        sd=schema.number("Their standard deviation.", null=True),
        median=schema.number("Their median.", null=True),
    ),
    texts=schema.rows(
        "Free texts.",
        **_QUESTION,
        n=schema.integer("How many were given."),
    ),
    spans=schema.rows(
        "Marks in texts: all marks of a question, then those of each category and severity.",
        **_QUESTION,
        mark=schema.text("The category or severity; empty for all marks."),
        n=schema.integer("Marks."),
        answers=schema.integer("Answers of workers who were asked, with or without a mark."),
        share=schema.number("Share of these answers that have such a mark.", null=True),
        pairs=schema.integer("Pairs of workers who read the same text, of whom at least one marked it so."),
        f1=schema.number(
            "Agreement of these pairs: the mean F1 of the marked characters (Hripcsak and Rothschild 2005).",
            null=True,
        ),
    ),
)

ANSWERS = Part(
    kind=AnswerCounts,
    make=lambda a: count_answers(a.run),
    key="answers",
    schema=_ANSWERS_SCHEMA,
)

SECTION = Section(
    id="answers",
    title="Answers to the study’s own questions",
    parts=(ANSWERS,),
    tables=(
        ANSWERS.file(
            "answers.csv",
            "how often each answer to the study’s own questions was given, by system after conversations",
            counts,
        ),
        ANSWERS.file("answers_numbers.csv", "the same of sliders and numbers: their means", numbers),
        ANSWERS.file("answers_marks.csv", "the same of marks in texts, and workers’ agreement", spans),
    ),
    page="""\
<p>Of all workers who take part, whether they passed the filter or not. They have no part in any score.</p>
{% if not found.counts.empty %}
{% call table("answers.csv", "How often each answer was given.") %}
Shares are of those who answered; where several answers may be chosen, they add up to more than 100 %.
{% endcall %}
{% endif %}
{% if not found.numbers.empty %}
{% call table("answers_numbers.csv", "Sliders and numbers.") %}
Sliders run from 0 to 100.
{% endcall %}
{% endif %}
{% if not found.spans.empty %}
{% call table("answers_marks.csv", "Marks in texts.") %}
An answer may have several marks, or none. Agreement is the mean F1 of pairs of workers who read the same \
text: twice the characters that both marked, over the sum of those that each marked. Pairs who both marked \
nothing are left out. Repeats and bad twins do not count.
{% endcall %}
{% endif %}
{% if not found.texts.empty %}
<p>Free texts are in the view <code>v1_answer</code> and in the export; they were given \
{{ found.texts["n"].sum() | whole }} times.</p>
{% endif %}
""",
)
