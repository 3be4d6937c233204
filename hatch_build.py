"""Puts the bill of materials into a wheel, where `make wheel` has written one: PEP 770's folder."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class BillOfMaterials(BuildHookInterface):
    """Adds what lies in build/sbom; an installation from a checkout has none, and needs none."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the files for the wheel."""
        if version == "standard":
            found = sorted(Path(self.root, "build", "sbom").glob("*"))
            build_data["sbom_files"] += [str(path.relative_to(self.root)) for path in found]
