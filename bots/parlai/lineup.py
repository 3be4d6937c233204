"""The paper's line-up: five architectures, each with and without persona, small enough for a laptop.

The models have the names of the published experiment (Ji et al., 2022, "Achieving Reliable Human Assessment
of Open-Domain Dialogue Systems"), in sizes that train on a CPU in minutes.
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
    "text_truncate": 80,  # a persona and the latest lines; more costs time, and the model forgets it
    "skip_generation": True,  # only in training; a host generates
    # The likeliest reply, which a beam finds, hardly depends on the conversation. The agent uses the one of
    # ten beams that fits best: `bots.parlai.upstream`.
    "inference": "beam",
    "beam_size": 10,
    "beam_min_length": 3,  # otherwise a reply may be empty
    "beam_block_ngram": 1,  # no word twice: an undertrained model prefers words that it has just used
    "person_tokens": True,
    "add_p1_after_newln": True,
}


@dataclass(frozen=True, slots=True)
class Architecture:
    """A model of the line-up: its name in the published data, its ParlAI options, and the length of training.

    `lessons` is the number of replies that it learns from in all. `measure` is its test on held-out
    dialogues: "hits@1" (of 20) for rankers, "ppl" (the perplexity of a reply's tokens) for generators.
    """

    name: str
    title: str
    lessons: int
    measure: Literal["hits@1", "ppl"]
    options: Mapping[str, Option]

    def epochs(self, replies: int) -> float:
        """Return the number of epochs after which the model has seen `lessons` of so many replies in all.

        Training thus takes the same time with any corpus. A small corpus is memorised after `_MOST_EPOCHS`.
        """
        return round(min(max(self.lessons / replies, 1), _MOST_EPOCHS), 1)


LINEUP = (
    Architecture(
        "biencoder",
        "Bi-Encoder",
        15_000,
        "hits@1",
        {"model": "bots.parlai.upstream:BiencoderAgent", **_RANKER, **_TRANSFORMER},
    ),
    Architecture(
        "polyencoder",
        "Poly-Encoder",
        15_000,
        "hits@1",
        {"model": "bots.parlai.upstream:PolyencoderAgent", "poly_n_codes": 16, **_RANKER, **_TRANSFORMER},
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
            "model": "bots.parlai.upstream:Seq2seqAgent",
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
    """Return the study file of the ten systems, trained on `corpus` and served at the address `host`."""
    template = resources.files("bots.parlai").joinpath("study.yaml").read_text(encoding="utf-8")
    return Template(template).substitute(corpus=json.dumps(corpus), host=host.rstrip("/"))
