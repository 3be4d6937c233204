"""Estimate calls of bots and models that may cost money, before they are made. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from bots.endpoints.hosted import Prices

# English has about four characters to a token (the providers' own rule of thumb). The lengths are our own
# estimates, for chat lines of one or two short sentences, and for instructions with a persona.
TOKENS_OF_INSTRUCTIONS, TOKENS_OF_LINE = 200, 25


@dataclass(frozen=True, slots=True)
class Estimate:
    """The total tokens sent and received in `calls` calls."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    def __add__(self, other: "Estimate") -> "Estimate":
        """Return the sum of both."""
        return Estimate(
            self.calls + other.calls, self.tokens_in + other.tokens_in, self.tokens_out + other.tokens_out
        )


def estimate(chats: float, inputs: int) -> Estimate:
    """Estimate the replies of `chats` conversations: for line k, the request contains 2k earlier lines."""
    before = inputs * (inputs - 1)  # the sum of 2k over k below `inputs`
    return Estimate(
        calls=round(chats * inputs),
        tokens_in=round(chats * (inputs * TOKENS_OF_INSTRUCTIONS + before * TOKENS_OF_LINE)),
        tokens_out=round(chats * inputs * TOKENS_OF_LINE),
    )


@dataclass(frozen=True, slots=True)
class PlannedCalls:
    """Calls that may cost money.

    `to`: the name of the bot or service. `hosts`: their hosts; empty if they must not be shown. `prices`: of
    a million tokens; None if none is set. `occasion`: when the calls are made, if they are made on several
    occasions.
    """

    to: str
    hosts: tuple[str, ...]
    estimate: Estimate
    prices: Prices | None
    occasion: str = ""

    def __str__(self) -> str:
        """Return a description for people."""
        calls = self.estimate.calls
        where = f" at {', '.join(self.hosts)}" if self.hosts else ""
        said = f"{self.occasion}about {calls:,} call{'' if calls == 1 else 's'} to {self.to}{where}"
        if self.prices is None:
            return f"{said}: no price is set, and the provider may charge"
        cost = self.prices.cost(self.estimate.tokens_in, self.estimate.tokens_out)
        about = f"about {cost:,.2f}" if cost >= 0.01 else "less than 0.01"
        each = f"{self.prices.input:g} and {self.prices.output:g}"
        return f"{said}: {about}, at {each} for a million tokens in and out"


def in_words(what: str, planned: Sequence[PlannedCalls]) -> str | None:
    """Return a warning about the calls that `what` will make; None if there are none."""
    if not planned:
        return None
    return "\n".join([f"{what} may cost money:", *(f"- {calls}" for calls in planned)])
