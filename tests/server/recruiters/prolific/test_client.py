"""Our client of Prolific, against the stand-in: every operation, and what is asked again where it fails."""

import pytest

from server.recruiters.pay_platform import (
    InvalidRequest,
    NotThere,
    OutcomeUnknown,
    PlatformBusy,
    PlatformRefused,
    PlatformUnreadable,
    RejectionCategory,
    Status,
    TokenRefused,
    Transition,
    Unreachable,
    Unwell,
    decimal_amount,
)
from server.recruiters.prolific.client import ProlificClient
from server.recruiters.prolific.connection import PlatformConnection
from server.recruiters.prolific.hooks import SUBMISSIONS
from server.recruiters.prolific.studies import (
    AddToGroup,
    Approve,
    CompletionCode,
    DynamicPayment,
    RemoveFromGroup,
    RequestReturn,
    Review,
    ScreenOut,
    StudyDraft,
    without_groups,
)
from server.recruiters.stand_in.platform import StandInPlatform
from server.recruiters.stand_in.records import StandInRefusal
from server.recruiters.stand_in.serving import Fault
from tests.server.support.prolific import Prolific

REASON = (
    "You were asked to write five messages in each chat, and wrote one in each. Write to us if that is wrong."
)
REVIEWED = CompletionCode(code="DONE", code_type="COMPLETED", actions=(Review(),))
CODES = (
    REVIEWED,
    CompletionCode(code="PAID", code_type="OTHER", actions=(Approve(),)),
    CompletionCode(
        code="OUT",
        code_type="FIXED_SCREENOUT",
        actions=(ScreenOut(fixed_screen_out_reward=50, slots=2),),
    ),
    CompletionCode(
        code="BACK", code_type="NO_CONSENT", actions=(RequestReturn(return_reason="You did not agree."),)
    ),
    CompletionCode(code="PART", code_type="OTHER", actions=(DynamicPayment(),), actor="researcher"),
)


def draft(**other: object) -> StudyDraft:
    given: dict[str, object] = {
        "name": "Chat with six chatbots",
        "internal_name": "demo",
        "description": "You chat, and rate each chat.",
        "external_study_url": "https://lab.example/w/demo?PROLIFIC_PID={{%PROLIFIC_PID%}}",
        "total_available_places": 60,
        "estimated_completion_time": 25,
        "maximum_allowed_time": 90,
        "reward": 450,
        "completion_codes": CODES,
    }
    return StudyDraft.model_validate(given | other)


async def published(client: ProlificClient, **other: object) -> str:
    study = await client.studies.draft(draft(**other))
    await client.studies.move(study.id, Transition.PUBLISH)
    return study.id


def submitted(platform: StandInPlatform, study: str, participant: str, code: str | None = "DONE") -> str:
    """Have a participant take part, and return the submission."""
    found = platform.reserve(study, participant)
    platform.open(found.id)
    platform.complete(found.id, code)
    return found.id


async def test_a_study_is_drafted_published_paused_enlarged_and_stopped(client: ProlificClient) -> None:
    made = await client.studies.draft(draft(signed_arrivals=True, filters=(without_groups("5f01"),)))
    assert (made.status, made.reward, made.total_available_places) == ("UNPUBLISHED", 450, 60)
    assert made.is_external_study_url_secure
    assert made.completion_codes == CODES
    assert made.pays_screen_outs
    statuses = [
        (await client.studies.move(made.id, move)).status
        for move in (Transition.PUBLISH, Transition.PAUSE, Transition.START)
    ]
    assert statuses == ["ACTIVE", "PAUSED", "ACTIVE"]
    assert (await client.studies.set_places(made.id, 80)).total_available_places == 80
    with pytest.raises(InvalidRequest, match="80 places, and the number cannot be reduced"):
        await client.studies.set_places(made.id, 79)
    assert (await client.studies.move(made.id, Transition.STOP)).status == "AWAITING REVIEW"
    with pytest.raises(PlatformRefused, match="You cannot PAUSE a study that is AWAITING REVIEW"):
        await client.studies.move(made.id, Transition.PAUSE)


