"""Everything that can answer a worker. This is the package's whole public face."""

from bots.catalogue import UnknownBotError, builtin_names, open_bot
from bots.chat import Author, Bot, BotError, BotGone, Chat, Reply, Turn
from bots.corpus import Corpus, CorpusError, Dialogue, Persona, load_corpus
from bots.endpoints.endpoint import DialInEndpoint, Endpoint, UrlEndpoint, open_endpoint, open_replica
from bots.endpoints.key import EndpointError
from bots.endpoints.replicas import Declined, Replica, Replicas, ReplicaState

__all__ = [
    "Author",
    "Bot",
    "BotError",
    "BotGone",
    "Chat",
    "Corpus",
    "CorpusError",
    "Declined",
    "DialInEndpoint",
    "Dialogue",
    "Endpoint",
    "EndpointError",
    "Persona",
    "Replica",
    "ReplicaState",
    "Replicas",
    "Reply",
    "Turn",
    "UnknownBotError",
    "UrlEndpoint",
    "builtin_names",
    "load_corpus",
    "open_bot",
    "open_endpoint",
    "open_replica",
]
