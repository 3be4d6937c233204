"""Things that some tests need. A test is skipped where one is absent, and says so; in CI it fails."""

import os
import socket
from importlib.util import find_spec
from pathlib import Path
from shutil import which

import pytest

from tests.support import set_clock
from tests.support.postgres import programs


def need_hf() -> None:
    """Go on only where models of Hugging Face can be run."""
    _need("torch", "transformers", "accelerate", remedy="make install-models")


def need_parlai() -> None:
    """Go on only where ParlAI's models can be run."""
    _need("parlai", remedy="make install-models")


def need_services() -> None:
    """Go on only where a PostgreSQL and a Redis can be started, an nginx before them, and clocks be set."""
    absent = [name for name, program in (("REDIS", "redis-server"), ("NGINX", "nginx")) if not which(program)]
    try:
        programs()
    except FileNotFoundError:
        absent.append("POSTGRESQL")
    if not set_clock.is_there():
        absent.append("LIBFAKETIME")
    _require(absent, remedy="tests/support/need-services")


def need_programs(*names: str) -> None:
    """Go on only where these programs can be run."""
    _require([name.upper() for name in names if not which(name)], remedy="tests/support/need-services")


def need_telemetry() -> None:
    """Go on only where traces can be made."""
    _need("opentelemetry", remedy="make install")


def _need(*modules: str, remedy: str) -> None:
    _require([module.upper() for module in modules if find_spec(module) is None], remedy)


def _require(absent: list[str], remedy: str) -> None:
    if not absent:
        return
    message = f"NO {', '.join(absent)}: {remedy}"
    if os.environ.get("CI") == "true":
        pytest.fail(message, pytrace=False)
    pytest.skip(message, allow_module_level=True)


def need_published_words() -> Path:
    """Return the folder of the published data with their words; go on only where it is.

    Nobody has it with the repository, so CI alone does not require it: CANDOR_REQUIRE_PUBLISHED_DATA=1 does.
    """
    folder = Path(os.environ.get("CANDOR_PUBLISHED_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if (folder / "published").is_dir() and (folder / "convai2").is_dir():
        return folder
    message = f"PUBLISHED WORDS ABSENT: nothing at {folder}. Set CANDOR_PUBLISHED_DATA to check them too."
    if os.environ.get("CANDOR_REQUIRE_PUBLISHED_DATA") == "1":
        pytest.fail(message, pytrace=False)
    pytest.skip(message)


def need_ipv6() -> None:
    """Skip a test on a machine that has no IPv6, not even to itself."""
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError as error:
        pytest.skip(f"NO IPV6 HERE: {error}")
