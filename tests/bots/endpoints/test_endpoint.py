"""Endpoints as a study file describes them."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from bots.endpoints import Endpoint, open_endpoint
from bots.endpoints.address import EndpointError
from bots.endpoints.http import HttpEndpoint
from bots.endpoints.openai import OpenAiEndpoint

ENDPOINT: TypeAdapter[Endpoint] = TypeAdapter(Endpoint)
OPENAI = {"kind": "openai", "urls": ["http://127.0.0.1:8000/v1"], "model": "m"}


def test_each_kind_by_its_name() -> None:
    read = ENDPOINT.validate_python
    assert isinstance(read(OPENAI), OpenAiEndpoint)
    assert read({"kind": "http", "urls": ["HTTPS://Bot.Example/a/ ", "http://b"]}) == HttpEndpoint(
        kind="http", urls=["https://bot.example/a", "http://b"]
    )
    assert read({"kind": "parlai-web", "urls": ["http://b:8080"]}).kind == "parlai-web"


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"kind": "carrier-pigeon"}, "expected tags"),
        ({**OPENAI, "urls": ["file:///etc/passwd"]}, "begins with http:// or https://"),
        ({**OPENAI, "urls": ["bot.example"]}, "Enter an address that begins with http:// or https://"),
        ({**OPENAI, "urls": ["http://me:secret@bot.example"]}, "Remove the user and the password"),
        ({**OPENAI, "urls": ["http://bot.example/?key=secret"]}, r"from \? on\. Give key as `query`"),
        ({**OPENAI, "urls": ["http://bot.example/#secret"]}, "from # on"),
        ({**OPENAI, "key": "sk-secret"}, "match pattern"),
        ({**OPENAI, "key": "secret"}, "match pattern"),
        ({**OPENAI, "temperature": float("nan")}, "finite"),
        ({**OPENAI, "max_tokens": 0}, "greater than"),
        ({**OPENAI, "model": " "}, "at least 1"),
        ({**OPENAI, "api_key": "secret"}, "Extra inputs"),
        ({**OPENAI, "headers": {"Authorization": "secret"}}, "Do not write a key into a study"),
        ({**OPENAI, "headers": {"Proxy-Authorization": "secret"}}, "Do not write a key into a study"),
        *(
            ({**OPENAI, "headers": {name: "x"}}, f"{name} belongs to the connection")
            for name in (
                *("Host", "Content-Length", "Transfer-Encoding", "Connection", "Keep-Alive"),
                *("Expect", "Upgrade", "TE", "Trailer", "proxy-connection"),
            )
        ),
        ({**OPENAI, "headers": {"Content-Encoding": "gzip"}}, "Content-Encoding belongs to the connection"),
        ({**OPENAI, "key_header": "X-Key\r\nX: y"}, "letters, digits and -"),
        ({**OPENAI, "key_header": "Host"}, "Host belongs to the connection"),
        ({**OPENAI, "headers": {"X-A\n": "b"}}, "letters, digits and -"),
        ({**OPENAI, "headers": {"X-A": "b\r\nX: y"}}, "match pattern"),
        ({**OPENAI, "reasoning_effort": "Very"}, "match pattern"),
        ({**OPENAI, "refusals": "maybe"}, "'failure' or 'reply'"),
        ({**OPENAI, "spending_cap": 5}, "give the price too"),
        ({**OPENAI, "top_p": 0}, "greater than 0"),
        ({"kind": "anthropic", "model": "m", "seed": 1}, "Extra inputs"),
        ({"kind": "bedrock", "model": "m"}, "Field required"),
        ({"kind": "http", "urls": []}, "at least 1"),
        ({"kind": "http", "urls": ["http://a/", "http://a"]}, "An address is listed twice"),
        ({"kind": "parlai-web", "urls": ["http://a"], "key": "KEY"}, "Extra inputs"),
    ],
)
def test_mistakes(given: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValidationError, match=reason) as caught:
        ENDPOINT.validate_python(given)
    assert "secret" not in repr([error["msg"] for error in caught.value.errors()])


@pytest.mark.parametrize("value", [None, "", "  \n"])
def test_an_unset_key_is_told_before_anybody_is_asked(
    value: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BOT_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("BOT_KEY", value)
    with pytest.raises(EndpointError, match=r"the environment variable BOT_KEY, .* is not set"):
        open_endpoint(ENDPOINT.validate_python({**OPENAI, "key": "BOT_KEY"}))


@pytest.mark.parametrize("value", ["secret key", "secret\nX: y", "secrét"])
def test_a_key_that_cannot_be_one_is_not_shown(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOT_KEY", value)
    with pytest.raises(EndpointError, match="BOT_KEY should hold its key, but has blanks") as caught:
        open_endpoint(ENDPOINT.validate_python({**OPENAI, "key": "BOT_KEY"}))
    assert "secr" not in str(caught.value)
