"""The bots as the server uses them: endpoints, checks, hosts and streams, beside the contract in `bots`.

The server imports from `bots` and from here only. They are apart because each process of builtin bots imports
`bots`, and needs nothing of this.
"""

from bots.builtin import UnknownBotError, bot_specs, require_openable
from bots.conformance.check import check_bot
from bots.conformance.findings import qc_findings
from bots.conformance.report import ConformanceReport, Finding, Overruns, Verdict, verdict_table, worst
from bots.conformance.script import AT_ONCE, MOST_AT_ONCE, estimate_check
from bots.core.ask import PunctualBot, ask, within
from bots.core.chat import opaque_id
from bots.core.failures import (
    BotBusy,
    BotGone,
    BudgetSpent,
    ChatEnded,
    ChatRefused,
    Declined,
    FailureKind,
    failure,
)
from bots.core.host_protocol import PATH as DIAL_IN_PATH
from bots.core.host_protocol import (
    CannotHold,
    Drain,
    Earlier,
    Hold,
    KnownLines,
    NumberedReply,
    Offer,
    WireError,
)
from bots.core.offensive_words import load_offensive_words, offensive_words
from bots.core.self_identification import gives_itself_away
from bots.corpus import Corpus, CorpusError, shipped_corpora
from bots.crowd.profile import FittedRaterModel
from bots.endpoints import DialInEndpoint, Endpoint, UrlEndpoint, open_endpoint, planned_calls
from bots.endpoints.address import EndpointError
from bots.endpoints.host_session import HostReplica, HostSession
from bots.endpoints.hosted import Estimate, PlannedCalls, Price, estimate, in_words
from bots.endpoints.moderation import Moderation, ModerationJudgement
from bots.endpoints.recorded_calls import RecordedCall, recorded
from bots.endpoints.replicas import Replica, Replicas, ReplicaState
from bots.qc_bots import run_length
from bots.shown import Change
from bots.streams import StreamAsker, StreamConsumer, StreamReplica, WorkCount

__all__ = [
    "AT_ONCE",
    "DIAL_IN_PATH",
    "MOST_AT_ONCE",
    "BotBusy",
    "BotGone",
    "BudgetSpent",
    "CannotHold",
    "Change",
    "ChatEnded",
    "ChatRefused",
    "ConformanceReport",
    "Corpus",
    "CorpusError",
    "Declined",
    "DialInEndpoint",
    "Drain",
    "Earlier",
    "Endpoint",
    "EndpointError",
    "Estimate",
    "FailureKind",
    "Finding",
    "FittedRaterModel",
    "Hold",
    "HostReplica",
    "HostSession",
    "KnownLines",
    "Moderation",
    "ModerationJudgement",
    "NumberedReply",
    "Offer",
    "Overruns",
    "PlannedCalls",
    "Price",
    "PunctualBot",
    "RecordedCall",
    "Replica",
    "ReplicaState",
    "Replicas",
    "StreamAsker",
    "StreamConsumer",
    "StreamReplica",
    "UnknownBotError",
    "UrlEndpoint",
    "Verdict",
    "WireError",
    "WorkCount",
    "ask",
    "bot_specs",
    "check_bot",
    "estimate",
    "estimate_check",
    "failure",
    "gives_itself_away",
    "in_words",
    "load_offensive_words",
    "offensive_words",
    "opaque_id",
    "open_endpoint",
    "planned_calls",
    "qc_findings",
    "recorded",
    "require_openable",
    "run_length",
    "shipped_corpora",
    "verdict_table",
    "within",
    "worst",
]
