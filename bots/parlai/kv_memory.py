"""The key-value memory network: ranks replies with a memory of its persona and of past dialogues.

The key-value profile memory network of Zhang et al. (2018, "Personalizing Dialogue Agents", section 4), with
the key-value memories of Miller et al. (2016, "Key-Value Memory Networks for Directly Reading Documents").
The query is the latest line. It reads the persona (first hop), and then the replies of the training
dialogues, keyed by the lines before them (second hop). The candidate nearest to the resulting query is
picked. As in the paper, weights are learned with the first hop only; the second is used only for answering.

Model option of ParlAI: `bots.parlai.kv_memory:KvMemoryAgent`.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch
from parlai.core.torch_ranker_agent import TorchRankerAgent
from torch import Tensor, nn
from torch.nn.functional import normalize

from bots.parlai.agent import PERSONA
from bots.parlai.word_vectors import EXCHANGES, BeginsWithWordVectors

QUERY_LINES = 1  # the number of latest lines in the query, and in the key of a memory
_NEAREST = 64  # memories that a query reads, in place of key hashing in Miller et al., section 3.1
_FIRST_SCALE = 10.0


@dataclass(frozen=True, slots=True)
class Memories:
    """The training dialogues in the model's space, [memories, size] each: lines (keys) and replies."""

    keys: Tensor
    values: Tensor


