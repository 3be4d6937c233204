"""Interface of a hosted model, which answers a batch of conversations."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from bots.core.chat import Chat
from bots.core.provenance import Provenance


class ModelError(Exception):
    """A model cannot be opened. The message says which, why, and what to do."""


def how_to_install(extra: str) -> str:
    """Say how to install an extra of Candor. Never by name: `candor` on the package index is a stranger's."""
    also = " and `pip install --no-deps parlai`" if extra == "parlai" else ""
    return f"in a checkout `make install-models`, elsewhere `pip install 'candor_eval-….whl[{extra}]'`{also}."


@dataclass(frozen=True, slots=True)
class Output:
    """What a model wrote, thoughts and marks included, and what is known of it: see `shown_text`.

    `provenance`: where it came from, as far as the model alone can tell.
    """

    text: str
    opened: bool = False
    at_limit: bool = False
    tokens: bool = False
    labels: tuple[str, ...] = ()
    provenance: Provenance = field(default_factory=Provenance)


class Model(Protocol):
    """A model in memory. It is called from one thread only, so it need not be safe for several."""

    name: str

    def replies(self, chats: Sequence[Chat]) -> Sequence[Output]:
        """Return what the model writes to every chat, in order; no text where it found nothing to say.

        The chats belong to different conversations. What else is in the batch must not change a reply.

        Raises:
            Exception: any; the chats are then tried one by one.
        """
        ...
