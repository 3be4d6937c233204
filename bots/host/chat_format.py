"""Convert a conversation to a model's tokens, in the layout on which that kind of model was trained."""

import re
from abc import ABC, abstractmethod
from bisect import bisect_left
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from jinja2 import TemplateError

from bots.core.chat import Chat, Turn
from bots.core.failures import BotError
from bots.core.message_layout import Instructions, Message, MessageLayout
from bots.core.persona_prompt import DEFAULT_PROMPT, persona_prompt
from bots.host.model import HfOptions, HostModelError
from bots.shown import closed, speech

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_HELLO, _ANSWER = "hello there", "good day"  # lines with which templates are tested
# A template that supports thoughts contains one of these words.
_MAY_THINK = re.compile(r"think|thought|reason|<\|channel", re.IGNORECASE)
_MARK = re.compile(r"[<\[◁].*[>\]▷]")


class ChatFormat(ABC):
    """The conversation format of one kind of model.

    `labels`: the speakers' names at the head of each line, the model's last. `may_think`: the model may think
    before it replies. `opens_thoughts`: the layout has already opened its thoughts. `layout`: its name.
    `prompt`: the instructions, None for a model that takes none.
    """

    layout: ClassVar[str]
    prompt: str | None = None
    labels: tuple[str, ...] = ()
    may_think = False
    opens_thoughts = False

    def __init__(self, tokenizer: "PreTrainedTokenizerBase") -> None:
        self._tokenizer = tokenizer
        # Not all marks are special tokens: Qwen3's <think> is not.
        added = [
            str(token)
            for token in tokenizer.added_tokens_decoder.values()
            if token.special or _MARK.fullmatch(str(token))
        ]
        marks = sorted({*tokenizer.all_special_tokens, *added}, key=len, reverse=True)
        self._marks = re.compile("|".join(map(re.escape, marks)) or r"(?!)")

    def ids(self, chat: Chat, most: int) -> list[int]:
        """Return `chat` as at most `most` tokens.

        A chat that is too long is shortened: first the oldest lines are left out; then, if the worker's last
        line does not fit beside the persona, sentences at the end of the persona; then the start of that
        line. Special tokens in people's words are removed.

        Raises:
            BotError: the layout alone takes more than `most` tokens.
        """
        plain = replace(
            chat,
            persona=tuple(self._plain(sentence) for sentence in chat.persona),
            turns=tuple(Turn(turn.author, self._plain(turn.text)) for turn in chat.turns),
            prompt=self._plain(chat.prompt),
        )
        cuts = range(len(plain.turns) - 1 + len(plain.persona) + len(plain.turns[-1].text) + 1)
        least = bisect_left(cuts, True, key=lambda cut: len(self.encode(_shortened(plain, cut))) <= most)
        if least == len(cuts):
            raise BotError(f"no line fits into {most} tokens")
        return self.encode(_shortened(plain, least))

    def end_of_turn(self) -> int | None:
        """Return the token that ends the model's line, besides end-of-sequence; None if there is none."""
        return None

    @abstractmethod
    def encode(self, chat: Chat) -> list[int]:
        """Return the whole chat as tokens, up to where the bot's next line begins."""

    def _plain(self, text: str) -> str:
        return self._marks.sub(" ", text)


