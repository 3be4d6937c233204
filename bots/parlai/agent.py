"""Load a trained ParlAI agent for inference, and represent a conversation as the agent observes it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import parlai.utils.logging as parlai_log
from parlai.core.agents import create_agent_from_model_file
from parlai.core.torch_agent import History, TorchAgent

from bots.core.chat import Turn

_ZOO = "zoo:"
CANDIDATES = "candidates.txt"


class ModelFileError(Exception):
    """A model file cannot be used. The message says which, why, and what to do."""


def load_agent(model_file: str) -> Any:
    """Return the agent of a model file, or of ParlAI's model zoo ("zoo:..."), ready to answer.

    A ranker picks its replies from `candidates.txt` beside the model file if there is one, otherwise from
    those that ParlAI finds. A model file is a pickle: loading one runs its code.

    Raises:
        ModelFileError: there is no such model, it cannot be loaded, or it is not a torch agent.
    """
    if not model_file.startswith(_ZOO) and not (
        Path(model_file).is_file() and Path(f"{model_file}.opt").is_file()
    ):
        raise ModelFileError(
            f"{model_file}: not a model of ParlAI, which is two files: {model_file} and {model_file}.opt. "
            "Check the path, or train one: .venv/bin/python -m bots.train_lineup"
        )
    parlai_log.set_log_level(parlai_log.ERROR)
    try:
        agent = create_agent_from_model_file(model_file, _overrides(model_file))
    except Exception as error:  # a pickle, and options of any version, may fail in any way
        raise ModelFileError(f"{model_file}: cannot be loaded: {type(error).__name__}: {error}") from error
    if not isinstance(agent, TorchAgent):
        raise ModelFileError(
            f"{model_file}: {type(agent).__name__} is not a torch agent. "
            "Serve it with ParlAI's interactive_web and register it as parlai-web."
        )
    return agent


def _overrides(model_file: str) -> dict[str, Any]:
    overrides: dict[str, Any] = {
        "interactive_mode": True,
        # It reads the history of one agent, and a batch has many: ParlaiModel does it instead.
        "repeat_blocking_heuristic": False,
    }
    candidates, dictionary = Path(model_file).with_name(CANDIDATES), Path(f"{model_file}.dict")
    if candidates.is_file():
        overrides["fixed_candidates_path"] = str(candidates)
    if dictionary.is_file():  # the options contain its path at the time of training
        overrides["dict_file"] = str(dictionary)
    return overrides


PERSONA = "your persona: "
SILENCE = "__SILENCE__"


@dataclass(frozen=True, slots=True)
class EpisodeExchange:
    """A line to the agent, and the agent's answer, which is empty if it has yet to answer."""

    said: str
    answered: str


def exchanges(turns: Iterable[Turn]) -> list[EpisodeExchange]:
    """Return `turns` as exchanges, the last of them unanswered.

    Consecutive lines of one side are joined. If the agent speaks first, its first line answers silence, as in
    ConvAI2's own files.
    """
    pairs: list[EpisodeExchange] = []
    for turn in turns:
        text = " ".join(turn.text.split())
        last = pairs[-1] if pairs else None
        if turn.author == "worker":
            if last is not None and not last.answered:
                pairs[-1] = EpisodeExchange(f"{last.said} {text}".strip(), "")
            else:
                pairs.append(EpisodeExchange(text, ""))
        elif last is None:
            pairs.append(EpisodeExchange(SILENCE, text))
        else:
            pairs[-1] = EpisodeExchange(last.said, f"{last.answered} {text}".strip())
    if not pairs or pairs[-1].answered:
        pairs.append(EpisodeExchange(SILENCE, ""))
    return [EpisodeExchange(each.said or SILENCE, each.answered) for each in pairs]


def opening(persona: Sequence[str], said: str) -> str:
    """Return the first text of an episode: the agent's persona, a line each, then the first line said."""
    return "\n".join([*(PERSONA + " ".join(sentence.split()) for sentence in persona), said])


class PersonaHistory(History):
    """Drops the oldest lines of a long conversation, but never the persona before them.

    ParlAI's own history loses the persona first, after a few turns for a model that reads 128 tokens.
    """

    def get_history_vec(self) -> list[int] | None:
        """Return the tokens of persona and conversation, at most `max_len` of them."""
        tokens: list[int] | None = super().get_history_vec()
        if tokens is None or not self.max_len or len(tokens) <= self.max_len:
            return tokens
        sentences = [line for line in self.history_strings[0].split("\n") if line.startswith(PERSONA)]
        persona = self.parse("\n".join(sentences))[: self.max_len // 2]
        return [*persona, *tokens[len(persona) - self.max_len :]]


class KeepsPersona:
    """An agent with this history."""

    @classmethod
    def history_class(cls) -> Any:
        """Return the class of the agent's history."""
        return PersonaHistory
