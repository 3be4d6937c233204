"""Samples made up from z scores, for what starts from a sample; nothing is loaded or standardised."""

from collections.abc import Mapping, Sequence
from math import isfinite

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from qc.method.filter import NO_VARIANCE, Screening
from qc.method.sample import Sample
from qc.run import Run

Conversation = tuple[str, str, float]  # worker, system, z


def sample_of(
    conversations: Sequence[Conversation],
    p: Mapping[str, float] | None = None,
    reasons: Mapping[str, str] | None = None,
    families: Mapping[str, tuple[str, bool]] | None = None,
    systems: Sequence[str] = (),
    alpha: float = 0.05,
) -> Sample:
    """Return a sample with the one criterion "fun"; raw scores are 50 + 10 z.

    Args:
        conversations: in this order.
        p: of each worker, 0 where it is not given; passed are those with p < `alpha` and no reason.
        reasons: why a worker failed.
        families: system → family and whether it has a persona; where not given a family of its own, without.
        systems: more competing systems, that nobody met.
        alpha: level of the screening.
    """
    p, reasons, families = p or {}, reasons or {}, families or {}
    workers = sorted({worker for worker, _, _ in conversations} | set(p))
    competing = sorted({system for _, system, _ in conversations} - {"qc"} | set(systems))
    screening = pd.DataFrame(
        {
            "worker": workers,
            "p": [p.get(worker, 0.0) for worker in workers],
            "testable": [
                isfinite(p.get(worker, 0.0)) and reasons.get(worker) != NO_VARIANCE for worker in workers
            ],
            "passed": [p.get(worker, 0.0) < alpha and worker not in reasons for worker in workers],
            "reason": [reasons.get(worker, "") for worker in workers],
        }
    )
    table = pd.DataFrame({"system": [*competing, "qc"]})
    table["family"] = [families.get(system, (system, False))[0] for system in table["system"]]
    table["has_persona"] = [families.get(system, (system, False))[1] for system in table["system"]]
    table["is_qc"] = table["system"] == "qc"
    codes = {system: code for code, system in enumerate(table["system"])}
    return _sample(
        table,
        Screening(alpha, screening),
        np.array([workers.index(worker) for worker, _, _ in conversations], dtype=np.intp),
        np.array([codes[system] for _, system, _ in conversations], dtype=np.intp),
        np.array([[z] for _, _, z in conversations], dtype=np.float64).reshape(-1, 1),
    )


def sample_of_arrays(workers: ArrayLike, systems: ArrayLike, z: NDArray[np.float64]) -> Sample:
    """Return a sample whose workers all passed, from codes (C,) and z scores (C, K)."""
    worker_codes, system_codes = np.asarray(workers, dtype=np.intp), np.asarray(systems, dtype=np.intp)
    count = int(worker_codes.max()) + 1
    screening = pd.DataFrame(
        {
            "worker": [f"w{n:06}" for n in range(count)],
            "p": 0.0,
            "smallest_p": 0.0,
            "testable": True,
            "passed": True,
            "reason": "",
        }
    )
    names = [*(f"s{n}" for n in range(int(system_codes.max()) + 1)), "qc"]
    table = pd.DataFrame({"system": names, "family": names, "has_persona": False})
    table["is_qc"] = table["system"] == "qc"
    return _sample(table, Screening(0.05, screening), worker_codes, system_codes, z)


def _sample(
    systems: pd.DataFrame,
    screening: Screening,
    workers: NDArray[np.intp],
    codes: NDArray[np.intp],
    z: NDArray[np.float64],
) -> Sample:
    labels = ["fun", *(f"more {number}" for number in range(1, z.shape[1]))]
    run = Run(
        name="made up",
        source="made up",
        partial=False,
        criteria=pd.DataFrame({"label": labels, "negative": False, "counts_for_qc": True, "maximum": 100.0}),
        systems=systems,
        assignments=pd.DataFrame(),
        conversations=pd.DataFrame(),
        ratings=pd.DataFrame(),
    )
    is_qc = systems["is_qc"].to_numpy(bool)[codes]
    return Sample(run, screening, workers, codes, is_qc, 50 + 10 * z, z)
