"""Everything that can answer a worker. This is the package's whole public face."""

from bots.catalogue import UnknownBotError, builtin_names, open_bot
from bots.chat import Author, Bot, BotError, BotGone, Chat, Reply, Turn
from bots.conformance.check import check_bot
from bots.conformance.pace import typing_times
from bots.conformance.report import ConformanceReport, Finding, Overruns
from bots.corpus import Corpus, CorpusError, Dialogue, Persona, load_corpus
from bots.dial_in import PATH as DIAL_IN_PATH
from bots.dial_in import Drain, Offer, WireError
from bots.endpoints.dialled import DialledHost, DialledReplica
from bots.endpoints.endpoint import DialInEndpoint, Endpoint, UrlEndpoint, open_endpoint, open_replica
from bots.endpoints.key import EndpointError
from bots.endpoints.replicas import Declined, Replica, Replicas, ReplicaState
from bots.fitted import EarlierReply, FittedQcBot
from bots.self_identification import gives_itself_away

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
    "DialledHost",
    "DialledReplica",
    "Dialogue",
    "Drain",
    "EarlierReply",
    "Endpoint",
    "EndpointError",
    "Finding",
    "FittedQcBot",
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
    "gives_itself_away",
    "load_corpus",
    "open_bot",
    "open_endpoint",
    "open_replica",
    "typing_times",
]
