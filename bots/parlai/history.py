"""Shorten a conversation to what an agent can read."""

from typing import Any

from parlai.core.torch_agent import History

from bots.parlai.episode import PERSONA


class PersonaHistory(History):
    """Drops the oldest lines of a long conversation but never the persona, which stands before them.

    ParlAI's own history loses the persona first, after a handful of turns for a model that reads 128 tokens.
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
