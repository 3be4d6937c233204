"""Everything that can go wrong for a caller, in one hierarchy.

    CandorError
    ├── InvalidMessage      the message itself cannot be read: send another
    │   ├── MalformedJson, UnknownMessage, InvalidField, MessageTooLong
    ├── RefusedMessage      readable, but not now
    │   ├── WrongPhase, ReplyPending, TooFewInputs, IncompleteRating, TopicMissing, TopicFixed,
    │   │   EditMissing, EditSenseless, AnswersUnfit, ChoiceMissing, NoTies
    ├── OutdatedPage        the page speaks another version of the wire: load it again
    ├── NotAuthorised       the caller must show another token
    │   ├── TokenInvalid, TokenExpired, TokenMissing, TokenRevoked, OutOfScope, NotAllowed,
    │   │   NotSignedIn, WrongPassword, ProviderRefused, ForeignOrigin, LinkUsed, LinkUnsigned,
    │   │   LinkAltered
    ├── NotAvailable        what was asked for is not there (any more)
    │   ├── RunNotFound, RunNotReady, RunPaused, RunOutOfHours, RunClosed, RunComplete, RunFull, TookPart,
    │   │   NotInvited, AssignmentNotFound, NotSimulated, TokenNotFound, BotNotFound, NotChecked,
    │   │   JobNotFound, StudyNotFound
    ├── StudyRefused        a stored study cannot be changed like this
    │   ├── StudyExists, StudyChanged, StudyOpened, StudyNameDiffers
    ├── RunRefused          a run cannot be changed like this
    │   ├── RunExists, WrongRunStatus, RunHasEnough
    ├── RulesInvalid        the rules of a run have mistakes
    ├── TokenExists, PersonExists   a name is taken
    ├── JobUnderWay         the same is being done already
    ├── RehearsalRefused    this study cannot be rehearsed like this
    ├── BotRefused          a registered bot cannot be changed like this
    │   ├── BotExists, BotInUse, BotDisabled, BotUnusable, BotInvalid, ReplicaExists,
    │   │   LastReplica, DialsIn
    ├── LastOwner           an installation keeps one owner at least
    ├── TooMany             slow down
    ├── StorageFailed       nothing was stored: send the same again
    ├── DatabaseUnfit       the database, as it is set up or made, cannot be served
    ├── DatabaseInUse       another server serves the SQLite file
    ├── StudyInvalid        the study file has mistakes
    └── BotsUnfit           a study's bots are not fit for workers

Each class fixes its wire `code`, its HTTP `status` and whether the same request may be sent again
(`retry`); the message says what happened and the hint what the caller can do.
"""

from datetime import datetime
from typing import ClassVar, Literal

from pydantic import BaseModel


class CandorError(Exception):
    """Base of every error that a caller is told."""

    code: ClassVar[str] = "internal"
    status: ClassVar[int] = 500
    retry: ClassVar[bool] = False
    hint: str = "Try again; if it happens again, tell the researchers."

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint if hint is not None else type(self).hint


class ErrorDetail(BaseModel):
    """An error as a caller is told it: `code` for programs, `message` and `hint` for people."""

    code: str
    message: str
    hint: str


class ErrorBody(BaseModel):
    """The one shape of every error that is answered over HTTP."""

    error: ErrorDetail


class InvalidMessage(CandorError):
    """The message cannot be read as one of the protocol's."""

    code = "invalid_message"
    status = 400
    hint = "Send a message that follows the wire protocol."


class MalformedJson(InvalidMessage):
    """The frame is not JSON."""

    code = "malformed_json"
    hint = "Send one JSON object per frame."


class UnknownMessage(InvalidMessage):
    """The message's `type` is none of the protocol's."""

    code = "unknown_message"


class InvalidField(InvalidMessage):
    """A field is missing, of the wrong kind, or out of range."""

    code = "invalid_field"
    hint = "Correct the field that is named and send it again."


class MessageTooLong(InvalidMessage):
    """A text is longer than its limit."""

    code = "too_long"
    status = 413
    hint = "Shorten the text and send it again."


class RefusedMessage(CandorError):
    """The message is fine, but the session cannot take it now."""

    code = "refused"
    status = 409
    hint = "Reload the page to see where the conversation stands."


