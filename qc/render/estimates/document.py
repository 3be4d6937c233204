"""`estimates.json`: all estimates for programs; what is not estimable is null."""

import json
import math
from typing import Any

from qc.precision.estimates import Estimates
from qc.render.estimates.sentences import findings
from qc.render.estimates.tables import estimate_tables

SCHEMA_VERSION = 1


def document(estimates: Estimates) -> str:
    """Return the text of `estimates.json`: the rows of every table, under the name of its file."""
    content = {
        "schema_version": SCHEMA_VERSION,
        "source": estimates.source,
        "signature": estimates.signature,
        "findings": findings(estimates),
        "notes": estimates.notes,
        "tables": {
            titled.name.removesuffix(".csv"): [
                {str(key): _plain(value) for key, value in row.items()}
                for row in titled.table.frame.to_dict("records")
            ]
            for titled in estimate_tables(estimates)
        },
    }
    return json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value
