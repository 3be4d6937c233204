"""Write our export as JSON Lines: a header, then one assignment per line with all its data."""

import json
from typing import BinaryIO

from qc.formats.export import Header
from qc.run import Run
from qc.saving.nested import Loss, assignments


def losses(_: Run) -> list[Loss]:
    """Return nothing, because the export holds all ratings of a run."""
    return []


def write(run: Run, file: BinaryIO) -> None:
    """Write `run` into `file`."""
    file.write(Header.of(run).model_dump_json().encode() + b"\n")
    for assignment in assignments(run):
        file.write(json.dumps(assignment, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
