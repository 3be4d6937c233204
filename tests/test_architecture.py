"""The documents name modules and tests that exist, and docs/architecture.md leaves no module out."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SECTION = re.compile(r"^## (candor/common|server|bots|qc)/\n(.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)
SECTIONS = dict(SECTION.findall((ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")))
ROW = re.compile(r"^\| `([\w/]+?)/?` \|", re.MULTILINE)


def modules(package: Path) -> set[str]:
    """Return the names of the modules and packages directly in a package."""
    files = {path.stem for path in package.glob("*.py")}
    return {name for name in files if not name.startswith("__")} | {
        path.parent.name for path in package.glob("*/__init__.py")
    }


@pytest.mark.parametrize("package", ["candor/common", "server", "bots", "qc"])
def test_every_row_names_what_is_there_and_nothing_is_left_out(package: str) -> None:
    rows = set(ROW.findall(SECTIONS[package]))
    gone = {
        row
        for row in rows
        if not ((ROOT / package / row).is_dir() or (ROOT / package / f"{row}.py").is_file())
    }
    assert gone == set()
    assert modules(ROOT / package) <= rows


@pytest.mark.parametrize(
    "document", [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "CONTRIBUTING.md"], ids=str
)
def test_every_python_file_that_a_document_names_is_there(document: Path) -> None:
    named = re.findall(r"(?<![\w/.-])[a-z_]+/[\w/]+\.py\b", document.read_text(encoding="utf-8"))
    gone = {path for path in named if not ((ROOT / path).is_file() or (ROOT / "tests" / path).is_file())}
    assert gone == set()
