"""The copy of a study's schema, by which the form's own tests prove that it has a field for every setting."""

import json
from pathlib import Path

from tests.server.support.server import House

COPY = Path(__file__).parents[4] / "frontend/test/desk/studies/study.schema.json"


def test_the_copy_for_the_forms_tests_is_the_desks_schema(shared: House) -> None:
    """When settings change, write it anew: `json.dumps(study_schema(), indent=2, ensure_ascii=False)`."""
    answer = shared.desk("/study-settings").json()
    assert json.loads(COPY.read_text(encoding="utf-8")) == answer["schema_of_study"]
