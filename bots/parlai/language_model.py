"""The LSTM language model: persona and dialogue are one text, and a reply continues it.

One recurrent network reads all earlier lines and continues them token by token (a baseline of Zhang et al.,
2018, "Personalizing Dialogue Agents", and of ConvAI2). Unlike seq2seq, it has no separate decoder and no
attention. Its loss is taken over the replies: each dialogue is seen from both sides, so every line is
predicted once, given everything before it.

Model option of ParlAI: `bots.parlai.language_model:LanguageModelAgent`.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch
from parlai.core.torch_generator_agent import TorchGeneratorModel
from torch import Tensor, nn
from torch.nn.functional import normalize
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from bots.parlai.agent import PERSONA, KeepsPersona
from bots.parlai.upstream import PrefersSpecific
from bots.parlai.word_vectors import BeginsWithWordVectors

State = tuple[Tensor, Tensor]  # hidden and cell state of the LSTM, [layers, batch, size] each
_FIRST_SHARPNESS = 10.0
_LEAST = 1e-9  # probability, so that its logarithm is finite


@dataclass(frozen=True, slots=True)
class Read:
    """The result of reading some texts: the LSTM's state, its outputs at each token, and the tokens.

    `hidden` and `cell` are [layers, batch, size], `outputs` [batch, tokens, size], `tokens` [batch, tokens].
    """

    hidden: Tensor
    cell: Tensor
    outputs: Tensor
    tokens: Tensor

    def rows(self, indices: Tensor) -> "Read":
        """Return the part for the rows `indices` of the batch."""
        return Read(
            self.hidden.index_select(1, indices),
            self.cell.index_select(1, indices),
            self.outputs.index_select(0, indices),
            self.tokens.index_select(0, indices),
        )


class LstmLanguageModel(TorchGeneratorModel):
    """An LSTM whose input embedding is also its output layer (Press & Wolf, 2017), with a cache.

    If the state is similar to an earlier one while reading, the text may continue as it did there: "i work"
    as the persona did (Grave, Joulin & Usunier, 2017, "Improving Neural Language Models with a Continuous
    Cache"). Without the cache, so small a model forgets the persona on its way to the reply. The weight of
    the cache is learned. ParlAI's names for the two halves of a generator are kept: `encoder` reads the text,
    `decoder` continues it.
    """

    uncached: Tensor

    def __init__(
        self,
        tokens: int,
        size: int,
        layers: int,
        dropout: float,
        special: dict[str, int],
        marks: Collection[int] = (),
    ) -> None:
        """Take the sizes of the vocabulary and of the state.

        `special` are ParlAI's indices of special tokens; `marks` are further tokens that are read but never
        generated from the cache.
        """
        super().__init__(**special)
        never = sorted({special["padding_idx"], special["unknown_idx"], *marks})
        self.register_buffer("uncached", torch.tensor(never), persistent=False)
        self.embedding = nn.Embedding(tokens, size, padding_idx=self.NULL_IDX)
        nn.init.normal_(self.embedding.weight, std=size**-0.5)
        self.lstm = nn.LSTM(size, size, layers, batch_first=True, dropout=dropout if layers > 1 else 0.0)
        self.dropout = nn.Dropout(dropout)
        self.bias = nn.Parameter(torch.zeros(tokens))
        self.gate = nn.Linear(size, 1)
        nn.init.constant_(self.gate.bias, -1.0)  # the cache's weight is about a quarter before training
        self.log_sharpness = nn.Parameter(torch.tensor(math.log(_FIRST_SHARPNESS)))

    def forward(self, *xs: Tensor, ys: Tensor, **unused: Any) -> tuple[Tensor, Tensor, None]:
        """Return scores [batch, reply, vocabulary] and the likeliest tokens [batch, reply] of replies `ys`.

        The same as `encoder` and then `decoder`, in one pass over text and reply as one padded tensor. This
        is several times as fast, because torch has no fast path for packed sequences.
        """
        (text,) = xs
        before = torch.cat([self.START.expand(len(ys), 1), ys[:, :-1]], dim=1)
        at = (text != self.NULL_IDX).sum(1, keepdim=True) + torch.arange(ys.size(1), device=ys.device)
        room = torch.full_like(before, self.NULL_IDX)
        joined = torch.cat([text, room], dim=1).scatter(1, at, before)
        output, _ = self.lstm(self.dropout(self.embedding(joined)))
        latent = output.gather(1, at.unsqueeze(-1).expand(-1, -1, output.size(-1)))
        scores = self._scores(self.dropout(latent), output[:, : text.size(1)], text)
        return scores, scores.argmax(-1), None

    def encoder(self, text: Tensor) -> Read:
        """Return the result of reading texts [batch, tokens], padded on the right."""
        lengths = (text != self.NULL_IDX).sum(1).clamp(min=1).cpu()
        packed = pack_padded_sequence(
            self.dropout(self.embedding(text)), lengths, batch_first=True, enforce_sorted=False
        )
        output, (hidden, cell) = self.lstm(packed)
        outputs, _ = pad_packed_sequence(output, batch_first=True, total_length=text.size(1))
        return Read(hidden, cell, outputs, text)

    def decoder(self, tokens: Tensor, read: Read, so_far: State | None = None) -> tuple[Tensor, State]:
        """Return the scores after each of `tokens` [batch, tokens], and the state, continuing from `read`.

        With `so_far`, the state before the last token, only that token is processed.
        """
        state = (read.hidden, read.cell)
        if so_far is not None:
            tokens, state = tokens[:, -1:], so_far
        output, state = self.lstm(self.dropout(self.embedding(tokens)), state)
        return self._scores(self.dropout(output), read.outputs, read.tokens), state

    def output(self, scores: Tensor) -> Tensor:
        """Return the scores of `decoder` unchanged; they already include the cache."""
        return scores

    def _scores(self, states: Tensor, read: Tensor, tokens: Tensor) -> Tensor:
        """Return log probabilities [batch, steps, vocabulary] of the next tokens after `states`.

        `states` are [batch, steps, size]. `read` [batch, tokens, size] are the outputs at `tokens` [batch,
        tokens], the cache.
        """
        vocabulary = (states @ self.embedding.weight.t() + self.bias).softmax(-1)
        # The state before each token that was read: the token may follow a similar state again.
        before = torch.cat([torch.zeros_like(read[:, :1]), read[:, :-1]], dim=1)
        like = (
            self.log_sharpness.exp() * normalize(states, dim=-1) @ normalize(before, dim=-1).transpose(1, 2)
        )
        never = torch.isin(tokens, self.uncached)
        # If no token may be repeated, -1e9 gives equal shares, which are then multiplied by zero.
        shares = like.masked_fill(never.unsqueeze(1), -1e9).softmax(-1) * ~never.unsqueeze(1)
        places = tokens.unsqueeze(1).expand(-1, states.size(1), -1)
        cached = torch.zeros_like(vocabulary).scatter_add(-1, places, shares)
        gate = self.gate(states).sigmoid()
        mixed: Tensor = (1 - gate * shares.sum(-1, keepdim=True)) * vocabulary + gate * cached
        return mixed.clamp(min=_LEAST).log()

    def reorder_encoder_states(self, encoder_states: Read, indices: Sequence[int] | Tensor) -> Read:
        """Return the reading result of the rows `indices`."""
        return encoder_states.rows(torch.as_tensor(indices, device=encoder_states.tokens.device))

    def reorder_decoder_incremental_state(self, incremental_state: State, inds: Tensor) -> State:
        """Return the states of the rows `inds`."""
        rows = torch.as_tensor(inds, device=incremental_state[0].device)
        hidden, cell = incremental_state
        return hidden.index_select(1, rows), cell.index_select(1, rows)


class LanguageModelAgent(KeepsPersona, BeginsWithWordVectors, PrefersSpecific):
    """The language model as an agent of ParlAI; greedy, beam, top-k and nucleus decoding are ParlAI's own."""

    @classmethod
    def add_cmdline_args(cls, parser: Any, partial_opt: Any = None) -> Any:
        """Add this agent's options."""
        super().add_cmdline_args(parser, partial_opt=partial_opt)
        group = parser.add_argument_group("Language model")
        group.add_argument("--hiddensize", type=int, default=256, help="size of embeddings and state")
        group.add_argument("--numlayers", type=int, default=1, help="layers of the LSTM")
        group.add_argument("--dropout", type=float, default=0.2, help="share of values dropped in training")
        return group

    def __init__(self, opt: Any, shared: Any = None) -> None:
        super().__init__(opt, shared)
        self.id = "LanguageModel"

    def build_model(self) -> LstmLanguageModel:
        """Return an untrained model for the dictionary."""
        special = {
            "padding_idx": self.NULL_IDX,
            "start_idx": self.START_IDX,
            "end_idx": self.END_IDX,
            "unknown_idx": self.dict[self.dict.unk_token],
        }
        options, marks = self.opt, self.dict.txt2vec(f"{PERSONA}\n{self.P1_TOKEN} {self.P2_TOKEN}")
        model = LstmLanguageModel(
            len(self.dict), options["hiddensize"], options["numlayers"], options["dropout"], special, marks
        )
        return cast("LstmLanguageModel", self.placed(model))