class WrongPhase(RefusedMessage):
    """The session is in another phase than the message belongs to."""

    code = "wrong_phase"

    def __init__(self, expected: str, got: str) -> None:
        super().__init__(f"expected {expected}, got {got}")


class ChoiceMissing(RefusedMessage):
    """The worker has not said yet which of the two replies is the better one."""

    code = "choice_missing"
    hint = "Choose one of the two replies first."


class NoTies(RefusedMessage):
    """The study wants one of the two to be preferred."""

    code = "no_ties"
    hint = "Choose one of the two."


class ReplyPending(RefusedMessage):
    """The chatbot has not replied yet."""

    code = "reply_pending"
    retry = True
    hint = "Wait for the chatbot's reply, then send it again."


class TooFewInputs(RefusedMessage):
    """The conversation has not reached its minimum of inputs."""

    code = "too_few_inputs"
    hint = "Go on chatting until the minimum is reached."

    def __init__(self, missing: int) -> None:
        super().__init__(f"{missing} more input{'s' if missing != 1 else ''} needed in this conversation")
        self.missing = missing


class TooManyInputs(RefusedMessage):
    """The conversation has as many inputs as it may have."""

    code = "too_many_inputs"
    hint = "End the conversation and rate it."


class TooManyTopicChanges(RefusedMessage):
    """The topic of the conversation has changed as often as it may."""

    code = "too_many_topic_changes"
    hint = "Go on with this topic, or end the conversation."


class IncompleteRating(RefusedMessage):
    """Not every statement was rated, or one that is none of the study's."""

    code = "incomplete_rating"
    hint = "Rate every statement once, with a whole number from 0 to 100."


class ConsentMissing(RefusedMessage):
    """The study has a consent, and the worker has not ticked all that must be ticked."""

    code = "consent_missing"
    hint = "Name the consent's version, and tick every box that is required."


class TopicMissing(RefusedMessage):
    """The study lets the worker choose the topic, and none was given."""

    code = "topic_missing"
    hint = "Send a topic."


class TopicFixed(RefusedMessage):
    """The study picks the topic, and another was given."""

    code = "topic_fixed"
    hint = "Leave the topic out; only your opinion of it is asked."


class EditMissing(RefusedMessage):
    """The text is not at the top of the scale, and was not improved."""

    code = "edit_missing"
    hint = "Improve the text, or rate it at the top if nothing can be improved."


class EditSenseless(RefusedMessage):
    """What was written does not improve the text."""

    code = "edit_senseless"
    hint = "Change what is wrong in the text, and leave the rest as it is."


class AnswersUnfit(RefusedMessage):
    """A question of a questionnaire is without an answer, or with something that is none."""

    code = "answers_unfit"
    hint = "Answer every question that is required, each in its own form."


class OutdatedPage(CandorError):
    """A page speaks another version of the wire than the server.

    The message is what a worker reads who has the page open: the pages of version 1 show it as it is, over
    a button that loads the page anew. What they have not sent yet outlives that.
    """

    code = "outdated_page"
    status = 409
    hint = "Load the page again."

    def __init__(self, *, newer: bool) -> None:
        what = (
            "is newer than the study's server"
            if newer
            else "was opened before the study's server was updated"
        )
        super().__init__(
            f"this page {what}. Press the button to go on where you were: nothing that was saved is lost"
        )


class NotAuthorised(CandorError):
    """The caller has not shown the right to do this."""

    code = "not_authorised"
    status = 401


class TokenMissing(NotAuthorised):
    """No token was shown."""

    code = "token_missing"
    hint = "Send `Authorization: Bearer TOKEN`, with a token that `candor token new` has printed."


class TokenInvalid(NotAuthorised):
    """The token was not made by this server."""

    code = "token_invalid"
    hint = "Open the study's link again."


class TokenExpired(NotAuthorised):
    """The token is too old."""

    code = "token_expired"
    hint = "Open the study's link again to start afresh."


class TokenRevoked(NotAuthorised):
    """The token was good once."""

    code = "token_revoked"
    hint = "Ask whoever runs this server for a new one (`candor token new --name NAME`)."


