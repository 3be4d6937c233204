"""The proxies of the how-to, each with its file of `deploy/`: TLS, sockets, who calls, what is logged.

`test_behind_proxy.py` has nginx with the whole installation behind it, while that is killed.
"""

import os
import ssl
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.crowd.test_crowd import open_demo
from tests.needs import need_programs
from tests.support import tls_proxy
from tests.support.local_process import free_port
from tests.support.server_process import Server
from tests.support.tls_proxy import Proxy
from tests.support.waiting import ENOUGH
from tests.support.warm_process import WarmProcess

WORKER = "external-id-of-ann"
RUN = "short"
OPENINGS = len(tls_proxy.KINDS)  # a crowd of one comes through each
pytestmark = [pytest.mark.services, pytest.mark.timeout(2 * ENOUGH)]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that knows who calls from the proxy alone, and lets an address in so many times."""
    limits = {"CANDOR_EXEMPT_ADDRESSES": "[]", "CANDOR_ATTEMPTS_PER_ADDRESS": f"{OPENINGS}/day"}
    made = Server(tmp_path_factory.mktemp("behind"), environment=limits)
    open_demo(made, RUN, inputs=1)
    made.start()
    yield made
    made.stop()


@pytest.fixture(params=tls_proxy.KINDS)
def proxy(request: pytest.FixtureRequest, server: Server, tmp_path: Path) -> Iterator[Proxy]:
    """One of the proxies. Of the two processes that it knows, one refuses connections."""
    need_programs(request.param)
    with tls_proxy.serving(tmp_path, free_port(), [free_port(), server.port], request.param) as made:
        yield made


def test_workers_take_part_over_tls(server: Server, proxy: Proxy, tmp_path: Path) -> None:
    trusted = ssl.create_default_context(cafile=proxy.certificate)
    with httpx2.Client(base_url=proxy.url, verify=trusted, timeout=ENOUGH) as client:
        page = client.get(f"/w/{RUN}?worker={WORKER}", headers={"X-Request-ID": "named-by-the-caller"})
        assert page.status_code == 200
        assert page.headers["x-request-id"] != "named-by-the-caller"
    command = ["crowd", "--url", f"{proxy.url}/w/{RUN}", "--workers", "1", "--token", server.token]
    crowd = WarmProcess(command, proxy.environment, tmp_path / "crowd.log")
    said, _ = crowd.communicate(ENOUGH)
    assert crowd.returncode == 0, said
    assert WORKER not in proxy.logged
    assert f"/w/{RUN}" in proxy.logged
    assert "/ws" in proxy.logged


def test_nobody_gets_past_a_limit_by_what_they_say_of_themselves(server: Server, proxy: Proxy) -> None:
    trusted = ssl.create_default_context(cafile=proxy.certificate)
    with httpx2.Client(base_url=proxy.url, verify=trusted, timeout=ENOUGH) as client:
        answers = [
            client.post("/api/join", json={"run": RUN}, headers={"X-Forwarded-For": f"192.0.2.{number}"})
            for number in range(OPENINGS + 1)
        ]
    assert answers[-1].status_code == 429, os.linesep.join(answer.text for answer in answers)
