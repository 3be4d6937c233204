"""Errors about studies, their bots, and runs."""

from datetime import datetime

from server.errors.error import CandorError


class NotAvailable(CandorError):
    """The requested thing does not exist, or not any more."""

    code = "not_available"
    status = 404


class RunNotFound(NotAvailable):
    """There is no run of that name."""

    code = "run_not_found"
    hint = "Check the link: its last part names the run."


class WorkerListInvalid(CandorError):
    """A list of workers for personal links has a mistake."""

    code = "worker_list_invalid"
    status = 422


class RunNotReady(NotAvailable):
    """The run is open, but this process cannot admit workers yet: the run was opened a moment ago, or waits
    for a bot."""

    code = "run_not_ready"
    status = 503
    retry = True
    hint = "Try again in a minute."


class RunPaused(NotAvailable):
    """The run admits no new workers for a while."""

    code = "run_paused"
    status = 409
    hint = "Come back later: the same link leads here."


class RunClosed(NotAvailable):
    """The run admits no new workers any more."""

    code = "run_closed"
    status = 410
    hint = "Thank you for your interest; this study has ended."


class RunFull(NotAvailable):
    """Every slot of the run is taken."""

    code = "run_full"
    status = 409
    hint = "Come back later: a slot may become free."


class RunOutOfHours(NotAvailable):
    """The run admits newcomers at other hours. `again_at`: when it next does, in the hours' time zone."""

    code = "run_out_of_hours"
    status = 409
    hint = "Come back then: the same link leads here."

    def __init__(self, again_at: datetime) -> None:
        when = f"{again_at:%A} at {again_at:%H:%M} ({again_at.tzinfo} time)"
        super().__init__(f"this study opens again on {when}")
        self.again_at = again_at


class RunComplete(NotAvailable):
    """The run's target is reached, or its budget is spent."""

    code = "run_complete"
    status = 410
    hint = "Thank you for your interest."


class NotInvited(NotAvailable):
    """The worker is excluded from the run."""

    code = "not_invited"
    status = 403
    hint = "If you think this is a mistake, ask the person who sent you the link."


class AlreadyTookPart(NotAvailable):
    """The browser has an assignment in this run already, under another worker's name."""

    code = "already_took_part"
    status = 409
    hint = "Continue with your first link. Several people who share a browser need personal links."


class TookPart(NotAvailable):
    """The worker had an assignment in a run whose workers are excluded from this one."""

    code = "took_part"
    status = 403
    hint = "Thank you for taking part before. This study needs people who have not."


class AssignmentNotFound(NotAvailable):
    """There is no assignment of that id."""

    code = "assignment_not_found"
    hint = "Check the id in the run's list of workers."


class ReportNotFound(NotAvailable):
    """An assignment has no report of a message under that number."""

    code = "report_not_found"
    hint = "The assignment's page lists its reports, with their numbers."


class FlagNotFound(NotAvailable):
    """No line of that number is flagged there."""

    code = "flag_not_found"
    hint = "The assignment's page shows its flagged lines."


class WithdrawalOver(NotAvailable):
    """The study's time for downloading or withdrawing data is over, or it offers neither."""

    code = "withdrawal_over"
    status = 403
    hint = "Write to the researchers of the study."


class WorkerNotFound(NotAvailable):
    """No worker has this pseudonym or id."""

    code = "worker_not_found"
    hint = "Check the pseudonym in the run's list of workers, or check the id."


class SeveralWorkers(NotAvailable):
    """Several workers have this id, each on another platform."""

    code = "several_workers"
    status = 409
    hint = "Name the platform of the id."


class AssignmentOver(NotAvailable):
    """The assignment has ended, so this action is not possible."""

    code = "assignment_over"
    status = 409
    hint = "No action needed: the slot is free, or the assignment was submitted."


class SearchInvalid(CandorError):
    """The search is invalid."""

    code = "invalid_request"
    status = 422
    hint = "Begin again with the first page."


class LineTaken(NotAvailable):
    """The line does not wait for an answer any more."""

    code = "line_taken"
    status = 409
    hint = "No action needed: somebody has answered, a bot has taken over, or the worker has moved on."


class NothingToRate(NotAvailable):
    """The worker has no active conversation that could be rated as it is."""

    code = "nothing_to_rate"
    status = 409
    hint = "Wait until the chatbot has replied once, or release the slot."


