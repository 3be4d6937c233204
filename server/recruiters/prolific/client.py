"""Client of Prolific's API, with the operations on bonuses and messages."""

from collections.abc import Mapping
from typing import Self

from server.recruiters.failures import InvalidRequest
from server.recruiters.pay_platform import Cents, PlatformBonusBatch, decimal_amount
from server.recruiters.prolific.connection import PlatformConnection
from server.recruiters.prolific.hooks import Hooks
from server.recruiters.prolific.studies import Studies
from server.recruiters.prolific.submissions import Submissions


class Messages:
    """The operations on messages. Each raises a RecruiterFailure."""

    def __init__(self, connection: PlatformConnection) -> None:
        self._connection = connection

    async def send(self, participant: str, study: str, body: str) -> None:
        """Send a message to a participant of a study."""
        sent = {"recipient_id": participant, "study_id": study, "body": body}
        await self._connection.tell("send the message", "POST", "/api/v1/messages/", sent)


MOST_AT_ONCE = 200


class ProlificBonusBatch(PlatformBonusBatch):
    """A prepared batch of bonuses, with the parts of its cost."""

    amount: Cents | None = None
    fees: Cents | None = None
    vat: Cents | None = None


class BonusClient:
    """The operations on bonuses. Each raises a RecruiterFailure."""

    def __init__(self, connection: PlatformConnection) -> None:
        self._connection = connection

    async def set_up(self, study: str, cents: Mapping[str, int]) -> ProlificBonusBatch:
        """Prepare bonuses without paying. Preparing twice and paying once pays once.

        Args:
            study: the study of the submissions.
            cents: the bonus of each submission, by the submission's id.
        """
        operation = "set the bonuses up"
        if not 0 < len(cents) <= MOST_AT_ONCE:
            raise InvalidRequest(
                operation, f"{len(cents)} bonuses, and there may be 1 to {MOST_AT_ONCE} at once"
            )
        without = [submission for submission, amount in cents.items() if amount <= 0]
        if without:
            raise InvalidRequest(operation, f"no amount for {', '.join(without)}")
        # In Prolific's file of bonuses, `150` would pay a hundred and fifty pounds.
        lines = "\n".join(f"{submission},{decimal_amount(amount)}" for submission, amount in cents.items())
        body = {"study_id": study, "csv_bonuses": lines}
        path = "/api/v1/submissions/bonus-payments/"
        return await self._connection.change(operation, "POST", path, ProlificBonusBatch, body)

    async def pay(self, batch: str) -> None:
        """Pay a prepared batch.

        Prolific pays again at every call, so the request is sent only once. After OutcomeUnknown, check the
        submissions' `bonus_payments` before you call it again.
        """
        await self._connection.once("pay the bonuses", f"/api/v1/bulk-bonus-payments/{batch}/pay/")


class ProlificClient:
    """Client of Prolific, with the operations grouped by kind of object."""

    def __init__(self, connection: PlatformConnection) -> None:
        """Use `connection`, which is closed at the end."""
        self._connection = connection
        self.studies = Studies(connection)
        self.submissions = Submissions(connection)
        self.bonuses = BonusClient(connection)
        self.messages = Messages(connection)
        self.hooks = Hooks(connection)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._connection.close()
