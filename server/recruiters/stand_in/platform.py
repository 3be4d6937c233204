"""Rules of the simulated Prolific: places, submissions and pay.

From Prolific's documents: a place is reserved for ten minutes; returned, rejected and timed-out places
reopen; unreviewed submissions are approved after 21 days; a study pauses when its paid screen-outs are used
up.
"""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from server.recruiters.stand_in.records import (
    OPEN,
    PLACE_HELD,
    Batch,
    Clock,
    Event,
    Ids,
    Json,
    NoSuchThing,
    StandInRefusal,
    StandInStudy,
    StandInSubmission,
    StandInSubscription,
)

_RESERVATION = timedelta(minutes=10)
_REVIEW = timedelta(days=21)
_FEE = 0.3333  # of a reward, as academics pay
_STUDY_MOVES = {
    "PUBLISH": ({"UNPUBLISHED"}, "ACTIVE"),
    "PAUSE": ({"ACTIVE"}, "PAUSED"),
    "START": ({"PAUSED"}, "ACTIVE"),
    "STOP": ({"ACTIVE", "PAUSED"}, "AWAITING REVIEW"),
}
Thing = TypeVar("Thing")
_ADMITS = {"UNPUBLISHED", "ACTIVE", "PAUSED"}
_PAID = {"APPROVED", "PARTIALLY APPROVED"}
_REVIEWABLE = {"AWAITING REVIEW", "RETURNED", "TIMED-OUT"}
_SHORTEST_REASON = 100


