"""A report as it was written."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Written:
    """The directory, the files as `write` returned them, and the steps that it told."""

    directory: Path
    files: list[Path]
    steps: list[str]
