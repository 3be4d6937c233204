"""The bar that shows how far the work has come, and options that hold several names."""

import io
import re

import pytest
from rich.console import Console

from qc.command import names_in, progress


def shown(*, terminal: bool) -> str:
    """Return what is printed while two steps are done."""
    text = io.StringIO()
    with progress(Console(markup=False, file=text, force_terminal=terminal, width=100), 2) as on_step:
        on_step("Reading")
        on_step("Writing")
    return text.getvalue()


def test_a_step_counts_when_it_is_done() -> None:
    drawn = re.findall(r"(Reading|Writing)[^\n]*?(-?\d)/2", shown(terminal=True))
    assert set(drawn) == {("Reading", "0"), ("Writing", "1"), ("Writing", "2")}


def test_nothing_is_drawn_where_nobody_watches() -> None:
    assert shown(terminal=False).strip() == ""


@pytest.mark.parametrize(
    ("given", "named"),
    [("all", {"a", "b"}), ("all, z", {"a", "b", "z"}), ("b", {"b"}), ("z,a", {"a", "z"})],
)
def test_all_stands_for_the_usual_names_and_may_stand_beside_others(given: str, named: set[str]) -> None:
    assert names_in("--format", given, ("a", "b"), ("z",)) == named