class OutOfScope(NotAuthorised):
    """The token is good, but for something else."""

    code = "out_of_scope"
    status = 403
    hint = "Use a researcher's token (`candor token new --name NAME`)."


class NotAllowed(NotAuthorised):
    """The caller is known, and their role does not reach so far."""

    code = "not_allowed"
    status = 403
    hint = "Ask an owner of this installation for that role."


class NotSignedIn(NotAuthorised):
    """The browser's sign-in is over, or there was none."""

    code = "not_signed_in"
    hint = "Sign in again."


class WrongPassword(NotAuthorised):
    """Nobody has this name and this password."""

    code = "wrong_password"
    status = 403
    hint = "Try again, or ask an owner of this installation for a link to a new password."


Refusal = Literal[
    "state",
    "denied",
    "unreachable",
    "code",
    "signature",
    "expired",
    "audience",
    "nonce",
    "unverified",
    "unknown",
]
_REFUSALS: dict[Refusal, str] = {
    "state": "this sign-in was not begun in this browser, or longer ago than ten minutes",
    "denied": "the sign-in was given up with the provider",
    "unreachable": "the provider cannot be asked, or does not say how to sign in with it",
    "code": "the provider does not take back the code that it gave",
    "signature": "what the provider answered is not signed by it",
    "expired": "what the provider answered is valid no longer",
    "audience": "what the provider answered is meant for somebody else",
    "nonce": "what the provider answered belongs to another sign-in",
    "unverified": "the provider has not verified an e-mail address of yours",
    "unknown": "nobody here has the e-mail address that the provider gives",
}


class ProviderRefused(NotAuthorised):
    """Signing in with an OpenID provider came to nothing; `reason` says why, for programs."""

    code = "provider_refused"
    status = 403
    hint = "Begin again, or sign in with a password."

    def __init__(self, reason: Refusal) -> None:
        hint = "Ask an owner to invite that address." if reason == "unknown" else None
        super().__init__(_REFUSALS[reason], hint)
        self.reason: Refusal = reason


class ForeignOrigin(NotAuthorised):
    """A browser that is signed in was led to this call by another site's page."""

    code = "foreign_origin"
    status = 403
    hint = "Do it on the desk's own page; programs send a token instead of a cookie."


class LinkUsed(NotAuthorised):
    """A one-time link leads nowhere (any more)."""

    code = "link_used"
    status = 403
    hint = "Ask an owner of this installation for another; on its own machine: candor people link NAME."


class LinkUnsigned(NotAuthorised):
    """The server takes personal links only, and this one is nobody's."""

    code = "link_unsigned"
    status = 403
    hint = "Open the whole of the link that you were sent, or ask the researchers for one of your own."


class LinkAltered(NotAuthorised):
    """The link's signature is not that of its worker and its run."""

    code = "link_altered"
    status = 403
    hint = "Copy the whole link again from where you found it, or ask the researchers for another."


class NotAvailable(CandorError):
    """What was asked for does not exist, or no longer."""

    code = "not_available"
    status = 404


class RunNotFound(NotAvailable):
    """There is no run of that name."""

    code = "run_not_found"
    hint = "Check the link: its last part names the run."


class RunNotReady(NotAvailable):
    """The run is open, but this process cannot let anybody in yet: it was opened a moment ago, or waits
    for a bot."""

    code = "run_not_ready"
    status = 503
    retry = True
    hint = "Try again in a minute."


class RunPaused(NotAvailable):
    """The run takes no new workers for a while."""

    code = "run_paused"
    status = 409
    hint = "Come back later: the same link leads here."


class RunClosed(NotAvailable):
    """The run takes no more workers."""

    code = "run_closed"
    status = 410
    hint = "Thank you for your interest; this study has ended."


class RunFull(NotAvailable):
    """Every place of the run is taken."""

    code = "run_full"
    status = 409
    hint = "Come back later: a place may become free."


