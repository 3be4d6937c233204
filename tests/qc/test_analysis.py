"""The chain: what is asked for is there, and nothing that is left out changes anything else."""

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from qc.analysis import SECTIONS, Options, analyse
from qc.load import load

pytestmark = pytest.mark.published

# The parts that each section makes.
PARTS = {
    "significance": {"significance", "clusters"},
    "intervals": {"intervals"},
    "forecast": {"forecast"},
    "replication": {"replication"},
    "criteria": {"criteria"},
    "agreement": {"agreement"},
    "filter": {"filter_check"},
    "alpha": {"alpha"},
    "persona": {"persona"},
    "context": {"context", "adjusted"},
    "topics": {"topics"},
    "effort": {"effort"},
}
ALWAYS = {"run", "options", "signature", "sample", "rates", "minutes", "workload", "cost", "scores", "notes"}


def test_every_section_is_known() -> None:
    assert PARTS.keys() == SECTIONS.keys()


@pytest.mark.parametrize("section", PARTS)
def test_a_section_alone_is_what_it_is_among_all(published: Path, section: str) -> None:
    first, second = (
        load(str(published / "published" / run / "hits_data.json")) for run in ("free_run1", "free_run2")
    )
    whole = analyse(first, Options(), second)
    alone = analyse(first, Options(sections=frozenset({section})), second)
    there = {field.name for field in fields(alone) if getattr(alone, field.name) is not None}
    assert there == ALWAYS | PARTS[section]
    for part in PARTS[section]:
        np.testing.assert_equal(numbers(getattr(alone, part)), numbers(getattr(whole, part)))


def numbers(part: object) -> object:
    """Return a result as something whose repetition can be compared digit by digit."""
    if hasattr(part, "__dataclass_fields__"):
        return {field.name: numbers(getattr(part, field.name)) for field in fields(part)}  # type: ignore[arg-type]
    if isinstance(part, dict):
        return {key: numbers(value) for key, value in part.items()}
    if isinstance(part, tuple):
        return [numbers(value) for value in part]
    if hasattr(part, "to_dict"):
        return part.to_dict()
    return part


def test_steps_are_told(small_hits: dict[str, Any], hits_file: Callable[[object], Path]) -> None:
    told: list[str] = []
    analyse(load(str(hits_file(small_hits))), Options(sections=frozenset({"effort"})), on_step=told.append)
    assert told == ["Who is kept, and the scores", "Words and characters that workers wrote"]
