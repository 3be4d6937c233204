"""Chat completions: what is sent, what the environment must not slip in, and a real `transformers serve`."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from bots import BotError, Chat, Turn
from bots.endpoints import open_endpoint
from bots.endpoints.openai import OpenAiApi, OpenAiEndpoint
from tests.bots.support.servers import CHAT, Request, answer, saying, serving
from tests.needs import need_hf
from tests.support.local_process import free_port
from tests.support.waiting import ENOUGH, PATIENCE


async def sent(**settings: Any) -> Request:
    """Return what a server is sent when it is asked for CHAT."""
    async with serving(saying("hello")) as served:
        bot = open_endpoint(
            OpenAiEndpoint(kind="openai", urls=[f"{served.url}/v1"], model="tiny", **settings)
        )
        assert (await bot.reply(CHAT)).text == "hello"
        await bot.close()
        (request,) = served.requests
        return request


async def test_what_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOT_KEY", "k3y")
    request = await sent(key="BOT_KEY", prompt="Be kind. {persona}", temperature=0.5, max_tokens=40)
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == "Bearer k3y"
    assert request.headers["accept-encoding"] == "identity"
    assert json.loads(request.body) == {
        "model": "tiny",
        "temperature": 0.5,
        "max_tokens": 40,
        "messages": [
            {"role": "system", "content": "Be kind. i have a dog .\ni like tea ."},
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": "hey"},
            {"role": "user", "content": "a pet?"},
        ],
    }


async def test_what_is_not_given_is_not_sent() -> None:
    assert set(json.loads((await sent()).body)) == {"model", "messages"}


async def test_keys_of_the_environment_go_nowhere_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "secret")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    assert "secret" not in repr((await sent()).headers)


async def test_a_failing_server_is_asked_once() -> None:
    """Asking again is the business of whoever knows the deadline."""

    async with serving(answer(500, b"{}")) as served:
        bot = open_endpoint(OpenAiEndpoint(kind="openai", urls=[served.url], model="tiny"))
        with pytest.raises(BotError):
            await bot.reply(CHAT)
        await bot.close()
        assert len(served.requests) == 1


def test_without_instructions_there_is_no_system_message() -> None:
    chat = Chat("c", 1, (), (Turn("worker", "hi"),))
    assert OpenAiApi("m", {}, {}).request("", chat).body["messages"] == [{"role": "user", "content": "hi"}]


TEMPLATE = (
    "{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)


def make_model(folder: Path) -> None:
    """Write a Llama of a few thousand random weights, whose words are those of a small list."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    words = [
        "<unk>",
        "<s>",
        "</s>",
        "user",
        "assistant",
        "system",
        ":",
        "i",
        "you",
        "like",
        "tea",
        "dogs",
        "?",
    ]
    tokenizer = Tokenizer(models.WordLevel({word: at for at, word in enumerate(words)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="<unk>", bos_token="<s>", eos_token="</s>", pad_token="</s>"
    )
    fast.chat_template = TEMPLATE
    torch.manual_seed(4)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(words), hidden_size=16, intermediate_size=32, num_hidden_layers=1,
            num_attention_heads=2, max_position_embeddings=256,
            bos_token_id=1, eos_token_id=2, pad_token_id=2,
        )
    )  # fmt: skip
    model.generation_config.do_sample = False
    model.save_pretrained(folder)
    fast.save_pretrained(folder)


@pytest.fixture(scope="module")
def transformers_serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A running `transformers serve`: its address, and the model that it has."""
    need_hf()
    beside = Path(sys.executable).parent
    executable = shutil.which("transformers", path=f"{beside}{os.pathsep}{os.environ['PATH']}")
    assert executable is not None
    folder = tmp_path_factory.mktemp("served")
    model = folder / "model"
    make_model(model)
    port = free_port()
    log = (folder / "log").open("w+b")
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "home")}
    process = subprocess.Popen(
        [executable, "serve", str(model), "--host", "127.0.0.1", "--port", str(port), "--device", "cpu"],
        stdout=log, stderr=subprocess.STDOUT, env=environment,
    )  # fmt: skip
    try:
        _wait(f"http://127.0.0.1:{port}/health", process, folder / "log")
        yield f"http://127.0.0.1:{port}/v1", str(model)
    finally:
        process.terminate()
        process.wait(ENOUGH)
        log.close()


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    while True:
        if process.poll() is not None:
            pytest.fail(f"transformers serve ended: {log.read_text()[-2_000:]}")
        try:
            if httpx2.get(url, trust_env=False, timeout=PATIENCE).status_code == 200:
                return
        except httpx2.TransportError:
            pass
        time.sleep(0.1)


@pytest.mark.hf
async def test_transformers_serve(transformers_serve: tuple[str, str]) -> None:
    url, model = transformers_serve

    bot = open_endpoint(OpenAiEndpoint(kind="openai", urls=[url], model=model, temperature=0.0, max_tokens=6))
    lines = ["hello", "do you like tea ?"]
    chats = [Chat(line, 1, ("i like dogs .",), (Turn("worker", line),)) for line in lines]
    one_by_one = [(await bot.reply(chat)).text for chat in chats]
    together = [reply.text for reply in await asyncio.gather(*(bot.reply(chat) for chat in chats))]
    assert together == one_by_one
    await bot.probe()
    assert [replica.state for replica in bot.states()] == ["fine"]
    await bot.close()
    for text in one_by_one:
        assert 1 <= len(text.split()) <= 6


@pytest.mark.hf
async def test_transformers_serve_lacks_the_model(transformers_serve: tuple[str, str]) -> None:
    url, _ = transformers_serve

    bot = open_endpoint(OpenAiEndpoint(kind="openai", urls=[url], model="no/such-model"))
    with pytest.raises(BotError, match=r"status [45]"):
        await bot.reply(CHAT)
    await bot.close()
