"""Bots that answer workers: the contract, and the functions that open, check and call bots.

Public, for authors of Python bots and for scripts that use one: `Bot`, the contract, with `Chat`, `Turn` and
`Reply`; `BotError`, which a bot raises (its kinds are in `bots.core.failures`); `open_bot` and `load_corpus`,
which open the builtin bots and corpora. All other names are here for `server`, which imports from `bots` only
through this module.
"""

from bots.builtin import UnknownBotError, bot_specs, open_bot, require_openable
from bots.conformance.check import check_bot
from bots.conformance.findings import qc_findings
from bots.conformance.report import ConformanceReport, Finding, Overruns, Verdict, verdict_table, worst
from bots.conformance.script import AT_ONCE, MOST_AT_ONCE, estimate_check
from bots.core.ask import PunctualBot, ask, within
from bots.core.chat import Bot, Chat, Provenance, Reply, Turn, opaque_id
from bots.core.failures import (
    BotBusy,
    BotError,
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
from bots.corpus import Corpus, CorpusError, load_corpus, shipped_corpora
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
    "Bot",
    "BotBusy",
    "BotError",
    "BotGone",
    "BudgetSpent",
    "CannotHold",
    "Change",
    "Chat",
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
    "Provenance",
    "PunctualBot",
    "RecordedCall",
    "Replica",
    "ReplicaState",
    "Replicas",
    "Reply",
    "StreamAsker",
    "StreamConsumer",
    "StreamReplica",
    "Turn",
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
    "load_corpus",
    "load_offensive_words",
    "offensive_words",
    "opaque_id",
    "open_bot",
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
