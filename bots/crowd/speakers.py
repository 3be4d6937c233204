"""Speakers for simulated workers: `openai:MODEL`, `hf:PATH`, or retrieval from the corpus."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from pydantic import ValidationError

from bots.builtin.catalogue import open_bot
from bots.core.chat import Bot
from bots.corpus import Corpus
from bots.crowd.talk import InTheLanguage, Prompted, Retrieved, Speaker
from bots.endpoints.address import EndpointError
from bots.endpoints.endpoint import open_endpoint
from bots.endpoints.kind import Price
from bots.endpoints.openai import OpenAiEndpoint
from bots.endpoints.replicas import Replicas
from bots.host.batch import MicroBatch
from bots.host.model import HfOptions, HostModelError, how_to_install
from candor.common.files import mistakes


class TalkRefused(ValueError):
    """The speaker cannot be opened. The message says why, and what to write instead."""


@dataclass(frozen=True, slots=True)
class Talk:
    """The speaker that was chosen for a crowd. `spec` None: the corpus. `price`: of a million tokens."""

    spec: str | None = None
    url: str | None = None
    key: str | None = None
    price: Price | None = None

    @property
    def name(self) -> str:
        """Its name in the data."""
        return self.spec or "builtin:retrieval"

    @property
    def endpoint(self) -> OpenAiEndpoint | None:
        """The model that is called over HTTP, if any. Raises TalkRefused if its options are invalid."""
        kind, _, model = (self.spec or "").partition(":")
        if kind != "openai" or not model:
            return None
        if self.url is None:
            raise TalkRefused("openai:… needs --talk-url, as in --talk-url http://127.0.0.1:11434/v1")
        described = {"urls": [self.url], "model": model, "key": self.key, "price": self.price}
        try:
            return OpenAiEndpoint(kind="openai", prompt="", **described)
        except ValidationError as error:
            raise TalkRefused(mistakes(error)) from error


@asynccontextmanager
async def speaker(talk: Talk, corpus: Corpus) -> AsyncIterator[Speaker]:
    """Open the speaker of `talk`, and close it in the end.

    Raises:
        TalkRefused: there is no such speaker, or it cannot be opened.
    """
    kind, _, name = (talk.spec or "").partition(":")
    if talk.spec is None:
        yield InTheLanguage(Retrieved(open_bot("builtin:retrieval", corpus)))
    elif (endpoint := talk.endpoint) is not None:
        replicas = _opened(endpoint)
        try:
            yield Prompted(replicas)
        finally:
            await replicas.close()
    elif kind == "hf" and name:
        yield Prompted(_hosted(name))
    else:
        raise TalkRefused(f'"{talk.spec}" is not a valid speaker: write openai:MODEL or hf:FOLDER')


def _opened(endpoint: OpenAiEndpoint) -> Replicas:
    try:
        return open_endpoint(endpoint)
    except EndpointError as error:
        raise TalkRefused(str(error)) from error


def _hosted(path: str) -> Bot:
    try:
        from bots.host.hf import HfModel  # noqa: PLC0415 - heavy, and not installed everywhere

        return MicroBatch(HfModel(path, HfOptions(prompt="", temperature=0.8)))
    except ImportError as error:
        raise TalkRefused(
            f"hf:{path} needs torch and transformers ({error}). Install them: {how_to_install('hf')}"
        ) from error
    except HostModelError as error:
        raise TalkRefused(str(error)) from error
