"""Estimate the cost of a paid model that speaks for simulated workers, before it is asked. Pure."""

from dataclasses import dataclass

# English has about four characters to a token (the providers' own rule of thumb). The lengths are ours: those
# of chat lines of one or two short sentences, and of instructions with a persona.
TOKENS_OF_INSTRUCTIONS, TOKENS_OF_LINE = 200, 25


@dataclass(frozen=True, slots=True)
class Estimate:
    """Tokens that go in and come out, over so many `calls`."""

    calls: int
    tokens_in: int
    tokens_out: int

    def price(self, per_million_in: float, per_million_out: float) -> float:
        """Return the cost, in the currency of the prices of a million tokens."""
        return (self.tokens_in * per_million_in + self.tokens_out * per_million_out) / 1e6


def estimate(workers: int, conversations: int, inputs: int) -> Estimate:
    """Return what the lines of so many workers take: line k of a conversation is asked with 2k before it."""
    chats = workers * conversations
    before = inputs * (inputs - 1)  # the sum of 2k over k below `inputs`
    return Estimate(
        calls=chats * inputs,
        tokens_in=chats * (inputs * TOKENS_OF_INSTRUCTIONS + before * TOKENS_OF_LINE),
        tokens_out=chats * inputs * TOKENS_OF_LINE,
    )
