"""The paper's line-up: five architectures, each with and without persona, small enough for a laptop.

The models of the published experiment (Ji et al., 2022, "Achieving Reliable Human Assessment of Open-Domain
Dialogue Systems") under the names that it gives them, in sizes that train on a CPU in minutes.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from string import Template
from typing import Literal

Option = str | int | float | bool

_MOST_EPOCHS = 12
_TRANSFORMER: Mapping[str, Option] = {
    "n_layers": 1,
    "reduction_type": "mean",  # learns from few dialogues; "first", the default, hardly does
    "n_heads": 4,
    "embedding_size": 128,
    "ffn_size": 256,
    "n_positions": 256,
    "dropout": 0.1,
    "person_tokens": True,
    "add_p1_after_newln": True,
}
_RANKER: Mapping[str, Option] = {"candidates": "batch", "eval_candidates": "inline", "text_truncate": 96}
_GENERATOR: Mapping[str, Option] = {
    "text_truncate": 80,  # a persona and what was said last; more costs time and is forgotten on the way
    "skip_generation": True,  # in training; a host generates
    # The likeliest, which a beam finds, is nearly the same whatever was said; of ten ends of a beam the agent
    # says the one that fits best: `bots.parlai.specific`.
    "inference": "beam",
    "beam_size": 10,
    "beam_min_length": 3,  # or it may say nothing at all
    "beam_block_ngram": 1,  # no word twice: to a model that has learned little what it has said is likeliest
    "person_tokens": True,
    "add_p1_after_newln": True,
}


@dataclass(frozen=True, slots=True)
class Architecture:
    """A model of the line-up: its name in the published data, its ParlAI options, and how much it learns.

    `measure` is what it is tried on with held-out dialogues: "hits@1" (of 20) for what ranks, "ppl" (the
    perplexity of a reply's tokens) for what generates.
    """

    name: str
    title: str
    lessons: int
    measure: Literal["hits@1", "ppl"]
    options: Mapping[str, Option]

    def epochs(self, replies: int) -> float:
        """Return how often to go through that many replies, so that the model sees `lessons` of them in all.

        So it takes the same time whatever the corpus. A small one is learned by heart after `_MOST_EPOCHS`.
        """
        return round(min(max(self.lessons / replies, 1), _MOST_EPOCHS), 1)


LINEUP = (
    Architecture(
        "biencoder",
        "Bi-Encoder",
        15_000,
        "hits@1",
        {"model": "bots.parlai.specific:BiencoderAgent", **_RANKER, **_TRANSFORMER},
    ),
    Architecture(
        "polyencoder",
        "Poly-Encoder",
        15_000,
        "hits@1",
        {"model": "bots.parlai.specific:PolyencoderAgent", "poly_n_codes": 16, **_RANKER, **_TRANSFORMER},
    ),
    Architecture(
        "kvmemnn",
        "Key-Value Memory Network",
        30_000,
        "hits@1",
        {"model": "bots.parlai.kv_memory:KvMemoryAgent", "embedding_size": 128, **_RANKER},
    ),
    Architecture(
        "seq2seq",
        "Sequence to Sequence",
        20_000,
        "ppl",
        {
            "model": "bots.parlai.specific:Seq2seqAgent",
            "hiddensize": 128,
            "embeddingsize": 128,
            "numlayers": 1,
            "attention": "dot",
            "lookuptable": "all",
            "dropout": 0.2,
            **_GENERATOR,
        },
    ),
    Architecture(
        "lan_model",
        "Language Model",
        20_000,
        "ppl",
        {"model": "bots.parlai.language_model:LanguageModelAgent", "hiddensize": 128, **_GENERATOR},
    ),
)


def study(corpus: str, host: str) -> str:
    """Return the study file of the ten systems, learned from `corpus` and served at the address `host`."""
    template = resources.files("bots.parlai").joinpath("study.yaml").read_text(encoding="utf-8")
    return Template(template).substitute(corpus=json.dumps(corpus), host=host.rstrip("/"))
