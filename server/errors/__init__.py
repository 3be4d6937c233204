"""All errors that a caller can get, in one hierarchy.

    CandorError
    ├── InvalidMessage      the message is invalid: send another
    │   ├── MalformedJson, UnknownMessage, InvalidField, MessageTooLong
    ├── RefusedMessage      valid, but not allowed now
    │   ├── WrongPhase, ReplyPending, TooFewInputs, IncompleteRating, TopicMissing, TopicFixed,
    │   │   EditMissing, EditSenseless, AnswersUnfit, ChoiceMissing, NoTies
    ├── OutdatedPage        the page uses another version of the protocol: reload it
    ├── NotAuthorised       the caller needs another token
    │   ├── TokenInvalid, TokenExpired, TokenMissing, TokenRevoked, OutOfScope, NotAllowed,
    │   │   NotSignedIn, WrongPassword, ProviderRefused, ForeignOrigin, LinkUsed, LinkUnsigned,
    │   │   LinkAltered, LinkUnfilled, LinkAmbiguous, LinkExpired
    ├── NotAvailable        the requested thing does not exist (any more)
    │   ├── RunNotFound, RunNotReady, RunPaused, RunOutOfHours, RunClosed, RunComplete, RunFull, TookPart,
    │   │   NotInvited, AssignmentNotFound, NotSimulated, TokenNotFound, BotNotFound, NotChecked,
    │   │   JobNotFound, StudyNotFound, WorkerNotFound, SeveralWorkers,
    │   │   ReportNotFound, FlagNotFound, WithdrawalOver
    ├── StudyRefused        a stored study cannot be changed like this
    │   ├── StudyExists, StudyChanged, StudyOpened, StudyNameDiffers
    ├── RunRefused          a run cannot be changed like this
    │   ├── RunExists, WrongRunStatus, RunHasEnough
    ├── RecruitingRefused   recruiting or pay cannot go on like this
    │   ├── NotConnected, NotRecruiting, RecruitmentExists, StudyNotDrafted, OtherCurrency, ScreenOutsUnpaid,
    │   │   PayRefused, DecidedAlready, BonusRefused, EventRefused
    ├── NeedsConfirmation   it costs money, or much of it, and was not confirmed
    ├── WorkerListInvalid   a list of workers has mistakes
    ├── PlatformFailed, PlatformUnsure   the platform has not done it, or it is unknown whether it has
    ├── RulesInvalid        the rules of a run have mistakes
    ├── TokenExists, PersonExists   a name is taken
    ├── NoPassword          the account has no password to change
    ├── NotYours            the account has roles in other studies too
    ├── JobUnderWay         the same job is running already
    ├── RehearsalRefused    this study cannot be rehearsed like this
    ├── BotRefused          a registered bot cannot be changed like this
    │   ├── BotExists, BotInUse, BotDisabled, BotUnusable, BotInvalid, ReplicaExists,
    │   │   LastReplica, DialsIn
    ├── LastOwner           an installation must have at least one owner
    ├── TooMany             a rate limit: slow down
    ├── StorageFailed       nothing was stored: send the same again
    │   └── StorageDamaged  the database's file is damaged
    ├── DatabaseDamaged     a check has found damage in the SQLite file
    ├── DatabaseUnfit       the database's settings or schema do not permit to serve it
    ├── DatabaseInUse       another server serves the SQLite file
    ├── StudyInvalid        the study file has mistakes
    ├── BotsUnfit           a study's bots have not passed the checks for workers
    └── NoModeration        a study needs a moderation service, and there is none

Each class sets its wire `code`, its HTTP `status`, and whether the same request may be sent again (`retry`).
The message tells what happened, and the hint what the caller can do.
"""

