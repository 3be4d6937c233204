"""Probabilities of what people rate, and the command that gives them."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from qc.planning.rating_choice import app, disagreement, rating_probabilities

SCORES = "item,system,a,b\nq1,x,1,1\nq2,x,2,2\nq3,x,3,0\n"


def test_probabilities_by_hand() -> None:
    # D = 4: √(4 + 0) = 2 three times and √(4 + 16) = 4.472, of which 2 in all are drawn.
    found = rating_probabilities(np.array([0.0, 0, 0, 4]), 0.5)
    np.testing.assert_allclose(found, np.array([2, 2, 2, np.sqrt(20)]) * 2 / (6 + np.sqrt(20)))
    # √(3 + 0), √(3 + 0), √(3 + 9) are 1 : 1 : 2, and half of 2.7 is above 1; the others share 1.7.
    assert rating_probabilities(np.array([0.0, 0, 3]), 0.9).tolist() == pytest.approx([0.85, 0.85, 1])
    assert rating_probabilities(np.zeros(3), 0.2).tolist() == pytest.approx([0.2] * 3)
    assert rating_probabilities(np.arange(3.0), 1).tolist() == [1, 1, 1]


def test_judges_disagree_whatever_their_scales() -> None:
    first = np.array([1.0, 2, 3])
    assert disagreement(np.column_stack([first, 10 * first + 5])).tolist() == pytest.approx([0, 0, 0])


def test_the_command_adds_a_column(tmp_path: Path) -> None:
    source, out = tmp_path / "scores.csv", tmp_path / "chosen.csv"
    source.write_text(SCORES, encoding="utf-8")
    arguments = [str(source), "--metric", "a,b", "--share", "0.5", "--out", str(out)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    written = pd.read_csv(out)
    assert written["rating_probability"].mean() == pytest.approx(0.5)
    assert written["rating_probability"].idxmax() == 2
    for wrong in (["--metric", "a"], ["--metric", "a,c"], ["--share", "0"]):
        assert CliRunner().invoke(app, [*arguments, *wrong]).exit_code == 2
