"""Services of others that answer without end: each client stops to read, and says that it got no answer."""

import threading
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from bots import BotError
from bots.serving import Moderation
from server.desk.people.openid import OpenIdProvider, SignInStart
from server.errors import ProviderRefused
from server.recruiters.pay_platform import OutcomeUnknown
from server.recruiters.prolific.connection import PlatformAnswer, PlatformConnection
from server.recruiters.prolific.signed_arrival import StudyKeys
from server.recruiters.recruiter import Sona
from server.recruiters.signatures import KeysUnavailable
from server.recruiters.sona import SonaClient

MEGABYTE = b" " * 2**20
ALL = 64  # megabytes that the service has to say


@dataclass
class Talkative:
    """A service that answers everything with blanks."""

    url: str = ""
    said: int = 0  # megabytes

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Type", "application/json")
        request.end_headers()
        for _ in range(ALL):
            request.wfile.write(MEGABYTE)
            self.said += 1


@pytest.fixture
def service() -> Iterator[Talkative]:
    talkative = Talkative()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            try:
                talkative.answer(self)
            except OSError:
                self.close_connection = True  # the client has heard enough

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    talkative.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield talkative
    server.shutdown()
    thread.join()
    server.server_close()


async def sign_in(url: str) -> None:
    with pytest.raises(ProviderRefused):
        await OpenIdProvider(url, "candor", None, f"{url}/back", None).address(SignInStart("s", "n", "v"))


async def pay(url: str) -> None:
    platform = PlatformConnection("token", url)
    with pytest.raises(OutcomeUnknown):
        await platform.change("pay", "POST", "/api/v1/pay/", PlatformAnswer)
    await platform.close()


async def signed(url: str) -> None:
    with pytest.raises(KeysUnavailable):
        await StudyKeys(url).key("one")


async def credit(url: str) -> None:
    sona = Sona(kind="sona", school="example.sona-systems.com", experiment_id=12, credit_token="9a8b")
    assert (await SonaClient(url).grant(sona, "7")).status == "unreachable"


async def moderate(url: str) -> None:
    with pytest.raises(BotError):
        await Moderation(f"{url}/v1/moderations").judge(["Hello."])


@pytest.mark.parametrize("ask", [sign_in, pay, signed, credit, moderate])
async def test_no_more_is_read_than_a_service_has_to_say(
    service: Talkative, ask: Callable[[str], Awaitable[None]]
) -> None:
    await ask(service.url)
    # 8 MB are read, and some wait in the buffers of the connection.
    assert 8 <= service.said < ALL / 2
