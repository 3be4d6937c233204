"""Fixtures that several tests of the report share: an analysis, figures, a page, a whole report."""

from pathlib import Path

import pytest

from qc.analysis import Analysis, AnalysisOptions, analyse
from qc.drawing.sheet import Figure
from qc.loading import load
from qc.render import tables, write
from qc.render.manifest import figures
from qc.render.page import page
from tests.qc.support.analyses import whole
from tests.qc.support.written import Written


@pytest.fixture(scope="session")
def two_runs(published: Path) -> Analysis:
    """The published runs, the second as the replication of the first."""
    first, second = (load(str(published / f"published/free_run{n}/hits_data.json")) for n in (1, 2))
    return analyse(first, AnalysisOptions(bootstrap=100), second)


@pytest.fixture(scope="session")
def drawn() -> dict[str, Figure]:
    """Every figure of the analysis in which no section is missing."""
    return figures(whole())


@pytest.fixture(scope="session")
def text(drawn: dict[str, Figure]) -> str:
    """The page of that analysis."""
    return page(whole(), tables(whole()), drawn)


@pytest.fixture(scope="session")
def complete(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """That analysis in every format; to be read only."""
    directory, steps = tmp_path_factory.mktemp("complete"), list[str]()
    return Written(directory, write(whole(), directory, on_step=steps.append), steps)
