"""What can be opened by name: the builtin systems and the qc bot."""

from collections.abc import Callable

from bots.builtin.interviewer import Interviewer
from bots.builtin.memory import MemoryNetwork
from bots.builtin.ngram import Ngram
from bots.builtin.reflect import Reflect
from bots.builtin.retrieval import Retrieval
from bots.builtin.semantic import Semantic
from bots.builtin.translation import Translation
from bots.core.chat import Bot
from bots.corpus import Corpus
from bots.qc_bots.distorted import QcBot

_BUILTIN: dict[str, Callable[[Corpus], Bot]] = {
    "retrieval": Retrieval,
    "semantic": Semantic,
    "translation": Translation,
    "memory": MemoryNetwork,
    "ngram": Ngram,
    "interviewer": Interviewer,
    "reflect": Reflect,
}
QC = "qc"


class UnknownBotError(ValueError):
    """There is no bot of this name."""


def builtin_names() -> tuple[str, ...]:
    """Return the names of the builtin systems, without the "builtin:" that opens them."""
    return tuple(_BUILTIN)


def bot_specs() -> tuple[str, ...]:
    """Return what `open_bot` takes: every builtin system, then the qc bot."""
    return (*(f"builtin:{name}" for name in builtin_names()), QC)


def open_bot(spec: str, corpus: Corpus) -> Bot:
    """Return the bot that `spec` names: "builtin:NAME", or "qc" for the quality-control bot.

    It serves any number of conversations at once, with and without persona. Systems over the
    same corpus share what they have learned from it.

    Raises:
        UnknownBotError: there is no such bot; the message lists those that there are.
        CorpusError: the bot cannot work with this corpus.
    """
    if spec == QC:
        return QcBot(corpus)
    kind, _, name = spec.partition(":")
    if kind == "builtin" and name in _BUILTIN:
        return _BUILTIN[name](corpus)
    raise UnknownBotError(f'no bot is called "{spec}"; there are {", ".join(bot_specs())}')
