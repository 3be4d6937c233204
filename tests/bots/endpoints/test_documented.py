"""The examples of each service in docs/researcher.md work against its stand-in."""

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml
from pydantic import TypeAdapter

from bots import UrlEndpoint, open_endpoint
from tests.bots.support import standins
from tests.bots.support.servers import CHAT, serving
from tests.bots.support.standins import KEY, Service, standing_in

DOCUMENT = Path(__file__).parents[3] / "docs" / "researcher.md"
ENDPOINT: TypeAdapter[UrlEndpoint] = TypeAdapter(UrlEndpoint)
SECTIONS: dict[str, Service] = {
    "OpenAI: GPT-5 and the like": standins.gpt5,
    "Azure OpenAI": standins.azure,
    "Anthropic": standins.anthropic,
    "Gemini": standins.gemini,
    "Amazon Bedrock": standins.bedrock,
    "vLLM": standins.vllm,
    "Ollama": standins.ollama,
    "llama.cpp": standins.llama_cpp,
}


@pytest.mark.parametrize("section", SECTIONS)
async def test_a_service_as_it_is_documented(section: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = DOCUMENT.read_text(encoding="utf-8").partition(f"\n#### {section}\n")[2].partition("\n#### ")[0]
    found = re.search(r"```yaml\n(.*?)```", text, re.DOTALL)
    assert found is not None
    ((_, given),) = yaml.safe_load(found[1])["bots"].items()
    endpoint = ENDPOINT.validate_python(given)
    if "key" in given:
        monkeypatch.setenv(given["key"], KEY)
    async with serving(standing_in(SECTIONS[section])) as served:
        (url,) = endpoint.urls
        here = endpoint.model_copy(update={"urls": [served.url + urlsplit(url).path]})
        bot = open_endpoint(here)
        assert (await bot.reply(CHAT)).text == "A dog."
        await bot.close()
