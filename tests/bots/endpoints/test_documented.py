"""The examples of each service in the how-to pages work against its stand-in."""

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml
from pydantic import TypeAdapter

from bots.serving import UrlEndpoint, open_endpoint
from tests.bots.support import standins
from tests.bots.support.servers import CHAT, serving
from tests.bots.support.standins import KEY, Service, standing_in

PAGES = Path(__file__).parents[3] / "docs" / "how-to" / "bots"
EXAMPLES = {
    heading: block
    for page in ("connect-a-service.md", "connect-an-openai-compatible-model.md")
    for heading, block in re.findall(
        r"^## ([^\n]+)\n(?:(?!^## ).)*?```yaml\n(.*?)```",
        (PAGES / page).read_text(encoding="utf-8"),
        re.DOTALL | re.MULTILINE,
    )
}
ENDPOINT: TypeAdapter[UrlEndpoint] = TypeAdapter(UrlEndpoint)
SERVICES: dict[str, Service] = {
    "OpenAI": standins.gpt5,
    "Azure OpenAI": standins.azure,
    "Anthropic": standins.anthropic,
    "Gemini": standins.gemini,
    "Amazon Bedrock": standins.bedrock,
    "vLLM": standins.vllm,
    "Ollama": standins.ollama,
    "llama.cpp": standins.llama_cpp,
}


def test_every_service_has_an_example() -> None:
    assert EXAMPLES.keys() == SERVICES.keys()


@pytest.mark.parametrize("name", SERVICES)
async def test_a_service_as_it_is_documented(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ((_, given),) = yaml.safe_load(EXAMPLES[name])["bots"].items()
    endpoint = ENDPOINT.validate_python(given)
    if "key" in given:
        monkeypatch.setenv(given["key"], KEY)
    async with serving(standing_in(SERVICES[name])) as served:
        (url,) = endpoint.urls
        here = endpoint.model_copy(update={"urls": [served.url + urlsplit(url).path]})
        bot = open_endpoint(here)
        assert (await bot.reply(CHAT)).text == "A dog."
        await bot.close()
