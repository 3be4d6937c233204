"""Take the pictures of report.html that the documents show: `make screenshots`.

The report is of the published runs, so that everybody who has the data sees the same.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.chromium import launch

REPOSITORY = Path(__file__).parents[2]
DATA = Path(os.environ.get("CANDOR_PUBLISHED_DATA", REPOSITORY.parent / "shared" / "data")) / "published"
OUT = REPOSITORY / "docs" / "screenshots"
SIZES = {1280: 1000, 360: 740}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        # The page shows the source; where this machine keeps it is nobody's business.
        path = os.path.relpath(DATA, REPOSITORY)
        first, second = (f"{path}/{run}/mturk_batch.csv" for run in ("free_run1", "free_run2"))
        command = [sys.executable, "-m", "qc.report", first, "--replicate", second, "--out", folder]
        subprocess.run([*command, "--format", "html"], check=True, cwd=REPOSITORY, stdout=subprocess.DEVNULL)
        browser = launch(playwright)
        for width, height in SIZES.items():
            page = browser.new_page(viewport={"width": width, "height": height})
            page.goto((Path(folder) / "report.html").as_uri())
            page.screenshot(path=OUT / f"report-{width}.png")
        browser.close()


if __name__ == "__main__":
    main()
