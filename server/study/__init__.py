"""A study: its systems, criteria and rules, and the YAML file that defines them."""

from server.study.document import LEFT_OUT, SENT, Unreadable, published, read_document
from server.study.edits import (
    Edited,
    EditedSetting,
    NotEditable,
    edited,
    named,
    require_name,
    require_study_name,
)
from server.study.problems import builtin_elsewhere, study_notes
from server.study.reading import (
    Mistake,
    in_thread,
    load_study,
    located,
    parse_study,
    read_study,
    study_hash,
    study_of_bots,
)
from server.study.sections import PARTNER, PEOPLE, WIZARD, SystemName, SystemSpec, Timeouts
from server.study.settings import study_schema
from server.study.study import BLANK, DEMO, REGISTERED, Study, shipped_statements
from server.study.tasks import COMPOSITIONS, Composition
from server.study.templates import TEMPLATES, TemplateName, template, template_text
from server.study.texts import language_names

__all__ = [
    "BLANK",
    "COMPOSITIONS",
    "DEMO",
    "LEFT_OUT",
    "PARTNER",
    "PEOPLE",
    "REGISTERED",
    "SENT",
    "TEMPLATES",
    "WIZARD",
    "Composition",
    "Edited",
    "EditedSetting",
    "Mistake",
    "NotEditable",
    "Study",
    "SystemName",
    "SystemSpec",
    "TemplateName",
    "Timeouts",
    "Unreadable",
    "builtin_elsewhere",
    "edited",
    "in_thread",
    "language_names",
    "load_study",
    "located",
    "named",
    "parse_study",
    "published",
    "read_document",
    "read_study",
    "require_name",
    "require_study_name",
    "shipped_statements",
    "study_hash",
    "study_notes",
    "study_of_bots",
    "study_schema",
    "template",
    "template_text",
]
