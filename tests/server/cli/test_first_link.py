"""The link that makes its first reader the owner is for a terminal, never for the log of a service."""

from pathlib import Path

from tests.support.server_process import Server


def test_what_opens_everything_is_in_no_log(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.start()
    server.stop()
    said = (tmp_path / "server.log").read_text()
    assert "people add NAME --role owner" in said
    assert "#link=" not in said
    assert server.token not in said
