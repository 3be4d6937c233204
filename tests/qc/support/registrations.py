"""Preregistrations of the awkward run."""

import hashlib
import json
from typing import Any

from qc.loading.registration import Preregistration


def content(**changed: Any) -> dict[str, Any]:
    """Return what a file of `candor study preregister` holds, with some of it changed."""
    plan = {
        "format": "candor-preregistration",
        "version": 1,
        "registered": "2026-02-28T12:00:00+00:00",
        "run": "<b>run</b>",
        "study": "s",
        "study_hash": "h",
        "begun_before": 0,
        "hypotheses": [],
        "familywise": 0.05,
        "criteria": [
            {"label": f"c{number}", "negative": False, "counts_for_qc": True} for number in range(4)
        ],
        "filter": {"alpha": 0.05},
        "target": {"assignments": 24},
        "stopping": "",
        "exclusions": ["Two windows"],
    } | changed
    text = json.dumps(plan, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return plan | {"hash": f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"}


def registration(**changed: Any) -> Preregistration:
    """Return what is read from such a file."""
    return Preregistration.model_validate(content(**changed))
