"""Everything that can answer a worker. This is the package's whole public face."""

from bots.catalogue import UnknownBotError, builtin_names, open_bot
from bots.chat import Author, Bot, BotError, BotGone, Chat, Reply, Turn
from bots.corpus import Corpus, CorpusError, Dialogue, Persona, load_corpus
from bots.dial_in import PATH as DIAL_IN_PATH
from bots.dial_in import Drain, Offer, WireError
from bots.endpoints.dialled import DialledHost, DialledReplica
from bots.endpoints.endpoint import DialInEndpoint, Endpoint, UrlEndpoint, open_endpoint, open_replica
from bots.endpoints.key import EndpointError
from bots.endpoints.replicas import Replica, Replicas, ReplicaState

__all__ = [
    "DIAL_IN_PATH",
    "Author",
    "Bot",
    "BotError",
    "BotGone",
    "Chat",
    "Corpus",
    "CorpusError",
    "DialInEndpoint",
    "DialledHost",
    "DialledReplica",
    "Dialogue",
    "Drain",
    "Endpoint",
    "EndpointError",
    "Offer",
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
    "load_corpus",
    "open_bot",
    "open_endpoint",
    "open_replica",
]
