"""Workers' tokens, and the clock that they are read by."""

import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from server.access import auth
from server.access.auth import Auth
from server.clock import utc_now
from server.errors import TokenExpired

AUTH = Auth("secret", "researcher", token_seconds=3_600)


@pytest.mark.parametrize("seconds", [-18_000, -30, 0, 3_500])
def test_a_token_is_good_until_it_is_old_also_where_the_clock_was_set_back(
    monkeypatch: pytest.MonkeyPatch, seconds: int
) -> None:
    token = AUTH.worker_token("a1")
    now = utc_now() + timedelta(seconds=seconds)
    monkeypatch.setattr(auth, "utc_now", lambda: now)
    assert AUTH.assignment_of(token) == "a1"


def test_a_token_expires(monkeypatch: pytest.MonkeyPatch) -> None:
    token = AUTH.worker_token("a1")
    now = utc_now() + timedelta(hours=1, seconds=2)
    monkeypatch.setattr(auth, "utc_now", lambda: now)
    with pytest.raises(TokenExpired):
        AUTH.assignment_of(token)


def test_processes_that_start_in_one_moment_have_the_same_secrets(tmp_path: Path) -> None:
    """Several web processes share a folder, and any of them may be the first in it."""
    with ThreadPoolExecutor(8) as pool:
        made = set(pool.map(lambda _: auth.load_auth(tmp_path / "data", 7).secrets, range(32)))
    assert len(made) == 1
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["secrets.json"]
    assert stat.S_IMODE((tmp_path / "data" / "secrets.json").stat().st_mode) == 0o600