class TemplateFormat(ChatFormat):
    """A model with a chat template: the persona is in the system message, or before the first line.

    The constructor tests whether the template accepts a system message, a bot that speaks first, and plain
    text, or only parts of a message, as templates of vision models do.
    """

    layout = "template"

    def __init__(self, tokenizer: "PreTrainedTokenizerBase", prompt: str, thinking: bool | None) -> None:
        """Use `prompt`, as filled in by `persona_prompt`; `thinking`: see `HfOptions`.

        Raises:
            HostModelError: the template accepts no conversation at all, or does not support `thinking`.
        """
        super().__init__(tokenizer)
        self.prompt: str = prompt
        self._thinks = bool(thinking)
        hello, answer = ("user", _HELLO), ("assistant", _ANSWER)
        self._layout = MessageLayout(alternating=True)
        if not self._takes(hello, answer, hello):
            self._layout = replace(self._layout, parts=True)
            if not self._takes(hello, answer, hello):
                raise HostModelError("its chat template takes no conversation of a user and an assistant")
        system, bot_first = self._takes(("system", "speak softly"), hello), self._takes(answer, hello)
        instructions: Instructions = "system" if system else "first_message"
        self._layout = replace(self._layout, instructions=instructions, bot_first=bot_first)
        self.may_think = _MAY_THINK.search(str(tokenizer.chat_template)) is not None
        self.opens_thoughts = speech(self._assistant_opening()).thinking
        self._closes = thinking is False and self.opens_thoughts
        if thinking and not self.may_think:
            raise HostModelError("its chat template does not support thinking: leave out --thinking")
        if thinking is False and self.may_think and not self._closes and not self._has_switch():
            raise HostModelError(
                "its chat template has no switch that turns thinking off: leave out --no-thinking, or give "
                "a --chat-template that does"
            )
        self.opens_thoughts = self.opens_thoughts and not self._closes

    def encode(self, chat: Chat) -> list[int]:
        """Return the conversation in the template's layout, with the assistant's line begun."""
        instructions = persona_prompt(self.prompt, chat.persona, chat.prompt)
        rendered = self._rendered(self._layout.messages(instructions, chat))
        text = closed(rendered) if self._closes else rendered
        return list(self._tokenizer(text, add_special_tokens=False)["input_ids"])

    def end_of_turn(self) -> int | None:
        """Return the special token with which the template ends an assistant's line, if any."""
        said = [self._layout.message("user", _HELLO), self._layout.message("assistant", _ANSWER)]
        whole = self._rendered(said, begun=False)
        after = self._tokenizer(whole.rpartition(_ANSWER)[2].lstrip(), add_special_tokens=False)["input_ids"]
        return after[0] if after and after[0] in self._tokenizer.added_tokens_decoder else None

    def _takes(self, *said: tuple[str, str]) -> bool:
        """Return whether the template renders all messages; some refuse a role, others leave it out."""
        try:
            rendered = self._rendered([self._layout.message(role, text) for role, text in said])
        except (TemplateError, TypeError):  # a template that needs parts may fail on text
            return False
        return all(text in rendered for _, text in said)

    def _has_switch(self) -> bool:
        """Return whether the template begins a line differently when thinking is on."""
        off = self._assistant_opening()
        self._thinks = True
        on = self._assistant_opening()
        self._thinks = False
        return on != off

    def _assistant_opening(self) -> str:
        """Return the text between the user's last words and the model's first."""
        return self._rendered([self._layout.message("user", _HELLO)]).rpartition(_HELLO)[2]

    def _rendered(self, messages: list[Message], begun: bool = True) -> str:
        return str(
            self._tokenizer.apply_chat_template(
                messages,
                tokenize=False,
                add_generation_prompt=begun,
                # Names of the switch: Qwen3, GLM and SmolLM; DeepSeek and Granite; Command A.
                enable_thinking=self._thinks,
                thinking=self._thinks,
                reasoning=self._thinks,
            )
        )


class PlainFormat(ChatFormat):
    """A model that continues any text: instructions and persona, then "A: …" and "B: …"; the bot is B."""

    layout = "plain"
    labels = ("A", "B")

    def __init__(self, tokenizer: "PreTrainedTokenizerBase", prompt: str) -> None:
        """Use `prompt`, as filled in by `persona_prompt`."""
        super().__init__(tokenizer)
        self.prompt: str = prompt

    def encode(self, chat: Chat) -> list[int]:
        """Return the text up to the bot's label. Line breaks within a person's message are removed."""
        worker, bot = self.labels
        lines = [
            f"{worker if turn.author == 'worker' else bot}: {' '.join(turn.text.split())}"
            for turn in chat.turns
        ]
        instructions = persona_prompt(self.prompt, chat.persona, chat.prompt)
        text = "\n".join([f"{instructions}\n"] * bool(instructions) + lines + [f"{bot}:"])
        ids = list(self._tokenizer(text)["input_ids"])
        return ids[:-1] if ids[-1] == self._tokenizer.eos_token_id else ids


