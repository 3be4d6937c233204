"""Data sets of the estimators' tests."""

from pathlib import Path

import pytest

from tests.qc.support.crowd_ratings import CrowdRatings, read_crowd_ratings


@pytest.fixture(scope="session")
def crowd_ratings(published: Path) -> CrowdRatings:
    """The crowd's ratings that Wei and Jia (2021) analyse. A test must not change them."""
    return read_crowd_ratings(published)
