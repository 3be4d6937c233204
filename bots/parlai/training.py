"""The paper's line-up of models, the files that ParlAI learns from, and the training of one model.

Training can be stopped at any time and continued.

The models have the names of the published experiment (Ji et al., 2022, "Achieving Reliable Human Assessment
of Open-Domain Dialogue Systems"), in sizes that train on a CPU in minutes.
"""

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any, Literal

import parlai.utils.logging as parlai_log
import torch
from parlai.scripts.train_model import TrainLoop, TrainModel, load_eval_worlds
from parlai.utils.misc import msg_to_str

from bots.core.chat import Turn
from bots.corpus import Corpus, CorpusError, Dialogue
from bots.parlai.agent import CANDIDATES, SILENCE, EpisodeExchange, exchanges, load_agent, opening
from bots.parlai.word_vectors import EXCHANGES

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


CHOICES = 20  # candidates for each reply of held-out dialogues, as in ConvAI2
_HELD_OUT = 0.1
_SEED = 1
_BARE = 3  # one in so many sides is also learned without its persona
_ALONE = 5  # one in so many replies is also learned as an answer to silence


@dataclass(frozen=True, slots=True)
class TrainingData:
    """Texts in ParlAI's format: training and validation dialogues, a ranker's candidates, and memories.

    Dialogues are included from both sides, with the persona of the side that answers. A third of those in
    `train` are repeated without persona, and some replies are included alone, so that a generator learns
    their general probability. Those in `valid` have `CHOICES` candidates for each reply, the others from
    other held-out dialogues.
    """

    train: str
    valid: str
    candidates: str
    exchanges: str

    def replies(self) -> int:
        """Return the number of replies for training."""
        return self.train.count("\n")

    def write_dialogues(self, folder: Path) -> Path:
        """Write the dialogues into `folder`; return ParlAI's common path for both files."""
        folder.mkdir(parents=True, exist_ok=True)
        for kind, text in (("train", self.train), ("valid", self.valid)):
            (folder / f"dialogues_{kind}.txt").write_text(text, encoding="utf-8")
        return folder / "dialogues"

    def write_replies(self, folder: Path) -> None:
        """Write the files that an agent needs beside its model file."""
        (folder / CANDIDATES).write_text(self.candidates, encoding="utf-8")
        (folder / EXCHANGES).write_text(self.exchanges, encoding="utf-8")


def training_data(corpus: Corpus) -> TrainingData:
    """Return ParlAI's training data from `corpus`; a tenth of the dialogues is held out.

    Raises:
        CorpusError: the corpus has a single dialogue, or none.
    """
    kept, held = _split(corpus)
    train = [side for dialogue in kept.dialogues for side in _sides(dialogue)]
    replies = [each.answered for side in train for each in side.exchanges]
    return TrainingData(
        "".join(side.text() for side in (*train, *(each.without_persona() for each in train[::_BARE])))
        + "".join(_Side((), [EpisodeExchange(SILENCE, reply)]).text() for reply in replies[::_ALONE]),
        "".join(_validation_episodes(held.dialogues)),
        "".join(f"{reply}\n" for reply in dict.fromkeys(replies)),
        "".join(json.dumps(memory) + "\n" for side in train for memory in side.memories()),
    )


def held_out(corpus: Corpus) -> Corpus:
    """Return the dialogues of `corpus` that are held out for validation."""
    return _split(corpus)[1]


def _split(corpus: Corpus) -> tuple[Corpus, Corpus]:
    try:
        return corpus.split(_HELD_OUT, _SEED)
    except ValueError as error:
        raise CorpusError(corpus.name, None, str(error), "Give a corpus with more dialogues.") from error


@dataclass(frozen=True, slots=True)
class _Side:
    """A dialogue from the side of one of its speakers, who answers."""

    persona: Sequence[str]
    exchanges: Sequence[EpisodeExchange]

    def without_persona(self) -> "_Side":
        """Return the same without the persona."""
        return _Side((), self.exchanges)

    def text(self, choices: Callable[[str], list[str]] | None = None) -> str:
        """Return the episode in ParlAI's format, with the candidates that `choices` makes for each reply."""
        lines = []
        for at, each in enumerate(self.exchanges):
            message: dict[str, object] = {
                "text": each.said if at else opening(self.persona, each.said),
                "labels": [each.answered],
                "episode_done": at == len(self.exchanges) - 1,
            }
            if choices is not None:
                message["label_candidates"] = choices(each.answered)
            lines.append(msg_to_str(message) + "\n")
        return "".join(lines)

    def memories(self) -> Iterator[dict[str, object]]:
        """Yield the latest lines and the reply to them."""
        lines: list[str] = []
        for each in self.exchanges:
            lines.append(each.said)
            yield {"said": lines[-3:], "reply": each.answered}
            lines.append(each.answered)


