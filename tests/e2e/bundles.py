"""A run's bundle from the desk, and whether it says what the database says."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from tests.e2e.axe import clean
from tests.support.waiting import ENOUGH


def downloaded_bundle(page: Page, run: str, folder: Path) -> Path:
    """Have the desk, whose page of the run is shown, make a bundle; return the file."""
    page.get_by_role("tab", name="Settings").click()
    page.get_by_label("Bundle").check()
    clean(page)
    page.get_by_role("button", name="Export", exact=True).click()
    expect(page.get_by_role("progressbar", name="The export")).to_be_visible()
    page.reload()
    link = page.get_by_role("link", name=f"{run}.bundle.zip")
    expect(link).to_be_visible(timeout=ENOUGH * 1_000)
    with page.expect_download() as download:
        link.click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def assert_same_numbers(bundle: Path, database: str, run: str, folder: Path) -> None:
    """Assert that a bundle is whole, and that its report is the report of the database, to the digit."""
    with zipfile.ZipFile(bundle) as archive:
        study = archive.read("study.yaml").decode()
    assert "_code: REMOVED" in study or "_code" not in study
    assert "_token: REMOVED" in study or "_token" not in study
    verified = _qc("qc.bundle.verify", str(bundle))
    assert ": verified." in verified
    there = _report(database, folder / "of-database", "--run", run)
    here = _report(str(bundle), folder / "of-bundle")
    assert there.pop("source") != here.pop("source")
    assert there == here
    assert str(there["signature"]) in verified.replace("\n", "")


def _report(source: str, out: Path, *options: str) -> dict[str, Any]:
    _qc("qc.report", source, *options, "--out", str(out), "--format", "json")
    found: dict[str, Any] = json.loads((out / "report.json").read_text(encoding="utf-8"))
    return found


def _qc(module: str, *arguments: str) -> str:
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=ENOUGH)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
