"""The command `candor` refuses to start on packages of its names that others have installed."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
RECORD = "server/__init__.py,sha256={},1\nbots/__init__.py,,\nqc/__init__.py,,\n"


def help_of_candor(*path: Path) -> "subprocess.CompletedProcess[str]":
    """Run `candor --help` with modules looked for in these folders first."""
    program = f"import sys; sys.path[:0] = {[str(each) for each in path]!r}; sys.argv[1:] = ['--help']\n"
    program += "from candor.__main__ import main\nmain()"
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=path[-1]
    )


def test_our_own_start() -> None:
    assert "Run a study" in help_of_candor(ROOT).stdout


def test_a_package_that_is_found_first_is_named(tmp_path: Path) -> None:
    (tmp_path / "bots").mkdir()
    (tmp_path / "bots" / "__init__.py").touch()
    refused = help_of_candor(tmp_path, ROOT)
    assert refused.returncode == 2
    assert f"{tmp_path / 'bots' / '__init__.py'} is not Candor's" in refused.stderr
    assert "environment of its own" in refused.stderr


def test_a_package_that_was_installed_over_ours_is_named(tmp_path: Path) -> None:
    for name in ("candor", "server", "bots", "qc"):
        (tmp_path / name).mkdir()
        shutil.copy(ROOT / name / "__init__.py", tmp_path / name)
    shutil.copy(ROOT / "candor" / "__main__.py", tmp_path / "candor")
    record = tmp_path / "candor_eval-0.dist-info"
    record.mkdir()
    (record / "METADATA").write_text("Metadata-Version: 2.4\nName: candor-eval\nVersion: 0\n")
    (record / "RECORD").write_text(RECORD.format("of-another-file"))
    refused = help_of_candor(tmp_path)
    assert refused.returncode == 2
    assert f"{tmp_path / 'server' / '__init__.py'} is not Candor's" in refused.stderr
