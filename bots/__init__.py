"""Everything that can answer a worker. This is the package's whole public face."""

from bots.catalogue import UnknownBotError, builtin_names, open_bot
from bots.chat import Author, Bot, BotError, Chat, Reply, Turn
from bots.corpus import Corpus, CorpusError, Dialogue, Persona, load_corpus
from bots.endpoints.endpoint import Endpoint, open_endpoint
from bots.endpoints.key import EndpointError
from bots.endpoints.replicas import Replicas
from bots.fitted import EarlierReply, FittedQcBot
from bots.self_identification import gives_itself_away

__all__ = [
    "Author",
    "Bot",
    "BotError",
    "Chat",
    "Corpus",
    "CorpusError",
    "Dialogue",
    "EarlierReply",
    "Endpoint",
    "EndpointError",
    "FittedQcBot",
    "Persona",
    "Replicas",
    "Reply",
    "Turn",
    "UnknownBotError",
    "builtin_names",
    "gives_itself_away",
    "load_corpus",
    "open_bot",
    "open_endpoint",
]