def test_two_endings_cannot_have_one_code() -> None:
    with pytest.raises(ValueError, match="two completion codes are the same"):
        draft(completion_codes=(REVIEWED, REVIEWED))


async def test_a_study_without_paid_screen_outs_says_so(client: ProlificClient) -> None:
    none = ScreenOut(fixed_screen_out_reward=50, slots=0)
    unpaid = CompletionCode(code="OUT", code_type="FIXED_SCREENOUT", actions=(none,))
    for codes in ((REVIEWED,), (REVIEWED, unpaid)):
        assert not (await client.studies.draft(draft(completion_codes=codes))).pays_screen_outs


async def test_every_submission_is_read_over_all_pages(client: ProlificClient, prolific: Prolific) -> None:
    study = await published(client)
    made = [submitted(prolific.platform, study, f"p{n}") for n in range(45)]  # pages of 20, 20 and 5
    found = [one async for one in client.submissions.of_study(study)]
    assert [one.id for one in found] == made
    assert {one.status for one in found} == {Status.AWAITING_REVIEW}
    assert found[7].participant_id == "p7"


async def test_a_last_page_that_is_full_is_not_followed_by_one_that_is_not_there(
    client: ProlificClient, prolific: Prolific
) -> None:
    study = await published(client)
    for n in range(40):
        submitted(prolific.platform, study, f"p{n}")
    assert len([one async for one in client.submissions.of_study(study)]) == 40


async def test_submissions_are_approved_rejected_paid_in_part_and_screened_out(
    client: ProlificClient, prolific: Prolific
) -> None:
    study = await published(client)
    one, two, three, four, five = (submitted(prolific.platform, study, f"p{n}") for n in range(5))
    calls = client.submissions
    assert await calls.approve(one) is Status.APPROVED
    assert await calls.reject(two, RejectionCategory.LOW_EFFORT, REASON) is Status.REJECTED
    assert await calls.pay_in_part(three, "PART", 40, "The server failed.") is Status.APPROVED
    assert await calls.screen_out(four) is Status.SCREENED_OUT
    await calls.request_return(five, "Technical issues")
    assert (await calls.submission(three)).status is Status.PARTIALLY_APPROVED
    paid = {found.id: found.paid for found in prolific.platform.of_study(study)}
    # 40 % of 450 is 180; a screen-out is worth 50.
    assert paid == {one: 450, two: 0, three: 180, four: 50, five: 0}
    cost = await client.studies.cost(study)
    assert cost.rewards.rewards.amount == 680
    assert cost.rewards.cents == 680 + 227 + 45  # a third for Prolific (226.6), a fifth of that in tax


@pytest.mark.parametrize("reason", ["too short", " " * 90 + "x" * 99 + "\n"])
async def test_a_rejection_says_why_at_length_before_anything_is_sent(reason: str) -> None:
    nobody = PlatformConnection("t", "http://127.0.0.1:9")
    async with ProlificClient(nobody) as client:
        with pytest.raises(InvalidRequest, match="Prolific wants 100 or more"):
            await client.submissions.reject("5f01", RejectionCategory.OTHER, reason)


@pytest.mark.parametrize("share", [7, 100])
async def test_a_part_of_the_reward_is_within_limits(client: ProlificClient, share: int) -> None:
    with pytest.raises(InvalidRequest, match="8 to 99 %"):
        await client.submissions.pay_in_part("5f01", "PART", share, "")


