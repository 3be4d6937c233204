"""Arrivals and events that a platform signs: their content, and the reasons why they are refused."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


class NotGenuine(Exception):
    """An event is forged, altered, too old or malformed. The message says which, and contains no ids."""


@dataclass(frozen=True, slots=True)
class ArrivedEvent:
    """An event from a platform. `study`, `submission`: its subject, as far as it names one."""

    id: str
    signature: str
    study: str | None
    submission: str | None


class Forged(Exception):
    """The platform has not signed the arrival, or not for this study. The message says what is wrong."""


class Expired(Exception):
    """The token is genuine, but has expired."""


class KeysUnavailable(Exception):
    """The platform's keys cannot be read now, so the token cannot be verified."""


@dataclass(frozen=True, slots=True)
class SignedArrival:
    """The signed content of an arrival: the parameters of the address, the submission, and the study."""

    parameters: Mapping[str, str]
    submission: str
    study: str | None


class ArrivalSignatures(Protocol):
    """Verifies the arrivals that a platform signs."""

    @property
    def parameter(self) -> str:
        """The parameter of a participant's address that has the token."""

    async def verified(self, token: str, address: str) -> SignedArrival:
        """Verify a token and return its content.

        Args:
            token: the token in the participant's address.
            address: the study's address here, without parameters; the token must be for it, or for its host.

        Raises:
            Forged, Expired, KeysUnavailable.
        """
