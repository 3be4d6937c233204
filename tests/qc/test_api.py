"""The Python interface, as docs/analyst.md shows it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from qc import api
from tests.qc.support.judgments import write_judgments

REPOSITORY = Path(__file__).parents[2]


@pytest.mark.published
def test_the_example_of_the_documents_prints_what_they_say(published: Path, tmp_path: Path) -> None:
    text = (REPOSITORY / "docs" / "analyst.md").read_text(encoding="utf-8")
    example, printed = re.findall(r"## From Python.*?```python\n(.*?)```\n\n```\n(.*?)```", text, re.DOTALL)[
        0
    ]
    program = example.replace("tests/data/published", str(published / "published"))
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert (result.stdout, result.stderr) == (printed, "")
    assert (tmp_path / "report" / "report.html").is_file()
    assert len(api.load(tmp_path / "run.json").assignments) == 304


def test_what_can_be_wrong_has_one_base_class() -> None:
    public = [getattr(api, name) for name in api.__all__]
    raised = [one for one in public if isinstance(one, type) and issubclass(one, Exception)]
    assert len(raised) == 8
    assert all(issubclass(one, api.QcError) for one in raised)


def test_estimates_are_reached_from_it(tmp_path: Path) -> None:
    source, metrics = write_judgments(tmp_path)
    judgments = api.read_judgments(str(source), api.Selection(metrics))
    found = api.estimate(judgments, api.EstimateOptions(metrics=("judge",), bootstrap=200))
    assert {part.system for part in found.parts} == {"all systems", "good", "poor"}
    values = judgments.of("value", "good").values
    sequence = api.asymptotic(values, 0.05, 100)
    assert sequence.centre[-1] == pytest.approx(values.mean())
