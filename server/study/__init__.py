"""A study: what is evaluated, on which criteria, under which rules, and the YAML file that says so."""

from server.study.document import Location
from server.study.mistakes import Mistake, did_you_mean
from server.study.reading import load_study, located, parse_study, read_study, study_hash
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
    "Location",
    "Mistake",
    "Study",
    "SystemSpec",
    "Timeouts",
    "did_you_mean",
    "load_study",
    "located",
    "parse_study",
    "read_study",
    "study_hash",
    "text_notes",
]
