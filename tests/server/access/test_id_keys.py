"""The key of workers' ids: made once, for its owner alone, or given."""

import stat
from pathlib import Path

import pytest

from server.access.id_keys import key_file, load_id_keys
from server.errors import CandorError

KEY, OTHER = "k" * 32, "o" * 40


def test_a_key_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    made = load_id_keys(tmp_path / "new", None)
    assert len(made) == 1
    assert load_id_keys(tmp_path / "new", None) == made
    assert stat.S_IMODE(key_file(tmp_path / "new").stat().st_mode) == 0o600
    assert load_id_keys(tmp_path / "other", None) != made


def test_a_key_that_is_given_leaves_no_file(tmp_path: Path) -> None:
    assert load_id_keys(tmp_path, f"{KEY} {OTHER}") == (KEY, OTHER)
    assert not key_file(tmp_path).exists()


@pytest.mark.parametrize("text", ["", "short", f"{KEY} short"])
def test_a_short_key_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(CandorError, match="CANDOR_WORKER_ID_KEY: a key needs at least 32 characters"):
        load_id_keys(tmp_path, text)
    key_file(tmp_path).write_text(text)
    with pytest.raises(CandorError, match=r"worker-ids\.key: a key needs at least 32 characters"):
        load_id_keys(tmp_path, None)


def test_a_file_that_cannot_be_read_is_said_so(tmp_path: Path) -> None:
    key_file(tmp_path).mkdir()
    with pytest.raises(CandorError, match=r"worker-ids\.key cannot be used"):
        load_id_keys(tmp_path, None)
