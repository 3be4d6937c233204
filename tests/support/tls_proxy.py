"""A real proxy with TLS in front of web processes: a file of `deploy/` with a test's names in it."""

import os
import socket
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.waiting import ENOUGH, wait_until

DEPLOY = Path(__file__).parents[2] / "deploy"
LOGS = ("candor.log", "candor-errors.log", "error.log", "said.log")


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

    @property
    def logged(self) -> str:
        """All that is in its logs."""
        return "".join(file.read_text() for file in map(self.folder.joinpath, LOGS) if file.is_file())


@dataclass(frozen=True)
class _Site:
    """What a configuration has to name."""

    folder: Path
    port: int
    upstream: Sequence[int]
    certificate: Path
    key: Path


@contextmanager
def serving(folder: Path, port: int, upstream: Sequence[int], kind: str = "nginx") -> Iterator[Proxy]:
    """Give a proxy on `port` over the two processes on the ports `upstream`."""
    site = _Site(folder, port, upstream, *new_certificate(folder))
    command = KINDS[kind](site)
    homes = {name: str(folder) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")}  # Caddy's
    with (folder / "said.log").open("wb") as said:
        process = subprocess.Popen(command, stdout=said, stderr=said, env=os.environ | homes)
    proxy = Proxy(url_of(port), site.certificate, folder)
    try:
        wait_until(lambda: _listens(port) or process.poll() is not None, kind)
        assert process.poll() is None, proxy.logged
        yield proxy
    finally:
        process.terminate()
        process.wait(ENOUGH)


def url_of(port: int) -> str:
    """Return how clients name a proxy on `port`."""
    return f"https://localhost:{port}"


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def new_certificate(folder: Path) -> tuple[Path, Path]:
    """Make a certificate for this machine, and its key."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    made = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", str(key)]
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    command = ["openssl", "req", "-x509", *made, *names, "-days", "2", "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    return certificate, key


def _with_names(file: str, names: Mapping[str, object]) -> str:
    """Return a file of `deploy/` with this test's names in place of the installation's."""
    content = (DEPLOY / file).read_text()
    for old, new in names.items():
        assert old in content
        content = content.replace(old, str(new))
    return content


def _nginx(site: _Site) -> list[str]:
    folder = site.folder
    content = _with_names(
        "nginx.conf",
        {
            "listen 443 ssl": f"listen 127.0.0.1:{site.port} ssl",
            "server_name candor.example.org": "server_name localhost",
            "127.0.0.1:8001": f"127.0.0.1:{site.upstream[0]}",
            "127.0.0.1:8002": f"127.0.0.1:{site.upstream[1]}",
            "/etc/letsencrypt/live/candor.example.org/fullchain.pem": site.certificate,
            "/etc/letsencrypt/live/candor.example.org/privkey.pem": site.key,
            "/var/log/nginx": folder,
        },
    )
    (folder / "site.conf").write_text(content)
    temporary = "".join(
        f"{kind}_temp_path {folder / kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    user = "user root;" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(
        f"daemon off; {user} pid {folder / 'pid'}; error_log {folder / 'error.log'};"
        f" events {{ worker_connections 1024; }} http {{ {temporary} include {folder / 'site.conf'}; }}"
    )
    return ["nginx", "-c", str(folder / "nginx.conf"), "-p", str(folder)]


def _haproxy(site: _Site) -> list[str]:
    both = site.folder / "both.pem"
    both.write_bytes(site.certificate.read_bytes() + site.key.read_bytes())
    names = {
        "bind :443": f"bind 127.0.0.1:{site.port}",
        "/etc/haproxy/candor.pem": both,
        "127.0.0.1:8001": f"127.0.0.1:{site.upstream[0]}",
        "127.0.0.1:8002": f"127.0.0.1:{site.upstream[1]}",
    }
    (site.folder / "haproxy.cfg").write_text(_with_names("haproxy.cfg", names))
    return ["haproxy", "-f", str(site.folder / "haproxy.cfg")]


def _caddy(site: _Site) -> list[str]:
    """Caddy gets no certificate by itself here: it is given one."""
    names = {
        "{$CANDOR_DOMAIN} {": f"{url_of(site.port)} {{\n\ttls {site.certificate} {site.key}",
        "web-1:8000 web-2:8000": " ".join(f"127.0.0.1:{port}" for port in site.upstream),
    }
    alone = "{\n\tadmin off\n\tauto_https off\n}\n"
    (site.folder / "Caddyfile").write_text(alone + _with_names("Caddyfile", names))
    return ["caddy", "run", "--adapter", "caddyfile", "--config", str(site.folder / "Caddyfile")]


KINDS: Mapping[str, Callable[[_Site], list[str]]] = {"nginx": _nginx, "haproxy": _haproxy, "caddy": _caddy}
