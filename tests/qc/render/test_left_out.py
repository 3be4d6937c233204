"""A section that was left out is in no file of a report: no key of report.json, no table, no chapter."""

import json

import jsonschema
import pytest

from qc.analysis import SECTIONS
from qc.render import tables
from qc.render.document import document, json_schema
from qc.render.manifest import FIGURES, TABLES
from qc.render.page import page
from qc.robustness.intervals import Intervals
from tests.qc.support.analyses import whole, without

KEYS = {
    "intervals": {"intervals", "fragility", "fragile_pairs"},
    "significance": {"significance", "clusters"},
    "forecast": {"forecast"},
    "replication": {"replication", "reproducibility"},
    "criteria": {"criteria_correlation"},
    "agreement": {"agreement"},
    "filter": {"filter"},
    "alpha": {"alpha_influence"},
    "persona": {"persona"},
    "context": {"context", "adjusted", "style"},
    "topics": {"topics", "topic_areas"},
    "effort": {"effort", "dialogue_lengths"},
    "groups": {"groups"},
    "transcripts": set(),
}
# Sections without a chapter of their own name on the page.
WITHOUT_CHAPTER = {"intervals", "criteria", "filter", "transcripts"}


@pytest.mark.parametrize("section", SECTIONS)
def test_a_section_that_was_left_out_is_nowhere(section: str) -> None:
    everything, analysis = whole(), without(section)
    whole_document, rest = (json.loads(document(of)) for of in (everything, analysis))
    assert whole_document.keys() - rest.keys() == KEYS[section]
    jsonschema.Draft202012Validator(json_schema()).validate(rest)

    made = {file.name for file in TABLES if file.make(everything) is not None}
    missing = {file.name for file in TABLES if file.make(analysis) is None}
    assert made & missing == {file.name for file in TABLES if file.option == section} & made
    assert not any(file.make(analysis) for file in FIGURES if file.option == section)

    if section not in WITHOUT_CHAPTER:
        # The chapter on significance has the intervals of differences, too.
        shown = analysis.without(Intervals) if section == "significance" else analysis
        text = page(shown, tables(shown), {})
        assert f'id="{section}"' not in text
        assert f'href="#{section}"' not in text


def test_every_chapter_is_on_a_whole_page(text: str) -> None:
    for section in SECTIONS.keys() - WITHOUT_CHAPTER:
        assert f'<section id="{section}">' in text
