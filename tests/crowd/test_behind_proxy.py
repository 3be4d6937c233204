"""The whole installation, run by hand: a proxy with TLS, two web processes, a bot host, databases, a crowd.

What `compose.yaml` describes, without its engine: the same processes behind `deploy/nginx.conf`.
"""

import json
import os
import ssl
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
from sqlalchemy import create_engine, text

from tests.support.local_process import free_port
from tests.support.postgres import Postgres
from tests.support.redis_server import RedisServer
from tests.support.server_process import Server
from tests.support.waiting import ENOUGH, wait_until

CONFIGURATION = Path(__file__).parents[2] / "deploy" / "nginx.conf"
WORKERS = 20
WORKER = "external-id-of-ann"
pytestmark = [pytest.mark.services, pytest.mark.timeout(4 * ENOUGH)]


@dataclass
class Installation:
    """Two web processes behind a proxy; `certificate` is what clients have to trust."""

    webs: tuple[Server, Server]
    url: str
    database: str
    folder: Path
    certificate: Path

    @property
    def environment(self) -> dict[str, str]:
        """What a client's process needs."""
        return os.environ | {"SSL_CERT_FILE": str(self.certificate), "CANDOR_TOKEN": self.webs[0].token}

    def get(self, path: str) -> httpx2.Response:
        trusted = ssl.create_default_context(cafile=self.certificate)
        return httpx2.get(f"{self.url}{path}", verify=trusted, timeout=ENOUGH)

    def start(self, module: str, *arguments: str) -> "subprocess.Popen[str]":
        """Start a client's command; what it says is in a file of its name."""
        with (self.folder / f"{module}.log").open("w") as log:
            command = [sys.executable, "-m", module, *arguments]
            return subprocess.Popen(command, env=self.environment, stdout=log, stderr=log, text=True)


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """Make a certificate for this machine, and its key."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    made = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", str(key)]
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    command = ["openssl", "req", "-x509", *made, *names, "-days", "2", "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    return certificate, key


def configure(folder: Path, port: int, webs: tuple[Server, Server], certificate: Path, key: Path) -> Path:
    """Write the configuration for nginx: ours, with this test's names in place of the installation's."""
    site = CONFIGURATION.read_text()
    names = {
        "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
        "server_name candor.example.org": "server_name localhost",
        "127.0.0.1:8001": f"127.0.0.1:{webs[0].port}",
        "127.0.0.1:8002": f"127.0.0.1:{webs[1].port}",
        "/etc/letsencrypt/live/candor.example.org/fullchain.pem": str(certificate),
        "/etc/letsencrypt/live/candor.example.org/privkey.pem": str(key),
        "/var/log/nginx": str(folder),
    }
    for old, new in names.items():
        assert old in site
        site = site.replace(old, new)
    (folder / "site.conf").write_text(site)
    temporary = "".join(
        f"{kind}_temp_path {folder / kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    user = "user root;" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(
        f"daemon off; {user} pid {folder / 'pid'}; error_log {folder / 'error.log'};"
        f" events {{ worker_connections 1024; }} http {{ {temporary} include {folder / 'site.conf'}; }}"
    )
    return folder / "nginx.conf"


@pytest.fixture
def installation(postgres: Postgres, redis: RedisServer, tmp_path: Path) -> Iterator[Installation]:
    with postgres.database(migrated=False) as database:
        port, data = free_port(), tmp_path / "data"
        data.mkdir()
        environment = {
            "CANDOR_DATABASE_URL": database,
            "CANDOR_REDIS_URL": redis.url,
            "CANDOR_PUBLIC_URL": f"https://localhost:{port}",
        }
        webs = (Server(data, environment=environment), Server(data, environment=environment))
        certificate, key = make_certificate(tmp_path)
        configuration = configure(tmp_path, port, webs, certificate, key)
        try:
            for web in webs:
                web.start()
            proxy = subprocess.Popen(["nginx", "-c", configuration, "-p", tmp_path])
            made = Installation(webs, f"https://localhost:{port}", database, tmp_path, certificate)
            try:
                wait_until((tmp_path / "pid").exists, "nginx")
                yield made
            finally:
                proxy.terminate()
                proxy.wait(ENOUGH)
        finally:
            for web in webs:
                web.stop()


def counted(log: Path) -> Counter[tuple[str, str]]:
    """Return the lines that the crowd was told are stored: assignment and id."""
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    return Counter(
        (entry["assignment"], entry["message"]["id"])
        for entry in entries
        if entry["message"]["type"] == "say"
    )


def stored(database: str) -> Counter[tuple[str, str]]:
    engine = create_engine(database)
    with engine.connect() as connection:
        rows = connection.execute(
            text("SELECT split_part(conversation_id, '-', 1), client_id FROM turn WHERE author = 'worker'")
        ).all()
    engine.dispose()
    return Counter((assignment, client_id) for assignment, client_id in rows)


def test_a_study_over_https_while_both_web_processes_are_restarted(installation: Installation) -> None:
    assert installation.get(f"/w/demo?worker={WORKER}").status_code == 200
    log = installation.folder / "acknowledged.jsonl"
    log.touch()
    host = installation.start(
        "bots.host",
        "builtin:reflect",
        "--name",
        "hosted",
        "--server",
        installation.url.replace("http", "ws", 1),
    )
    options = ["--url", f"{installation.url}/w/demo", "--workers", str(WORKERS), "--log", str(log)]
    crowd = installation.start("bots.crowd", *options, "--reply-pace", "0.2", "--patience", str(ENOUGH))
    said = installation.folder / "bots.crowd.log"
    for part, web in enumerate(installation.webs, start=1):
        wait_until(lambda part=part: len(counted(log)) > part * 10 * WORKERS or crowd.poll(), "the crowd")
        assert crowd.poll() is None, said.read_text()
        web.stop()
        web.start()
    assert crowd.wait(ENOUGH) == 0, said.read_text()
    assert stored(installation.database) == counted(log)
    assert set(counted(log).values()) == {1}
    assert host.poll() is None, (installation.folder / "bots.host.log").read_text()
    host.terminate()
    assert host.wait(ENOUGH) == 0
    requests = (installation.folder / "candor.log").read_text()
    assert "GET /w/demo HTTP/1.1" in requests
    assert "GET /ws HTTP/1.1" in requests
    for file in ("candor.log", "candor-errors.log", "error.log"):
        assert WORKER not in (installation.folder / file).read_text()
