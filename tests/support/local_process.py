"""Servers of others that tests start: who they run as, on which port, and that they end with the tests."""

import os
import shutil
import signal
import socket


def free_port() -> int:
    """Return a port on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def as_user(name: str) -> list[str]:
    """Return what a command starts with to run as `name`; nothing where we are not root."""
    if os.geteuid() != 0:
        return []
    return ["setpriv", f"--reuid={name}", f"--regid={name}", "--init-groups"]


def ended_with_us(by: signal.Signals) -> list[str]:
    """Return what a command starts with to be sent a signal when the starting thread ends; Linux only."""
    return ["setpriv", f"--pdeathsig={by.name.removeprefix('SIG')}"] if shutil.which("setpriv") else []