def _validation_episodes(dialogues: Sequence[Dialogue]) -> Iterator[str]:
    """Yield the episodes of `dialogues` with candidates for each reply."""
    rng = random.Random(f"choices {_SEED}")
    for dialogue in dialogues:
        # Not from the same dialogue, where one side's replies are the other side's lines.
        others = sorted({turn for each in dialogues if each is not dialogue for turn in each.turns})

        def choices(reply: str, others: list[str] = others) -> list[str]:
            wrong = [line for line in others if line != reply]
            return [reply, *rng.sample(wrong, min(CHOICES - 1, len(wrong)))]

        yield from (side.text(choices) for side in _sides(dialogue))


def _sides(dialogue: Dialogue) -> Iterator[_Side]:
    for side in (0, 1):
        turns = [Turn("bot" if at % 2 == side else "worker", text) for at, text in enumerate(dialogue.turns)]
        heard = [each for each in exchanges(turns) if each.answered and each.said]
        speaker = dialogue.speaker(side)
        if heard:
            yield _Side(speaker.sentences if speaker else (), heard)


_RECORD = "training.json"
_SAVE_EVERY = 20.0  # seconds
Progress = Callable[[float], None]  # called with the number of epochs done


class TrainedOtherwiseError(Exception):
    """A folder contains a model of another corpus or other settings."""


@dataclass(frozen=True, slots=True)
class Trained:
    """A finished model: its file, its score on held-out dialogues, and its training time."""

    model_file: str
    measure: str
    score: float
    examples: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Training:
    """One model to train, in `folder`, on `data`, whose dialogues are at `dialogues`."""

    architecture: Architecture
    data: TrainingData
    dialogues: Path
    folder: Path
    epochs: float
    seed: int

    @property
    def model_file(self) -> Path:
        """The path of the finished model."""
        return self.folder / "model"

    def run(self, progress: Progress) -> Trained:
        """Return the finished model: train it, continue its training, or load its record if it is finished.

        Raises:
            TrainedOtherwiseError: the folder's model comes from another corpus or other settings.
        """
        finished = self._finished()
        if finished is not None:
            return finished
        self._record(None)
        self.data.write_replies(self.folder)
        parlai_log.set_log_level(parlai_log.ERROR)
        random.seed(self.seed)
        torch.manual_seed(self.seed)
        torch.set_num_threads(1)  # for such small steps, sharing the work costs more than doing it
        options = self._options()
        loop = TrainLoop(options)
        for _ in loop.train_steps():
            progress(loop.train_reports[-1]["total_epochs"])
        score, examples = self._score(loop.agent, options)
        load_agent(str(self.model_file))  # encodes a ranker's candidates, and saves them
        for leftover in self.folder.glob("model.checkpoint*"):
            leftover.unlink()
        seconds = round(loop.train_time.time(), 1)
        trained = Trained(str(self.model_file), self.architecture.measure, score, examples, seconds)
        self._record(trained)
        return trained

    def _finished(self) -> Trained | None:
        """Return the finished model of an earlier run, None if there is still work to do."""
        try:
            record = json.loads((self.folder / _RECORD).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        if record["recipe"] != self._recipe():
            raise TrainedOtherwiseError(
                f"{self.folder} holds a model of another corpus or other settings. "
                "Choose another --out, or delete that folder."
            )
        done = record["trained"]
        return Trained(**{**done, "model_file": str(self.model_file)}) if done else None

    def _record(self, trained: Trained | None) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        content = {"recipe": self._recipe(), "trained": asdict(trained) if trained else None}
        beside = self.folder / f"{_RECORD}.part"
        beside.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
        beside.replace(self.folder / _RECORD)  # atomic: never half a record

    def _recipe(self) -> dict[str, Any]:
        """Return all settings that determine this model."""
        content = sha256(self.data.train.encode()).hexdigest()[:16]
        return {"corpus": content, "epochs": self.epochs, "seed": self.seed, **self.architecture.options}

    def _options(self) -> Any:
        return TrainModel.setup_args().parse_kwargs(
            task="fromfile:parlaiformat",
            fromfile_datapath=str(self.dialogues),
            fromfile_datatype_extension=True,
            datatype="train",
            model_file=str(self.model_file),
            dict_tokenizer="re",
            dict_lower=True,
            label_truncate=40,
            batchsize=32,
            optimizer="adam",
            learningrate=1e-3,
            lr_scheduler="none",  # the default acts only at validations, and does not work with current torch
            gradient_clip=1.0,
            num_epochs=self.epochs,
            log_every_n_steps=5,
            save_every_n_secs=_SAVE_EVERY,
            no_cuda=True,
            **self.architecture.options,
        )

    def _score(self, agent: Any, options: Any) -> tuple[float, int]:
        """Return the score of `agent` on the held-out dialogues, and their number of replies."""
        (world,) = load_eval_worlds(agent, options, "valid")
        while not world.epoch_done():
            world.parley()
        report = world.report()
        return round(float(report[self.architecture.measure].value()), 4), int(report["exs"].value())
