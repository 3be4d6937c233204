"""A kit of the analysis in which no section is missing, made once; to be read only."""

import pytest

from qc.paper.one_run import write_paper
from tests.qc.support.analyses import whole
from tests.qc.support.written import Written

BOTH = frozenset({"latex", "pdf"})


@pytest.fixture(scope="session")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Written:
    directory, steps = tmp_path_factory.mktemp("kit"), list[str]()
    return Written(directory, write_paper(whole(), directory, BOTH, steps.append), steps)
