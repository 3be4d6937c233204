"""Load a trained ParlAI agent for inference."""

from pathlib import Path
from typing import Any

import parlai.utils.logging as parlai_log
from parlai.core.agents import create_agent_from_model_file
from parlai.core.torch_agent import TorchAgent

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
