"""The sections of the report: each module has the results, tables, figures, JSON keys and page text of one.

The files, `report.json`, the page and the terminal are made by going through the sections. A new section is a
module here and a line in each of the two orders below.
"""

from qc.sections.course import answers, assignments, incidents, preregistration
from qc.sections.section import Section
from qc.sections.systems import alpha, context, intervals, persona, ranking, replication, scores, significance
from qc.sections.workers import agreement, groups, quiz, screening, topics, transcripts, writing

# In the order in which they are computed, printed on a terminal, and written as files.
SECTIONS: tuple[Section, ...] = (
    preregistration.SECTION,
    ranking.SECTION,
    intervals.SECTION,
    significance.SECTION,
    scores.SECTION,
    replication.SECTION,
    replication.SECTION,
    screening.SECTION,
    assignments.SECTION,
    agreement.SECTION,
    topics.SECTION,
    writing.SECTION,
    alpha.SECTION,
    persona.SECTION,
    context.SECTION,
    groups.SECTION,
    transcripts.SECTION,
    incidents.SECTION,
    incidents.SECTION,
    answers.SECTION,
    quiz.SECTION,
    writing.SECTION,
    scores.SECTION,
    scores.SECTION,
    scores.SECTION,
    assignments.SECTION,
)
# In the order of their chapters on the page.
CHAPTERS: tuple[Section, ...] = (
    preregistration.SECTION,
    ranking.SECTION,
    significance.SECTION,
    scores.SECTION,
    replication.SECTION,
    replication.SECTION,
    screening.SECTION,
    transcripts.SECTION,
    agreement.SECTION,
    alpha.SECTION,
    persona.SECTION,
    groups.SECTION,
    context.SECTION,
    topics.SECTION,
    writing.SECTION,
    quiz.SECTION,
    writing.SECTION,
    scores.SECTION,
    scores.SECTION,
    scores.SECTION,
    answers.SECTION,
    incidents.SECTION,
    incidents.SECTION,
    assignments.SECTION,
    assignments.SECTION,
)
