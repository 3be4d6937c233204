"""A file that somebody names by mistake, such as a disk image, is refused before it fills the memory."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bots import load_corpus
from bots.core.persona_prompt import text_of
from bots.crowd.profile import read_rater_model
from candor.common import files
from qc.loading import analyst_files
from qc.loading.analyst_files import read_margins
from qc.loading.registration import read_registration
from qc.metrics.judge import statements
from qc.metrics.metric_table import read_csv
from server.cli.runs.stored_studies import read_rules_file
from server.items import read_items
from server.study import load_study

READERS: list[Callable[[Path], Any]] = [
    lambda path: load_corpus(str(path)),
    lambda path: text_of(str(path)),
    read_rater_model,
    load_study,
    read_items,
    read_rules_file,
    analyst_files.read,
    read_margins,
    lambda path: statements(["fun"], path),
    lambda path: read_csv(path, []),
    read_registration,
]


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of one byte too many, which takes no room on the disk."""
    path = tmp_path_factory.mktemp("large") / "image"
    with path.open("wb") as file:
        file.truncate(files.MOST_BYTES + 1)
    return path


@pytest.mark.parametrize("read", READERS)
def test_a_file_of_more_than_the_limit_is_refused(large: Path, read: Callable[[Path], Any]) -> None:
    with pytest.raises(Exception, match="it has more than 200 MB"):
        read(large)


def test_a_text_has_the_same_ends_of_lines_on_every_system(tmp_path: Path) -> None:
    file = tmp_path / "study.yaml"
    file.write_bytes(b"name: a\r\ntitle: b\rlisted: true\n")
    assert files.read_text(file) == file.read_text(encoding="utf-8") == "name: a\ntitle: b\nlisted: true\n"
