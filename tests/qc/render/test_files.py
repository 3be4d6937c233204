"""Tests of CSV files: every digit of a number is kept, and no spreadsheet takes text for a formula."""

import csv
import io

import numpy as np
import pandas as pd
import pytest

from qc.render.files import comma_separated


def read(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode("utf-8"))))


@pytest.mark.parametrize("text", ["=1+1", "+44 1", "-x", "@SUM(A1)", "\t=1", '=HYPERLINK("http://x","y")'])
def test_text_of_people_is_never_a_formula(text: str) -> None:
    table = pd.DataFrame({"worker": [text, "ann"], text: [1.5, -2.5]})
    assert read(comma_separated(table)) == [["worker", f"'{text}"], [f"'{text}", "1.5"], ["ann", "-2.5"]]


def test_numbers_and_other_text_stay_as_they_are() -> None:
    table = pd.DataFrame(
        {
            "z": [-0.1, np.nan],
            "text": ["-0.5", "a=b"],
            "of": pd.Categorical(["−1", "x-y"]),
            "is": [True, False],
        }
    )
    assert read(comma_separated(table))[1:] == [["-0.1", "-0.5", "−1", "true"], ["", "a=b", "x-y", "false"]]
