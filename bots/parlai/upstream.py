"""ParlAI's own agents, with the choice of the reply that fits this conversation best.

A small generator finds "i am a nurse ." likely in any conversation and with any persona. So replies are
ranked by how much the conversation, with the persona at its head, raises their probability: log p(y | x) − λ
log p(y), the objective of Li et al. (2016, "A Diversity-Promoting Objective Function for Neural Conversation
Models", equation 9). p(y) comes from the same model, given silence as the input: `training` includes
such examples.
"""

from collections.abc import Sequence
from typing import Any

import torch
from parlai.agents.seq2seq.seq2seq import Seq2seqAgent as ParlaiSeq2seq
from parlai.agents.transformer.biencoder import BiencoderAgent as ParlaiBiencoder
from parlai.agents.transformer.polyencoder import PolyencoderAgent as ParlaiPolyencoder
from parlai.core.torch_generator_agent import TorchGeneratorAgent
from torch import Tensor
from torch.nn.functional import cross_entropy

from bots.parlai.agent import SILENCE, KeepsPersona
from bots.parlai.word_vectors import BeginsWithWordVectors

_LAMBDA = 0.7

Found = tuple[Tensor, Tensor, Any]  # tokens from START to END, score, ParlAI's details of each token


class PrefersSpecific(TorchGeneratorAgent):
    """A generator that uses the most specific of its beams, and ranks candidates in the same way."""

    def _rerank_beams(self, batch: Any, found: Sequence[Sequence[Found]]) -> list[list[Found]]:
        """Return the beams of each row of the batch, the best first. ParlAI calls it."""
        return [
            [
                lines[at]
                for at in self._order(
                    batch, row, [tokens[tokens != self.START_IDX] for tokens, _, _ in lines]
                )
            ]
            for row, lines in enumerate(found)
        ]

    def rank_eval_label_candidates(
        self, batch: Any, batchsize: int
    ) -> tuple[list[list[str]], list[list[float]]]:
        """Return the candidates of each row, the best first, and their ranks as scores."""
        orders = [self._order(batch, row, batch.candidate_vecs[row]) for row in range(batchsize)]
        ranked = [[batch.candidates[row][at] for at in order] for row, order in enumerate(orders)]
        return ranked, [list(map(float, range(len(order)))) for order in orders]

    def _order(self, batch: Any, row: int, lines: Sequence[Tensor]) -> list[int]:
        """Return the indices of `lines` (tokens each), the most specific to a row of the batch first."""
        said = batch.text_vec[row : row + 1]
        replies, _ = self._pad_tensor(list(lines), is_label=True)
        silence = torch.tensor([self.dict.txt2vec(SILENCE)], device=said.device)
        fits = self._likelihood(said, replies) - _LAMBDA * self._likelihood(silence, replies)
        return [int(at) for at in fits.argsort(descending=True, stable=True)]

    def _likelihood(self, text: Tensor, replies: Tensor) -> Tensor:
        """Return the mean log probability of the tokens of each of `replies` after `text`, [1, tokens]."""
        encoded = self.model.reorder_encoder_states(self.model.encoder(text), [0] * len(replies))
        scores, _ = self.model.decode_forced(encoded, replies)
        losses = cross_entropy(scores.transpose(1, 2), replies, reduction="none", ignore_index=self.NULL_IDX)
        mean: Tensor = -losses.sum(1) / (replies != self.NULL_IDX).sum(1)
        return mean


# Model options of ParlAI: `bots.parlai.upstream:BiencoderAgent`, `...:PolyencoderAgent`, `...:Seq2seqAgent`.
class BiencoderAgent(KeepsPersona, BeginsWithWordVectors, ParlaiBiencoder):
    """Context and reply encoded separately by transformers; the score is their dot product."""


class PolyencoderAgent(KeepsPersona, BeginsWithWordVectors, ParlaiPolyencoder):
    """Several codes of the context, which the reply attends to (Humeau et al., 2020)."""


class Seq2seqAgent(KeepsPersona, BeginsWithWordVectors, PrefersSpecific, ParlaiSeq2seq):
    """An LSTM encoder and decoder with attention."""