class RunOutOfHours(NotAvailable):
    """The run takes newcomers at other hours. `again_at`: when it does so again, in the zone of its hours."""

    code = "run_out_of_hours"
    status = 409
    hint = "Come back then: the same link leads here."

    def __init__(self, again_at: datetime) -> None:
        when = f"{again_at:%A} at {again_at:%H:%M} ({again_at.tzinfo} time)"
        super().__init__(f"this study opens again on {when}")
        self.again_at = again_at


class RunComplete(NotAvailable):
    """The run has all that it was to gather, or its budget is spent."""

    code = "run_complete"
    status = 410
    hint = "Thank you for your interest."


class NotInvited(NotAvailable):
    """The worker is among those who may not come to the run."""

    code = "not_invited"
    status = 403
    hint = "If you think that this is a mistake, ask whoever sent you the link."


class AlreadyTookPart(NotAvailable):
    """The browser has an assignment in this run already, under another worker's name."""

    code = "already_took_part"
    status = 409
    hint = "Go on with the link that you had first. Several people at one browser need personal links."


class TookPart(NotAvailable):
    """The worker had an assignment in a run whose workers may not come to this one."""

    code = "took_part"
    status = 403
    hint = "Thank you for having helped before; this study needs people who have not."


class AssignmentNotFound(NotAvailable):
    """There is no assignment of that id."""

    code = "assignment_not_found"
    hint = "Look the id up in the list of assignments of the run."


class AssignmentOver(NotAvailable):
    """The assignment has ended, so that nothing can be done to it."""

    code = "assignment_over"
    status = 409
    hint = "Nothing is to be done: its place is free, or it was handed in."


class SearchInvalid(CandorError):
    """What is searched for is no search."""

    code = "invalid_request"
    status = 422
    hint = "Leave `after` out to begin with the first page."


class NothingToRate(NotAvailable):
    """The worker has no conversation under way that could be rated as it is."""

    code = "nothing_to_rate"
    status = 409
    hint = "Wait until the chatbot has replied once; or release the place."


class NotSimulated(NotAvailable):
    """The assignment belongs to a person, whose systems stay hidden while they chat."""

    code = "not_simulated"
    status = 403
    hint = "Only assignments that were joined as simulated can be looked up."


class BotNotFound(NotAvailable):
    """No bot is registered by that name, or it has no such replica."""

    code = "bot_not_found"
    hint = "GET /api/desk/bots lists the bots that are registered, and their replicas."


class NotChecked(NotAvailable):
    """The registered bot has not been checked yet."""

    code = "not_checked"
    hint = "Start a check: POST to the same address."


class StudyNotFound(NotAvailable):
    """No study is stored by that name, or it has no such version."""

    code = "study_not_found"
    hint = "`candor study list` shows every study that is stored."


class StudyRefused(CandorError):
    """What a researcher wants with a stored study cannot be done."""

    code = "study_refused"
    status = 409


class StudyExists(StudyRefused):
    """A study has that name already."""

    code = "study_exists"
    hint = "Choose another name."


class StudyChanged(StudyRefused):
    """Somebody else has saved a version meanwhile."""

    code = "study_changed"
    hint = "Nothing was overwritten. Look at what was changed, put it together with yours, and save again."


class StudyOpened(StudyRefused):
    """A study that was opened cannot be deleted: its runs are of it."""

    code = "study_opened"
    hint = "Archive it instead: it is out of the way then, and its data stays."


class StudyNameDiffers(StudyRefused):
    """A text that is saved says that it is another study."""

    code = "study_name_differs"
    status = 422
    hint = "Write the study's own name, or copy the study to give it another one."


class JobNotFound(NotAvailable):
    """There is no job of that id, or its result was removed."""

    code = "job_not_found"
    hint = "List the reports or the rehearsals of the run again; old ones are removed."


class JobUnderWay(CandorError):
    """One job of a kind and a subject is done at a time."""

    code = "job_under_way"
    status = 409
    hint = "Wait until it is done, or cancel it."


class RehearsalRefused(CandorError):
    """The study cannot be rehearsed like this."""

    code = "rehearsal_refused"
    status = 422


class RunRefused(CandorError):
    """What a researcher wants with a run cannot be done."""

    code = "run_refused"
    status = 409


class RunExists(RunRefused):
    """A run has that name already."""

    code = "run_exists"
    hint = "Choose another name for the run."