async def test_bonuses_are_set_up_in_decimals_and_paid_in_cents(
    client: ProlificClient, prolific: Prolific
) -> None:
    study = await published(client)
    one, two = (submitted(prolific.platform, study, name) for name in ("a", "b"))
    batch = await client.bonuses.set_up(study, {one: 150, two: 5})
    assert (batch.amount, batch.total_amount) == (155, 155 + 52 + 10)
    assert (await client.submissions.submission(one)).bonus_payments == ()
    await client.bonuses.pay(batch.id)
    assert (await client.submissions.submission(one)).bonus_payments == (150,)
    assert (await client.submissions.submission(two)).bonus_payments == (5,)


def test_amounts_have_two_decimals() -> None:
    assert [decimal_amount(cents) for cents in (1, 99, 100, 150, 123456)] == [
        "0.01",
        "0.99",
        "1.00",
        "1.50",
        "1234.56",
    ]


async def test_bonuses_without_an_amount_or_too_many_are_not_sent(client: ProlificClient) -> None:
    for cents, said in (
        ({}, "0 bonuses"),
        ({"a": 0}, "no amount for a"),
        ({str(n): 1 for n in range(201)}, "201"),
    ):
        with pytest.raises(InvalidRequest, match=said):
            await client.bonuses.set_up("5f01", cents)


@pytest.mark.parametrize("how", ["busy", "broken"])
async def test_a_payment_is_sent_once_whatever_comes_back(
    client: ProlificClient, prolific: Prolific, how: str
) -> None:
    study = await published(client)
    batch = await client.bonuses.set_up(study, {submitted(prolific.platform, study, "a"): 100})
    prolific.faults.due.append(Fault(how, "/pay/"))  # type: ignore[arg-type]
    with pytest.raises((PlatformBusy, OutcomeUnknown)) as caught:
        await client.bonuses.pay(batch.id)
    assert isinstance(caught.value, PlatformBusy) == (how == "busy")
    assert prolific.platform.paid_batches.count(batch.id) == 0


async def test_a_payment_that_is_made_and_not_answered_is_unknown(
    client: ProlificClient, prolific: Prolific
) -> None:
    study = await published(client)
    submission = submitted(prolific.platform, study, "a")
    batch = await client.bonuses.set_up(study, {submission: 100})
    prolific.faults.due.append(Fault("hangs after", "/pay/"))
    async with ProlificClient(PlatformConnection(prolific.token, prolific.url, patience=0.2)) as impatient:
        with pytest.raises(OutcomeUnknown, match="no answer came"):
            await impatient.bonuses.pay(batch.id)
    assert (await client.submissions.submission(submission)).bonus_payments == (100,)


async def test_what_is_read_is_asked_for_again_and_waits_as_long_as_it_is_told(
    client: ProlificClient, prolific: Prolific
) -> None:
    study = await published(client)
    path = f"/studies/{study}/"
    prolific.faults.due += [Fault("broken", path), Fault("busy", path), Fault("busy", path)]
    assert (await client.studies.study(study)).id == study


async def test_who_is_told_to_wait_for_long_is_told_so(client: ProlificClient, prolific: Prolific) -> None:
    prolific.faults.due.append(Fault("busy", "/subscriptions/", retry_after="3600"))
    with pytest.raises(PlatformBusy, match="again in 3600 s") as caught:
        await client.hooks.subscriptions()
    assert caught.value.retry_after == 3600


async def test_a_change_is_made_again_where_prolific_was_too_busy_for_it(
    client: ProlificClient, prolific: Prolific
) -> None:
    study = await published(client)
    submission = submitted(prolific.platform, study, "a")
    prolific.faults.due += [Fault("busy", "/transition/", "Wed, 21 Oct 2015 07:28:00 GMT")]
    assert await client.submissions.approve(submission) is Status.APPROVED


async def test_a_change_after_a_fault_there_is_not_made_again(
    client: ProlificClient, prolific: Prolific
) -> None:
    study = await published(client)
    submission = submitted(prolific.platform, study, "a")
    prolific.faults.due.append(Fault("broken", "/transition/"))
    with pytest.raises(OutcomeUnknown, match="approve the submission: it answers 500"):
        await client.submissions.approve(submission)


