"""The session core is light: it brings the standard library, pydantic, itself and what all packages share."""

import subprocess
import sys

# Imported by itself, in a process of its own: everything that the core's modules bring along.
_LIST = """
import pkgutil, sys, importlib
PYDANTIC = {"pydantic", "pydantic_core", "annotated_types", "typing_extensions", "typing_inspection"}
before = set(sys.modules)
import server.session
for module in pkgutil.iter_modules(server.session.__path__):
    importlib.import_module(f"server.session.{module.name}")
for name in sorted(set(sys.modules) - before):
    root = name.partition(".")[0]
    if root in sys.stdlib_module_names or root in PYDANTIC or root.startswith("_sysconfigdata"):
        continue
    if name in {"server", "candor"} or name.startswith(("server.errors", "server.session", "candor.common")):
        continue
    print(name)
"""


def test_importing_the_core_brings_nothing_heavy() -> None:
    done = subprocess.run([sys.executable, "-c", _LIST], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