class WrongRunStatus(RunRefused):
    """The run is in another state than the change begins from."""

    code = "wrong_run_status"
    hint = "Look at the state of the run first; one that is closed can be resumed."


class RunHasEnough(RunRefused):
    """The run has what it was to gather, or its budget is spent: it would stop again at once."""

    code = "run_has_enough"
    hint = "Change the run's rules first: its target, or its budget."


class RulesInvalid(CandorError):
    """The rules of a run have mistakes; the message lists all of them."""

    code = "rules_invalid"
    status = 422
    hint = "Correct what is named; docs/researcher.md lists every rule."


class BotRefused(CandorError):
    """What a researcher wants with a registered bot cannot be done."""

    code = "bot_refused"
    status = 409


class BotExists(BotRefused):
    """A bot is registered by that name already."""

    code = "bot_exists"
    hint = "Choose another name, add a replica to the bot that is there, or delete it first."


class BotInUse(BotRefused):
    """An open run needs the bot."""

    code = "bot_in_use"
    hint = "Close these runs first; or disable the bot, and their workers get other systems."


class BotDisabled(BotRefused):
    """The bot is disabled."""

    code = "bot_disabled"
    hint = "Enable it first."


class BotUnusable(BotRefused):
    """The endpoint is well described, but this server cannot use it."""

    code = "bot_unusable"
    status = 422
    hint = "Set the environment variable where the server runs, and start the server again."


class BotInvalid(BotRefused):
    """A name that no registered bot can have, or an address that no replica can have."""

    code = "invalid_request"
    status = 422
    hint = "Correct what is named and send it again."


class ReplicaExists(BotRefused):
    """The bot has a replica at that address already."""

    code = "replica_exists"
    hint = "Nothing is to be done: it is asked already."


class LastReplica(BotRefused):
    """A bot keeps one replica at least."""

    code = "last_replica"
    hint = "Add another replica first, or disable or delete the bot."


class DialsIn(BotRefused):
    """The bot's replicas are the hosts that have dialled in: they come and go by themselves."""

    code = "bot_dials_in"
    hint = "Start another bot host under this name, or stop one."


class TokenNotFound(NotAvailable):
    """There is no token of that name, or it was revoked before."""

    code = "token_not_found"
    hint = "`candor token list` shows every token."


class TokenExists(CandorError):
    """A token of that name is in use."""

    code = "token_exists"
    status = 409
    hint = "Choose another name, or revoke that token first (`candor token revoke NAME`)."


class PersonNotFound(NotAvailable):
    """Nobody of that name uses the desk."""

    code = "person_not_found"
    hint = "`candor people list` shows everybody, and so does the desk's page of people."


class PersonExists(CandorError):
    """Somebody of that name uses the desk."""

    code = "person_exists"
    status = 409
    hint = "Choose another name, or change the role of the person who is there."


class LastOwner(CandorError):
    """An installation keeps one owner at least."""

    code = "last_owner"
    status = 409
    hint = "Make somebody else an owner first."


class TooMany(CandorError):
    """The caller is over a limit."""

    code = "rate_limited"
    status = 429
    retry = True
    hint = "Wait a little and try again."


class StorageFailed(CandorError):
    """The rows could not be written; nothing was stored."""

    code = "storage_failed"
    status = 503
    retry = True
    hint = "Nothing is lost on your side: send the same message again."


class DatabaseUnfit(CandorError):
    """The database can be opened, but not be served: its settings, or who has made it, forbid it."""

    code = "database_unfit"


class DatabaseInUse(CandorError):
    """An SQLite file is served by one process at a time."""

    code = "database_in_use"
    hint = "Stop that server first, or use PostgreSQL, which many may serve: set CANDOR_DATABASE_URL."


class StudyInvalid(CandorError):
    """A study file has mistakes; the message lists all of them with their lines."""

    code = "study_invalid"
    status = 422
    hint = "Correct the lines that are named, then run `candor study check FILE`."


class BotsUnfit(CandorError):
    """A study's bots have not shown that they are fit for workers."""

    code = "bots_unfit"
    status = 409
    hint = "Mend the bots and check them again; or open the run all the same with --despite-failing-bots."
