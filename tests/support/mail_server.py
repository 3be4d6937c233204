"""A real mail server for tests: it speaks SMTP, with TLS where asked, and keeps what it is sent."""

import base64
import socketserver
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Literal

from tests.support.tls_proxy import new_certificate

Security = Literal["none", "starttls", "tls"]
USER, PASSWORD = "candor", "pass/word"


@dataclass
class MailServer:
    """Where it is, and what it was sent. `refuses`: it takes no recipient."""

    port: int
    certificate: Path
    security: Security
    sent: list[EmailMessage] = field(default_factory=list)
    refuses: bool = False

    @property
    def url(self) -> str:
        scheme = "smtps" if self.security == "tls" else "smtp"
        return f"{scheme}://{USER}:{PASSWORD.replace('/', '%2F')}@localhost:{self.port}"


class _Handler(socketserver.StreamRequestHandler):
    server: "_Server"

    def handle(self) -> None:
        self._encrypted, self._signed_in = self.server.mail.security == "tls", False
        if self._encrypted:
            self._wrap()
        self._say("220 ready")
        while line := self.rfile.readline().decode().strip():
            if not self._answer(line):
                break
        self.request.close()  # the server closes only what it has accepted itself, without TLS

    def _answer(self, line: str) -> bool:
        """Answer one command; return whether the connection goes on."""
        command = line.upper()
        if command.startswith("EHLO"):
            offers = self.server.mail.security == "starttls" and not self._encrypted
            self._say("250-localhost", *(["250-STARTTLS"] if offers else []), "250 AUTH PLAIN")
        elif command == "STARTTLS":
            self._say("220 go on")
            self._wrap()
            self._encrypted = True
        elif command.startswith("AUTH PLAIN "):
            given = base64.b64decode(line.split()[2]).decode().split("\0")[1:]
            self._signed_in = given == [USER, PASSWORD]
            self._say("235 welcome" if self._signed_in else "535 who is that")
        elif command.startswith("RCPT TO") and (self.server.mail.refuses or not self._signed_in):
            self._say("550 nobody here")
        elif command == "DATA":
            self._say("354 go on")
            self._keep()
            self._say("250 kept")
        elif command == "QUIT":
            self._say("221 bye")
            return False
        else:
            self._say("250 fine")
        return True

    def _keep(self) -> None:
        lines = iter(self.rfile.readline, b".\r\n")
        text = b"".join(lines).replace(b"\r\n", b"\n")
        letter = message_from_bytes(text, policy=policy.default)
        assert isinstance(letter, EmailMessage)
        self.server.mail.sent.append(letter)

    def _wrap(self) -> None:
        self.request = self.server.context.wrap_socket(self.request, server_side=True)
        self.setup()

    def _say(self, *lines: str) -> None:
        self.wfile.write("".join(f"{line}\r\n" for line in lines).encode())


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    mail: MailServer
    context: ssl.SSLContext


@contextmanager
def mail_server(folder: Path, security: Security) -> Iterator[MailServer]:
    """Serve on a free port of this machine."""
    certificate, key = new_certificate(folder)
    with _Server(("127.0.0.1", 0), _Handler) as server:
        server.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        server.context.load_cert_chain(certificate, key)
        server.mail = MailServer(server.server_address[1], certificate, security)
        thread = threading.Thread(target=server.serve_forever, name="mail-server")
        thread.start()
        try:
            yield server.mail
        finally:
            server.shutdown()
            thread.join()
