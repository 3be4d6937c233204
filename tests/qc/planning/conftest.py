"""Data sets of the tests of planning."""

from pathlib import Path

import pytest

from qc.judgments import read_judgments
from qc.planning.opinion import SystemOpinion, opinion
from tests.qc.support.crowd_ratings import CrowdRatings, crowd_ratings_file, read_crowd_ratings
from tests.qc.support.judgment_files import write_judgments


@pytest.fixture(scope="session")
def crowd_ratings(published: Path) -> CrowdRatings:
    """The crowd's ratings that Wei and Jia (2021) analyse. A test must not change them."""
    return read_crowd_ratings(published)


@pytest.fixture(scope="session")
def crowd_opinion(published: Path) -> SystemOpinion:
    """The same, as the command reads them."""
    return opinion(read_judgments(str(crowd_ratings_file(published))))


@pytest.fixture
def small_opinion(tmp_path: Path) -> SystemOpinion:
    """Two workers, two items, three systems, one metric."""
    return opinion(read_judgments(str(write_judgments(tmp_path / "small.csv"))))
