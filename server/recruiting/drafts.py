"""Draft a run's study on the platform from its plan and the study file."""

import secrets
from typing import Annotated
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from server.db.recruiting.recruitments import EndingKind
from server.db.runs.runs import RunEntry
from server.errors import NotRecruiting
from server.recruiters.prolific.studies import (
    CompletionCode,
    DynamicPayment,
    RequestReturn,
    Review,
    ScreenOut,
    StudyDraft,
    without_groups,
)
from server.recruiters.recruiter import Prolific, Recruiter
from server.study import parse_study

_PARAMETERS = "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
_LONGEST = 3  # the maximum time is so many times the estimated duration
_NO_CONSENT = "You did not agree to take part. Please return the submission, so that your place is free."
_RETURNED = "You have not finished the study. Please return the submission, so that your place is free."


class StudyPlan(BaseModel):
    """The plan of a study on the platform. Amounts are cents of the workspace's currency.

    `minutes`: the estimated duration; by default, that of the study file. `keep_out`: the platform's
    participant groups to exclude.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    places: Annotated[int, Field(ge=1, le=100_000, strict=True)]
    reward: Annotated[int, Field(ge=1, le=1_000_000, strict=True)]
    minutes: Annotated[int, Field(ge=1, le=1_000, strict=True)] | None = None
    screen_out_reward: Annotated[int, Field(ge=0, le=1_000_000, strict=True)] = 0
    screen_out_places: Annotated[int, Field(ge=0, le=100_000, strict=True)] = 0
    description: Annotated[str, StringConstraints(strip_whitespace=True, max_length=4_000)] = ""
    keep_out: Annotated[tuple[str, ...], Field(max_length=50)] = ()


def draft_of(
    entry: RunEntry, plan: StudyPlan, public_url: str
) -> tuple[dict[EndingKind, CompletionCode], StudyDraft]:
    """Return new completion codes for a run, and a draft with them.

    Participants are sent to the run's address below `public_url`. Raises NotRecruiting if the study file does
    not name this platform.
    """
    study = parse_study(entry.yaml)
    recruiter = _prolific(entry, study.recruiter)
    codes = _codes(recruiter, plan)
    minutes = plan.minutes or study.minutes or 30
    draft = StudyDraft(
        name=study.title[:200],
        internal_name=entry.slug,
        description=plan.description or f"{study.title}. {study.payment}",
        external_study_url=f"{public_url}/w/{quote(entry.slug)}?{_PARAMETERS}",
        signed_arrivals=recruiter.signed,
        total_available_places=plan.places,
        estimated_completion_time=minutes,
        maximum_allowed_time=minutes * _LONGEST,
        reward=plan.reward,
        completion_codes=tuple(codes.values()),
        filters=(without_groups(*plan.keep_out),) if plan.keep_out else (),
    )
    return codes, draft


def _prolific(entry: RunEntry, recruiter: Recruiter | None) -> Prolific:
    if not isinstance(recruiter, Prolific):
        raise NotRecruiting(
            f"the study of `{entry.slug}` does not recruit at Prolific",
            "Add `recruiter: {kind: prolific, completion_code: …}` to the study, and open a run of it.",
        )
    return recruiter


def _codes(recruiter: Prolific, plan: StudyPlan) -> dict[EndingKind, CompletionCode]:
    """Return the completion codes, one for each ending."""
    review = (Review(),)
    codes: dict[EndingKind, CompletionCode] = {
        "complete": CompletionCode(code=recruiter.completion_code, code_type="COMPLETED", actions=review),
        "our_failure": CompletionCode(code=_code(), code_type="OTHER", actions=review),
        "reported": CompletionCode(code=_code(), code_type="OTHER", actions=review),
        "no_consent": CompletionCode(
            code=_code(), code_type="NO_CONSENT", actions=(RequestReturn(return_reason=_NO_CONSENT),)
        ),
        "returned": CompletionCode(
            code=_code(), code_type="OTHER", actions=(RequestReturn(return_reason=_RETURNED),)
        ),
        "partial": CompletionCode(
            code=_code(), code_type="OTHER", actions=(DynamicPayment(),), actor="researcher"
        ),
    }
    if plan.screen_out_places and plan.screen_out_reward:
        pay = ScreenOut(fixed_screen_out_reward=plan.screen_out_reward, slots=plan.screen_out_places)
        codes["screened_out"] = CompletionCode(code=_code(), code_type="FIXED_SCREENOUT", actions=(pay,))
    return codes


def _code() -> str:
    return f"C{secrets.token_hex(4).upper()}"
