"""Take the pictures of report.html, metrics.html and paper.pdf that the documents show: `make screenshots`.

They show the figures of the published runs, so that everybody gets the same pictures.
"""

import json
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.chromium import launch

REPOSITORY = Path(__file__).parents[2]
DATA = REPOSITORY / "tests" / "data" / "published"
OUT = REPOSITORY / "docs" / "screenshots"
SIZES = {1280: 1000, 360: 740}
FAMILIES = {"A": "biencoder", "B": "polyencoder", "C": "kvmemnn", "D": "seq2seq", "E": "lan_model"}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        first, second = (f"{DATA}/{run}/mturk_batch.csv" for run in ("free_run1", "free_run2"))
        make("qc.report", folder, first, "--replicate", second, "--format", "html,latex,pdf")
        compile_paper(Path(folder) / "paper")
        scores = write_overlap_scores(Path(folder) / "overlap.csv")
        made = f"{DATA}/free_run1/hits_data.json", "--scores", str(scores), "--format", "html"
        make("qc.metrics", folder, *made)
        browser = launch(playwright)
        for name, (width, height) in product(("report", "metrics"), SIZES.items()):
            page = browser.new_page(viewport={"width": width, "height": height})
            page.goto((Path(folder) / f"{name}.html").as_uri())
            page.screenshot(path=OUT / f"{name}-{width}.png")
        browser.close()


def make(module: str, folder: str, *arguments: str) -> None:
    """Let a command of qc write its files into `folder`."""
    command = [sys.executable, "-m", module, *arguments, "--out", folder]
    subprocess.run(command, check=True, cwd=REPOSITORY, stdout=subprocess.DEVNULL)


def compile_paper(folder: Path) -> None:
    """Compile the paper kit, and take a picture of its first page."""
    for program in ("pdflatex", "bibtex", "pdflatex", "pdflatex"):
        mode = ["-interaction=batchmode"] if program == "pdflatex" else []
        subprocess.run([program, *mode, "paper"], check=True, cwd=folder, stdout=subprocess.DEVNULL)
    within_margins = ["-x", "70", "-y", "95", "-W", "610", "-H", "860"]
    picture = ["pdftoppm", "-png", "-r", "90", "-singlefile", *within_margins, "paper.pdf"]
    subprocess.run([*picture, str(OUT / "paper-kit")], check=True, cwd=folder)


def write_overlap_scores(file: Path) -> Path:
    """Write the thesis' scores of the ten systems by word-overlap metrics into `file`."""
    golden = DATA.parent / "estimators" / "metrics" / "golden.json"
    printed = json.loads(golden.read_text(encoding="utf-8"))["dialogue"]
    # The thesis calls the systems by letters, with a p where they have a persona.
    names = [FAMILIES[letter[0]] + ("_p" if letter.endswith("p") else "") for letter in printed["systems"]]
    rows = zip(names, *printed["metric_scores"].values(), strict=True)
    lines = [["system", *printed["metric_scores"]], *rows]
    file.write_text("\n".join(",".join(map(str, line)) for line in lines), encoding="utf-8")
    return file


if __name__ == "__main__":
    main()
