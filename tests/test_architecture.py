"""The documents name Python files that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    "document", [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "CONTRIBUTING.md"], ids=str
)
def test_every_python_file_that_a_document_names_is_there(document: Path) -> None:
    named = re.findall(r"(?<![\w/.-])[a-z_]+/[\w/]+\.py\b", document.read_text(encoding="utf-8"))
    gone = {path for path in named if not ((ROOT / path).is_file() or (ROOT / "tests" / path).is_file())}
    assert gone == set()
