"""A study: what is evaluated, on which criteria, under which rules, and the YAML file that says so."""

from server.study.reading import load_study, parse_study, study_hash
from server.study.study import (
    COMPOSITIONS,
    DEMO,
    DEMO_TRANSCRIPTS,
    REGISTERED,
    Composition,
    Study,
    SystemSpec,
    Timeouts,
)
from server.study.text_mistakes import text_notes

__all__ = [
    "COMPOSITIONS",
    "DEMO",
    "DEMO_TRANSCRIPTS",
    "REGISTERED",
    "Composition",
    "Study",
    "SystemSpec",
    "Timeouts",
    "load_study",
    "parse_study",
    "study_hash",
    "text_notes",
]