class StandInPlatform:
    """The state of the simulated Prolific. `now` is its clock, which tests set."""

    def __init__(self, now: Clock = lambda: datetime.now(UTC)) -> None:
        self._now = now
        self._ids = Ids()
        self.studies: dict[str, StandInStudy] = {}
        self.submissions: dict[str, StandInSubmission] = {}
        self.batches: dict[str, Batch] = {}
        self.paid_batches: list[str] = []
        self.pays_later = False  # accepted bonuses wait until `pay_waiting`
        self.waiting: list[Batch] = []
        self.groups: dict[str, tuple[str, list[str]]] = {}
        self.sent: list[tuple[str, str]] = []
        self.secrets: dict[str, Json] = {}
        self.subscriptions: dict[str, StandInSubscription] = {}
        self.events: list[Event] = []

    # What participants do

    def reserve(self, study_id: str, participant: str) -> StandInSubmission:
        """Reserve a place in a study for a participant. Raises NotAllowed."""
        self._let_time_pass()
        study = self.study(study_id)
        if study.status != "ACTIVE":
            raise StandInRefusal("This study is not active.")
        if any(found.participant == participant for found in self._of(study_id)):
            raise StandInRefusal("You have taken part in this study already.")
        if self._blocked(study, participant):
            raise StandInRefusal("You are not eligible for this study.")
        if self._held(study_id) >= study.given["total_available_places"]:
            raise StandInRefusal("This study is full.")
        made = StandInSubmission(self._ids.new(), study_id, participant, self._now())
        self.submissions[made.id] = made
        self._told(made)
        return made

    def open(self, submission_id: str) -> StandInSubmission:
        """Start a submission: the participant's time begins."""
        found = self.submission(submission_id)
        if found.status == "RESERVED":
            self._set(found, "ACTIVE")
        return found

    def complete(self, submission_id: str, entered: str | None) -> StandInSubmission:
        """Submit with a completion code, or without one. Raises NotAllowed if it is too late."""
        found = self.submission(submission_id)
        if found.status not in OPEN:
            raise StandInRefusal(f"This submission is {found.status}.")
        found.entered_code, found.completed_at = entered, self._now()
        study = self.study(found.study)
        code = study.code(entered)
        actions = {action["action"]: action for action in code["actions"]} if code is not None else {}
        for name, action in actions.items():
            self._join(name, action, found.participant)
        if "FIXED_SCREEN_OUT_PAYMENT" in actions:
            self._screened_out(study, found)
        elif "AUTOMATICALLY_APPROVE" in actions:
            self._approve(found)
        else:
            if "REQUEST_RETURN" in actions:
                found.return_requested = self._now()
            self._set(found, "AWAITING REVIEW")
        return found

    def give_back(self, submission_id: str) -> StandInSubmission:
        """Return a place. Raises NotAllowed if it was paid or lost."""
        found = self.submission(submission_id)
        if found.status not in OPEN | {"AWAITING REVIEW"}:
            raise StandInRefusal(f"This submission is {found.status}.")
        return self._set(found, "RETURNED")

    # What researchers do

    def study(self, study_id: str) -> StandInStudy:
        """Return a study. Raises NoSuchThing."""
        return _found(self.studies, study_id)

    def submission(self, submission_id: str) -> StandInSubmission:
        """Return a submission. Raises NoSuchThing."""
        self._let_time_pass()
        return _found(self.submissions, submission_id)

    def of_study(self, study_id: str) -> list[StandInSubmission]:
        """Return the submissions of a study, as they began. Raises NoSuchThing."""
        self.study(study_id)
        self._let_time_pass()
        return self._of(study_id)

    def draft(self, given: Json) -> StandInStudy:
        """Draft a study. Raises NotAllowed."""
        if sum(_screens_out(code) for code in given.get("completion_codes", [])) > 1:
            raise StandInRefusal("Only one completion code can have a fixed screen out payment.")
        study = StandInStudy(self._ids.new(), given)
        self.studies[study.id] = study
        return study

    def change(self, study_id: str, given: Json) -> StandInStudy:
        """Change a study. Raises NotAllowed if that reduces the places of a published study."""
        study = self.study(study_id)
        places = given.get("total_available_places")
        if (
            places is not None
            and study.status != "UNPUBLISHED"
            and places < study.given["total_available_places"]
        ):
            raise StandInRefusal("You cannot decrease the number of places.")
        study.given = {**study.given, **given}
        return study

    def discard(self, study_id: str) -> None:
        """Delete a draft. Raises NotAllowed if it was published."""
        if self.study(study_id).status != "UNPUBLISHED":
            raise StandInRefusal("You can only delete studies that are not published.")
        del self.studies[study_id]

    def move_study(self, study_id: str, action: str) -> StandInStudy:
        """Publish, pause, start or stop a study. Raises NotAllowed."""
        study = self.study(study_id)
        begins, ends = _STUDY_MOVES[action]
        if study.status not in begins:
            raise StandInRefusal(f"You cannot {action} a study that is {study.status}.")
        study.status = ends
        self._tell("study.status.change", study.id, {"status": study.status, "metadata": {}})
        return study

    def cost(self, study_id: str) -> tuple[int, int]:
        """Return the paid rewards and bonuses in cents, without fees."""
        self.study(study_id)
        self._let_time_pass()
        found = self._of(study_id)
        return sum(one.paid for one in found), sum(sum(one.bonuses) for one in found)

    def projected_cost(self, study_id: str) -> tuple[int, int]:
        """Return the rewards and bonuses in cents once every open place is paid, without fees."""
        study, found = self.study(study_id), self.of_study(study_id)
        rewards, bonuses = self.cost(study_id)
        held = study.given["total_available_places"] if study.status in _ADMITS else self._held(study_id)
        rewards += study.given["reward"] * max(0, held - sum(one.status in _PAID for one in found))
        for code in study.given.get("completion_codes", []):
            if study.status in _ADMITS and (action := _screen_out(code)) is not None:
                used = sum(one.status == "SCREENED OUT" for one in found)
                rewards += action["fixed_screen_out_reward"] * max(0, action["slots"] - used)
        return round(rewards), bonuses

    def move(self, submission_id: str, asked: Json) -> StandInSubmission:
        """Approve, reject, pay in part or screen out. Raises NotAllowed."""
        found = self.submission(submission_id)
        match asked["action"]:
            case "APPROVE":
                self._require_reviewable(found)
                return self._approve(found)
            case "REJECT":
                self._require_reviewable(found)
                if "rejection_category" not in asked or len(asked.get("message", "")) < _SHORTEST_REASON:
                    raise StandInRefusal("A rejection needs a category and a message of 100 characters.")
                return self._set(found, "REJECTED")
            case "COMPLETE":
                self._require_reviewable(found)
                return self._pay_in_part(found, asked)
            case "SCREEN_OUT":
                self._require_reviewable(found)
                self._screened_out(self.study(found.study), found)
                return found
            case action:
                raise StandInRefusal(f"{action} is not done here.")

    def request_return(self, submission_id: str) -> StandInSubmission:
        """Ask a participant to return a submission."""
        found = self.submission(submission_id)
        found.return_requested = self._now()
        return found

    def set_up_bonuses(self, study_id: str, lines: str) -> Batch:
        """Prepare bonuses from lines such as `id,1.50`. Raises NotAllowed for an unknown participant."""
        cents: dict[str, int] = {}
        for line in filter(None, map(str.strip, lines.splitlines())):
            who, amount = line.split(",")
            found = next((one for one in self._of(study_id) if who in {one.id, one.participant}), None)
            if found is None:
                raise StandInRefusal(f"{who} has not taken part in the study.")
            cents[found.id] = cents.get(found.id, 0) + round(float(amount) * 100)
        batch = Batch(self._ids.new(), study_id, cents)
        self.batches[batch.id] = batch
        return batch

    def pay_bonuses(self, batch_id: str) -> None:
        """Accept the payment of a batch, even if it was paid before."""
        self.waiting.append(_found(self.batches, batch_id))
        self.paid_batches.append(batch_id)
        if not self.pays_later:
            self.pay_waiting()

    def pay_waiting(self, *, but: Collection[str] = (), cents: int | None = None) -> None:
        """Pay accepted batches, with `cents` instead of each amount if given, except submissions `but`."""
        for batch in self.waiting:
            for submission_id in batch.cents.keys() - but:
                amount = batch.cents[submission_id] if cents is None else cents
                self.submissions[submission_id].bonuses.append(amount)
        self.waiting.clear()

    def group(self, group_id: str) -> tuple[str, list[str]]:
        """Return a group's name and its members. Raises NoSuchThing."""
        return _found(self.groups, group_id)

    def new_group(self, name: str) -> str:
        """Create an empty group, and return its id."""
        group_id = self._ids.new()
        self.groups[group_id] = (name, [])
        return group_id

    def new_secret(self, workspace: str) -> Json:
        """Create a workspace's secret, which replaces the earlier one."""
        made = {"id": self._ids.new(), "value": f"secret-{self._ids.new()}", "workspace_id": workspace}
        self.secrets[workspace] = made
        return made

    def subscribe(self, given: Mapping[str, str]) -> StandInSubscription:
        """Create an unconfirmed subscription. Raises NotAllowed if there is no secret yet."""
        if given["workspace_id"] not in self.secrets:
            raise StandInRefusal("Create a secret first.")
        made = StandInSubscription(
            self._ids.new(),
            given["workspace_id"],
            given["event_type"],
            given["target_url"],
            f"confirm-{self._ids.new()}",
        )
        self.subscriptions[made.id] = made
        return made

    def subscription(self, subscription_id: str) -> StandInSubscription:
        """Return a subscription. Raises NoSuchThing."""
        return _found(self.subscriptions, subscription_id)

    # Consequences

    def _let_time_pass(self) -> None:
        for found in self.submissions.values():
            waited = self._now() - found.started_at
            allowed = timedelta(minutes=self.study(found.study).given.get("maximum_allowed_time", 60))
            if (found.status == "RESERVED" and waited > _RESERVATION) or (
                found.status == "ACTIVE" and waited > allowed
            ):
                self._set(found, "TIMED-OUT")
            done = found.completed_at
            if found.status == "AWAITING REVIEW" and done is not None and self._now() - done > _REVIEW:
                self._approve(found)

    def _approve(self, found: StandInSubmission) -> StandInSubmission:
        found.paid = round(self.study(found.study).given["reward"])
        return self._set(found, "APPROVED")

    def _pay_in_part(self, found: StandInSubmission, asked: Json) -> StandInSubmission:
        study = self.study(found.study)
        code = study.code(asked.get("completion_code"))
        if code is None or not any(action["action"] == "DYNAMIC_PAYMENT" for action in code["actions"]):
            raise StandInRefusal("This completion code has no dynamic payment.")
        share = asked.get("completion_code_data", {}).get("percentage_of_reward", 0)
        if not 8 <= share <= 99:
            raise StandInRefusal("percentage_of_reward must be between 8 and 99.")
        found.paid = round(study.given["reward"] * share / 100)
        return self._set(found, "PARTIALLY APPROVED")

    def _screened_out(self, study: StandInStudy, found: StandInSubmission) -> None:
        action = next(
            (_screen_out(code) for code in study.given["completion_codes"] if _screens_out(code)), None
        )
        if action is None:
            raise StandInRefusal("This study does not pay for screen outs.")
        found.paid = action["fixed_screen_out_reward"]
        self._set(found, "SCREENED OUT")
        used = sum(one.status == "SCREENED OUT" for one in self._of(study.id))
        if used >= action["slots"] and study.status == "ACTIVE":
            self.move_study(study.id, "PAUSE")

    def _join(self, name: str, action: Json, participant: str) -> None:
        if name == "ADD_TO_PARTICIPANT_GROUP":
            members = self.group(action["participant_group"])[1]
            if participant not in members:
                members.append(participant)
        if name == "REMOVE_FROM_PARTICIPANT_GROUP":
            members = self.group(action["participant_group"])[1]
            if participant in members:
                members.remove(participant)

    def _blocked(self, study: StandInStudy, participant: str) -> bool:
        for found in study.given.get("filters") or []:
            values = found.get("selected_values", [])
            if found["filter_id"] == "participant_group_blocklist" and any(
                participant in self.group(group)[1] for group in values
            ):
                return True
        return False

    def _require_reviewable(self, found: StandInSubmission) -> None:
        if found.status not in _REVIEWABLE:
            raise StandInRefusal(f"A submission that is {found.status} cannot be reviewed.")

    def _of(self, study_id: str) -> list[StandInSubmission]:
        return [found for found in self.submissions.values() if found.study == study_id]

    def _held(self, study_id: str) -> int:
        return sum(found.status in PLACE_HELD for found in self._of(study_id))

    def _set(self, found: StandInSubmission, status: str) -> StandInSubmission:
        found.status = status
        self._told(found)
        return found

    def _told(self, found: StandInSubmission) -> None:
        self._tell(
            "submission.status.change",
            found.id,
            {"participant_id": found.participant, "status": found.status},
        )

    def _tell(self, event_type: str, resource_id: str, more: Json) -> None:
        payload = {"resource_id": resource_id, "event_type": event_type, **more}
        for wanted in self.subscriptions.values():
            if wanted.is_enabled and wanted.event_type == event_type:
                self.events.append(Event(self._ids.new(), wanted.id, self._now(), payload))


def _found(things: Mapping[str, Thing], key: str) -> Thing:
    if key not in things:
        raise NoSuchThing(key)
    return things[key]


def _screen_out(code: Json) -> Json | None:
    return next((one for one in code["actions"] if one["action"] == "FIXED_SCREEN_OUT_PAYMENT"), None)


def _screens_out(code: Json) -> bool:
    return _screen_out(code) is not None


def with_fee(cents: int) -> tuple[int, int]:
    """Return Prolific's fee on an amount, and the tax on the fee, in cents."""
    fee = round(cents * _FEE)
    return fee, round(fee * 0.2)
