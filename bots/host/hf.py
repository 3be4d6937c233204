"""Run any text-generating model in the format of transformers, on CPU or CUDA."""

import copy
import json
import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.utils.rnn import pad_sequence
from transformers import (
    RepetitionPenaltyLogitsProcessor,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from bots.core.chat import Chat, Provenance, prompt_hash
from bots.host.chat_format import chat_format
from bots.host.checkpoint import explained, open_checkpoint
from bots.host.model import HfOptions, HostModelError, Output
from bots.shown import phase, shown_text

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_TELLING = frozenset(">:]▷")  # the last token of every thought mark and speaker's label has one of these


class ReplyEnd:
    """A stopping criterion of transformers with separate budgets for thoughts and for the reply.

    A row ends when its thoughts or its reply reach their budget, or when it continues as another speaker.
    """

    def __init__(
        self,
        tokenizer: "PreTrainedTokenizerBase",
        width: int,
        opened: Sequence[bool],
        budgets: tuple[int, int],
        ends_of_turn: Collection[int] = (),
        labels: Sequence[str] = (),
    ) -> None:
        """Watch rows whose prompts take `width` tokens; `opened` says which prompts have opened thoughts.

        `budgets`: tokens for thoughts and for a reply. `ends_of_turn`: tokens that end a reply, or the
        thoughts if they occur there. `labels`: as for `shown_text`.
        """
        self._tokenizer = tokenizer
        self._width = width
        self._opened = opened
        self._budgets = budgets
        self._ends_of_turn = frozenset(ends_of_turn)
        self._labels = labels
        self._thinking = list(opened)
        self._spoke_from = [0] * len(opened)
        self._over = [False] * len(opened)

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Return which rows have ended."""
        made = input_ids[:, self._width :]
        count = made.shape[1]
        for row, piece in enumerate(self._tokenizer.batch_decode(made[:, -1:])):
            ends = int(made[row, -1]) in self._ends_of_turn
            if ends or not _TELLING.isdisjoint(piece):
                self._update_phase(row, str(self._tokenizer.decode(made[row])), count)
            self._over[row] = self._over[row] or (ends and not self._thinking[row])
            thinking, reply = self._budgets
            spent = count if self._thinking[row] else count - self._spoke_from[row]
            self._over[row] = self._over[row] or spent >= (thinking if self._thinking[row] else reply)
        return torch.tensor(self._over, device=input_ids.device)

    def _update_phase(self, row: int, output: str, count: int) -> None:
        now = phase(output, opened=self._opened[row], labels=self._labels)
        if self._thinking[row] and now != "thinking":
            self._spoke_from[row] = count
        self._thinking[row] = now == "thinking"
        self._over[row] = self._over[row] or now == "over"


class RowSampler:
    """A logits processor that samples: it leaves one token possible in every row.

    Each row has its own random generator and draws one number per step, which chooses a token from the row's
    cumulative distribution. Rows that have ended continue to draw; this affects no other row.
    """

    def __init__(
        self, seeds: Sequence[str], temperature: float, top_p: float | None, top_k: int | None
    ) -> None:
        """Sample row i with `seeds[i]`; `top_p` and `top_k` keep the likeliest tokens only."""
        self._rows = [random.Random(seed) for seed in seeds]
        self._warpers: list[Any] = [TemperatureLogitsWarper(temperature)]
        if top_k:
            self._warpers.append(TopKLogitsWarper(top_k))
        if top_p is not None and top_p < 1.0:
            self._warpers.append(TopPLogitsWarper(top_p))

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Return scores (rows × vocabulary) of 0 for the token drawn and −∞ for every other."""
        for warper in self._warpers:
            scores = warper(input_ids, scores)
        cumulative = scores.float().softmax(dim=-1).double().cumsum(dim=-1)
        drawn = torch.tensor([[row.random()] for row in self._rows], dtype=torch.float64)
        drawn = drawn.to(scores.device) * cumulative[:, -1:]
        token = torch.searchsorted(cumulative, drawn, right=True)
        return torch.full_like(scores, -torch.inf).scatter(1, token, 0.0)


_LEAST_CONTEXT = 16  # tokens that must be left for the conversation
_UNLIMITED = 1_000_000  # a tokenizer without a limit reports a number larger than this
_USUAL_CONTEXT = 1024  # for models that have no limit of their own
# The number of prompt tokens that a CPU processes in the time of one generation step
# (benchmarks/bot_batching.py). On a GPU nearly all the time goes into the steps.
_STEP_ON_CPU = 32


@dataclass(frozen=True, slots=True)
class _Drawing:
    """The choice of the next token; a temperature of 0 means the likeliest token, or the likeliest beam."""

    temperature: float
    top_p: float | None
    top_k: int | None
    repetition_penalty: float


class HfModel:
    """A model of transformers that answers batches of conversations.

    The same chat gets the same reply, alone or in any batch, even with sampling, because every conversation
    draws from its own seed. Rounding depends on the shape of a batch, so a reply may differ where two tokens
    are equally likely up to the last digit: with random weights in float32, one of 2,000 replies did. float64
    has digits to spare.
    """

    def __init__(self, path: str, options: HfOptions | None = None) -> None:
        """Load the model from a folder or from the hub's id `path`.

        Raises:
            HostModelError: there is none, it cannot chat, or it needs more memory than is free.
        """
        self.name = f"hf:{path}"
        self._options = options or HfOptions()
        checkpoint = open_checkpoint(self.name, path)
        self._encoder_decoder = checkpoint.encoder_decoder
        self._tokenizer = checkpoint.tokenizer
        with explained(self.name, "its chat template cannot be used"):
            self._format = chat_format(
                self._tokenizer, checkpoint.config.model_type, self._encoder_decoder, self._options
            )
        self._thoughts = self._options.thinking_tokens if self._format.may_think else 0
        self._most = self._room(checkpoint.config)
        self._revision = checkpoint.revision
        self._model = checkpoint.load(self._options.dtype, self._options.device)
        self._device = self._model.device
        self._generation, self._drawing = _settings(
            self._model.generation_config, self._options, self._tokenizer, self._encoder_decoder
        )
        self._generation.max_new_tokens += self._thoughts
        ends = self._generation.eos_token_id
        self._ends: set[int] = set(ends if isinstance(ends, list) else [] if ends is None else [ends])
        # This token may also close thoughts, as <|end|> of gpt-oss does: its meaning depends on the context.
        closing = self._format.end_of_turn()
        self._end_of_turn = set() if closing is None else {closing} - self._ends
        self._sampling = self._chosen()

    def replies(self, chats: Sequence[Chat]) -> list[Output]:
        """Return the model's output for every chat.

        If the model ends its line without any text, it is asked once more with a minimum length.
        """
        prompts = [self._format.ids(chat, self._most) for chat in chats]
        seeds = [f"{chat.seed} {chat.replies_given()}" for chat in chats]
        outputs = self._generate(prompts, seeds, self._drawing, least=0)
        silent = [row for row, output in enumerate(outputs) if _is_silent(output)]
        if silent:
            loose = _Drawing(max(self._drawing.temperature, 1.0), None, None, 1.0)
            again = self._generate(
                [prompts[row] for row in silent], [f"{seeds[row]} again" for row in silent], loose, least=4
            )
            for row, output in zip(silent, again, strict=True):
                outputs[row] = output
        return [
            replace(output, provenance=self._completed(output.provenance, chat, prompt))
            for output, chat, prompt in zip(outputs, chats, prompts, strict=True)
        ]

    def _completed(self, made: Provenance, chat: Chat, prompt: Sequence[int]) -> Provenance:
        """Return a reply's provenance, completed with the model, its instructions and the prompt's length."""
        own = (self._options.chat_template,) if self._options.chat_template is not None else ()
        instructions = self._format.prompt
        return replace(
            made,
            model=self.name,
            revision=self._revision,
            prompt_hash=None if instructions is None else prompt_hash(instructions, chat.prompt, *own),
            sampling=self._sampling,
            tokens_in=len(prompt),
        )

    def _chosen(self) -> str:
        """Return the generation settings as JSON; those without effect are left out."""
        drawing = self._drawing
        settings = {
            "layout": self._format.layout,
            "dtype": str(self._model.dtype).removeprefix("torch."),
            "max_new_tokens": self._options.max_new_tokens,
            "thinking_tokens": self._thoughts,
            "temperature": drawing.temperature,
            "top_p": drawing.top_p if drawing.temperature else None,
            "top_k": drawing.top_k if drawing.temperature else None,
            "repetition_penalty": drawing.repetition_penalty,
            "num_beams": None if drawing.temperature else self._generation.num_beams,
        }
        usual = {"thinking_tokens": 0, "repetition_penalty": 1.0, "num_beams": 1}
        told = {
            name: value for name, value in settings.items() if value is not None and value != usual.get(name)
        }
        return json.dumps(told, sort_keys=True)

    def _generate(
        self, prompts: Sequence[list[int]], seeds: Sequence[str], drawing: _Drawing, least: int
    ) -> list[Output]:
        """Return the model's output for each prompt, of at least `least` tokens."""
        outputs = [Output("")] * len(prompts)
        step = self._options.max_new_tokens * _STEP_ON_CPU
        for rows in groups([len(prompt) for prompt in prompts], step if self._device.type == "cpu" else None):
            said = self._pass([prompts[row] for row in rows], [seeds[row] for row in rows], drawing, least)
            for row, output in zip(rows, said, strict=True):
                outputs[row] = output
        return outputs

    def _pass(
        self, prompts: Sequence[list[int]], seeds: Sequence[str], drawing: _Drawing, least: int
    ) -> list[Output]:
        """Return the model's output for each prompt, computed side by side."""
        width = max(map(len, prompts))
        skipped = 1 if self._encoder_decoder else width  # a decoder's start token is not part of the output
        ids, mask = self._padded(prompts)
        opened = self._format.opens_thoughts
        budgets = (self._thoughts, self._options.max_new_tokens)
        settings = copy.copy(self._generation)
        if least:
            settings.min_new_tokens = least
        processors: list[Any] = []
        if drawing.repetition_penalty != 1.0:
            # Only the reply's own words count: padding would be taken for repeated words.
            said = 0 if self._encoder_decoder else width
            processors.append(RepetitionPenaltyLogitsProcessor(drawing.repetition_penalty, said))
        if drawing.temperature > 0:
            settings.num_beams = 1
            processors.append(RowSampler(seeds, drawing.temperature, drawing.top_p, drawing.top_k))
        stops, ends = [], self._ends
        if (settings.num_beams or 1) == 1:
            rows = [opened] * len(prompts)
            labels = self._format.labels
            stops = [ReplyEnd(self._tokenizer, skipped, rows, budgets, self._end_of_turn, labels)]
        else:  # beams are candidates, not rows: only the sum of the budgets holds
            ends = ends | self._end_of_turn
        settings.eos_token_id = sorted(ends) or None
        with torch.inference_mode():
            produced = self._model.generate(
                input_ids=ids,
                attention_mask=mask,
                generation_config=settings,
                logits_processor=processors,
                stopping_criteria=stops,
            )
        new = produced[:, skipped:].tolist()
        return [self._output(row, opened) for row in new]

    def _output(self, ids: Sequence[int], opened: bool) -> Output:
        """Return the text of a row of tokens, up to its end; if it has none, a limit has ended it."""
        tokenizer = self._tokenizer
        until = next((at for at, token in enumerate(ids) if token in self._ends), None)
        nothing = {tokenizer.bos_token_id, tokenizer.pad_token_id, tokenizer.unk_token_id}
        made = [token for token in ids[:until] if token not in nothing]
        ended = until is not None or (made and made[-1] in self._end_of_turn)
        text = tokenizer.decode(made[:-1] if made and made[-1] in self._end_of_turn else made)
        length = self._length(ids) if until is None else until + 1
        at_limit = not ended and length >= self._options.max_new_tokens
        made_by = Provenance(tokens_out=length, finish_reason="length" if at_limit else "stop")
        return Output(text, opened, at_limit, labels=self._format.labels, provenance=made_by)

    def _length(self, ids: Sequence[int]) -> int:
        """Return the number of tokens in a row without its padding; rows that end early are padded."""
        padding = takewhile(lambda token: token == self._tokenizer.pad_token_id, reversed(ids))
        return len(ids) - sum(1 for _ in padding)

    def _padded(self, prompts: Sequence[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        """Return prompts as ids and mask (rows × width), padded left for a decoder, right for an encoder."""
        pad = partial(
            pad_sequence, batch_first=True, padding_side="right" if self._encoder_decoder else "left"
        )
        rows = [torch.tensor(prompt, device=self._device) for prompt in prompts]
        ids = pad(rows, padding_value=self._generation.pad_token_id)
        return ids, pad([torch.ones_like(row) for row in rows])

    def _room(self, config: Any) -> int:
        """Return the number of tokens that a conversation may take."""
        text = config.get_text_config()
        limits = [getattr(text, key, None) for key in ("max_position_embeddings", "n_positions")]
        known = [
            limit
            for limit in (*limits, self._tokenizer.model_max_length)
            if isinstance(limit, int) and 0 < limit < _UNLIMITED
        ]
        context = min(known, default=_USUAL_CONTEXT)
        longest = self._options.max_new_tokens + self._thoughts
        room = context if self._encoder_decoder else context - longest
        if room < _LEAST_CONTEXT or longest >= context:
            raise HostModelError(
                f"{self.name}: it takes {context} tokens in all, and replies of {longest} leave too few "
                "for the conversation. Lower --max-new-tokens or --thinking-tokens."
            )
        return room


def _is_silent(output: Output) -> bool:
    """Return whether an output has nothing to show, and no thoughts that would explain it."""
    shown = shown_text(output.text, opened=output.opened, labels=output.labels)
    return not shown.text and "thoughts" not in shown.changes


def groups(lengths: Sequence[int], cost: int | None) -> list[list[int]]:
    """Return the rows of a batch, split by length into groups that are padded separately.

    A split is made where it saves more padding, in tokens, than the `cost` of a group; never if that is None.
    """
    rows = sorted(range(len(lengths)), key=lambda row: lengths[row])
    if cost is None:
        return [rows]
    found: list[list[int]] = []
    while rows:
        longest = lengths[rows[-1]]
        saved = [cut * (longest - lengths[rows[cut - 1]]) for cut in range(1, len(rows))]
        best = max(saved, default=0)
        cut = saved.index(best) + 1 if best > cost else 0
        found.append(rows[cut:])
        rows = rows[:cut]
    return found


def _settings(given: Any, options: HfOptions, tokenizer: Any, encoder_decoder: bool) -> tuple[Any, _Drawing]:
    """Return the model's generation settings with `options` applied, and how it samples.

    Sampling is taken out of the settings, because it must depend on each conversation alone.
    """
    settings = copy.deepcopy(given)
    draws = settings.do_sample or options.top_p is not None
    usual = (settings.temperature or 1.0) if draws else 0.0
    own = settings if settings.do_sample else None
    drawing = _Drawing(
        temperature=usual if options.temperature is None else options.temperature,
        top_p=options.top_p if options.top_p is not None else getattr(own, "top_p", None),
        top_k=getattr(own, "top_k", None),
        repetition_penalty=options.repetition_penalty or settings.repetition_penalty or 1.0,
    )
    settings.do_sample = False
    settings.temperature = settings.top_p = settings.top_k = settings.repetition_penalty = None
    settings.max_length, settings.max_new_tokens = None, options.max_new_tokens
    if options.temperature == 0:
        settings.num_beams = 1
    if not encoder_decoder:
        settings.min_length = None  # counts the prompt, so it would depend on the padding
    if settings.eos_token_id is None:
        settings.eos_token_id = tokenizer.eos_token_id
    ends = settings.eos_token_id
    end = ends[0] if isinstance(ends, list) else ends
    pads = (settings.pad_token_id, tokenizer.pad_token_id, end, 0)
    settings.pad_token_id = next(token for token in pads if token is not None)
    return settings, drawing
