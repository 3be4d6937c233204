"""What some tests cannot do without: where it is absent they are skipped, loudly, and fail in CI."""

import os
from importlib.util import find_spec

import pytest


def need_hf() -> None:
    """Go on only where models of Hugging Face can be run."""
    _need("torch", "transformers", "accelerate", remedy="make install-models")


def need_parlai() -> None:
    """Go on only where ParlAI's models can be run."""
    _need("parlai", remedy="make install-models")


def _need(*modules: str, remedy: str) -> None:
    absent = [module.upper() for module in modules if find_spec(module) is None]
    if not absent:
        return
    message = f"NO {', '.join(absent)}: {remedy}"
    if os.environ.get("CI") == "true":
        pytest.fail(message, pytrace=False)
    pytest.skip(message, allow_module_level=True)
