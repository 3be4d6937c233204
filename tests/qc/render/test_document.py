"""report.json: every key is described, every number is a number or null."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from qc.analysis import Analysis, AnalysisOptions, analyse
from qc.method.agreement import Pairs
from qc.render.document import as_json, document, json_schema, schema_text
from tests.qc.support.analyses import NASTY, awkward_run, bare, rated, whole

SCHEMA = json_schema()
# Of a run that rates transcripts alone.
OF_TRANSCRIPTS = {"transcripts", "reference_lengths"}
# Of a report that was given a preregistration alone.
REGISTERED = {"preregistration"}


def check(analysis: Analysis) -> Any:
    """Return the document of `analysis` read again, after holding it against the schema."""
    content = json.loads(document(analysis))
    jsonschema.Draft202012Validator(SCHEMA).validate(content)
    return content


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield every schema of an object with named keys."""
    if isinstance(schema, dict):
        if "properties" in schema:
            yield schema
        for part in schema.values():
            yield from objects(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from objects(part)


def test_every_key_is_described_and_no_other_is_allowed() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    for schema in objects(SCHEMA):
        assert schema["additionalProperties"] is False
        for key, described in schema["properties"].items():
            assert described["description"].strip(), key
            assert described["description"].endswith("."), key


def test_the_published_schema_is_this_one() -> None:
    published = Path(__file__).parents[3] / "docs" / "report.schema.json"
    assert published.read_text(encoding="utf-8") == schema_text(), "CONTRIBUTING.md has the command"


def test_a_key_that_is_not_described_is_found() -> None:
    content = {**as_json(bare()), "surprise": 1}
    with pytest.raises(jsonschema.ValidationError, match="surprise"):
        jsonschema.Draft202012Validator(SCHEMA).validate(content)


@pytest.mark.parametrize("share", [-0.14, 1.216])
@pytest.mark.parametrize(
    "name",
    [
        "random_share",
        "random_among_passed",
        "random_among_passed_bound",
        "honest_pass",
        "honest_among_failed",
    ],
)
def test_a_share_outside_0_and_1_is_refused(name: str, share: float) -> None:
    whole_one = as_json(whole())
    content = {**whole_one, "filter": {**whole_one["filter"], name: share}}
    with pytest.raises(jsonschema.ValidationError, match=re.escape(str(share))):
        jsonschema.Draft202012Validator(SCHEMA).validate(content)


def test_a_whole_report_fits_the_schema() -> None:
    content = check(whole())
    assert set(content) == set(SCHEMA["properties"]) - OF_TRANSCRIPTS - REGISTERED
    assert NASTY in {system["system"] for system in content["systems"]}


def test_a_whole_report_on_transcripts_fits_the_schema() -> None:
    content = check(rated())
    absent = {
        "answers",
        "quiz",
        "writing",
        "turn_ratings",
        "scenarios",
        "incidents",
        "served",
        "filter",
        "agreement",
        "topics",
        "topic_areas",
        "style",
        "effort",
        "dialogue_lengths",
        "persona",
        "context",
        "adjusted",
        "groups",
    }
    assert set(SCHEMA["properties"]) - set(content) == absent | REGISTERED
    assert content["transcripts"]["repeats"] is not None
    assert content["transcripts"]["edits"] is not None


def test_the_text_is_the_content() -> None:
    for analysis in (whole(), bare()):
        assert json.loads(document(analysis)) == as_json(analysis)


def test_numbers_have_every_digit() -> None:
    analysis, content = whole(), check(whole())
    assert content["systems"][0]["z"] == analysis.scores.z["overall"].iloc[0]
    assert analysis.agreement is not None
    assert content["agreement"]["passed"]["r"] == analysis.agreement.passed.r.tolist()
    assert analysis.intervals is not None
    assert content["systems"][1]["interval"] == {
        "low": analysis.intervals.z_low[1, 0],
        "high": analysis.intervals.z_high[1, 0],
    }
    assert analysis.significance is not None
    assert content["significance"]["p"] == analysis.significance.p.tolist()


def test_a_number_that_does_not_exist_is_null() -> None:
    analysis = whole()
    assert analysis.agreement is not None
    assert analysis.significance is not None
    nobody = replace(analysis.agreement, failed=Pairs(0, np.array([]), False))
    unknown = replace(analysis.significance, p=np.where(np.eye(4) == 1, np.nan, analysis.significance.p))
    content = check(analysis.having(nobody, unknown))
    assert content["agreement"]["failed"] == {"pairs": 0, "median_r": None, "sampled": False, "r": []}
    assert content["significance"]["p"][0][0] is None
    assert content["significance"]["p"][0][1] is not None


def test_a_record_and_a_row_are_one_line_each() -> None:
    lines = document(whole()).splitlines()
    systems = len(whole().scores.z)
    assert sum(line.startswith('    {"assignment":') for line in lines) == 1
    start = lines.index('    "p": [')
    assert [line.count(",") >= systems - 1 for line in lines[start + 1 : start + 1 + systems]] == [
        True
    ] * systems


def test_nobody_passed() -> None:
    run = awkward_run()
    content = check(analyse(replace(run, ratings=run.ratings * 0 + 50), AnalysisOptions(bootstrap=100)))
    assert content["workers"]["passed"] == 0
    assert {system["z"] for system in content["systems"]} == {None}
