"""Errors of recruiting and pay."""

from server.errors.error import CandorError


class RecruitingRefused(CandorError):
    """Recruiting cannot go on like this; nothing was done."""

    code = "recruiting_refused"
    status = 409
    hint = "Correct this, and try again."


class NotConnected(RecruitingRefused):
    """The server has no access to the platform."""

    code = "not_connected"
    hint = "Start the server with a token of your workspace there (CANDOR_…_TOKEN)."


class NotRecruiting(RecruitingRefused):
    """The run has no study on a platform."""

    code = "not_recruiting"
    status = 404
    hint = "Create a study on the platform first."


class RecruitmentExists(RecruitingRefused):
    """The run has a study on a platform already."""

    code = "recruitment_exists"
    hint = "A run has one study there. For another, replicate the run."


class StudyNotDrafted(RecruitingRefused):
    """It is unknown whether the platform has drafted the run's study."""

    code = "study_not_drafted"
    hint = "Wait a moment. If this does not change, discard the draft and create it again."


class OtherCurrency(RecruitingRefused):
    """The run's budget is in another currency than the one in which the platform pays."""

    code = "other_currency"
    status = 422


class ScreenOutsUnpaid(RecruitingRefused):
    """Workers who are screened out would get no pay."""

    code = "screen_outs_unpaid"
    hint = "Give the study paid screen-out places: a reward and a number of them."


class PayRefused(RecruitingRefused):
    """A submission cannot be paid, or refused pay, like this."""

    code = "pay_refused"
    status = 422


class DecidedAlready(RecruitingRefused):
    """Somebody has decided about this pay already, and the new decision does not name that decision."""

    code = "decided_already"
    hint = "Refresh to see it, and decide again if you want to replace it."


class BonusRefused(RecruitingRefused):
    """Bonuses cannot be prepared or paid like this."""

    code = "bonus_refused"


class EventRefused(RecruitingRefused):
    """An event does not come from the platform, or comes too late."""

    code = "event_refused"
    status = 403
    hint = "Sign it with the secret of the workspace, and send it at once."


class PlatformFailed(CandorError):
    """The platform has not done what was requested."""

    code = "platform_failed"
    status = 502


class PlatformUnsure(CandorError):
    """It is unknown whether the platform has done what was requested."""

    code = "platform_unsure"
    status = 504
