"""Everything that can answer a worker, and what commands print to: the package's whole public face."""

from bots.builtin.catalogue import UnknownBotError, builtin_names, open_bot
from bots.conformance.check import check_bot
from bots.conformance.pace import typing_times
from bots.conformance.report import ConformanceReport, Finding, Overruns
from bots.core.chat import Author, Bot, Chat, Reply, Turn
from bots.core.failures import BotError, BotGone, Declined
from bots.core.host_protocol import PATH as DIAL_IN_PATH
from bots.core.host_protocol import Drain, Offer, WireError
from bots.core.self_identification import gives_itself_away
from bots.corpus import Corpus, CorpusError, Dialogue, Persona, load_corpus
from bots.endpoints.endpoint import DialInEndpoint, Endpoint, UrlEndpoint, open_endpoint, open_replica
from bots.endpoints.host_session import HostReplica, HostSession
from bots.endpoints.key import EndpointError
from bots.endpoints.replicas import Replica, Replicas, ReplicaState
from bots.qc.fitted import EarlierReply, FittedQcBot
from bots.terminal import console, fail, stderr

__all__ = [
    "DIAL_IN_PATH",
    "Author",
    "Bot",
    "BotError",
    "BotGone",
    "Chat",
    "ConformanceReport",
    "Corpus",
    "CorpusError",
    "Declined",
    "DialInEndpoint",
    "Dialogue",
    "Drain",
    "EarlierReply",
    "Endpoint",
    "EndpointError",
    "Finding",
    "FittedQcBot",
    "HostReplica",
    "HostSession",
    "Offer",
    "Overruns",
    "Persona",
    "Replica",
    "ReplicaState",
    "Replicas",
    "Reply",
    "Turn",
    "UnknownBotError",
    "UrlEndpoint",
    "WireError",
    "builtin_names",
    "check_bot",
    "console",
    "fail",
    "gives_itself_away",
    "load_corpus",
    "open_bot",
    "open_endpoint",
    "open_replica",
    "stderr",
    "typing_times",
]
