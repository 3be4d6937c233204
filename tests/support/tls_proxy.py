"""A real nginx with TLS in front of web processes: `deploy/nginx.conf` with a test's names in it."""

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.waiting import ENOUGH, wait_until

CONFIGURATION = Path(__file__).parents[2] / "deploy" / "nginx.conf"
LOGS = ("candor.log", "candor-errors.log", "error.log")


@dataclass(frozen=True)
class Proxy:
    """Where it is, what clients have to trust, and the folder of its logs."""

    url: str
    certificate: Path
    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        """What a client's process needs to trust it."""
        return os.environ | {"SSL_CERT_FILE": str(self.certificate)}


@contextmanager
def serving(folder: Path, port: int, upstream: Sequence[int]) -> Iterator[Proxy]:
    """Give a proxy on `port` over the two processes on the ports `upstream`."""
    certificate, key = _certificate(folder)
    configuration = _configuration(folder, port, upstream, certificate, key)
    process = subprocess.Popen(["nginx", "-c", configuration, "-p", folder])
    try:
        wait_until((folder / "pid").exists, "nginx")
        yield Proxy(url_of(port), certificate, folder)
    finally:
        process.terminate()
        process.wait(ENOUGH)


def url_of(port: int) -> str:
    """Return how clients name a proxy on `port`."""
    return f"https://localhost:{port}"


def _certificate(folder: Path) -> tuple[Path, Path]:
    """Make a certificate for this machine, and its key."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    made = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", str(key)]
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    command = ["openssl", "req", "-x509", *made, *names, "-days", "2", "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    return certificate, key


def _configuration(folder: Path, port: int, upstream: Sequence[int], certificate: Path, key: Path) -> Path:
    """Write the configuration for nginx: ours, with this test's names in place of the installation's."""
    site = CONFIGURATION.read_text()
    names = {
        "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
        "server_name candor.example.org": "server_name localhost",
        "127.0.0.1:8001": f"127.0.0.1:{upstream[0]}",
        "127.0.0.1:8002": f"127.0.0.1:{upstream[1]}",
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
