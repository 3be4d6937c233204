"""ParlAI models, as served by `candor host parlai:MODEL_FILE`."""

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

import torch

from bots.core.chat import Chat, Provenance
from bots.host.model import HostModelError, Output, hash_of_files
from bots.parlai.agent import CANDIDATES, ModelFileError, exchanges, load_agent, opening
from bots.shown import spelled

_DRAWING = {"topk", "nucleus", "delayedbeam", "delayednucleusbeam", "factual_nucleus"}
# ParlAI's options for decoding; `inference` says which of the others apply.
_CHOOSING = ("inference", "beam_size", "beam_min_length", "topk", "topp", "temperature", "eval_candidates")


class ParlaiModel:
    """A trained agent of ParlAI.

    Every call rebuilds each conversation in a clone of the agent, which shares its weights, and answers all
    of them in one batch. An agent that samples answers one conversation at a time, so that a reply depends
    only on the conversation and its seed.
    """

    def __init__(self, model_file: str) -> None:
        """Load `model_file`, or a model of ParlAI's zoo ("zoo:...").

        Raises:
            HostModelError: it cannot be loaded; the message says why.
        """
        try:
            self.agent = load_agent(model_file)
        except ModelFileError as error:
            raise HostModelError(str(error)) from error
        self.name = PurePath(model_file).parent.name or model_file
        file = Path(self.agent.opt["model_file"])
        candidates = file.with_name(CANDIDATES)
        of = [file, candidates] if candidates.is_file() else [file]
        self._made = Provenance(
            model=f"parlai:{self.name}", revision=hash_of_files(of), sampling=_sampling(self.agent.opt)
        )

    def replies(self, chats: Sequence[Chat]) -> list[Output]:
        """Return the next line of every chat, in order."""
        if self.agent.opt.get("inference") not in _DRAWING:
            return self._answers(chats)
        return [self._drawn(chat) for chat in chats]

    def _drawn(self, chat: Chat) -> Output:
        seed = f"{chat.seed} {chat.replies_given()}"
        random.seed(seed)
        torch.manual_seed(random.getrandbits(63))
        return self._answers([chat])[0]

    def _answers(self, chats: Sequence[Chat]) -> list[Output]:
        acts = self.agent.batch_act([self.observation(chat) for chat in chats])
        return [
            Output(_fresh(act, chat), tokens=True, provenance=self._made)
            for act, chat in zip(acts, chats, strict=True)
        ]

    def observation(self, chat: Chat) -> Any:
        """Return the latest line as observed by a clone of the agent that took part in all earlier lines."""
        clone = self.agent.clone()
        *past, latest = exchanges(chat.turns)
        first = opening(chat.persona, (past or [latest])[0].said)
        for at, each in enumerate(past):
            clone.observe({"text": each.said if at else first, "episode_done": False})
            clone.self_observe({"text": each.answered})
        return clone.observe({"text": latest.said if past else first, "episode_done": False})


def _fresh(act: Mapping[str, Any], chat: Chat) -> str:
    """Return the best reply that is neither a line said before nor a sentence of the persona.

    If every candidate is one, return the best of all; "" if the agent is silent. The same as ParlAI's
    repeat_blocking_heuristic, which does not support batches.
    """
    ranked: Sequence[str] = act.get("text_candidates") or [act.get("text", "")]
    said = {spelled(line) for line in (*(turn.text for turn in chat.turns), *chat.persona)}
    return next((line for line in ranked if spelled(line) not in said), ranked[0])


def _sampling(opt: Mapping[str, Any]) -> str:
    """Return an agent's decoding options as JSON."""
    return json.dumps({name: opt[name] for name in _CHOOSING if opt.get(name) is not None}, sort_keys=True)
