"""Represent a conversation as a ParlAI agent observes it: pairs of a line and its answer."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from parlai.core.torch_agent import History

from bots.core.chat import Turn

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
