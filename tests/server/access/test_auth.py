"""Workers' tokens and the clock that they are read by, and the keys of workers' ids."""

import re
import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from server.access import auth
from server.access.auth import Auth, Ticket, key_file, load_id_keys
from server.clock import utc_now
from server.errors import CandorError, TokenExpired
from server.recruiters.arrival import Arrival
from server.session.protocol import MAX_TOKEN

AUTH = Auth("secret", "researcher", token_seconds=3_600)


@pytest.mark.parametrize("seconds", [-18_000, -30, 0, 3_500])
def test_a_token_is_good_until_it_is_old_also_where_the_clock_was_set_back(
    monkeypatch: pytest.MonkeyPatch, seconds: int
) -> None:
    token = AUTH.worker_token("a1")
    now = utc_now() + timedelta(seconds=seconds)
    monkeypatch.setattr(auth, "utc_now", lambda: now)
    assert AUTH.opened_by(token) == "a1"


def test_a_token_expires(monkeypatch: pytest.MonkeyPatch) -> None:
    token = AUTH.worker_token("a1")
    now = utc_now() + timedelta(hours=1, seconds=2)
    monkeypatch.setattr(auth, "utc_now", lambda: now)
    with pytest.raises(TokenExpired):
        AUTH.opened_by(token)


def test_a_ticket_is_read_as_it_was_written() -> None:
    ticket = Ticket("a1", 7, Arrival("link", "日本 \U0001f989"), False, 0.5, True)
    assert AUTH.opened_by(AUTH.ticket_token(ticket)) == ticket


def test_the_longest_ticket_can_be_sent() -> None:
    worst = "".join(chr(0x1F000 + 7 * n) for n in range(200))  # four bytes each, and none like another
    token = AUTH.ticket_token(Ticket("a" * 16, 2**31, Arrival("simulated", worst), False, 0.125, False))
    assert len(token) <= MAX_TOKEN


def test_a_links_signature_is_of_its_run_its_worker_and_this_installation() -> None:
    signature = AUTH.link_signature("demo", "ann")
    assert re.fullmatch("[A-Za-z0-9_-]{16}", signature)
    assert AUTH.is_link_signature(signature, "demo", "ann")
    for other in (("demo", "bob"), ("demo2", "ann"), ("dem", "oann")):
        assert not AUTH.is_link_signature(signature, *other)
    assert not AUTH.is_link_signature("ä", "demo", "ann")
    assert Auth("another", "researcher", 1).link_signature("demo", "ann") != signature


def test_processes_that_start_in_one_moment_have_the_same_secrets(tmp_path: Path) -> None:
    """Several web processes share a folder, and any of them may be the first in it."""

    def begin(_number: int) -> tuple[str, ...]:
        auth.make_secrets(tmp_path / "data")
        return auth.load_auth(tmp_path / "data", 7).secrets

    with ThreadPoolExecutor(8) as pool:
        made = set(pool.map(begin, range(32)))
    assert len(made) == 1
    files = sorted((tmp_path / "data").iterdir())
    assert [path.name for path in files] == ["secrets.json", "worker-ids.key"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}


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
