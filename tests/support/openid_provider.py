"""An OpenID provider on this machine, with a real RSA key: strict, and dishonest where a test asks for it."""

import base64
import hashlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

CLIENT, SECRET = "candor", "a client's secret"


def _new_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@dataclass
class OpenIdProvider:
    """A provider that signs in `email`. `says` takes the place of claims; `forged`: another key signs."""

    email: str = "bea@example.org"
    says: dict[str, Any] = field(default_factory=dict)
    forged: bool = False
    issuer: str = ""
    asked: dict[str, dict[str, str]] = field(default_factory=dict)
    key: rsa.RSAPrivateKey = field(default_factory=_new_key)

    def code(self, asked: dict[str, str]) -> str:
        """Return a code for what was asked; it is good once."""
        code = f"code-{len(self.asked)}-{time.monotonic_ns()}"
        self.asked[code] = asked
        return code

    def back(self, address: str) -> str:
        """Return where a browser is sent that signs in at `address`."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        assert asked["response_type"] == "code"
        assert asked["code_challenge_method"] == "S256"
        assert asked["client_id"] == CLIENT
        return f"{asked['redirect_uri']}?{urlencode({'code': self.code(asked), 'state': asked['state']})}"

    def token(self, form: dict[str, str], authorization: str) -> dict[str, str] | None:
        """Return what a code is exchanged for; None where that is refused."""
        asked = self.asked.pop(form.get("code", ""), None)
        basic = base64.b64encode(f"{CLIENT}:a%20client%27s%20secret".encode()).decode()
        challenge = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        if (
            asked is None
            or authorization != f"Basic {basic}"
            or asked["code_challenge"] != base64.urlsafe_b64encode(challenge).decode().rstrip("=")
            or asked["redirect_uri"] != form.get("redirect_uri")
        ):
            return None
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": CLIENT,
            "sub": "7",
            "iat": now,
            "exp": now + 300,
            "nonce": asked["nonce"],
            "email": self.email,
            "email_verified": True,
        }
        key = _new_key() if self.forged else self.key
        return {"id_token": jwt.encode(claims | self.says, key, "RS256", headers={"kid": "one"})}

    def about(self) -> dict[str, str]:
        """Return what is at the address of discovery."""
        names = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "keys"}
        return {"issuer": self.issuer} | {name: f"{self.issuer}/{path}" for name, path in names.items()}

    def keys(self) -> dict[str, Any]:
        """Return the public key, as a set of one."""
        return {"keys": [json.loads(RSAAlgorithm.to_jwk(self.key.public_key())) | {"kid": "one"}]}


@contextmanager
def serving() -> Iterator[OpenIdProvider]:
    """Serve a provider on a port of its own."""
    provider = OpenIdProvider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            if path == "/authorize":
                link = f"<a href='{provider.back(self.path)}'>It is me</a>"
                self._send("text/html", f"<!doctype html><title>Provider</title>{link}")
            elif path == "/.well-known/openid-configuration":
                self._send("application/json", json.dumps(provider.about()))
            elif path == "/keys":
                self._send("application/json", json.dumps(provider.keys()))
            else:
                self.send_error(404)

        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers["Content-Length"])).decode()
            form = {name: values[0] for name, values in parse_qs(sent).items()}
            answer = provider.token(form, self.headers.get("Authorization", ""))
            if answer is None:
                self.send_error(400)
            else:
                self._send("application/json", json.dumps(answer))

        def _send(self, kind: str, content: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.end_headers()
            self.wfile.write(content.encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider.issuer = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, name="openid-provider")
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
