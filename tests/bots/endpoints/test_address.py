"""Private addresses are refused, under whatever name and however late they show.

This machine's loopback network stands for the internet here: 127.0.0.2 and ::1 count as public,
127.0.0.1 does not.
"""

import socket
import subprocess
from collections.abc import Callable, Iterator
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from ssl import PROTOCOL_TLS_SERVER, SSLContext
from typing import Any

import pytest

from bots import BotError
from bots.endpoints import address, open_endpoint
from bots.endpoints.address import is_public
from bots.endpoints.http import HttpEndpoint, ParlaiWebEndpoint
from bots.endpoints.openai import OpenAiEndpoint
from candor.common.network import trusted
from tests.bots.support.servers import CHAT, saying, serving
from tests.needs import need_ipv6


@pytest.mark.parametrize(
    "text", ["93.184.216.34", "8.8.8.8", "2606:4700::1111", "64:ff9b::8.8.8.8", "::ffff:8.8.8.8"]
)
def test_public(text: str) -> None:
    assert is_public(ip_address(text))


@pytest.mark.parametrize(
    "text",
    [
        "127.0.0.1", "127.8.8.8", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254",  # noqa: S104
        "100.64.0.1", "192.0.2.1", "224.0.0.1", "255.255.255.255", "240.0.0.1",
        "::", "::1", "fe80::1", "fe80::1%eth0", "fd00:ec2::254", "ff02::1", "ff0e::1", "2001:db8::1",
        "::ffff:127.0.0.1", "::ffff:169.254.169.254", "64:ff9b::10.0.0.1", "64:ff9b::169.254.169.254",
        "2002:7f00:1::", "2002:a00:1::1",
        "2001:0:4136:e378:8000:63bf:f5ff:fffe",  # Teredo, of a client at 10.0.0.1 (its bits are inverted)
    ],
)  # fmt: skip
def test_not_public(text: str) -> None:
    assert not is_public(ip_address(text))


async def refusal(url: str) -> str:
    """Return what the error says when `url` is asked."""
    bot = open_endpoint(HttpEndpoint(kind="http", urls=[url]), refuse_private=True)
    with pytest.raises(BotError) as caught:
        await bot.reply(CHAT)
    await bot.close()
    return str(caught.value)


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "LOCALHOST",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "169.254.169.254",
        "0.0.0.0",  # noqa: S104
        "2130706433",
        "0x7f.1",
        "127.1",
        "10.0.0.1",
    ],
)
async def test_private_addresses_in_every_spelling(host: str) -> None:
    async with serving(saying("secret")) as served:
        said = await refusal(f"http://{host}:{served.port}")
        assert served.requests == []
    assert "a private address; this server connects to public ones only" in said


@pytest.mark.parametrize("kind", ["openai", "parlai-web"])
async def test_every_kind_refuses(kind: str) -> None:
    async with serving(saying("secret")) as served:
        endpoint = (
            OpenAiEndpoint(kind="openai", urls=[served.url], model="m")
            if kind == "openai"
            else ParlaiWebEndpoint(kind="parlai-web", urls=[served.url])
        )
        bot = open_endpoint(endpoint, refuse_private=True)
        with pytest.raises(BotError, match="a private address"):
            await bot.reply(CHAT)
        assert served.requests == []
        await bot.close()


Names = dict[str, list[list[str]]]


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Names:
    """Names and what they stand for, one list of addresses for each time somebody asks."""
    known: Names = {}
    real = socket.getaddrinfo

    def resolve(host: Any, port: Any, *args: Any, **kwargs: Any) -> Any:
        if host not in known:
            assert isinstance(ip_address(host), IPv4Address | IPv6Address), f"{host} was asked for"
            return real(host, port, *args, **kwargs)
        if not known[host]:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        found = known[host].pop(0)
        return [entry for each in found for entry in real(each, port, *args, **kwargs)]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setattr(address, "is_public", lambda each: str(each) in ("127.0.0.2", "::1"))
    return known


