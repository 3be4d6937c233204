"""Tests of the description of the evaluated models, and of its notes for the reader."""

from dataclasses import replace

import pandas as pd

from qc.method.incidents import describe_served
from qc.run import SERVED_COLUMNS, Run
from tests.qc.support.analyses import awkward_run


def run_with(*rows: tuple[str, str, str, str]) -> Run:
    """Return a run whose systems were answered for by models of these names, revisions and settings."""
    given = [
        {"system": system, "model": model, "revision": revision, "sampling": sampling, "first": f"day {at}"}
        for at, (system, model, revision, sampling) in enumerate(rows)
    ]
    return replace(awkward_run(), served=pd.DataFrame(given).reindex(columns=SERVED_COLUMNS))


def notes(*rows: tuple[str, str, str, str]) -> tuple[str, ...]:
    found = describe_served(run_with(*rows))
    assert found is not None
    return found.notes


def test_a_source_that_does_not_say() -> None:
    assert describe_served(replace(awkward_run(), served=None)) is None


def test_one_model_each_is_nothing_to_be_noted() -> None:
    assert notes(("a", "m", "1", "{}"), ("b", "m", "2", "{}")) == ()


def test_a_model_that_changed_is_noted_with_since_when() -> None:
    (note,) = notes(("a", "m", "1", "{}"), ("a", "m", "2", "{}"), ("b", "m", "1", "{}"))
    assert note == (
        "The model of a changed in the midst of the run, so that its scores are of several: "
        "m 1 from day 0 UTC on and m 2 from day 1 UTC on."
    )


def test_settings_that_changed_are_noted() -> None:
    (note,) = notes(("a", "m", "1", "{}"), ("a", "m", "1", '{"seed": 1}'))
    assert note == "The settings by which a was asked changed in the midst of the run."
