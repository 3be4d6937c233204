"""The crowd's ratings of summaries that Wei and Jia (2021) analyse, as arrays."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

CATEGORIES = ("coherence", "consistency", "fluency", "relevance")
JUDGES = 5


@dataclass(frozen=True)
class CrowdRatings:
    """1,600 summaries of 16 systems, each judged by five: the mean over the categories is a judgment.

    Attributes:
        values: (8000,), judgments.
        outputs: (8000,), codes.
        systems: (8000,), codes, in the order of their names.
        output_systems: (1600,), the system of each output.
        names: of the systems, in that order.
        metrics: a row for each output.
    """

    values: NDArray[np.float64]
    outputs: NDArray[np.intp]
    systems: NDArray[np.intp]
    output_systems: NDArray[np.intp]
    names: tuple[str, ...]
    metrics: pd.DataFrame


def crowd_ratings_file(published: Path) -> Path:
    return published / "estimators" / "wei_jia" / "summeval_turker.csv"


@cache
def golden(published: Path) -> dict[str, Any]:
    text = (published / "estimators" / "wei_jia" / "golden.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def read_crowd_ratings(published: Path) -> CrowdRatings:
    table = pd.read_csv(crowd_ratings_file(published))
    names = tuple(sorted(table["system"].unique()))
    of_output = np.array([names.index(name) for name in table["system"]], np.intp)
    judges = [
        table[[f"{category}_{judge}" for category in CATEGORIES]].mean(axis=1)
        for judge in range(1, JUDGES + 1)
    ]
    return CrowdRatings(
        values=np.column_stack(judges).ravel(),
        outputs=np.repeat(np.arange(len(table)), JUDGES),
        systems=np.repeat(of_output, JUDGES),
        output_systems=of_output,
        names=names,
        metrics=table.iloc[:, -6:],
    )
