"""Tests of settings: the links that commands print."""

from pathlib import Path

import pytest

from server.config import Settings


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOST", "PORT", "PUBLIC_URL"):
        monkeypatch.delenv(f"CANDOR_{name}", raising=False)


def test_a_command_gives_out_links_to_the_server_that_last_served_the_data(tmp_path: Path) -> None:
    assert Settings(data=tmp_path).resolved_public_url == "http://127.0.0.1:8000"
    Settings(data=tmp_path, host="0.0.0.0", port=8123).remember_served()  # noqa: S104
    assert Settings(data=tmp_path).resolved_public_url == "http://127.0.0.1:8123"
    Settings(data=tmp_path, port=8123, public_url="https://lab.example/").remember_served()
    assert Settings(data=tmp_path).resolved_public_url == "https://lab.example"


def test_what_is_given_counts_for_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Settings(data=tmp_path, port=8123).remember_served()
    assert Settings(data=tmp_path, port=9000).resolved_public_url == "http://127.0.0.1:9000"
    assert Settings(data=tmp_path, public_url="https://a.example").resolved_public_url == "https://a.example"
    monkeypatch.setenv("CANDOR_PORT", "7000")
    assert Settings(data=tmp_path).resolved_public_url == "http://127.0.0.1:7000"
