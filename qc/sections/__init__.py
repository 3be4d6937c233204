"""The sections of the report: each module has the results, tables, figures, JSON keys and page text of one.

The files, `report.json`, the page and the terminal are made by going through the sections. A new section is a
module here and a line in each of the two orders below.
"""

from qc.sections.course import answers, cost, incidents, left_out, preregistration, served
from qc.sections.section import Section
from qc.sections.systems import (
    alpha,
    ceiling,
    context,
    criteria,
    forecast,
    intervals,
    persona,
    ranking,
    replication,
    replies,
    scenarios,
    significance,
)
from qc.sections.workers import agreement, effort, groups, quiz, screening, topics, transcripts, writing

# In the order in which they are computed, printed on a terminal, and written as files.
SECTIONS: tuple[Section, ...] = (
    preregistration.SECTION,
    ranking.SECTION,
    intervals.SECTION,
    significance.SECTION,
    criteria.SECTION,
    replication.SECTION,
    forecast.SECTION,
    screening.SECTION,
    cost.SECTION,
    agreement.SECTION,
    topics.SECTION,
    effort.SECTION,
    alpha.SECTION,
    persona.SECTION,
    context.SECTION,
    groups.SECTION,
    transcripts.SECTION,
    incidents.SECTION,
    served.SECTION,
    answers.SECTION,
    quiz.SECTION,
    writing.SECTION,
    replies.SECTION,
    ceiling.SECTION,
    scenarios.SECTION,
    left_out.SECTION,
)
# In the order of their chapters on the page.
CHAPTERS: tuple[Section, ...] = (
    preregistration.SECTION,
    ranking.SECTION,
    significance.SECTION,
    criteria.SECTION,
    replication.SECTION,
    forecast.SECTION,
    screening.SECTION,
    transcripts.SECTION,
    agreement.SECTION,
    alpha.SECTION,
    persona.SECTION,
    groups.SECTION,
    context.SECTION,
    topics.SECTION,
    effort.SECTION,
    quiz.SECTION,
    writing.SECTION,
    replies.SECTION,
    scenarios.SECTION,
    ceiling.SECTION,
    answers.SECTION,
    served.SECTION,
    incidents.SECTION,
    cost.SECTION,
    left_out.SECTION,
)
