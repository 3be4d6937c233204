"""Submissions at Prolific, and their pay."""

from collections.abc import AsyncIterator
from datetime import datetime

from server.recruiters.failures import InvalidRequest
from server.recruiters.pay_platform import (
    HIGHEST_SHARE,
    LOWEST_SHARE,
    SHORTEST_REJECTION,
    PlatformAnswer,
    PlatformSubmission,
    RejectionCategory,
    Status,
    SubmissionDetail,
)
from server.recruiters.prolific.connection import Json, PlatformConnection


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
