"""The Python interface: its errors, and what it reaches. `test_python` runs the examples of the documents."""

from pathlib import Path

import pytest

from qc import api
from tests.qc.support.judgments import write_judgments


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
