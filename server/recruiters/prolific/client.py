"""Client of Prolific's API: submissions and their pay, bonuses and messages."""

from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from typing import Self

from server.recruiters.pay_platform import (
    HIGHEST_SHARE,
    LOWEST_SHARE,
    SHORTEST_REJECTION,
    Cents,
    InvalidRequest,
    PlatformAnswer,
    PlatformBonusBatch,
    PlatformSubmission,
    RejectionCategory,
    Status,
    SubmissionDetail,
    decimal_amount,
)
from server.recruiters.prolific.connection import Json, PlatformConnection
from server.recruiters.prolific.hooks import Hooks
from server.recruiters.prolific.studies import Studies


class ProlificSubmission(SubmissionDetail):
    """A single submission, with everything that Prolific tells."""

    study_id: str
    started_at: datetime
    completed_at: datetime | None = None
    entered_code: str | None = None


class _Moved(PlatformAnswer):
    id: str
    status: Status


class Submissions:
    """The operations on submissions. Each raises a RecruiterFailure."""

    def __init__(self, connection: PlatformConnection) -> None:
        self._connection = connection

    def of_study(self, study: str) -> AsyncIterator[PlatformSubmission]:
        """Yield every submission of a study."""
        path = "/api/v1/submissions/"
        return self._connection.every("read the submissions", path, PlatformSubmission, {"study": study})

    async def submission(self, submission: str) -> ProlificSubmission:
        """Return one submission, with its bonuses."""
        path = f"/api/v1/submissions/{submission}/"
        return await self._connection.get("look at the submission", path, ProlificSubmission)

    async def approve(self, submission: str) -> Status:
        """Approve a submission, which pays it in full."""
        return await self._move("approve the submission", submission, {"action": "APPROVE"})

    async def reject(self, submission: str, category: RejectionCategory, message: str) -> Status:
        """Reject a submission without pay, with a reason for the participant."""
        operation, why = "reject the submission", message.strip()
        if len(why) < SHORTEST_REJECTION:
            raise InvalidRequest(
                operation,
                f"the reason has {len(why)} characters, and Prolific wants {SHORTEST_REJECTION} or more",
                "Write what was asked, what was done instead, and how the participant can answer.",
            )
        body = {"action": "REJECT", "rejection_category": category.value, "message": why}
        return await self._move(operation, submission, body)

    async def pay_in_part(self, submission: str, code: str, share: int, message: str) -> Status:
        """Pay `share` per cent of the reward.

        Args:
            submission: its id.
            code: the study's completion code with dynamic payment for the researcher.
            share: per cent, from 8 to 99.
            message: what the participant reads.
        """
        operation = "pay in part"
        if not LOWEST_SHARE <= share <= HIGHEST_SHARE:
            raise InvalidRequest(
                operation,
                f"{share} % of the reward, and Prolific pays {LOWEST_SHARE} to {HIGHEST_SHARE} % in part",
                "Approve the submission to pay all of it.",
            )
        data = {"percentage_of_reward": share, "message_to_participant": message}
        body = {"action": "COMPLETE", "completion_code": code, "completion_code_data": data}
        return await self._move(operation, submission, body)

    async def screen_out(self, submission: str) -> Status:
        """Screen a submission out, which pays the study's screen-out reward."""
        return await self._move("screen the submission out", submission, {"action": "SCREEN_OUT"})

    async def request_return(self, submission: str, *reasons: str) -> None:
        """Ask a participant to return a submission."""
        path = f"/api/v1/submissions/{submission}/request-return/"
        body = {"request_return_reasons": list(reasons)}
        await self._connection.tell("ask for the submission's return", "POST", path, body)

    async def _move(self, operation: str, submission: str, body: Json) -> Status:
        path = f"/api/v1/submissions/{submission}/transition/"
        return (await self._connection.change(operation, "POST", path, _Moved, body)).status


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