class NotSimulated(NotAvailable):
    """The assignment belongs to a person, whose systems stay hidden while they chat."""

    code = "not_simulated"
    status = 403
    hint = "Only assignments that were joined as simulated can be looked up."


class JobNotFound(NotAvailable):
    """There is no job of that id, or its result was removed."""

    code = "job_not_found"
    hint = "List the reports or the rehearsals of the run again; old ones are removed."


class JobUnderWay(CandorError):
    """A job of this kind and subject is running, and only one may."""

    code = "job_under_way"
    status = 409
    hint = "Wait until it is done, or cancel it."


class RunRefused(CandorError):
    """A run cannot be changed like this."""

    code = "run_refused"
    status = 409


class RunExists(RunRefused):
    """A run has that name already."""

    code = "run_exists"
    hint = "Choose another name for the run."


class WrongRunStatus(RunRefused):
    """The change is not allowed from the run's present status."""

    code = "wrong_run_status"
    hint = "Check the run's status first; a closed run can be resumed."


class RunHasEnough(RunRefused):
    """The run's target is reached, or its budget is spent, so it would stop again at once."""

    code = "run_has_enough"
    hint = "Raise the target or the budget in the run's rules first."


class RulesInvalid(CandorError):
    """A run's rules have mistakes; the message lists all of them."""

    code = "rules_invalid"
    status = 422
    hint = "Correct these rules; docs/reference/settings-run.md explains each."


class StudyNotFound(NotAvailable):
    """No study of that name is stored, or it has no such version."""

    code = "study_not_found"
    hint = "Check the name on the desk's page Studies, or with candor study list."


class StudyRefused(CandorError):
    """A stored study cannot be changed like this."""

    code = "study_refused"
    status = 409


class StudyExists(StudyRefused):
    """A study has that name already."""

    code = "study_exists"
    hint = "Choose another name."


class StudyChanged(StudyRefused):
    """Somebody else has saved a version meanwhile."""

    code = "study_changed"
    hint = "Nothing was overwritten. Merge the other changes with yours, and save again."


class StudyOpened(StudyRefused):
    """A study that has runs cannot be deleted."""

    code = "study_opened"
    hint = "Archive it instead: that hides it, and its data stay."


class StudyNameDiffers(StudyRefused):
    """A text to be saved has the name of another study."""

    code = "study_name_differs"
    status = 422
    hint = "Write this study's name, or make a copy under the other name."


class RehearsalRefused(CandorError):
    """The study cannot be rehearsed like this."""

    code = "rehearsal_refused"
    status = 422


class StudyInvalid(CandorError):
    """A study file has mistakes; the message lists all of them with their lines."""

    code = "study_invalid"
    status = 422
    hint = "Correct these settings. To check a file: candor study check FILE."


class BotNotFound(NotAvailable):
    """No bot is registered by that name, or it has no such replica."""

    code = "bot_not_found"
    hint = "Check the name in the list of registered bots: candor bots list."


class NotChecked(NotAvailable):
    """The registered bot has not been checked yet."""

    code = "not_checked"
    hint = "Start a check."


class BotRefused(CandorError):
    """A registered bot cannot be changed like this."""

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
    """A name that is invalid for a registered bot, or an address that is invalid for a replica."""

    code = "invalid_request"
    status = 422
    hint = "Correct it and send it again."


class ReplicaExists(BotRefused):
    """The bot has a replica at that address already."""

    code = "replica_exists"
    hint = "No action needed: the bot uses this replica already."


class LastReplica(BotRefused):
    """A bot must have at least one replica."""

    code = "last_replica"
    hint = "Add another replica first, or disable or delete the bot."


class DialsIn(BotRefused):
    """The bot's replicas are bot hosts that connect by themselves, and are not added or removed here."""

    code = "bot_dials_in"
    hint = "Start another bot host under this name, or stop one."


class BotsUnfit(CandorError):
    """A study's bots have not passed the checks for workers."""

    code = "bots_unfit"
    status = 409
    hint = "Fix the bots and check them again, or open the run all the same."


class NoModeration(CandorError):
    """A study requires a moderation service, and the server has none."""

    code = "no_moderation"
    status = 409
    hint = (
        "Set CANDOR_MODERATION_URL for the server and for this command, or choose offensive-language "
        "detection by lists of words in the study."
    )
