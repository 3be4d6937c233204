"""A server's process loads none of the packages of analyses and models."""

import subprocess
import sys

NOT_NEEDED = {"numpy", "pandas", "scipy", "pyarrow", "matplotlib", "torch", "openai", "statsmodels"}


def test_a_server_loads_none_of_the_packages_of_analyses_and_models() -> None:
    code = f"import sys, server.app; print(sorted({NOT_NEEDED!r} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
