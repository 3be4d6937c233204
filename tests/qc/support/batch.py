"""An MTurk batch of results, row by row."""

import csv
import io
import json
from typing import Any

Row = dict[str, str]
BATCH_COLUMNS = [
    "HITId",
    "AssignmentId",
    "WorkerId",
    "AssignmentStatus",
    "WorkTimeInSeconds",
    "Input.u0",
    "Input.u1",
]


def batch_row(number: int, answer: object) -> Row:
    """Return a row of an MTurk batch with the families `kv` and `qc` and the given answer."""
    return {
        "HITId": f"H{number}",
        "AssignmentId": f"A{number}",
        "WorkerId": f"W{number}",
        "AssignmentStatus": "Submitted",
        "WorkTimeInSeconds": "600",
        "Input.u0": "kv",
        "Input.u1": "qc",
        "Answer.taskAnswers": json.dumps(answer),
    }


def batch_answer() -> dict[str, Any]:
    """Return an answer of two conversations: `kv` with a persona, then the qc bot."""
    return {
        "task0": "kv",
        "seed0": "500",
        "score0": "90#60#70#80#85#40#75#",
        "task1": "qc",
        "seed1": "7",
        "score1": "95#1#2#3#4#5#6#",
        "feedback": "fine",
    }


def batch_text(rows: list[Row]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, [*BATCH_COLUMNS, "Answer.taskAnswers"])
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
