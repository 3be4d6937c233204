"""The systems that come with Candor, and their catalogue.

A bot's module is imported only when it is opened: a server needs only the names, and its bot hosts open the
bots.
"""

from collections.abc import Callable
from importlib import import_module

from bots.core.chat import Bot
from bots.corpus import Corpus
from bots.qc_bots import require_material

# Module and class of each system.
_BUILTIN = {
    "retrieval": "Retrieval",
    "semantic": "Semantic",
    "translation": "Translation",
    "memory": "MemoryNetwork",
    "ngram": "Ngram",
    "interviewer": "Interviewer",
    "reflect": "Reflect",
}
QC = "qc"


class UnknownBotError(ValueError):
    """There is no bot of this name."""


def builtin_names() -> tuple[str, ...]:
    """Return the names of the builtin systems, without the prefix "builtin:"."""
    return tuple(_BUILTIN)


def bot_specs() -> tuple[str, ...]:
    """Return the specs for `open_bot`: every builtin system, then the QC bot."""
    return (*(f"builtin:{name}" for name in builtin_names()), QC)


def require_openable(spec: str, corpus: Corpus) -> None:
    """Check that `open_bot` could open this, at a fraction of its cost.

    Raises:
        UnknownBotError: there is no such bot; the message lists all bots.
        CorpusError: the bot cannot use this corpus.
    """
    if spec not in bot_specs():
        raise UnknownBotError(f'no bot is called "{spec}"; there are {", ".join(bot_specs())}')
    if spec == QC:
        require_material(corpus)


def open_bot(spec: str, corpus: Corpus) -> Bot:
    """Return the bot that `spec` names: "builtin:NAME", or "qc" for the quality-control bot.

    It can hold any number of conversations at once, with and without persona. Systems with the same corpus
    share what they have learned from it.

    Raises:
        UnknownBotError: there is no such bot; the message lists all bots.
        CorpusError: the bot cannot use this corpus.
    """
    require_openable(spec, corpus)
    if spec == QC:
        from bots.qc_bots.distorted import QcBot  # noqa: PLC0415 - see above

        return QcBot(corpus)
    name = spec.removeprefix("builtin:")
    opening: Callable[[Corpus], Bot] = getattr(import_module(f"bots.builtin.{name}"), _BUILTIN[name])
    return opening(corpus)
