"""The judgments of Chaganty, Mussmann and Liang (ACL 2018), and the numbers that must come out of them."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from qc.judgments import Judged, Judgments, Selection, read_judgments

Part = Callable[..., Judged]


@pytest.fixture(scope="session")
def golden(published: Path) -> dict[str, Any]:
    """The golden numbers of Chaganty's data."""
    found: dict[str, Any] = json.loads(
        (published / "estimators" / "chaganty" / "golden.json").read_text(encoding="utf-8")
    )
    return found


@pytest.fixture(scope="session")
def chaganty(published: Path) -> Judgments:
    """The published outputs with their judgments; z from all judgments."""
    folder = published / "estimators" / "chaganty"
    return read_judgments(
        str(folder / "lqual_judgments.csv"),
        Selection(folder / "lqual_outputs.csv", where=("published", "1")),
    )


@pytest.fixture(scope="session")
def part(chaganty: Judgments) -> Part:
    """Return a function that gives the judgments of a prompt, of one system or of all."""
    return cache(chaganty.of)


@pytest.fixture(scope="session")
def first_judgments() -> Callable[[Judged], NDArray[np.float64]]:
    """Return a function that gives the first judgment of each output, in the order of the pool: judge 0."""

    def first(judged: Judged) -> NDArray[np.float64]:
        rated, at = np.unique(judged.outputs, return_index=True)
        assert len(rated) == judged.pool
        return judged.values[at]

    return first
