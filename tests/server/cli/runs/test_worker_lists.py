"""`candor recruit links`: a personal link for each worker, and what a list may look like."""

import csv
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from server.access.auth import load_auth
from tests.server.support.commands import Candor, assert_refused

URL = "https://study.example.org"


def query_of(link: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(link).query).items()}


@pytest.mark.parametrize(
    "listed",
    [
        "ann\nbob & co\n日本\n",
        "\ufeffworker\r\nann\r\nbob & co\r\n日本\r\n",
        "name,Worker\nA,ann\n\nB, bob & co \nC,日本\n",
    ],
    ids=["lines", "a column", "one of two columns"],
)
def test_each_worker_gets_a_link_that_is_signed(
    candor: Candor, data: Path, tmp_path: Path, listed: str
) -> None:
    path = tmp_path / "workers.csv"
    path.write_text(listed, encoding="utf-8")
    done = candor("recruit", "links", "pilot", "--workers", path, "--data", data, CANDOR_PUBLIC_URL=URL)
    assert done.exit_code == 0, done.output
    found = done.stdout.splitlines()
    assert [query_of(link)["worker"] for link in found] == ["ann", "bob & co", "日本"]
    auth = load_auth(data, 7)
    for link in found:
        assert link.startswith(f"{URL}/w/pilot?worker=")
        assert auth.is_link_signature(query_of(link)["signature"], "pilot", query_of(link)["worker"])
    assert "3 personal links to run pilot" in done.stderr


def test_links_as_csv(candor: Candor, data: Path, tmp_path: Path) -> None:
    path = tmp_path / "workers.csv"
    path.write_text('"a, b"\n=1+1\n')
    done = candor("recruit", "links", "pilot", "--workers", path, "--csv", "--data", data)
    rows = [
        (row["worker"], query_of(row["link"])["worker"]) for row in csv.DictReader(done.stdout.splitlines())
    ]
    assert rows == [("a, b", "a, b"), ("'=1+1", "=1+1")]  # an id is nothing that a spreadsheet computes
    assert "Set CANDOR_PUBLIC_URL" in done.stderr


@pytest.mark.parametrize(
    ("content", "reasons"),
    [
        (b"", ["it contains no worker", "one id per line"]),
        (b"worker\n\n", ["it contains no worker"]),
        (b"ann\nbob\nann\n", ["line 3", "“ann” is in line 1 already"]),
        (b"a,b\nc,d\n", ["several columns, and none is named “worker”"]),
        (b"worker,name\n,Ann\n", ["line 2", "is not a valid worker's id"]),
        (b"x" * 201, ["line 1", "at most 200 characters"]),
        (b"\xff\xfe", ["is not UTF-8 text"]),
    ],
    ids=["nothing", "a header only", "twice", "no column", "no id", "long", "no text"],
)
def test_a_list_that_is_none(
    candor: Candor, data: Path, tmp_path: Path, content: bytes, reasons: list[str]
) -> None:
    path = tmp_path / "workers.csv"
    path.write_bytes(content)
    assert_refused(
        candor("recruit", "links", "pilot", "--workers", path, "--data", data), str(path), *reasons
    )


def test_a_list_that_is_not_there(candor: Candor, data: Path, tmp_path: Path) -> None:
    assert_refused(
        candor("recruit", "links", "pilot", "--workers", tmp_path / "none.csv", "--data", data),
        "cannot be read",
    )


def test_a_run_that_is_not_there(candor: Candor, data: Path, tmp_path: Path) -> None:
    (tmp_path / "w.csv").write_text("ann\n")
    assert_refused(
        candor("recruit", "links", "pillot", "--workers", tmp_path / "w.csv", "--data", data), "“pillot”"
    )
