"""ParlAI's own `interactive_web`, with the options of its command.

Its model here is one that has no weights, but lets it be seen what it was told since the last reset.
"""

# isort: off
import bots.parlai  # noqa: F401  (first: makes ParlAI fit for today's Python)
from parlai.core.agents import Agent
from parlai.core.message import Message
from parlai.scripts.interactive_web import InteractiveWeb
# isort: on


class RecallingAgent(Agent):
    """Says every text that it has observed since the last reset."""

    def reset(self) -> None:
        super().reset()
        self.observed: list[str] = []

    def observe(self, observation: Message) -> Message:
        self.observed.append(observation["text"])
        return super().observe(observation)

    def act(self) -> Message:
        told = " | ".join(text.replace("\n", " / ") for text in self.observed)
        return Message({"id": "Recalling", "text": told, "episode_done": False})


if __name__ == "__main__":
    InteractiveWeb.main()
