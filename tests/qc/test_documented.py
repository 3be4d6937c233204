"""The how-to pages quote what the commands print of the published runs and of the examples."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from qc.analysis import AnalysisOptions, analyse
from qc.bundle.certificate import certificate, certificate_files
from qc.render.sentences import verdict
from qc.run import Run
from qc.table import between, decimal, ranks

DOCS = Path(__file__).parents[2] / "docs"
PAGES = DOCS / "how-to" / "analysis"
TEXT = (PAGES / "read-the-report.md").read_text(encoding="utf-8")
# A command on an example, and what it prints up to `…`.
SHOWN = re.compile(r"\$ candor report (examples.*?)\n(.*?)…\n```", re.DOTALL)
SECTIONS = frozenset({"intervals", "forecast", "replication", "filter"})


@pytest.mark.published
def test_the_published_run_says_what_is_quoted(published_run: Callable[[str, str], Run]) -> None:
    first, second = (published_run(f"free_run{number}", "mturk_batch.csv") for number in (1, 2))
    found = analyse(first, AnalysisOptions(sections=SECTIONS), second)
    assert re.findall(r"^> (.+)", TEXT, re.MULTILINE) == list(verdict(found).sentences)
    intervals, forecast = found.intervals, found.forecast
    assert intervals is not None
    assert forecast is not None
    for row, (system, n, z, raw) in enumerate(
        zip(
            found.scores.z["system"],
            found.scores.z["n"],
            found.scores.z["overall"],
            found.scores.raw["overall"],
            strict=True,
        )
    ):
        held = between(intervals.z_low[row, 0], intervals.z_high[row, 0], 2)
        place = ranks(int(intervals.rank_low[row]), int(intervals.rank_high[row]))
        cells = (system, str(n), decimal(z), held, place, decimal(raw, 2))
        assert f"| {' | '.join(cells)} |".replace("−", "-") in TEXT
    assert f"r = {decimal(forecast.r)}** (95 % of second runs between {decimal(forecast.low)}" in TEXT
    signed = re.findall(r"^       [a-z].*|^   candor=.*", TEXT, re.MULTILINE)
    assert found.signature in "".join(line.strip() for line in signed)
    certified = certificate(found)
    assert certified is not None
    ((quoted, end),) = re.findall(
        r"^ +> (.+ sha256:)…(.+)", (PAGES / "certify-a-ranking.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    line = certificate_files(certified)["certificate.txt"].decode().strip()
    assert (line.startswith(quoted), line.endswith(end)) == (True, True)


@pytest.mark.parametrize("page", ["compare-two-runs", "analyse-arena-votes"])
def test_an_example_prints_what_is_quoted(
    page: str, report: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(DOCS)
    ((arguments, printed),) = SHOWN.findall((PAGES / f"{page}.md").read_text(encoding="utf-8"))
    told = " ".join(report(*arguments.split("--out")[0].split(), "--out", tmp_path).output.split())
    assert " ".join(printed.split()) in told
