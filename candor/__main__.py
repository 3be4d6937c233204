"""The command `candor`: start the command line, once `server`, `bots` and `qc` are found to be Candor's own.

Other distributions have packages of these names, and may be found before ours, or be installed over them.
"""

import sys
from base64 import urlsafe_b64encode
from hashlib import sha256
from importlib import import_module
from importlib.metadata import PackageNotFoundError, PackagePath, distribution
from importlib.util import find_spec
from pathlib import Path

_PACKAGES = ("server", "bots", "qc")
_BAD_INSTALLATION = 2  # the exit status


def main() -> None:
    """Run the command line. Exit with a sentence if one of its packages is another distribution's."""
    if foreign := _foreign():
        sys.stderr.write(
            f"Error: {foreign} is not Candor's, so Candor cannot start. This environment has another package "
            "of the same name. Install Candor in an environment of its own: python3 -m venv candor-env, then "
            "candor-env/bin/pip install 'candor_eval-….whl'\n"
        )
        sys.exit(_BAD_INSTALLATION)
    import_module("server.cli.command_line").main()


def _foreign() -> Path | None:
    """Return the file of a package that is not ours, if there is one."""
    beside = Path(__file__).parents[1]
    recorded = _recorded()
    for name in _PACKAGES:
        spec = find_spec(name)
        found = Path(spec.origin) if spec and spec.origin else Path(name)
        ours = beside / name / "__init__.py"
        if found != ours or _hash(ours) != recorded.get(f"{name}/__init__.py", _hash(ours)):
            return found
    return None


def _recorded() -> dict[str, str]:
    """Return the hashes of files when they were installed, by path; none in a checkout."""
    try:
        files: list[PackagePath] = distribution("candor-eval").files or []
    except PackageNotFoundError:
        return {}
    return {str(file): file.hash.value for file in files if file.hash and file.hash.mode == "sha256"}


def _hash(path: Path) -> str:
    """Return a file's hash as installers record it: of SHA-256, in URL-safe Base64 without padding."""
    return urlsafe_b64encode(sha256(path.read_bytes()).digest()).rstrip(b"=").decode()


if __name__ == "__main__":
    main()
