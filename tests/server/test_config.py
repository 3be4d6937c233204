"""Tests of settings: the links that commands print, and the documentation of every setting."""

import re
from pathlib import Path

import pytest

from server.config import Settings

DOCUMENT = Path(__file__).parents[2] / "docs" / "researcher.md"


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


def test_the_researchers_document_lists_every_setting() -> None:
    _, told = DOCUMENT.read_text(encoding="utf-8").split("\n## Settings of a server\n")
    variables = [row.split("|")[1] for row in told.split("\n## ")[0].splitlines() if row.startswith("| `")]
    documented = re.findall(r"`CANDOR_([A-Z_]+)`", " ".join(variables))
    assert sorted(documented) == sorted(name.upper() for name in Settings.model_fields)
