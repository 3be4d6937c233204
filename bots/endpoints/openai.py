"""Servers of OpenAI's chat completions: vLLM, TGI, Ollama, llama.cpp, `transformers serve`, hosted ones."""

from typing import TYPE_CHECKING, Any, cast

from openai import APIConnectionError, APIStatusError, AsyncOpenAI, OpenAIError
from pydantic import BaseModel, Field

from bots.core.chat import Chat, Reply
from bots.core.failures import BotError
from bots.core.persona_prompt import persona_prompt
from bots.core.visible_text import checked_reply
from bots.endpoints.remote import Remote, RemoteBot

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletionMessageParam

# What says that no chat would be answered: the key is wrong, or a proxy has nothing behind it. A server that
# cannot list its models may chat all the same: `transformers serve` without a hub answers 500.
_AWAY = frozenset({401, 403, 502, 503, 504})
_ROLES = {"worker": "user", "bot": "assistant"}


class _Part(BaseModel):
    """A part of a message: its text, if it says one. Mistral's has thoughts in a part of their own."""

    type: str = "text"
    text: str | None = None


class _Message(BaseModel):
    """What a model said; what it thought is in a field of its own where the server tells the two apart."""

    content: str | list[_Part] | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None

    def output(self) -> str:
        """Return what the model wrote, its thoughts, if they are known, in front."""
        said = self.content
        if isinstance(said, list):
            said = "".join(part.text or "" for part in said if part.type == "text")
        thoughts = self.reasoning_content or self.reasoning
        return f"<think>{thoughts}</think>{said or ''}" if thoughts else said or ""


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Completion(BaseModel):
    choices: list[_Choice] = Field(min_length=1)


class OpenAiBot(RemoteBot):
    """A model behind chat completions.

    The official client asks through the connections of `remote`, with their limits and their failures.
    """

    def __init__(self, remote: Remote, model: str, prompt: str, sampling: dict[str, Any]) -> None:
        """Ask `model` at `remote`, with `prompt` as its first message and `sampling` as further options."""
        super().__init__(remote)
        self._model = model
        self._prompt = prompt
        self._sampling = sampling
        self._client = AsyncOpenAI(
            # Without a key the client would take the one in OPENAI_API_KEY, and give it to any server.
            api_key=remote.key.value if remote.key else "none",
            base_url=remote.url,
            max_retries=0,
            http_client=remote.client,
        )
        self._client.organization = self._client.project = None  # from the environment, like the key

    async def reply(self, chat: Chat) -> Reply:
        """Return what the first choice says. Raises BotError."""
        try:
            answer = await self._client.chat.completions.with_raw_response.create(
                model=self._model, messages=messages(self._prompt, chat), **self._sampling
            )
        except APIStatusError as error:
            raise self._remote.refusal(error.response) from None
        except APIConnectionError as error:
            raise BotError("no connection") from error
        except OpenAIError as error:
            raise BotError(f"could not be asked ({type(error).__name__})") from error
        completion = self._remote.parsed(answer.http_response, _Completion)
        choice = completion.choices[0]
        return checked_reply(choice.message.output(), at_limit=choice.finish_reason == "length")

    async def probe(self) -> None:
        """Ask for the list of models, whatever it says. Raises BotError."""
        response = await self._remote.get("/models")
        if response.status_code in _AWAY:
            raise self._remote.refusal(response)


def messages(prompt: str, chat: Chat) -> "list[ChatCompletionMessageParam]":
    """Return `chat` as messages: the prompt as the system's, then a user's and an assistant's by turns."""
    opening = persona_prompt(prompt, chat.persona, chat.prompt)
    said = [{"role": _ROLES[turn.author], "content": turn.text} for turn in chat.turns]
    return cast(
        "list[ChatCompletionMessageParam]",
        [{"role": "system", "content": opening}, *said] if opening else said,
    )
