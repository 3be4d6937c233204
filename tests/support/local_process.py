"""Servers of others that tests start: who they run as, on which port, and that they end with the tests."""

import os
import shutil
import signal
import socket
from contextlib import suppress
from itertools import cycle, islice

# Below the ports that a system gives to connections (Linux: from 32768 on), and a slice for each process of
# tests: nobody takes one between its choice and its use. Two runs of tests begin elsewhere in a slice.
_EACH = 700
_FIRST = 20_000 + _EACH * (int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 16)
_PORTS = cycle(_FIRST + (os.getpid() + number) % _EACH for number in range(_EACH))


def free_port() -> int:
    """Return a port on which nothing listens, for somebody who will."""
    for port in islice(_PORTS, _EACH):
        with socket.socket() as probe, suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers do
            probe.bind(("127.0.0.1", port))
            return port
    raise RuntimeError("no port is free")


def as_user(name: str) -> list[str]:
    """Return what a command starts with to run as `name`; nothing where we are not root."""
    if os.geteuid() != 0:
        return []
    return ["setpriv", f"--reuid={name}", f"--regid={name}", "--init-groups"]


def ended_with_us(by: signal.Signals) -> list[str]:
    """Return what a command starts with to be sent a signal when the starting thread ends; Linux only."""
    return ["setpriv", f"--pdeathsig={by.name.removeprefix('SIG')}"] if shutil.which("setpriv") else []
