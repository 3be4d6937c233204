"""Only a trusted proxy can say which address a request comes from."""

from collections.abc import Callable

import pytest

from server.bots.lineup import OpenRun
from tests.server.support.server import House


@pytest.mark.parametrize(("trusted", "status"), [(["127.0.0.0/8"], 200), ([], 429), (["10.0.0.0/8"], 429)])
def test_only_a_trusted_proxy_tells_who_calls(
    url: str, run: OpenRun, serve: Callable[..., House], trusted: list[str], status: int
) -> None:
    """Two visitors at two addresses, as the header has it, where each address may open the page once."""
    house = serve(url, run, trusted_proxies=trusted, attempts_per_address="1/day")
    answers = [
        house.http("POST", "/api/join", json={"run": run.slug}, headers={"X-Forwarded-For": address})
        for address in ("203.0.113.1", "203.0.113.2")
    ]
    assert [answer.status_code for answer in answers] == [200, status]