from server.errors.access import (
    ForeignOrigin,
    LastOwner,
    LinkAltered,
    LinkAmbiguous,
    LinkExpired,
    LinkUnfilled,
    LinkUnsigned,
    LinkUsed,
    NoPassword,
    NotAllowed,
    NotAuthorised,
    NotSignedIn,
    NotYours,
    OutOfScope,
    PersonExists,
    PersonNotFound,
    ProviderRefused,
    Refusal,
    TokenExists,
    TokenExpired,
    TokenInvalid,
    TokenMissing,
    TokenNotFound,
    TokenRevoked,
    TooMany,
    WrongPassword,
)
from server.errors.bot import (
    BotDisabled,
    BotExists,
    BotInUse,
    BotInvalid,
    BotNotFound,
    BotRefused,
    BotsUnfit,
    BotUnusable,
    DialsIn,
    LastReplica,
    NoModeration,
    NotChecked,
    ReplicaExists,
)
from server.errors.database import (
    DatabaseDamaged,
    DatabaseInUse,
    DatabaseUnfit,
    StorageDamaged,
    StorageFailed,
)
from server.errors.error import (
    CandorError,
    ErrorBody,
    ErrorDetail,
    NeedsConfirmation,
)
from server.errors.message import (
    AnswersUnfit,
    ChoiceMissing,
    ConsentMissing,
    EditMissing,
    EditSenseless,
    IncompleteRating,
    InvalidField,
    InvalidMessage,
    MalformedJson,
    MessageTooLong,
    NoTies,
    OutdatedPage,
    RefusedMessage,
    ReplyPending,
    TooFewInputs,
    TooManyInputs,
    TooManyTopicChanges,
    TopicFixed,
    TopicMissing,
    UnknownMessage,
    WrongPhase,
)
from server.errors.recruiting import (
    BonusRefused,
    DecidedAlready,
    EventRefused,
    NotConnected,
    NotRecruiting,
    OtherCurrency,
    PayRefused,
    PlatformFailed,
    PlatformUnsure,
    RecruitingRefused,
    RecruitmentExists,
    ScreenOutsUnpaid,
    StudyNotDrafted,
)
from server.errors.run import (
    AlreadyTookPart,
    AssignmentNotFound,
    AssignmentOver,
    FlagNotFound,
    JobNotFound,
    JobUnderWay,
    LineTaken,
    NotAvailable,
    NothingToRate,
    NotInvited,
    NotSimulated,
    ReportNotFound,
    RulesInvalid,
    RunClosed,
    RunComplete,
    RunExists,
    RunFull,
    RunHasEnough,
    RunNotFound,
    RunNotReady,
    RunOutOfHours,
    RunPaused,
    RunRefused,
    SearchInvalid,
    SeveralWorkers,
    TookPart,
    WithdrawalOver,
    WorkerListInvalid,
    WorkerNotFound,
    WrongRunStatus,
)
from server.errors.study import (
    RehearsalRefused,
    StudyChanged,
    StudyExists,
    StudyInvalid,
    StudyNameDiffers,
    StudyNotFound,
    StudyOpened,
    StudyRefused,
)

__all__ = [
    "AlreadyTookPart",
    "AnswersUnfit",
    "AssignmentNotFound",
    "AssignmentOver",
    "BonusRefused",
    "BotDisabled",
    "BotExists",
    "BotInUse",
    "BotInvalid",
    "BotNotFound",
    "BotRefused",
    "BotUnusable",
    "BotsUnfit",
    "CandorError",
    "ChoiceMissing",
    "ConsentMissing",
    "DatabaseDamaged",
    "DatabaseInUse",
    "DatabaseUnfit",
    "DecidedAlready",
    "DialsIn",
    "EditMissing",
    "EditSenseless",
    "ErrorBody",
    "ErrorDetail",
    "EventRefused",
    "FlagNotFound",
    "ForeignOrigin",
    "IncompleteRating",
    "InvalidField",
    "InvalidMessage",
    "JobNotFound",
    "JobUnderWay",
    "LastOwner",
    "LastReplica",
    "LineTaken",
    "LinkAltered",
    "LinkAmbiguous",
    "LinkExpired",
    "LinkUnfilled",
    "LinkUnsigned",
    "LinkUsed",
    "MalformedJson",
    "MessageTooLong",
    "NeedsConfirmation",
    "NoModeration",
    "NoPassword",
    "NoTies",
    "NotAllowed",
    "NotAuthorised",
    "NotAvailable",
    "NotChecked",
    "NotConnected",
    "NotInvited",
    "NotRecruiting",
    "NotSignedIn",
    "NotSimulated",
    "NotYours",
    "NothingToRate",
    "OtherCurrency",
    "OutOfScope",
    "OutdatedPage",
    "PayRefused",
    "PersonExists",
    "PersonNotFound",
    "PlatformFailed",
    "PlatformUnsure",
    "ProviderRefused",
    "RecruitingRefused",
    "RecruitmentExists",
    "Refusal",
    "RefusedMessage",
    "RehearsalRefused",
    "ReplicaExists",
    "ReplyPending",
    "ReportNotFound",
    "RulesInvalid",
    "RunClosed",
    "RunComplete",
    "RunExists",
    "RunFull",
    "RunHasEnough",
    "RunNotFound",
    "RunNotReady",
    "RunOutOfHours",
    "RunPaused",
    "RunRefused",
    "ScreenOutsUnpaid",
    "SearchInvalid",
    "SeveralWorkers",
    "StorageDamaged",
    "StorageFailed",
    "StudyChanged",
    "StudyExists",
    "StudyInvalid",
    "StudyNameDiffers",
    "StudyNotDrafted",
    "StudyNotFound",
    "StudyOpened",
    "StudyRefused",
    "TokenExists",
    "TokenExpired",
    "TokenInvalid",
    "TokenMissing",
    "TokenNotFound",
    "TokenRevoked",
    "TooFewInputs",
    "TooMany",
    "TooManyInputs",
    "TooManyTopicChanges",
    "TookPart",
    "TopicFixed",
    "TopicMissing",
    "UnknownMessage",
    "WithdrawalOver",
    "WorkerListInvalid",
    "WorkerNotFound",
    "WrongPassword",
    "WrongPhase",
    "WrongRunStatus",
]
