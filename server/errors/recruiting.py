"""Recruiting and pay: what the platform does not do, and what we do not ask it for."""

from server.errors.error import CandorError


class RecruitingRefused(CandorError):
    """Recruiting cannot go on like this; nothing was done."""

    code = "recruiting_refused"
    status = 409
    hint = "Correct what is named, and try again."


class NotConnected(RecruitingRefused):
    """The server has no access to the platform."""

    code = "not_connected"
    hint = "Start the server with CANDOR_PROLIFIC_TOKEN, a token of your workspace there."


class NotRecruiting(RecruitingRefused):
    """The run has no study on a platform."""

    code = "not_recruiting"
    status = 404
    hint = "Create one first."


class RecruitmentExists(RecruitingRefused):
    """The run has a study on a platform."""

    code = "recruitment_exists"
    hint = "A run has one study there: replicate the run for another."


class StudyNotDrafted(RecruitingRefused):
    """It is not known yet whether the platform has drafted the run's study."""

    code = "study_not_drafted"
    hint = "Wait a moment; if it stays so, discard the draft, and make it anew."


class OtherCurrency(RecruitingRefused):
    """The run's budget is in another currency than the platform pays in."""

    code = "other_currency"
    status = 422


class ScreenOutsUnpaid(RecruitingRefused):
    """Who is screened out would get nothing."""

    code = "screen_outs_unpaid"
    hint = "Give the study paid screen-out places: a reward and a number of them."


class PayRefused(RecruitingRefused):
    """A submission cannot be paid, or refused pay, like this."""

    code = "pay_refused"
    status = 422


class DecidedAlready(RecruitingRefused):
    """Somebody has decided of this pay, and who decides now did not say that they know of it."""

    code = "decided_already"
    hint = "To decide otherwise, name each decision that this one stands instead of."


class BonusRefused(RecruitingRefused):
    """Bonuses cannot be prepared or paid like this."""

    code = "bonus_refused"


class EventRefused(RecruitingRefused):
    """What has arrived as an event of the platform is none that counts."""

    code = "event_refused"
    status = 403
    hint = "Sign it with the secret of the workspace, and send it at once."


class PlatformFailed(CandorError):
    """The platform has not done what was wanted."""

    code = "platform_failed"
    status = 502


class PlatformUnsure(CandorError):
    """It is not known whether the platform has done what was wanted."""

    code = "platform_unsure"
    status = 504
