"""Everything that can answer a worker. This is the package's whole public face."""

from bots.catalogue import UnknownBotError, builtin_names, open_bot
from bots.chat import Author, Bot, BotError, BotGone, Chat, Reply, Turn
from bots.conformance.check import check_bot
from bots.conformance.report import ConformanceReport, Finding, Overruns
from bots.conformance.table import conformance_table
from bots.corpus import Corpus, CorpusError, Dialogue, Persona, load_corpus
from bots.endpoints.endpoint import DialInEndpoint, Endpoint, UrlEndpoint, open_endpoint, open_replica
from bots.endpoints.key import EndpointError
from bots.endpoints.replicas import Replica, Replicas, ReplicaState
from bots.self_identification import gives_itself_away

__all__ = [
    "Author",
    "Bot",
    "BotError",
    "BotGone",
    "Chat",
    "ConformanceReport",
    "Corpus",
    "CorpusError",
    "DialInEndpoint",
    "Dialogue",
    "Endpoint",
    "EndpointError",
    "Finding",
    "Overruns",
    "Persona",
    "Replica",
    "ReplicaState",
    "Replicas",
    "Reply",
    "Turn",
    "UnknownBotError",
    "UrlEndpoint",
    "builtin_names",
    "check_bot",
    "conformance_table",
    "gives_itself_away",
    "load_corpus",
    "open_bot",
    "open_endpoint",
    "open_replica",
]
