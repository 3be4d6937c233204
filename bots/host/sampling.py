"""Drawing tokens so that a reply depends on its own conversation and on nothing else in the batch."""

import random
from collections.abc import Sequence
from typing import Any

import torch
from transformers import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper


class RowSampler:
    """A logits processor that samples: it leaves one token possible in every row.

    Each row has a generator of its own and draws one number per step, by which a token is chosen from the
    row's cumulative distribution. Rows that have ended go on drawing; nobody else sees it.
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