async def test_groups_keep_people_out(client: ProlificClient, prolific: Prolific) -> None:
    group = prolific.platform.new_group("Took part")
    members = prolific.platform.group(group)[1]
    members.append("a")
    joins = CompletionCode(
        code="DONE", code_type="COMPLETED", actions=(Review(), AddToGroup(participant_group=group))
    )
    study = await published(client, completion_codes=(joins,), filters=(without_groups(group),))
    with pytest.raises(StandInRefusal, match="not eligible"):
        prolific.platform.reserve(study, "a")
    submitted(prolific.platform, study, "c")
    assert members == ["a", "c"]
    leaves = CompletionCode(
        code="DONE", code_type="COMPLETED", actions=(Review(), RemoveFromGroup(participant_group=group))
    )
    submitted(prolific.platform, await published(client, completion_codes=(leaves,)), "c")
    assert members == ["a"]


async def test_a_participant_is_written_to(client: ProlificClient, prolific: Prolific) -> None:
    study = await published(client)
    await client.messages.send("a", study, "Please load it again.")
    assert prolific.platform.sent == [("a", "Please load it again.")]


async def test_events_are_subscribed_to_and_can_be_read_later(
    client: ProlificClient, prolific: Prolific
) -> None:
    assert (await client.hooks.new_secret("w")).workspace_id == "w"
    made = await client.hooks.subscribe("w", SUBMISSIONS, "https://lab.example/hooks")
    assert made.is_enabled
    submission = submitted(prolific.platform, await published(client), "a")
    events = [one async for one in client.hooks.events(made.id)]
    # reserved, opened, handed in
    assert [one.resource_id for one in events] == [submission] * 3
    assert events[-1].payload == {
        "resource_id": submission,
        "event_type": SUBMISSIONS,
        "participant_id": "a",
        "status": "AWAITING REVIEW",
    }
    await client.hooks.unsubscribe(made.id)
    assert await client.hooks.subscriptions("w") == []


async def test_what_prolific_does_not_have_or_allow_is_said_with_what_to_do(
    client: ProlificClient, prolific: Prolific
) -> None:
    with pytest.raises(NotThere, match="look at the study: Not found: 5f01 does not exist") as missing:
        await client.studies.study("5f01")
    assert missing.value.error_code == 140404
    assert "workspace" in missing.value.remedy
    async with ProlificClient(PlatformConnection("another", prolific.url)) as stranger:
        with pytest.raises(TokenRefused) as refused:
            await stranger.studies.study("5f01")
    assert "Settings, API tokens" in refused.value.remedy


async def test_where_nobody_is_nothing_was_changed() -> None:
    async with ProlificClient(PlatformConnection("t", "http://127.0.0.1:9")) as client:
        with pytest.raises(Unreachable, match="nobody is there"):
            await client.submissions.approve("5f01")


async def test_a_fault_that_lasts_is_told(client: ProlificClient, prolific: Prolific) -> None:
    prolific.faults.due += [Fault("busy", "/subscriptions/")] * 4 + [Fault("broken", "/subscriptions/")]
    with pytest.raises(Unwell, match="it answers 500"):
        await client.hooks.subscriptions()


async def test_an_amount_in_parts_of_a_cent_is_no_amount(client: ProlificClient, prolific: Prolific) -> None:
    study = await published(client)
    prolific.platform.studies[study].given["reward"] = 450.5
    with pytest.raises(PlatformUnreadable, match="not as specified: reward"):
        await client.studies.study(study)


async def test_whether_a_change_was_made_whose_answer_cannot_be_read_is_not_known(
    client: ProlificClient, prolific: Prolific
) -> None:
    study = await published(client)
    prolific.platform.studies[study].given["reward"] = 450.5
    with pytest.raises(OutcomeUnknown, match="not as specified: reward"):
        await client.studies.move(study, Transition.PAUSE)
    assert prolific.platform.studies[study].status == "PAUSED"
