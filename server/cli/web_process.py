"""One of several web processes, started by the supervisor: `python -m server.cli.web_process FILE FILE`.

The two arguments are file descriptors of inherited sockets: the listening socket, and the control socket that
connects it to the supervisor.
"""

import asyncio
import socket
import sys

from candor.common.terminal import fail
from server.access.auth import load_auth
from server.app import create_app
from server.cli.serve import open_runs, opened_by
from server.config import Settings
from server.errors import CandorError
from server.process.logs import configure_logging
from server.process.readiness import Lifecycle
from server.process.server import Server
from server.process.supervisor import serve_supervised


def main(listener: socket.socket, control: socket.socket) -> None:
    """Serve the runs of a database, which is migrated already, until the supervisor ends the process."""
    settings = Settings.model_validate_json(_first_line(control))
    try:
        auth = load_auth(settings.data, settings.token_days, settings.worker_id_key)
        configure_logging(auth.secrets)
        opened_bots = opened_by(settings)
        runs = open_runs(settings, opened_bots)
    except CandorError as error:
        fail(error.message, error.hint)
    lifecycle = Lifecycle(settings.drain_seconds)
    app = create_app(settings, auth, runs, opened_bots, lifecycle=lifecycle)
    server = Server(app, lifecycle, settings)
    with asyncio.Runner(loop_factory=server.config.get_loop_factory()) as runner:
        runner.run(_serve(server, listener, control))


async def _serve(server: Server, listener: socket.socket, control: socket.socket) -> None:
    supervised = asyncio.get_running_loop().create_task(serve_supervised(control, server))
    await server.serve(sockets=[listener])
    supervised.cancel()


def _first_line(control: socket.socket) -> bytes:
    """Read the supervisor's first line byte by byte: a file object would buffer what follows it."""
    line = bytearray()
    while not line.endswith(b"\n"):
        byte = control.recv(1)
        if not byte:
            sys.exit(1)  # the supervisor is gone already
        line += byte
    return bytes(line)


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])), socket.socket(fileno=int(sys.argv[2])))
