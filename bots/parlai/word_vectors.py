"""Initialise word vectors from word co-occurrence in the corpus.

A few hundred dialogues are too few to learn the relations of words from scratch. The vectors come from the
corpus itself: positive pointwise mutual information of words in one exchange, reduced by singular value
decomposition (Levy, Goldberg & Dagan, 2015, "Improving Distributional Similarity with Lessons Learned from
Word Embeddings").
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from parlai.core.torch_agent import TorchAgent
from scipy import sparse
from torch import Tensor, nn

from bots.builtin.parts.terms import principal

EXCHANGES = "exchanges.jsonl"


def word_vectors(texts: Iterable[Iterable[int]], tokens: int, size: int) -> Tensor:
    """Return [tokens, size], of length 1 each; zeros for a token that never occurs beside another.

    `texts` are exchanges, each as the numbers of its tokens.
    """
    rows = [sorted(set(text)) for text in texts]
    columns = np.array([token for row in rows for token in row], dtype=np.intp)
    ends = np.cumsum([0, *map(len, rows)])
    has = sparse.csr_array((np.ones(len(columns)), columns, ends), shape=(len(rows), tokens))
    together = sparse.coo_array(has.T @ has)
    often = np.asarray(has.sum(axis=0)).ravel()
    one, other = together.coords
    gain = np.log(together.data * len(rows) / (often[one] * often[other]))
    information = sparse.csr_array((np.maximum(gain, 0), (one, other)), shape=(tokens, tokens))
    places = np.asarray(information @ principal(information, size))
    strength = np.linalg.norm(places, axis=0)
    places /= np.sqrt(
        np.where(strength > 0, strength, 1)
    )  # singular values to the power of 1/2, as they advise
    lengths = np.linalg.norm(places, axis=1, keepdims=True)
    places /= np.where(lengths > 0, lengths, 1)
    return torch.tensor(np.pad(places, ((0, 0), (0, size - places.shape[1]))), dtype=torch.float32)


class BeginsWithWordVectors(TorchAgent):
    """An agent whose word embeddings are initialised from its training dialogues."""

    def build_model(self) -> Any:
        """Return an untrained model with initialised word embeddings."""
        return self.placed(super().build_model())

    def placed(self, model: Any) -> Any:
        """Return `model` with word embeddings from the dialogues, scaled to the mean norm of the old ones."""
        exchanges = Path(self.opt["model_file"]).with_name(EXCHANGES)
        if not self.opt["interactive_mode"] and exchanges.is_file():
            said = (json.loads(line) for line in exchanges.read_text(encoding="utf-8").splitlines())
            texts = [self.dict.txt2vec(f"{each['said'][-1]} {each['reply']}") for each in said]
            for layer in model.modules():
                # Positions are embeddings, too, but need no padding.
                if isinstance(layer, nn.Embedding) and layer.padding_idx == self.NULL_IDX:
                    vectors = word_vectors(texts, layer.num_embeddings, layer.embedding_dim)
                    with torch.no_grad():
                        layer.weight.copy_(vectors * layer.weight.norm(dim=1).mean())
        return model