class KvMemory(nn.Module):
    """Bags of words in one space. Vectors have length 1; similarity is a cosine times a learned scale."""

    weights: Tensor

    def __init__(self, frequencies: Tensor, size: int, padding: int) -> None:
        """Take the number of occurrences of each token, [tokens], and the size of the space."""
        super().__init__()
        self.padding = padding
        self.embedding = nn.Embedding(len(frequencies), size, padding_idx=padding)
        nn.init.normal_(self.embedding.weight, std=size**-0.5)
        self.answering = nn.Linear(size, size, bias=False)
        nn.init.eye_(self.answering.weight)
        self.log_scale = nn.Parameter(torch.tensor(math.log(_FIRST_SCALE)))
        # Rare words tell more about a line's subject.
        self.register_buffer("weights", 1 / (1 + torch.log1p(frequencies)))

    def encode(self, tokens: Tensor) -> Tensor:
        """Return texts, [..., tokens] padded, as vectors [..., size]; a text without tokens is zeros."""
        weights = self.weights[tokens] * (tokens != self.padding)
        return normalize((self.embedding(tokens) * weights.unsqueeze(-1)).sum(-2), dim=-1)

    def encode_replies(self, tokens: Tensor) -> Tensor:
        """Return replies as vectors near the queries that they answer. Shapes as for `encode`."""
        return normalize(self.answering(self.encode(tokens)), dim=-1)

    def read(self, query: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """Return queries [batch, size] after one hop over memories [batch, memories, size].

        A memory whose key is all zeros counts as absent.
        """
        scores = self.similarity(query, keys)
        absent = (keys == 0).all(-1)
        # Not -inf: if every memory is absent, it would make the gradients NaN.
        attention = scores.masked_fill(absent, -1e9).softmax(-1) * ~absent
        return normalize(query + (attention.unsqueeze(1) @ values).squeeze(1), dim=-1)

    def similarity(self, query: Tensor, others: Tensor) -> Tensor:
        """Return [batch, others] for queries [batch, size], others [(batch,) others, size]."""
        scale = self.log_scale.exp()
        if others.dim() == 2:
            return scale * query @ others.t()
        return scale * (others @ query.unsqueeze(-1)).squeeze(-1)


class KvMemoryAgent(BeginsWithWordVectors, TorchRankerAgent):
    """The key-value memory network as an agent of ParlAI.

    Its memories are read from `exchanges.jsonl` beside the model file: {"said": [line, ...], "reply": line}.
    """

    model: KvMemory

    @classmethod
    def add_cmdline_args(cls, parser: Any, partial_opt: Any = None) -> Any:
        """Add this agent's options."""
        super().add_cmdline_args(parser, partial_opt=partial_opt)
        group = parser.add_argument_group("Key-value memory network")
        group.add_argument("--embedding-size", type=int, default=128, help="size of the vectors")
        # Each sentence of the persona, and each line, is a separate memory.
        parser.set_defaults(split_lines=True)
        return group

    def __init__(self, opt: Any, shared: Any = None) -> None:
        super().__init__(opt, shared)
        self.id = "KvMemory"
        self._prefix = len(self.dict.txt2vec(PERSONA))
        self._memories: Memories | None = shared["memories"] if shared else None
        if opt["interactive_mode"] and self._memories is None:
            self._memories = self._encode_memories()

    def share(self) -> dict[str, Any]:
        """Return what a clone shares with this agent."""
        return {**super().share(), "memories": self._memories}

    def build_model(self) -> KvMemory:
        """Return an untrained model for the dictionary."""
        frequencies = [float(self.dict.freq[self.dict.ind2tok[i]]) for i in range(len(self.dict))]
        model = KvMemory(torch.tensor(frequencies), self.opt["embedding_size"], self.NULL_IDX)
        return cast("KvMemory", self.placed(model))

    def vectorize(self, *args: Any, **kwargs: Any) -> Any:
        """Vectorize without start and end tokens, which a bag of words does not need."""
        return super().vectorize(*args, **{**kwargs, "add_start": False, "add_end": False})

    def train_step(self, batch: Any) -> Any:
        """Learn from a batch. Memories encoded with the old weights are dropped."""
        self._memories = None
        return super().train_step(batch)

    def encode_candidates(self, padded_cands: Tensor) -> Tensor:
        """Return candidates [candidates, tokens] as vectors [candidates, size]."""
        return self.model.encode_replies(padded_cands)

    def score_candidates(self, batch: Any, cand_vecs: Tensor, cand_encs: Tensor | None = None) -> Tensor:
        """Return how well each candidate answers, [batch, candidates]."""
        query = self.model.encode(batch.text_vec)
        if batch.persona_vecs is not None:
            persona = self.model.encode(batch.persona_vecs)
            query = self.model.read(query, persona, persona)
        if not self.model.training:
            query = self._read_memories(query)
        replies = cand_encs if cand_encs is not None else self.model.encode_replies(cand_vecs)
        return self.model.similarity(query, replies)

    def batchify(self, obs_batch: Sequence[Any], sort: bool = False) -> Any:
        """Return a batch with `persona_vecs` [batch, sentences, tokens], None where nobody has a persona."""
        batch = super().batchify(obs_batch, sort)
        if batch.valid_indices is None:
            return batch
        personas = [obs_batch[int(i)].get("persona_vecs", []) for i in batch.valid_indices]
        most = max(len(persona) for persona in personas)
        batch.persona_vecs = None
        if most:
            rows = [sentence for persona in personas for sentence in persona + [[]] * (most - len(persona))]
            padded, _ = self._pad_tensor(rows)
            batch.persona_vecs = padded.view(len(personas), most, -1)
        return batch

    def _set_text_vec(self, obs: Any, history: Any, truncate: int | None) -> Any:
        """Set `text_vec`, the query, and `persona_vecs`, from the history's lines."""
        if "text" not in obs or "text_vec" in obs:
            return super()._set_text_vec(obs, history, truncate)
        lines = list(zip(history.history_strings, history.history_vecs, strict=True))
        said = [tokens for line, tokens in lines if not line.startswith(PERSONA)]
        obs["full_text"] = history.get_history_str()
        obs["persona_vecs"] = [tokens[self._prefix :] for line, tokens in lines if line.startswith(PERSONA)]
        obs["text_vec"] = torch.tensor(self._query(said)[-(truncate or 0) :], dtype=torch.long)
        return obs

    @staticmethod
    def _query(said: Sequence[list[int]]) -> list[int]:
        return [token for line in said[-QUERY_LINES:] for token in line]

    def _read_memories(self, query: Tensor) -> Tensor:
        """Return queries [batch, size] after the hop over the nearest of the training dialogues."""
        if self._memories is None:
            self._memories = self._encode_memories()
        keys, values = self._memories.keys, self._memories.values
        nearest = (query @ keys.t()).topk(min(_NEAREST, len(keys)), dim=-1).indices
        return self.model.read(query, keys[nearest], values[nearest])

    def _encode_memories(self) -> Memories:
        path = Path(self.opt["model_file"]).with_name(EXCHANGES)
        try:
            text = path.read_text(encoding="utf-8")
            exchanges = [json.loads(line) for line in text.splitlines()]
            keys = [self._query([self.dict.txt2vec(line) for line in each["said"]]) for each in exchanges]
            values = [self.dict.txt2vec(each["reply"]) for each in exchanges]
        except (OSError, ValueError, KeyError, TypeError) as error:
            reason = f"cannot be read ({error.strerror})" if isinstance(error, OSError) else "is damaged"
            raise ValueError(
                f"{path}: {reason}: the key-value memory network needs its training dialogues. "
                "Train it again."
            ) from error
        device = self.model.log_scale.device
        encoders = (self.model.encode, keys), (self.model.encode_replies, values)
        with torch.no_grad():
            encoded = (encode(self._pad_tensor(rows)[0].to(device)) for encode, rows in encoders)
            return Memories(*encoded)