async def test_a_name_is_resolved_once_and_kept_to(names: Names) -> None:
    names["bot.example"] = [["127.0.0.2"]]

    async with serving(saying("hello"), "127.0.0.2") as served:
        bot = open_endpoint(
            HttpEndpoint(kind="http", urls=[f"http://bot.example:{served.port}/x"]), refuse_private=True
        )
        assert (await bot.reply(CHAT)).text == "hello"
        assert served.requests[0].headers["host"] == f"bot.example:{served.port}"
        assert served.requests[0].path == "/x/reply"
        await bot.close()


async def test_a_name_that_changes_its_mind(names: Names) -> None:
    async with (
        serving(saying("public"), "127.0.0.2") as public,
        serving(saying("secret"), "127.0.0.1", public.port) as private,
    ):
        # One address for each call: a second look within the first would lead to the private one.
        names["rebind.example"] = [["127.0.0.2"], ["127.0.0.1"]]
        url = f"http://rebind.example:{public.port}"
        bot = open_endpoint(HttpEndpoint(kind="http", urls=[url]), refuse_private=True)
        assert (await bot.reply(CHAT)).text == "public"
        with pytest.raises(BotError, match=r"rebind\.example is at 127\.0\.0\.1, a private address"):
            await bot.reply(CHAT)
        assert private.requests == []
        await bot.close()


async def test_one_private_address_among_public_ones(names: Names) -> None:
    names["mixed.example"] = [["127.0.0.2", "127.0.0.1"]]
    assert "mixed.example is at 127.0.0.1, a private address" in await refusal("http://mixed.example")


async def test_an_unknown_name(names: Names) -> None:
    names["nowhere.example"] = []
    assert "nowhere.example cannot be resolved" in await refusal("http://nowhere.example")


async def test_the_next_address_where_one_takes_no_connection(names: Names) -> None:
    names["both.example"] = [["::1", "127.0.0.2"]]

    async with serving(saying("hello"), "127.0.0.2") as served:
        bot = open_endpoint(
            HttpEndpoint(kind="http", urls=[f"http://both.example:{served.port}"]), refuse_private=True
        )
        assert (await bot.reply(CHAT)).text == "hello"
        await bot.close()


async def test_a_proxy_of_the_environment_is_passed_by(names: Names, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would connect in the server's place, to wherever the name leads it."""
    names["bot.example"] = [["127.0.0.2"]]

    async with serving(saying("direct"), "127.0.0.2") as served, serving(saying("proxy")) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        url = f"http://bot.example:{served.port}"
        bot = open_endpoint(HttpEndpoint(kind="http", urls=[url]), refuse_private=True)
        assert (await bot.reply(CHAT)).text == "direct"
        await bot.close()


async def test_ipv6(names: Names) -> None:
    need_ipv6()
    names["six.example"] = [["::1"]]

    async with serving(saying("hello"), "::1") as served:
        bot = open_endpoint(
            HttpEndpoint(kind="http", urls=[f"http://six.example:{served.port}"]), refuse_private=True
        )
        assert (await bot.reply(CHAT)).text == "hello"
        await bot.close()


@pytest.fixture
def certificate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], SSLContext]]:
    """A function that returns a server's TLS for a name, with a certificate that is trusted here."""

    def made(name: str) -> SSLContext:
        command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2"
        command += f" -subj /CN={name} -addext subjectAltName=DNS:{name} -keyout key.pem -out cert.pem"
        subprocess.run(command.split(), check=True, capture_output=True, cwd=tmp_path)
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
        trusted.cache_clear()
        context = SSLContext(PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
        return context

    yield made
    trusted.cache_clear()


@pytest.mark.parametrize("name", ["bot.example", "other.example"])
async def test_certificates_are_checked_against_the_name(
    name: str, names: Names, certificate: Callable[[str], SSLContext]
) -> None:
    names[name] = [["127.0.0.2"]]
    tls = certificate("bot.example")
    async with serving(saying("hello"), "127.0.0.2", ssl=tls) as served:
        endpoint = HttpEndpoint(kind="http", urls=[f"https://{name}:{served.port}"])
        bot = open_endpoint(endpoint, refuse_private=True)
        try:
            said = (await bot.reply(CHAT)).text
        except BotError as error:
            said = str(error)
        finally:
            await bot.close()
    assert said == "hello" if name == "bot.example" else "CERTIFICATE_VERIFY_FAILED" in said
