"""What ParlAI 1.7.2 expects of its surroundings and no longer finds there."""

import importlib
import inspect
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any


def mend() -> None:
    """Put back what ParlAI needs: `pkg_resources`, and `verbose` of torch's ReduceLROnPlateau.

    To be called before ParlAI is imported.
    """
    if "pkg_resources" not in sys.modules and find_spec("pkg_resources") is None:
        sys.modules["pkg_resources"] = _package_resources()
    _accept_verbose()


def _package_resources() -> ModuleType:
    """Return the two functions that ParlAI uses of a module which left setuptools with version 81."""
    module = ModuleType("pkg_resources")

    def resource_filename(package: str, name: str) -> str:
        spec = find_spec(package)
        if spec is None or spec.origin is None:
            raise ModuleNotFoundError(f"no package {package!r} to read {name} from", name=package)
        return str(Path(spec.origin).parent / name)

    def resource_exists(package: str, name: str) -> bool:
        return Path(resource_filename(package, name)).exists()

    vars(module).update(resource_filename=resource_filename, resource_exists=resource_exists)
    return module


def _accept_verbose() -> None:
    """Let torch's ReduceLROnPlateau take, and ignore, the `verbose` that it had until torch 2.6."""
    schedulers: Any = importlib.import_module("torch.optim.lr_scheduler")
    plateau = schedulers.ReduceLROnPlateau
    if "verbose" in inspect.signature(plateau.__init__).parameters:
        return

    class ReduceLROnPlateau(plateau):  # type: ignore[misc,valid-type]
        """Torch's own, with one argument more."""

        def __init__(self, *args: Any, verbose: bool = False, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)

    schedulers.ReduceLROnPlateau = ReduceLROnPlateau
