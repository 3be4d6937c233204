"""The whole installation: a proxy with TLS, two servers, two bot hosts, PostgreSQL, Redis, a crowd.

What `compose.yaml` describes, without its engine: the same processes behind `deploy/nginx.conf`, killed,
stopped and replaced while the crowd takes part. `pytest -s` shows the figures;
docs/explanation/reliability.md has them.
"""

import random
import signal
import ssl
from collections.abc import Callable
from contextlib import ExitStack
from itertools import count
from pathlib import Path

import httpx2
import pytest
import yaml

from tests.needs import need_services
from tests.support import tls_proxy
from tests.support.local_process import free_port
from tests.support.server_process import Server
from tests.support.storm import A_STORM, DEMO, INPUTS, SOAK, Installation, Trouble, storm
from tests.support.waiting import ENOUGH, wait_until
from tests.support.warm_process import WarmProcess

KILLS = 4 * SOAK or 5
PROCESSES = {"first": 2, "second": 2 if SOAK else 1}  # of each server
WORKER = "external-id-of-ann"
HOSTED = {"builtin:interviewer": "interviewer-hosted", "builtin:reflect": "reflect-hosted"}
# `make test` has the kills in test_kills, the network in test_network, the proxies in test_proxies.
pytestmark = [pytest.mark.services, pytest.mark.soak, pytest.mark.timeout(2 * A_STORM)]


class Whole(Installation):
    """Two servers; some of the study's bots live in two bot hosts of their own."""

    workers = 40 * SOAK or 8

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        super().__init__(stack, folder)
        port = free_port()
        secrets: dict[str, bytes] = {}
        environment = {
            "CANDOR_DATABASE_URL": self.database,
            "CANDOR_REDIS_URL": self.redis.url,
            "CANDOR_PUBLIC_URL": tls_proxy.url_of(port),
        }
        for name, processes in PROCESSES.items():
            data = folder / name
            data.mkdir()
            for file, content in secrets.items():  # one installation has one set of them
                (data / file).write_bytes(content)
            server = Server(data, "--processes", str(processes), environment=environment)
            self.servers.append(server)
            server.start()
            stack.callback(server.stop)
            secrets = {file: (data / file).read_bytes() for file in ("secrets.json", "worker-ids.key")}
        wait_until(
            lambda: all("is ready" in self._said_by(server) for server in self.servers), "all processes"
        )
        ports = [server.port for server in self.servers]
        self.proxy = stack.enter_context(tls_proxy.serving(folder, port, ports))
        token = ["--token", self.servers[0].token]
        self._ways = (
            ["--redis", self.redis.url],
            ["--server", self.proxy.url.replace("http", "ws", 1), *token],
        )
        self._starts = count(1)
        self._host_logs: dict[int, Path] = {}
        self.bot_hosts = [self._start_host(number) for number in range(2)]
        stack.callback(self._end_hosts)

    def crowd(self) -> WarmProcess:
        """Start the workers of the demo study, whose bots are the same, some of them elsewhere."""
        wait_until(lambda: all(map(self._registered, HOSTED.values())), "the host to dial in")
        content = yaml.safe_load(DEMO.read_text()) | {"minimum_inputs": INPUTS}
        for system in content["systems"]:
            system["bot"] = HOSTED.get(system["bot"], system["bot"])
        study = self.folder / "storm.yaml"
        study.write_text(yaml.safe_dump(content, sort_keys=False))
        self.servers[0].open_unchecked(study, "storm")
        wait_until(lambda: self.get(f"/w/storm?worker={WORKER}").status_code == 200, "the run")
        command = ["crowd", "--url", f"{self.proxy.url}/w/storm", "--token", self.servers[0].token]
        return WarmProcess([*command, *self.options], self.proxy.environment, self.folder / "crowd.log")

    def get(self, path: str) -> httpx2.Response:
        trusted = ssl.create_default_context(cafile=self.proxy.certificate)
        return httpx2.get(f"{self.proxy.url}{path}", verify=trusted, timeout=ENOUGH)

    def host_killed(self) -> None:
        """One of the bot hosts is lost with what it was at; another is started, as its machine would do."""
        lost = random.Random(self.acknowledgements()).randrange(len(self.bot_hosts))
        self.bot_hosts[lost].send_signal(signal.SIGKILL)
        self.bot_hosts[lost].wait()
        self.bot_hosts[lost] = self._start_host(lost)

    def _registered(self, name: str) -> bool:
        """Return whether a host has brought this bot to the server."""
        headers = {"Authorization": f"Bearer {self.servers[0].token}"}
        url = f"{self.servers[0].url}/api/desk/bots/{name}"
        return httpx2.get(url, headers=headers, timeout=ENOUGH).status_code == 200

    def _start_host(self, number: int) -> WarmProcess:
        """Start one of the two: the first takes its work from Redis, the second dials in over the proxy."""
        models = [f"--model={name}={spec}" for spec, name in HOSTED.items()]
        log = self._host_logs[number] = self.folder / f"host{number}-{next(self._starts)}.log"
        log.touch()
        return WarmProcess(["host", *models, *self._ways[number]], self.proxy.environment, log)

    def _end_hosts(self) -> None:
        for number, host in enumerate(self.bot_hosts):
            log = self._host_logs[number]
            # One that was started a moment ago knows no better than to fall over when it is told to end.
            wait_until(lambda log=log: log.read_text().count("Ready: ") >= len(HOSTED), "a host's models")
            host.send_signal(signal.SIGTERM)
            assert host.wait(ENOUGH) == 0, log.read_text()

    def _said_by(self, server: Server) -> str:
        return (server.data / "server.log").read_text()


def kills(whole: Whole, trouble: Trouble) -> dict[str, Callable[[], None]]:
    # A server of one process has none that could follow it: test_kills.py restarts those of two.
    restarts = {"a rolling restart": trouble.rolling_restart} if SOAK else {}
    return {
        "a web process killed": trouble.web_killed,
        "a server's own bot host killed": trouble.bot_host_killed,
        "a bot host killed": whole.host_killed,
        "Redis killed": trouble.redis_killed,
        "a backend killed": trouble.backend_killed,
        **restarts,
    }


def test_the_demo_study_over_https_whatever_is_killed(tmp_path: Path) -> None:
    need_services()
    with ExitStack() as stack:
        whole = Whole(stack, tmp_path)
        tally, table = storm(whole, kills(whole, Trouble(whole, random.Random(7))), KILLS)
        print(f"\n{table}")  # noqa: T201
        assert tally.problems(whole.workers) == {}
        assert "Traceback" not in whole.said
        assert "GET /w/storm HTTP/1.1" in whole.proxy.logged
        assert "GET /ws HTTP/1.1" in whole.proxy.logged
        assert WORKER not in whole.proxy.logged
