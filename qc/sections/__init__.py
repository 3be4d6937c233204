"""The sections of the report: results, tables, figures, JSON keys and page text, each section in one module.

Sections on one subject share a module. The files, `report.json`, the page and the terminal are made by going
through the sections. A new section is a `Section` here and a line in each of the two orders below.
"""

from qc.sections.course import answers, assignments, incidents, preregistration
from qc.sections.section import Section
from qc.sections.systems import (
    alpha,
    context,
    fragility,
    intervals,
    persona,
    ranking,
    replication,
    scores,
    significance,
    style,
)
from qc.sections.workers import agreement, groups, quiz, references, screening, topics, transcripts, writing

# In the order in which they are computed, printed on a terminal, and written as files.
SECTIONS: tuple[Section, ...] = (
    preregistration.SECTION,
    ranking.SECTION,
    intervals.SECTION,
    fragility.SECTION,
    significance.SECTION,
    scores.CRITERIA_SECTION,
    replication.REPLICATION_SECTION,
    replication.FORECAST_SECTION,
    screening.SECTION,
    assignments.COST_SECTION,
    agreement.SECTION,
    topics.SECTION,
    writing.EFFORT_SECTION,
    alpha.SECTION,
    persona.SECTION,
    context.SECTION,
    style.SECTION,
    groups.SECTION,
    transcripts.SECTION,
    references.SECTION,
    incidents.INCIDENTS_SECTION,
    incidents.SERVED_SECTION,
    answers.SECTION,
    quiz.SECTION,
    writing.WRITING_SECTION,
    scores.REPLIES_SECTION,
    scores.CEILING_SECTION,
    scores.SCENARIOS_SECTION,
    assignments.LEFT_OUT_SECTION,
)
# In the order of their chapters on the page.
CHAPTERS: tuple[Section, ...] = (
    preregistration.SECTION,
    ranking.SECTION,
    significance.SECTION,
    fragility.SECTION,
    scores.CRITERIA_SECTION,
    replication.REPLICATION_SECTION,
    replication.FORECAST_SECTION,
    screening.SECTION,
    transcripts.SECTION,
    references.SECTION,
    agreement.SECTION,
    alpha.SECTION,
    persona.SECTION,
    groups.SECTION,
    context.SECTION,
    style.SECTION,
    topics.SECTION,
    writing.EFFORT_SECTION,
    quiz.SECTION,
    writing.WRITING_SECTION,
    scores.REPLIES_SECTION,
    scores.SCENARIOS_SECTION,
    scores.CEILING_SECTION,
    answers.SECTION,
    incidents.SERVED_SECTION,
    incidents.INCIDENTS_SECTION,
    assignments.COST_SECTION,
    assignments.LEFT_OUT_SECTION,
)