class EosFormat(ChatFormat):
    """The format of DialoGPT (Zhang et al., 2020): EOS after every line; the persona is the first line."""

    layout = "eos"

    def __init__(self, tokenizer: "PreTrainedTokenizerBase") -> None:
        """Use the tokenizer's EOS.

        Raises:
            HostModelError: it has none.
        """
        super().__init__(tokenizer)
        if tokenizer.eos_token_id is None:
            raise HostModelError("its tokenizer has neither a chat template nor an end-of-sequence token")
        self._eos = int(tokenizer.eos_token_id)

    def encode(self, chat: Chat) -> list[int]:
        """Return the lines, each followed by EOS. Such a model takes no instructions."""
        lines = [" ".join(chat.persona)] if chat.persona else []
        lines += [turn.text for turn in chat.turns]
        encoded = self._tokenizer(lines, add_special_tokens=False)["input_ids"]
        return [token for line in encoded for token in (*line, self._eos)]


class EncoderFormat(ChatFormat):
    """The input of an encoder: "your persona: …" line by line, as in PersonaChat, then the conversation.

    BlenderBot (Roller et al., 2021) was trained with two spaces between the lines of a conversation, its
    small version and other models with a line break.
    """

    layout = "encoder"

    def __init__(self, tokenizer: "PreTrainedTokenizerBase", between: str) -> None:
        super().__init__(tokenizer)
        self._between = between

    def encode(self, chat: Chat) -> list[int]:
        """Return persona and conversation, with an encoder's special tokens. It takes no instructions."""
        about = "".join(f"your persona: {sentence}\n" for sentence in chat.persona)
        text = about + self._between.join(turn.text for turn in chat.turns)
        return list(self._tokenizer(text)["input_ids"])


def chat_format(
    tokenizer: "PreTrainedTokenizerBase", model_type: str, encoder_decoder: bool, options: HfOptions
) -> ChatFormat:
    """Return the layout for a model, by its tokenizer, its configuration and the given `options`.

    Raises:
        HostModelError: no layout fits the tokenizer, or the model does not support a given option.
    """
    if options.chat_template is not None:
        tokenizer.chat_template = options.chat_template
    layout = options.layout
    if layout == "auto":
        layout = "template" if tokenizer.chat_template else "plain"
    prompt = DEFAULT_PROMPT if options.prompt is None else options.prompt
    if layout == "template":
        if not tokenizer.chat_template:
            raise HostModelError("it has no chat template: give one with --chat-template FILE")
        return TemplateFormat(tokenizer, prompt, options.thinking)
    if options.chat_template is not None:
        raise HostModelError("--chat-template is for --layout template")
    if options.thinking is not None:
        raise HostModelError("without a chat template, thinking cannot be controlled: leave out --thinking")
    if layout == "plain" and not encoder_decoder:
        return PlainFormat(tokenizer, prompt)
    if options.prompt:
        raise HostModelError("such a model takes no instructions: leave out --prompt")
    if encoder_decoder:
        return EncoderFormat(tokenizer, "  " if model_type == "blenderbot" else "\n")
    return EosFormat(tokenizer)


def _shortened(chat: Chat, cut: int) -> Chat:
    """Return a chat after the first `cut` steps of shortening: lines, sentences, characters."""
    persona, turns = chat.persona, chat.turns
    lines = min(cut, len(turns) - 1)
    sentences = min(cut - lines, len(persona))
    characters = cut - lines - sentences
    last = turns[-1]
    kept = (*turns[lines:-1], Turn(last.author, last.text[characters:]))
    return replace(chat, persona=persona[: len(persona) - sentences], turns=kept)
