"""Train one model of the line-up; training can be stopped at any time and continued."""

import json
import random
from collections.abc import Callable
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import parlai.utils.logging as parlai_log
import torch
from parlai.scripts.train_model import TrainLoop, TrainModel, load_eval_worlds

from bots.parlai.agent import load_agent
from bots.parlai.lineup import Architecture
from bots.parlai.training_data import TrainingData

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
